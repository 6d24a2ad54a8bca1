//! The result of a game: the ranking of the players, and the table for the host.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt::Write;
use netcore::Standing;

use crate::{
    game::Game,
    protocol::{Player, PlayerId},
};

/// The players, the least often destroyed first. Equal scores share a rank and are ordered by number.
pub(super) fn standings(game: &Game, players: &BTreeMap<PlayerId, Player>) -> Vec<Standing> {
    let scores = players.iter().zip(game.robots()).map(|((id, player), robot)| (robot.score, id, player));
    let mut rows: Vec<_> = scores.collect();
    rows.sort_unstable_by_key(|&(score, id, _)| (score, id));
    let mut standings: Vec<Standing> = Vec::with_capacity(rows.len());
    for (place, (score, id, player)) in (1..).zip(rows) {
        let score = i64::from(score);
        let rank = standings.last().filter(|before| before.score == score).map_or(place, |before| before.rank);
        standings.push(Standing { rank, seat: id.0.to_string(), name: player.name.to_string(), score });
    }
    standings
}

/// A line about the game and a line for each player: rank, times destroyed, number, name.
///
/// Names come from players, so control characters are escaped.
pub(super) fn summary(number: u32, game: &Game, standings: &[Standing]) -> String {
    let (turn, length) = (game.turn(), game.length());
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = if game.is_over() {
        write!(text, "Game {number} is over after {length} turns")
    } else {
        write!(text, "Game {number} was stopped after {turn} of {length} turns")
    };
    text.push_str("\nrank  destroyed  player  name");
    for Standing { rank, seat, name, score } in standings {
        let _ = write!(text, "\n{rank:>4}  {score:>9}  {seat:>6}  {}", name.escape_debug());
    }
    text
}
