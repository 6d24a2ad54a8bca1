//! Messages and bytes as readable text of bounded length.

use std::{collections::BTreeMap, fmt::Debug};

use robots::{Event, PlayerId, Position, ServerMessage};

/// The longest text of a message, in characters.
const LONGEST: usize = 300;
const MOST_BYTES: usize = 32;

fn clipped(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

/// A field as `(2, 4)`.
pub(super) fn field(position: Position) -> String {
    format!("({}, {})", position.x, position.y)
}

/// Fields in brackets.
pub(super) fn fields<'a>(positions: impl IntoIterator<Item = &'a Position>) -> String {
    let fields: Vec<_> = positions.into_iter().map(|&position| field(position)).collect();
    clipped(format!("[{}]", fields.join(", ")))
}

pub(super) fn event(event: &Event) -> String {
    match event {
        Event::BombPlaced { id, position } => format!("BombPlaced {{ id: {}, position: {} }}", id.0, field(*position)),
        Event::BombExploded { id, robots_destroyed, blocks_destroyed } => {
            let robots: Vec<_> = robots_destroyed.iter().map(|id| id.0).collect();
            let blocks = fields(blocks_destroyed);
            let id = id.0;
            format!("BombExploded {{ id: {id}, robots_destroyed: {robots:?}, blocks_destroyed: {blocks} }}")
        }
        Event::PlayerMoved { id, position } => {
            format!("PlayerMoved {{ id: {}, position: {} }}", id.0, field(*position))
        }
        Event::BlockPlaced { position } => format!("BlockPlaced {{ position: {} }}", field(*position)),
    }
}

/// Events in brackets.
pub(super) fn events<'a>(list: impl IntoIterator<Item = &'a Event>) -> String {
    // A turn may have tens of thousands, of which only the first can be shown.
    let list: Vec<_> = list.into_iter().take(LONGEST).map(event).collect();
    clipped(format!("[{}]", list.join(", ")))
}

pub(super) fn message(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Turn { turn, events: list } => format!("Turn {{ turn: {turn}, events: {} }}", events(list)),
        ServerMessage::GameStarted { players } => clipped(format!("GameStarted {players:?}")),
        ServerMessage::GameEnded { scores } => clipped(format!("GameEnded {}", scores_of(scores))),
        other => value(other),
    }
}

/// Scores as `{0: 3, 1: 0}`.
pub(super) fn scores_of(scores: &BTreeMap<PlayerId, u32>) -> String {
    format!("{:?}", scores.iter().map(|(id, score)| (id.0, score)).collect::<BTreeMap<_, _>>())
}

pub(super) fn value(value: &impl Debug) -> String {
    clipped(format!("{value:?}"))
}

pub(super) fn bytes(bytes: &[u8]) -> String {
    let shown: Vec<_> = bytes.iter().take(MOST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    match bytes.len().saturating_sub(MOST_BYTES) {
        0 => format!("[{}]", shown.join(" ")),
        more => format!("[{} and {more} more]", shown.join(" ")),
    }
}
