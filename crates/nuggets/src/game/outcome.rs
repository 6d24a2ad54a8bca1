//! How a game has ended: who has how much, as a table and as ranks.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{cmp::Reverse, fmt::Write};
use netcore::Standing;

use super::{Game, Player};

impl Game {
    /// Who has won: all who ever joined, the fullest purse first. `None` while gold is left.
    pub fn outcome(&self) -> Option<Vec<Standing>> {
        self.is_over().then(|| self.standings())
    }

    /// The same for a game that may go on; equal purses share a rank.
    pub(crate) fn standings(&self) -> Vec<Standing> {
        let mut order: Vec<&Player> = self.players.iter().collect();
        // The sort is stable, so of equal purses the earlier letter comes first.
        order.sort_by_key(|player| Reverse(player.purse));
        let rank = |purse| order.iter().filter(|player| player.purse > purse).count() + 1;
        let row = |player: &&Player| Standing {
            rank: u32::try_from(rank(player.purse)).unwrap_or(u32::MAX),
            seat: player.letter.to_string(),
            name: player.name.to_string(),
            score: player.purse.into(),
        };
        order.iter().map(row).collect()
    }

    /// The table of the end: a row for each who joined, in order; letter, purse in ten columns, name. No newline behind
    /// the last.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for Player { letter, name, purse, .. } in &self.players {
            // Writing to a string cannot fail.
            let _ = write!(table, "{}{letter} {purse:>10} {name}", if table.is_empty() { "" } else { "\n" });
        }
        table
    }
}
