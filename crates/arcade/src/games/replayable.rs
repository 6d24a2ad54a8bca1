//! Marks on a timeline follow from the states of a game before and after an arrival.

use std::time::Duration;

use ::games::Describe;
use bytes::Bytes;
use netcore::{Protocol, Recorded};
use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relevance {
    Round,
    /// Until the end of the match: the result of a round.
    Match,
    /// Until the next round, as the first message of its round.
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

    /// The engine can send only the present round to a page that starts at an arbitrary position.
    const HAS_ROUNDS: bool = false;

    /// `real` returns the name of a player by that in messages of the game.
    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe;

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<Change>;

    /// For pages that start after the message, in a game that [has rounds](Self::HAS_ROUNDS).
    fn relevance(_frame: &Bytes) -> Relevance {
        Relevance::Round
    }

    /// The day of the puzzle of a match that begins at this time of its room, in days since 1970. The messages to
    /// players are hidden until that day is over.
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
