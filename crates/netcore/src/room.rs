//! A server at the level of bytes.

use bytes::{Buf, BytesMut};

use crate::{Admission, DecodeError, Input, Outbox, Outcome, PeerId, Status, Time};

/// The content at the front of the bytes of a peer; see [`Room::split`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// A message of this many bytes. Decoding may still find that it is malformed.
    Message(usize),
    /// Not a message: an [`Input::Malformed`] follows, and all bytes are discarded.
    Malformed(DecodeError),
    /// The start of a message.
    Incomplete,
    /// The room no longer accepts input from this peer, and all bytes are discarded.
    Ignored,
}

/// How a room handled an input, or the bytes of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The input was processed. The bytes behind it may contain more messages.
    Decoded,
    /// The bytes are the start of a message and remain in the buffer.
    Incomplete,
    /// Not a message: all bytes were discarded. A stream accepts no further input from this peer.
    Malformed(DecodeError),
    /// The room has ended or no longer accepts input from this peer, and all bytes were discarded.
    Ignored,
}

/// An [`Engine`](crate::Engine) at the level of bytes: as deterministic, and object safe, so that one shell can host
/// different games.
pub trait Room {
    /// Finds the end of the message at the front of `bytes`. On a stream, `bytes` is all input from this peer that was
    /// not taken yet; on other links it is one whole message.
    ///
    /// This does not change the state, so a recording does not contain it. The caller passes the result to
    /// [`Room::input`]: exactly the bytes of the message, or an [`Input::Malformed`]. [`Room::receive`] does both.
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split;

    /// Processes one input and appends the outputs to `out`. `now` never goes back.
    ///
    /// A message that turns out to be malformed has the effect of an [`Input::Malformed`].
    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress;

    /// Takes at most one message off the front of `bytes` and processes it.
    fn receive(&mut self, now: Time, peer: PeerId, bytes: &mut BytesMut, out: &mut Outbox) -> Progress {
        let progress = match self.split(peer, bytes) {
            Split::Incomplete => return Progress::Incomplete,
            Split::Ignored => Progress::Ignored,
            Split::Malformed(why) => self.input(now, Input::Malformed { peer, why }, out),
            Split::Message(length) => {
                let length = length.min(bytes.len());
                let progress = self.input(now, Input::Message { peer, message: &bytes[..length] }, out);
                if progress == Progress::Decoded {
                    bytes.advance(length);
                    return progress;
                }
                progress
            }
        };
        bytes.clear();
        progress
    }

    /// The permitted effect of a datagram from an unknown address. Does not change the state.
    fn admits(&self, datagram: &[u8]) -> Admission;

    /// When [`Input::Elapsed`] is due; see [`Engine::deadline`](crate::Engine::deadline).
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. Inputs after that have no effect.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary that a lobby shows.
    fn status(&self) -> Status;
}
