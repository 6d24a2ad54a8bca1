//! What a client may be sent away for.

use alloc::{format, string::String};
use core::fmt;
use netcore::{DecodeError, Outbox, PeerId, Severity};

use super::note;
use crate::protocol::{Name, PlayerMessage};

/// What a client should not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It sent something that is no message, or not in time for anything.
    Malformed(DecodeError),
    /// It sent a message that nothing had asked for.
    OutOfTurn(PlayerMessage),
    /// It did not join in time.
    NoJoin,
    /// It did not answer in time.
    NoAnswer,
}

impl Fault {
    /// Tells the log that somebody is sent away for this.
    pub(crate) fn tell(&self, peer: PeerId, name: Option<&Name>, out: &mut Outbox) {
        let who = name.map_or_else(String::new, |name| format!("{name} "));
        note(out, Severity::Warning, Some(peer), format!("{who}is sent away: {self}"));
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(why) => write!(f, "{why}"),
            Self::OutOfTurn(message) => write!(f, "{message} was not asked for"),
            Self::NoJoin => f.write_str("no JOIN in time"),
            Self::NoAnswer => f.write_str("no answer in time"),
        }
    }
}
