//! A server at the level of bytes.

use alloc::boxed::Box;
use bytes::BytesMut;

use crate::{Admission, DecodeError, Gone, Leave, Link, Outbox, Outcome, PeerId, Role, Status, Time};

/// An input of a room.
#[derive(Debug)]
pub enum RoomInput<'a> {
    /// A peer connected. Its bytes follow.
    Connected {
        /// The new peer, with a number that was never used before.
        peer: PeerId,
        /// What it may do.
        role: Role,
        /// How it is connected.
        link: Link,
        /// Its address as `1.2.3.4:5` or `[::1]:5`.
        address: &'a str,
    },
    /// Bytes that arrived. A room takes at most one message off their front; the rest is passed in again.
    Bytes {
        /// Their sender.
        peer: PeerId,
        /// On a stream, everything that has arrived and was not taken yet; otherwise one whole message.
        bytes: &'a mut BytesMut,
    },
    /// The peer lost its state: send it everything that it may know.
    Refresh {
        /// The peer to update.
        peer: PeerId,
    },
    /// A peer disconnected; see [`Input::Disconnected`](crate::Input::Disconnected).
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// Why.
        why: Gone,
    },
    /// The time returned by [`Room::deadline`] has come.
    Elapsed,
    /// The server is being shut down.
    Stop(Leave),
}

/// What a room did with the bytes of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It took one message off their front, or the input had no bytes. The rest may contain more messages.
    Decoded,
    /// They are the start of a message: nothing was taken, and more bytes are needed.
    Incomplete,
    /// They are not a message, and all of them were discarded. On a stream the room accepts nothing more from this
    /// peer.
    Malformed(DecodeError),
    /// The room does not listen to this peer any more, and all of them were discarded.
    Ignored,
}

/// A server without sockets, at the level of bytes. Shells, journals, replays and simulations drive it.
///
/// A room is as deterministic as its [`Engine`](crate::Engine). It is object safe, so that one shell can host different
/// games.
pub trait Room {
    /// Processes one input and appends the resulting outputs to `out`. `now` never goes back.
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress;

    /// What a datagram from an unknown address may cause. Changes nothing.
    fn admits(&self, datagram: &[u8]) -> Admission;

    /// The most bytes of an unfinished message that have to be buffered.
    fn max_message(&self) -> usize;

    /// When [`RoomInput::Elapsed`] is due; see [`Engine::deadline`](crate::Engine::deadline).
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. After that inputs have no effect.
    fn outcome(&self) -> Option<Outcome>;

    /// A hash of the state; see [`Engine::digest`](crate::Engine::digest).
    fn digest(&self) -> u64;

    /// The summary that a lobby shows.
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
