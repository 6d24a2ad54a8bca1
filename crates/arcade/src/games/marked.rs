//! What is worth a mark on a timeline: what a game's state shows before and after an arrival.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Protocol, Recorded};

/// How long a message counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lasts {
    /// Until the next round.
    ForItsRound,
    /// Until the end of the match: the result of a round.
    ForEver,
    /// Until the next round, which it is the first message of.
    AsTheFirst,
}

/// An engine whose matches can be shown again.
pub(crate) trait Marked: Recorded<Protocol: Protocol<Decoder: Sync>> + Clone + Send + Sync + 'static {
    /// What is compared.
    type Probe;

    /// Whether a match has rounds, of which the engine can tell only the present one to a page that begins anywhere.
    const HAS_ROUNDS: bool = false;

    /// The present state.
    fn probe(&self) -> Self::Probe;

    /// What happened between two states, as kinds and words.
    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)>;

    /// What a message means for pages that begin after it, in a game that [has rounds](Self::HAS_ROUNDS).
    fn lasts(_frame: &Bytes) -> Lasts {
        Lasts::ForItsRound
    }

    /// The day of the puzzle of a match that begins at this time of its room, in days since 1970, if it has one. What a player sees is
    /// hidden until that day is over.
    fn day(_setup: &Self::Setup, _begins: Duration) -> Option<u32> {
        None
    }

    /// A message as it is sent over a WebSocket, in case it was sent in another form.
    fn frame(bytes: &Bytes) -> Bytes {
        bytes.clone()
    }
}
