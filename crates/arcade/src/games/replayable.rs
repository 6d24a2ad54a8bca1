//! Marks on a timeline follow from the states of a game before and after an arrival.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Protocol, Recorded};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relevance {
    Round,
    /// Until the end of the match: the result of a round.
    Match,
    /// Until the next round, as the first message of its round.
    RoundStart,
}

pub(crate) trait Replayable:
    Recorded<Protocol: Protocol<Decoder: Sync>> + Clone + Send + Sync + 'static
{
    /// The part of the state that is compared.
    type Probe;

    /// The engine can send only the present round to a page that starts at an arbitrary position.
    const HAS_ROUNDS: bool = false;

    /// `real` returns the name of a player by that in messages of the game.
    fn probe(&self, real: impl Fn(&str) -> String) -> Self::Probe;

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)>;

    /// For pages that start after the message, in a game that [has rounds](Self::HAS_ROUNDS).
    fn relevance(_frame: &Bytes) -> Relevance {
        Relevance::Round
    }

    /// The day of the puzzle of a match that begins at this time of its room, in days since 1970. The messages to
    /// players are hidden until that day is over.
    fn day(_setup: &Self::Setup, _begins: Duration) -> Option<u32> {
        None
    }

    /// A message in its form on a WebSocket.
    fn frame(bytes: &Bytes) -> Bytes {
        bytes.clone()
    }
}
