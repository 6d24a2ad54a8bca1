//! What pages of a room are told of its game besides the messages: the scores so far, and the hand of a dealer whose round is over.

use std::collections::BTreeMap;

use bytes::Bytes;
use netcore::Engine;
use serde::Serialize;

use super::counts::Casual;

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

    /// A message to somebody who only looks on, without what no player has found; none if nothing in it has to be found.
    fn veiled(&self, _frame: &Bytes) -> Option<Bytes> {
        None
    }

    /// What somebody who comes now to look on is told, as far as it is a complete picture by itself. None if all that happened before
    /// belongs to it.
    fn overview(&self) -> Option<Vec<Bytes>> {
        None
    }

    /// The messages to a watcher who may not see anything of the match yet. None in a game without [`overview`](Self::overview).
    fn prelude(&self) -> Option<Vec<Bytes>> {
        None
    }

    /// Whether whoever is told the second of these messages has missed nothing without the first.
    fn supersedes(_before: &Bytes, _after: &Bytes) -> bool {
        false
    }

    /// Why the game with this number, which is just over, does not count as others of its room do.
    fn odd(&self, _game: u32) -> Option<Casual> {
        None
    }

    /// Whether a match that an earlier version has begun may go on.
    fn is_current(&self) -> bool {
        true
    }
}
