//! Those whom the server has let in, and what each of them may still be sent.

use alloc::string::String;
use bytes::Bytes;
use netcore::{Digest, Framing, Link, Outbox, PeerId, Time};
use serde::{Deserialize, Serialize};

use super::{
    facts,
    facts::{change, fold, hash, toggle},
    pacing::{Allowance, DRAWN, SHOWN, UNPROVEN, WELCOMES},
};
use crate::{game::PlayerId, protocol::MAX_DATAGRAM};

/// As what a seat was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Role {
    Player(PlayerId),
    /// The one who came by SPECTATE; the next one takes the place.
    Spectator,
    /// One whom the shell let in to look on.
    Watcher,
}

/// Why a picture is sent. What is owed for both reasons is owed for the later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Cause {
    /// The peer's own message.
    Own,
    /// What somebody else has done.
    Others,
}

/// Somebody who has not been let in yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stranger {
    pub(super) address: String,
    pub(super) link: Link,
}

impl Stranger {
    /// Adds it to a digest, or takes it away.
    pub(super) fn toggle(&self, digest: &mut Digest, peer: PeerId) {
        toggle(digest, facts::STRANGER, peer, fold(hash(self.address.as_bytes()), number(self.link)));
    }
}

/// Somebody who has been let in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    pub(super) role: Role,
    pub(super) link: Link,
    pub(super) address: String,
    // What follows is changed here only, since it stands in the digest. Whether a KEY came from there:
    pub(super) proven: bool,
    pub(super) last_key: Time,
    unproven: Allowance,
    drawn: Allowance,
    welcomes: Allowance,
    shown: Allowance,
    // A DISPLAY that had to wait; the newest is sent once it may.
    pub(super) owed: Option<Cause>,
}

impl Seat {
    pub(super) fn new(now: Time, peer: PeerId, role: Role, stranger: Stranger) -> Self {
        let Stranger { address, link } = stranger;
        Self {
            peer,
            role,
            link,
            address,
            proven: false,
            last_key: now,
            unproven: Allowance::new(facts::UNPROVEN, UNPROVEN, now),
            drawn: Allowance::new(facts::DRAWN, DRAWN, now),
            welcomes: Allowance::new(facts::WELCOMES, WELCOMES, now),
            shown: Allowance::new(facts::SHOWN, SHOWN, now),
            owed: None,
        }
    }

    /// Whether its budgets are those of a seat; a recorded one may have any.
    pub(super) fn has_the_budgets(&self) -> bool {
        self.unproven.is(facts::UNPROVEN, UNPROVEN)
            && self.drawn.is(facts::DRAWN, DRAWN)
            && self.welcomes.is(facts::WELCOMES, WELCOMES)
            && self.shown.is(facts::SHOWN, SHOWN)
    }

    /// Adds it to a digest, or takes it away.
    pub(super) fn toggle(&self, digest: &mut Digest) {
        let role = match self.role {
            Role::Player(PlayerId(id)) => id.into(),
            Role::Spectator => 0x100,
            Role::Watcher => 0x101,
        };
        let seated = fold(fold(hash(self.address.as_bytes()), number(self.link)), role);
        let facts = [
            (facts::SEATED, seated),
            (facts::PROVEN, self.proven.into()),
            (facts::LAST_KEY, self.last_key.as_nanos()),
            (facts::OWED, owed_number(self.owed)),
            self.unproven.fact(),
            self.drawn.fact(),
            self.welcomes.fact(),
            self.shown.fact(),
        ];
        for (what, value) in facts {
            toggle(digest, what, self.peer, value);
        }
    }

    pub(super) const fn framing(&self) -> Framing {
        self.link.framing()
    }

    /// Takes in that a KEY came; `timed` if it matters when.
    pub(super) fn key(&mut self, now: Time, timed: bool, digest: &mut Digest) {
        change(digest, facts::PROVEN, self.peer, self.proven.into(), true.into());
        self.proven = true;
        if timed {
            self.begin(now, digest);
        }
    }

    /// Restarts the idle timer because the game begins.
    pub(super) fn begin(&mut self, now: Time, digest: &mut Digest) {
        change(digest, facts::LAST_KEY, self.peer, self.last_key.as_nanos(), now.as_nanos());
        self.last_key = now;
    }

    /// Whether `bytes` may be sent, and if so, that they are.
    pub(super) fn pay(&mut self, now: Time, cause: Cause, bytes: u32, digest: &mut Digest) -> bool {
        let peer = self.peer;
        self.allowance(cause).is_none_or(|allowance| allowance.take(now, bytes, (digest, peer)))
    }

    /// Counts `bytes` that are sent whatever the budgets.
    pub(super) fn charge(&mut self, now: Time, bytes: u32, digest: &mut Digest) {
        let peer = self.peer;
        if self.link == Link::Datagram && self.proven {
            self.drawn.charge(now, bytes, (digest, peer));
        }
    }

    /// Whether the joining messages may be sent once more, and if so, that they are.
    pub(super) fn welcome_again(&mut self, now: Time, digest: &mut Digest) -> bool {
        self.link != Link::Datagram || self.welcomes.take(now, 1, (digest, self.peer))
    }

    /// Whether a move of this player is shown to the others at once.
    pub(super) fn is_shown(&mut self, now: Time, digest: &mut Digest) -> bool {
        self.shown.take(now, 1, (digest, self.peer))
    }

    /// Sends a DISPLAY if the budget allows; otherwise it is owed, and the answer is when to try again.
    pub(super) fn show(
        &mut self,
        now: Time,
        cause: Cause,
        frame: Bytes,
        (out, digest): (&mut Outbox, &mut Digest),
    ) -> Option<Time> {
        let bytes = length(&frame);
        if self.pay(now, cause, bytes, digest) {
            self.set_owed(None, digest);
            out.send(self.peer, frame);
            return None;
        }
        self.owe(cause, digest);
        self.allowance(cause).and_then(|allowance| allowance.ready_at(now, bytes))
    }

    /// A DISPLAY has to wait.
    pub(super) fn owe(&mut self, cause: Cause, digest: &mut Digest) {
        self.set_owed(self.owed.max(Some(cause)), digest);
    }

    // What is paid from. Nobody can forge the address of a stream, and what others do is paid for by them.
    const fn allowance(&mut self, cause: Cause) -> Option<&mut Allowance> {
        match (self.link, self.proven, cause) {
            (Link::Stream | Link::Message, ..) | (Link::Datagram, true, Cause::Others) => None,
            (Link::Datagram, true, Cause::Own) => Some(&mut self.drawn),
            (Link::Datagram, false, _) => Some(&mut self.unproven),
        }
    }

    pub(super) fn set_owed(&mut self, owed: Option<Cause>, digest: &mut Digest) {
        change(digest, facts::OWED, self.peer, owed_number(self.owed), owed_number(owed));
        self.owed = owed;
    }
}

const fn number(link: Link) -> u64 {
    match link {
        Link::Datagram => 0,
        Link::Stream => 1,
        Link::Message => 2,
    }
}

const fn owed_number(owed: Option<Cause>) -> u64 {
    match owed {
        None => 0,
        Some(Cause::Own) => 1,
        Some(Cause::Others) => 2,
    }
}

/// Bytes of a message, as budgets count them.
pub(super) fn length(frame: &Bytes) -> u32 {
    debug_assert!(frame.len() <= MAX_DATAGRAM + 4, "every message fits a datagram, its length not counted");
    u32::try_from(frame.len()).unwrap_or(u32::MAX)
}
