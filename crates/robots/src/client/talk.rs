//! The interface of a client to its driver: the server's bytes and the user's inputs go in, messages come out.

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Time};

use super::Client;
use crate::{
    incoming::{Incoming, Malformed},
    messages::{InputMessage, ServerMessage},
    protocol::encode,
};

/// The most messages that wait to be taken. Beyond that a new one replaces the newest, since only the last action of a turn
/// counts.
pub const MAX_OUTGOING: usize = 64;

impl Client {
    /// Appends a piece of the server's stream, without decoding it.
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.over {
            self.incoming.buffer().extend_from_slice(bytes);
        }
    }

    /// Decodes the next message, to be passed to [`Client::message`]; `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`Malformed`] if the bytes are no message. The stream cannot be decoded any further after that.
    pub fn next_message(&mut self) -> Result<Option<ServerMessage>, Malformed> {
        if self.over {
            return Ok(None);
        }
        let message = self.incoming.next_message();
        if message.is_err() {
            self.end();
        }
        message
    }

    /// The received part of the server's stream.
    pub const fn incoming(&self) -> &Incoming {
        &self.incoming
    }

    fn end(&mut self) {
        self.over = true;
        self.outgoing.clear();
    }
}

/// Nothing depends on the time: only the server has a clock.
impl netcore::Client for Client {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, _now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.feed(bytes);
        while let Some(message) = self.next_message()? {
            let _ = self.message(message);
        }
        Ok(())
    }

    /// In the lobby any input joins.
    fn act(&mut self, _now: Time, input: InputMessage) {
        if self.over {
            return;
        }
        let message = self.answer(input);
        if self.outgoing.len() == MAX_OUTGOING {
            self.outgoing.pop_back();
        }
        self.outgoing.push_back(message);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        let message = self.outgoing.pop_front()?;
        let mut frame = BytesMut::new();
        encode(&message, &mut frame);
        Some(frame.freeze())
    }

    fn deadline(&self, _now: Time) -> Option<Time> {
        None
    }

    fn elapsed(&mut self, _now: Time) {}

    fn disconnected(&mut self, _now: Time, _why: Gone) {
        self.end();
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
