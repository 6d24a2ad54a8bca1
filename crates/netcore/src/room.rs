//! A server at the level of bytes.

use bytes::{Buf, BytesMut};

use crate::{Admission, DecodeError, Input, Outbox, Outcome, PeerId, Status, Time};

/// The content at the front of a peer's bytes; see [`Room::split`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// A message of this many bytes, which may still be malformed.
    Message(usize),
    /// Not a message: an [`Input::Malformed`] follows, and all bytes are discarded.
    Malformed(DecodeError),
    /// The start of a message.
    Incomplete,
    /// The room accepts no more input from this peer, and all bytes are discarded.
    Ignored,
}

/// How a room handled an input, or the bytes of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The input was processed. More messages may follow in the bytes.
    Decoded,
    /// The bytes are the start of a message and remain in the buffer.
    Incomplete,
    /// Not a message: all bytes were discarded, and a stream accepts no more input.
    Malformed(DecodeError),
    /// The room has ended or accepts no more input from this peer; all bytes were discarded.
    Ignored,
}

/// An [`Engine`](crate::Engine) at the level of bytes: as deterministic, and object safe, so that one shell can host
/// different games.
pub trait Room {
    /// Finds the end of the first message in `bytes`, which is all untaken input from this peer on a stream, and one
    /// whole message on other links.
    ///
    /// Does not change the state, so recordings do not contain it. The caller passes the result to [`Room::input`]:
    /// exactly the bytes of the message, or an [`Input::Malformed`]. [`Room::receive`] does both.
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split;

    /// Processes one input and appends the outputs to `out`. `now` never decreases.
    ///
    /// A malformed message has the effect of an [`Input::Malformed`].
    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress;

    /// Takes and processes at most one message from `bytes`.
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

    /// Why the server ended; `None` while it runs. Later inputs have no effect.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary for a lobby.
    fn status(&self) -> Status;
}
