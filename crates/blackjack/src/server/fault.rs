//! Why a client is sent away, and lines of the log.

use alloc::{format, string::String};
use netcore::{DecodeError, GameEvent, Outbox, PeerId, Severity};
use thiserror::Error;

use crate::{name::Name, protocol::PlayerMessage};

/// A violation of the protocol.
#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Malformed(DecodeError),
    #[error("{0} was not asked for")]
    OutOfTurn(PlayerMessage),
    #[error("no JOIN in time")]
    NoJoin,
    #[error("no answer in time")]
    NoAnswer,
}

impl Fault {
    /// Logs that a client is sent away, and why.
    pub(crate) fn tell(&self, peer: PeerId, name: Option<&Name>, out: &mut Outbox) {
        let who = name.map_or_else(String::new, |name| format!("{name} "));
        note(out, Severity::Warning, Some(peer), format!("{who}is sent away: {self}"));
    }
}

pub(crate) fn note(out: &mut Outbox, severity: Severity, peer: Option<PeerId>, text: String) {
    out.event(GameEvent::Notice { severity, peer, text });
}
