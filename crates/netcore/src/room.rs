//! A server at the level of bytes.

use bytes::{Buf, BytesMut};

use crate::{Admission, DecodeError, Input, Outbox, Outcome, PeerId, Status, Time};

/// What is at the front of the bytes of a peer; see [`Room::split`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// A message of so many bytes. They may still turn out to be malformed when they are decoded.
    Message(usize),
    /// They are not a message: an [`Input::Malformed`] follows, and all of them are discarded.
    Malformed(DecodeError),
    /// They are the start of a message, and more bytes are needed.
    Incomplete,
    /// The room does not listen to this peer any more, and all of them are discarded.
    Ignored,
}

/// What a room did with an input, or with the bytes of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It was processed. More messages may follow in the bytes behind it.
    Decoded,
    /// The bytes are the start of a message: nothing was taken, and more bytes are needed.
    Incomplete,
    /// The bytes are not a message, and all of them were discarded. On a stream the room accepts nothing more from this
    /// peer.
    Malformed(DecodeError),
    /// The room has ended or does not listen to this peer any more, and all bytes were discarded.
    Ignored,
}

/// A server without sockets, at the level of bytes. Shells, journals, replays and simulations drive it.
///
/// A room is as deterministic as its [`Engine`](crate::Engine): its inputs alone determine what it does. It is object
/// safe, so that one shell can host different games.
pub trait Room {
    /// Where the message ends that is at the front of `bytes`: on a stream everything from this peer that was not taken
    /// yet, otherwise one whole message.
    ///
    /// This does not change the state, so a recording does not contain it. The caller passes the answer to
    /// [`Room::input`]: the bytes of the message and nothing behind them, or an [`Input::Malformed`].
    /// [`Room::receive`] does both.
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split;

    /// Processes one input and appends the resulting outputs to `out`. `now` never goes back.
    ///
    /// If a message turns out to be malformed, this has the effect of an [`Input::Malformed`].
    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress;

    /// Takes at most one message off the front of `bytes` and processes it. The rest is to be passed in again.
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

    /// What a datagram from an unknown address may cause. Changes nothing.
    fn admits(&self, datagram: &[u8]) -> Admission;

    /// When [`Input::Elapsed`] is due; see [`Engine::deadline`](crate::Engine::deadline).
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. After that inputs have no effect.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary that a lobby shows.
    fn status(&self) -> Status;
}
