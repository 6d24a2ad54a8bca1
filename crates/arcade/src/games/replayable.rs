//! Marks on a timeline: the events that follow from the states of a game before and after an arrival.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Protocol, Recorded};

/// How long a message stays relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relevance {
    /// Until the next round.
    Round,
    /// Until the end of the match: the result of a round.
    Match,
    /// Until the next round; it is the first message of its round.
    RoundStart,
}

/// An engine whose matches can be replayed.
pub(crate) trait Replayable:
    Recorded<Protocol: Protocol<Decoder: Sync>> + Clone + Send + Sync + 'static
{
    /// The part of the state that is compared.
    type Probe;

    /// Whether a match has rounds. The engine can send only the present round to a page that starts at an arbitrary
    /// position.
    const HAS_ROUNDS: bool = false;

    /// The present state.
    fn probe(&self) -> Self::Probe;

    /// The events between two states, as kinds and descriptions.
    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)>;

    /// How long a message stays relevant for pages that start after it, in a game that
    /// [has rounds](Self::HAS_ROUNDS).
    fn relevance(_frame: &Bytes) -> Relevance {
        Relevance::Round
    }

    /// The day of the puzzle of a match that begins at this time of its room, in days since 1970, if it has one. The
    /// messages to players are hidden until that day is over.
    fn day(_setup: &Self::Setup, _begins: Duration) -> Option<u32> {
        None
    }

    /// Converts a message to its form on a WebSocket.
    fn frame(bytes: &Bytes) -> Bytes {
        bytes.clone()
    }
}
