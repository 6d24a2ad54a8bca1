//! A server as its shell sees it: bytes in, outputs out.

use alloc::boxed::Box;
use bytes::BytesMut;

use crate::{Admission, DecodeError, Gone, Leave, Link, Outbox, Outcome, PeerId, Role, Status, Time};

/// Everything that can reach a room.
#[derive(Debug)]
pub enum RoomInput<'a> {
    /// A peer is there; its bytes follow.
    Connected {
        /// The new peer, whose number was never given before.
        peer: PeerId,
        /// What it may do.
        role: Role,
        /// How it is connected.
        link: Link,
        /// Its address as `1.2.3.4:5` or `[::1]:5`.
        address: &'a str,
    },
    /// Bytes that arrived. A room takes at most one message off their front; what it leaves is handed in again.
    Bytes {
        /// Their sender.
        peer: PeerId,
        /// On a stream whatever has arrived and was not taken yet, otherwise one whole message.
        bytes: &'a mut BytesMut,
    },
    /// The peer has lost track: tell it all that it may know.
    Refresh {
        /// Who is to be told.
        peer: PeerId,
    },
    /// A peer is gone; see [`Input::Disconnected`](crate::Input::Disconnected).
    Disconnected {
        /// Who it was.
        peer: PeerId,
        /// Why.
        why: Gone,
    },
    /// The time that [`Room::deadline`] asked for has come.
    Elapsed,
    /// The server is being shut down.
    Stop(Leave),
}

/// What became of the bytes that were handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A message was taken off their front, or the input carried no bytes. There may be more in what is left.
    Decoded,
    /// They are the front of a message: nothing was taken, and more has to arrive first.
    Incomplete,
    /// They are no message, and all of them were thrown away. On a stream nothing more is taken from this peer.
    Malformed(DecodeError),
    /// Nobody listens to this peer any more; all of them were thrown away.
    Unheard,
}

/// A server without its sockets, in bytes: what a shell, a journal, a replay and a simulation drive.
///
/// A room is as deterministic as the [`Engine`](crate::Engine) in it: same inputs at the same times in the same order, same
/// outputs. It is object safe, so that one shell can host different games.
pub trait Room {
    /// Takes in one input and puts what follows from it into `out`. `now` never goes back.
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress;

    /// What a datagram from an address that is no peer may cause. Looks only: nothing changes.
    fn admits(&self, datagram: &[u8]) -> Admission;

    /// The most bytes of an unfinished message that may have to be kept.
    fn max_message(&self) -> usize;

    /// When [`RoomInput::Elapsed`] is wanted; see [`Engine::deadline`](crate::Engine::deadline).
    fn deadline(&self) -> Option<Time>;

    /// How it ended; `None` while there is something to do. After that no input has an effect.
    fn outcome(&self) -> Option<Outcome>;

    /// A fingerprint of the state; see [`Engine::digest`](crate::Engine::digest).
    fn digest(&self) -> u64;

    /// What a lobby shows.
    fn status(&self) -> Status;
}

impl<R: Room + ?Sized> Room for Box<R> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        (**self).input(now, input, out)
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        (**self).admits(datagram)
    }

    fn max_message(&self) -> usize {
        (**self).max_message()
    }

    fn deadline(&self) -> Option<Time> {
        (**self).deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        (**self).outcome()
    }

    fn digest(&self) -> u64 {
        (**self).digest()
    }

    fn status(&self) -> Status {
        (**self).status()
    }
}
