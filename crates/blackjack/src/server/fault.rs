//! Why a client is sent away, and lines of the log.

use alloc::{format, string::String};
use core::fmt;
use netcore::{DecodeError, GameEvent, Outbox, PeerId, Severity};

use crate::{name::Name, protocol::PlayerMessage};

/// A violation of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Bytes that are no message.
    Malformed(DecodeError),
    /// A message that was not asked for.
    OutOfTurn(PlayerMessage),
    /// It did not join in time.
    NoJoin,
    /// It did not answer in time.
    NoAnswer,
}

impl Fault {
    /// Logs that a client is sent away, and why.
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

pub(crate) fn note(out: &mut Outbox, severity: Severity, peer: Option<PeerId>, text: String) {
    out.event(GameEvent::Notice { severity, peer, text });
}
