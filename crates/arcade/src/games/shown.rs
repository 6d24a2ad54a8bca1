//! What pages of a room are told of its game besides the messages: the scores so far, and the hand of a dealer whose round is over.

use std::collections::BTreeMap;

use netcore::Engine;
use serde::Serialize;

/// What pages of a room are told of its game.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Show {
    /// The scores so far by seat, in the unit of the game's results.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) scores: BTreeMap<String, i64>,
    /// Whether so much of the match is decided that a newcomer can hardly win it.
    pub(crate) late: bool,
    /// The dealer's hands of the rounds that were over last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) dealers: Vec<Dealer>,
}

/// The dealer's hand of the round that was over last at a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Dealer {
    /// The number of the table.
    pub(crate) table: u32,
    /// The number of the round, from 1.
    pub(crate) round: u32,
    /// Its cards as the wire names them, the hole card first.
    pub(crate) cards: Vec<&'static str>,
}

/// An engine whose rooms tell pages of their game.
pub(crate) trait Shown: Engine {
    /// A number that is another one whenever [`show`](Self::show) is. It is asked for after every input.
    fn version(&self) -> u64 {
        0
    }

    /// What is told. A game in which the wire tells everybody the scores has nothing to add.
    fn show(&self) -> Show {
        Show::default()
    }
}
