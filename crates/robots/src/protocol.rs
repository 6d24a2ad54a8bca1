//! Messages off streams and out of datagrams.

use alloc::vec::Vec;
use bytes::{Buf, BytesMut};
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Decode, Encode, Reader, Writer, read_datagram, take_message},
};

use crate::messages::{
    ClientMessage, Event, MAX_CLIENT_MESSAGE, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, ServerMessage, TURN,
};

/// The messages that clients send to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Robots {}

impl Protocol for Robots {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX_CLIENT_MESSAGE;

    fn decode((): &mut (), buffer: &mut BytesMut, framing: Framing) -> Result<Option<ClientMessage>, DecodeError> {
        // No message of a client has a list.
        match framing {
            Framing::Stream => take_message(buffer, Self::MAX_MESSAGE, 0),
            Framing::Datagram => read_datagram(&buffer.split(), 0).map(Some),
        }
    }

    fn encode_request(request: &ClientMessage, out: &mut BytesMut) {
        encode(request, out);
    }
}

/// Appends the wire form of a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}

/// Cuts a server's stream into messages.
///
/// It keeps the events of a turn that has come in part, so that a long one costs no more in small pieces than at once.
///
/// ```
/// use bytes::BytesMut;
/// use robots::{ServerMessage, protocol::ServerDecoder};
///
/// let mut decoder = ServerDecoder::default();
/// let mut buffer = BytesMut::from(&[3, 0xff][..]);
/// assert_eq!(decoder.decode(&mut buffer), Ok(None));
/// buffer.extend_from_slice(&[0xff, 0, 0, 0, 0]);
/// assert_eq!(decoder.decode(&mut buffer), Ok(Some(ServerMessage::Turn { turn: 65_535, events: vec![] })));
/// ```
#[derive(Debug, Clone, Default)]
pub struct ServerDecoder {
    turn: Option<PartialTurn>,
}

#[derive(Debug, Clone)]
struct PartialTurn {
    turn: u16,
    events: Vec<Event>,
    missing: u32,
    // Bytes of the message that are taken off the buffer already.
    taken: usize,
}

impl ServerDecoder {
    /// Takes one message off the front of `buffer`; `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are no message, or one of more than [`MAX_SERVER_MESSAGE`] bytes. The stream
    /// cannot be read on after that.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<ServerMessage>, DecodeError> {
        if self.turn.is_none() && buffer.first() == Some(&TURN) {
            let Some(partial) = PartialTurn::begin(buffer)? else { return Ok(None) };
            self.turn = Some(partial);
        }
        let Some(partial) = &mut self.turn else { return take_message(buffer, MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS) };
        if !partial.go_on(buffer)? {
            return Ok(None);
        }
        let whole = self.turn.take();
        Ok(whole.map(|PartialTurn { turn, events, .. }| ServerMessage::Turn { turn, events }))
    }

    /// Whether part of a message has come, given what is left in the buffer: a stream should not end there.
    pub fn is_within_message(&self, buffer: &BytesMut) -> bool {
        self.turn.is_some() || !buffer.is_empty()
    }
}

impl PartialTurn {
    const HEADER: usize = 7;

    fn begin(buffer: &mut BytesMut) -> Result<Option<Self>, DecodeError> {
        let Some(header) = buffer.get(1..Self::HEADER) else { return Ok(None) };
        let mut reader = Reader::new(header, MAX_SERVER_ITEMS);
        let (turn, missing) = (u16::decode(&mut reader)?, u32::decode(&mut reader)?);
        if missing > MAX_SERVER_ITEMS {
            return Err(DecodeError::TooMany { at: 3, count: missing, max: MAX_SERVER_ITEMS });
        }
        buffer.advance(Self::HEADER);
        Ok(Some(Self { turn, events: Vec::new(), missing, taken: Self::HEADER }))
    }

    // Takes events off the buffer; `true` when all are there.
    fn go_on(&mut self, buffer: &mut BytesMut) -> Result<bool, DecodeError> {
        while self.missing > 0 {
            let room = MAX_SERVER_MESSAGE - self.taken;
            let event = take_message(buffer, room, MAX_SERVER_ITEMS).map_err(|error| behind(error, self.taken))?;
            let Some((event, length)) = event.map(|Measured(event, length)| (event, length)) else { return Ok(false) };
            self.events.push(event);
            self.missing -= 1;
            self.taken += length;
        }
        Ok(true)
    }
}

// An event and its length on the wire.
struct Measured(Event, usize);

impl Decode for Measured {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.at();
        let event = Event::decode(reader)?;
        Ok(Self(event, reader.at() - start))
    }
}

// The same error, in a message of which `taken` bytes came before.
fn behind(error: DecodeError, taken: usize) -> DecodeError {
    match error {
        DecodeError::UnknownTag { ty, tag, at } => DecodeError::UnknownTag { ty, tag, at: at + taken },
        DecodeError::NotUtf8 { at } => DecodeError::NotUtf8 { at: at + taken },
        DecodeError::TooMany { at, count, max } => DecodeError::TooMany { at: at + taken, count, max },
        DecodeError::TooLong { length, .. } => DecodeError::TooLong { length: length + taken, max: MAX_SERVER_MESSAGE },
        DecodeError::Trailing { at, extra } => DecodeError::Trailing { at: at + taken, extra },
        DecodeError::Invalid { what, at } => DecodeError::Invalid { what, at: at + taken },
        other => other,
    }
}
