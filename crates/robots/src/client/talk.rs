//! A client to whoever drives it: the server's bytes and the user's inputs go in, messages come out.

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Time};

use super::Client;
use crate::{
    incoming::{Incoming, Malformed},
    messages::{InputMessage, ServerMessage},
    protocol::encode,
};

/// Messages that wait to be taken. Beyond that a new one takes the place of the newest: of a turn's actions no more than the
/// last counts anyway.
pub const MAX_OUTGOING: usize = 64;

impl Client {
    /// Puts a piece of the server's stream behind what has come, and does not look at it yet.
    pub fn feed(&mut self, bytes: &[u8]) {
        if !self.over {
            self.incoming.buffer().extend_from_slice(bytes);
        }
    }

    /// Takes the next message off what has come, to be given to [`Client::message`]; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`Malformed`] when the bytes are no message. The stream cannot be read on after that.
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

    /// What has come of the server's stream.
    pub const fn incoming(&self) -> &Incoming {
        &self.incoming
    }

    fn end(&mut self) {
        self.over = true;
        self.outgoing.clear();
    }
}

/// Nothing here depends on the time: the server has the only clock.
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

    /// In the lobby any input means that the user wants to play.
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
