use robots::{BombId, Event, Player, PlayerId, Position, ServerMessage};

use crate::table::text;

pub(crate) fn at(x: u16, y: u16) -> Position {
    Position::new(x, y)
}

pub(crate) fn id(number: u8) -> PlayerId {
    PlayerId(number)
}

pub(crate) fn player(name: &str, address: &str) -> Player {
    Player { name: text(name), address: text(address) }
}

pub(crate) fn accepted(number: u8, name: &str, address: &str) -> ServerMessage {
    ServerMessage::AcceptedPlayer { id: id(number), player: player(name, address) }
}

pub(crate) fn turn(turn: u16, events: &[Event]) -> ServerMessage {
    ServerMessage::Turn { turn, events: events.to_vec() }
}

pub(crate) fn moved(number: u8, x: u16, y: u16) -> Event {
    Event::PlayerMoved { id: id(number), position: at(x, y) }
}

pub(crate) fn bomb(number: u32, x: u16, y: u16) -> Event {
    Event::BombPlaced { id: BombId(number), position: at(x, y) }
}

pub(crate) fn block(x: u16, y: u16) -> Event {
    Event::BlockPlaced { position: at(x, y) }
}

pub(crate) fn boom(number: u32, robots: &[u8], blocks: &[Position]) -> Event {
    Event::BombExploded {
        id: BombId(number),
        robots_destroyed: robots.iter().copied().map(PlayerId).collect(),
        blocks_destroyed: blocks.to_vec(),
    }
}
