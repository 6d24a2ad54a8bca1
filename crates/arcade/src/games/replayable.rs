//! Marks on a timeline follow from the states of a game before and after an arrival.

use std::time::Duration;

use ::games::Describe;
use bytes::Bytes;
use netcore::{Protocol, Recorded};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relevance {
    Round,
    /// The result of a round: until the end of the match.
    Match,
    /// The first message of a round: until the next round.
    RoundStart,
}

/// An event on a timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Change {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
    /// The player, if pages describe events of this kind in their own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The number of collected nuggets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) count: Option<u32>,
}

impl Change {
    pub(crate) fn new(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), name: None, count: None }
    }
}

pub(crate) trait Replayable:
    Recorded<Protocol: Protocol<Decoder: Sync>> + Describe + Clone + Send + Sync + 'static
{
    /// The part of the state that is compared.
    type Probe;

    /// Whether the game has rounds, and its engine can send only the present one to a page that starts later.
    const HAS_ROUNDS: bool = false;

    /// `real` maps names in messages of the game to names of players.
    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe;

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change>;

    /// For pages that start after the message, in a game that [has rounds](Self::HAS_ROUNDS).
    fn relevance(_frame: &Bytes) -> Relevance {
        Relevance::Round
    }

    /// The day of a puzzle that begins at this time of its room, in days since 1970. Messages to players are hidden
    /// until that day is over.
    fn day(_setup: &Self::Setup, _begins: Duration) -> Option<u32> {
        None
    }

    /// Whether a player is expected to react to the message, which is in the form of [`Self::frame`].
    fn is_request(_frame: &Bytes) -> bool {
        true
    }

    /// A message in its form on a WebSocket.
    fn frame(bytes: &Bytes) -> Bytes {
        bytes.clone()
    }
}
