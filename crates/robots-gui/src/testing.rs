use ratatui::buffer::{Buffer, Cell};
use robots::{Bomb, GamePicture, Parameters, Player, PlayerId, Position};

pub(crate) fn lines(buffer: &Buffer) -> Vec<String> {
    let row = |cells: &[Cell]| cells.iter().map(Cell::symbol).collect::<String>().trim_end().to_owned();
    buffer.content.chunks(usize::from(buffer.area.width.max(1))).map(row).collect()
}

pub(crate) fn at(x: u16, y: u16) -> Position {
    Position::new(x, y)
}

pub(crate) fn bomb(x: u16, y: u16, timer: u16) -> Bomb {
    Bomb { position: at(x, y), timer }
}

pub(crate) fn player(name: &str) -> Player {
    Player { name: name.try_into().unwrap(), address: "127.0.0.1:4000".try_into().unwrap() }
}

pub(crate) fn parameters() -> Parameters {
    Parameters {
        server_name: "here".try_into().unwrap(),
        players_count: 2,
        size_x: 10,
        size_y: 8,
        game_length: 300,
        explosion_radius: 4,
        bomb_timer: 5,
    }
}

/// Numbered from 0, without deaths.
pub(crate) fn game(size_x: u16, size_y: u16, robots: &[(&str, u16, u16)]) -> GamePicture {
    let robots = || (0..).map(PlayerId).zip(robots);
    GamePicture {
        server_name: "here".try_into().unwrap(),
        size_x,
        size_y,
        game_length: 300,
        turn: 12,
        players: robots().map(|(id, (name, ..))| (id, player(name))).collect(),
        player_positions: robots().map(|(id, &(_, x, y))| (id, at(x, y))).collect(),
        blocks: vec![],
        bombs: vec![],
        explosions: vec![],
        scores: robots().map(|(id, _)| (id, 0)).collect(),
    }
}
