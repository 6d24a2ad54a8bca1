//! Turn 0, which places the robots and the blocks.

use std::collections::BTreeSet;

use robots::{Board, Event, Parameters, PlayerId, Position};

use super::rules::{DRAWS, NOT_RESET, TURN_0};
use crate::{
    judge::{Judge, Played},
    robots::{draws::Draws, show},
};

/// A game after turn 0.
pub(super) struct Start {
    pub(super) board: Board,
    /// Of the robots.
    pub(super) positions: Vec<Position>,
    /// The generator after turn 0, if its seed is known.
    pub(super) draws: Option<Draws>,
}

/// Judges turn 0. `blocks` and `draws` are those of a server whose options are known, `first` whether it is its first game.
pub(super) fn judged(
    judge: &mut Judge,
    parameters: &Parameters,
    (blocks, draws, first): (Option<u16>, Option<Draws>, bool),
    events: &[Event],
) -> Played<Start> {
    let mut board = Board::new(parameters.size_x, parameters.size_y);
    let mut positions = vec![];
    for (index, event) in events.iter().enumerate() {
        let told = || format!("event {index} of turn 0 is {}", show::event(event));
        let right = match event {
            Event::PlayerMoved { id, position } => {
                let due = usize::from(id.0) == positions.len() && positions.len() < parameters.players_count.into();
                positions.push(*position);
                due && index + 1 == positions.len() && board.contains(*position)
            }
            Event::BlockPlaced { position } => board.put_block(*position),
            Event::BombPlaced { .. } | Event::BombExploded { .. } => false,
        };
        judge.require(&TURN_0, right, || {
            let Parameters { size_x, size_y, players_count, .. } = parameters;
            format!(
                "{}; a PlayerMoved for each of {players_count} players by id and then a BlockPlaced for each block would be \
                 right, on a board of {size_x} x {size_y} and no block twice",
                told()
            )
        })?;
    }
    let count = board.blocks().len();
    judge.require(&TURN_0, positions.len() == usize::from(parameters.players_count), || {
        format!("turn 0 places {} of {} players", positions.len(), parameters.players_count)
    })?;
    judge.require(&TURN_0, blocks.is_none_or(|blocks| count <= usize::from(blocks)), || {
        format!("turn 0 has {count} blocks, and initial-blocks is {}", blocks.unwrap_or(0))
    })?;
    let draws = match (draws, blocks) {
        (Some(draws), Some(blocks)) => Some(drawn(judge, &board, &positions, blocks, draws, first, events)?),
        _ => None,
    };
    Ok(Start { board, positions, draws })
}

// Whether turn 0 is what the generator draws.
fn drawn(
    judge: &mut Judge,
    board: &Board,
    positions: &[Position],
    blocks: u16,
    mut draws: Draws,
    first: bool,
    events: &[Event],
) -> Played<Draws> {
    let mut right = vec![];
    for (id, _) in PlayerId::all().zip(positions) {
        right.push(Event::PlayerMoved { id, position: draws.field(board) });
    }
    let mut seen = BTreeSet::new();
    for _ in 0..blocks {
        let position = draws.field(board);
        if seen.insert(position) {
            right.push(Event::BlockPlaced { position });
        }
    }
    let rule = if first { &DRAWS } else { &NOT_RESET };
    judge.require(rule, events == right, || {
        let place = events.iter().zip(&right).take_while(|(told, right)| told == right).count();
        let from = |list: &[Event]| show::events(list.iter().skip(place).take(3));
        format!("turn 0 has from event {place} on {}; {} would be right", from(events), from(&right))
    })?;
    Ok(draws)
}
