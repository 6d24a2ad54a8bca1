//! Games for a client: messages as a server sends them.

use std::collections::BTreeSet;

use robots::{Blast, Board, BombId, Direction, Event, Parameters, Player, PlayerId, Position, ServerMessage};

use crate::robots::draws::Draws;

/// What the server of a game says of itself.
pub(super) fn parameters(
    players: u8,
    size: (u16, u16),
    length: u16,
    radius: u16,
    timer: u16,
) -> anyhow::Result<Parameters> {
    Ok(Parameters {
        server_name: "Gęś \u{0} server".parse()?,
        players_count: players,
        size_x: size.0,
        size_y: size.1,
        game_length: length,
        explosion_radius: radius,
        bomb_timer: timer,
    })
}

/// Players of any names; one has none.
pub(super) fn players(count: u8) -> anyhow::Result<Vec<Player>> {
    let names = ["", "Ann", "Żółć!", "Ann"];
    (0..count)
        .map(|id| {
            let name = names.get(usize::from(id) % names.len()).unwrap_or(&"").parse()?;
            let address =
                if id % 2 == 0 { format!("127.0.0.1:{}", 4000 + u16::from(id)) } else { format!("[::1]:{id}") };
            Ok(Player { name, address: address.parse()? })
        })
        .collect()
}

/// That these were accepted, and that the game starts.
pub(super) fn opening(players: &[Player]) -> Vec<ServerMessage> {
    let mut messages: Vec<_> = PlayerId::all()
        .zip(players)
        .map(|(id, player)| ServerMessage::AcceptedPlayer { id, player: player.clone() })
        .collect();
    messages.push(ServerMessage::GameStarted { players: PlayerId::all().zip(players.iter().cloned()).collect() });
    messages
}

/// The turns of a game in which everybody does something at random.
pub(super) fn turns(parameters: &Parameters, seed: u32) -> Vec<ServerMessage> {
    let mut dice = Draws(seed);
    let mut board = Board::new(parameters.size_x, parameters.size_y);
    let mut robots: Vec<_> = (0..parameters.players_count).map(|_| dice.field(&board)).collect();
    let mut events: Vec<_> =
        PlayerId::all().zip(&robots).map(|(id, &position)| Event::PlayerMoved { id, position }).collect();
    for _ in 0..parameters.size_x * parameters.size_y / 4 {
        let position = dice.field(&board);
        if board.put_block(position) {
            events.push(Event::BlockPlaced { position });
        }
    }
    let mut messages = vec![ServerMessage::Turn { turn: 0, events }];
    let mut bombs: Vec<(BombId, Position, u16)> = vec![];
    // Ids need not be small, nor in any order.
    let mut next = 0xffff_ff00_u32;
    for turn in 1..=parameters.game_length {
        let mut events = vec![];
        let (due, left): (Vec<_>, Vec<_>) = bombs.into_iter().partition(|bomb| bomb.2 == turn);
        bombs = left;
        let mut destroyed = BTreeSet::new();
        let mut gone = vec![];
        for &(id, center, _) in due.iter().rev() {
            let blast = Blast::new(&board, center, parameters.explosion_radius);
            let hit = PlayerId::all().zip(&robots).filter(|(_, robot)| blast.contains(**robot)).map(|(id, _)| id);
            let mut robots_destroyed: Vec<_> = hit.collect();
            // They are sets.
            robots_destroyed.reverse();
            let blocks_destroyed: Vec<_> = blast.blocks().collect();
            destroyed.extend(robots_destroyed.iter().copied());
            gone.extend_from_slice(&blocks_destroyed);
            events.push(Event::BombExploded { id, robots_destroyed, blocks_destroyed });
        }
        for position in gone {
            board.remove_block(position);
        }
        for (id, robot) in PlayerId::all().zip(&mut robots) {
            if destroyed.contains(&id) {
                *robot = dice.field(&board);
                events.push(Event::PlayerMoved { id, position: *robot });
                continue;
            }
            match dice.below(10) {
                0..=4 => {
                    let id = BombId(next);
                    next = next.wrapping_sub(7);
                    bombs.push((id, *robot, turn.saturating_add(parameters.bomb_timer)));
                    events.push(Event::BombPlaced { id, position: *robot });
                }
                5 | 6 if board.put_block(*robot) => events.push(Event::BlockPlaced { position: *robot }),
                roll => {
                    let way = Direction::ALL.get(usize::from(roll) % 4).copied().unwrap_or(Direction::Up);
                    if let Some(to) = board.step(*robot, way).filter(|&to| !board.is_block(to)) {
                        *robot = to;
                        events.push(Event::PlayerMoved { id, position: to });
                    }
                }
            }
        }
        messages.push(ServerMessage::Turn { turn, events });
    }
    messages
}
