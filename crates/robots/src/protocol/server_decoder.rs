//! Incremental decoding of a server's stream.

use alloc::vec::Vec;
use bytes::{Buf, BytesMut};
use netcore::{
    DecodeError,
    wire::{Decode, Reader},
};

use super::{
    messages::{BombId, Event, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, Player, PlayerId, ServerMessage},
    wire::{BOMB_EXPLODED, GAME_ENDED, GAME_STARTED, TURN},
};
use crate::board::Position;

/// Decodes a server's stream into messages.
///
/// The decoder stores the decoded values of an incomplete message. It re-reads only the incomplete value, such as an
/// entry of a map or a field of an event. Therefore a long message costs no more in small pieces than in one piece.
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
    partial: Option<PartialMessage>,
    // Bytes of the message that were already removed from the buffer.
    taken: usize,
}

impl ServerDecoder {
    /// Takes one message off the front of `buffer`; `None` if more bytes are needed.
    ///
    /// # Errors
    /// [`DecodeError`] if the bytes are not a valid message, or if it is longer than [`MAX_SERVER_MESSAGE`] bytes.
    /// The stream cannot be decoded any further after that.
    pub fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<ServerMessage>, DecodeError> {
        let room = MAX_SERVER_MESSAGE - self.taken;
        let mut reader = Reader::new(&buffer[..buffer.len().min(room)], MAX_SERVER_ITEMS);
        let message = go_on(&mut self.partial, &mut reader).map_err(|error| behind(error, self.taken))?;
        let taken = reader.at();
        buffer.advance(taken);
        if message.is_some() {
            self.taken = 0;
            return Ok(message);
        }
        self.taken += taken;
        let length = self.taken + buffer.len();
        if length >= MAX_SERVER_MESSAGE {
            return Err(DecodeError::TooLong { length, max: MAX_SERVER_MESSAGE });
        }
        Ok(None)
    }

    /// Whether the stream has ended within a message, given the rest of the buffer.
    pub fn is_within_message(&self, buffer: &BytesMut) -> bool {
        self.partial.is_some() || !buffer.is_empty()
    }
}

// An incomplete value: its fields before the lists, and some of the items.
trait Partial: Sized {
    type Whole;

    // Decodes the fields before the first item. They are short.
    fn decode_front(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;

    // Decodes items; `true` if all have been decoded.
    fn take_items(&mut self, reader: &mut Reader<'_>) -> Result<bool, DecodeError>;

    fn into_whole(self) -> Self::Whole;
}

// Continues the incomplete value, or starts the next one; `None` if more bytes are needed.
fn go_on<P: Partial>(begun: &mut Option<P>, reader: &mut Reader<'_>) -> Result<Option<P::Whole>, DecodeError> {
    if begun.is_none() {
        *begun = reader.whole(P::decode_front)?;
    }
    let Some(partial) = begun else { return Ok(None) };
    let is_whole = partial.take_items(reader)?;
    Ok(begun.take_if(|_| is_whole).map(P::into_whole))
}

#[derive(Debug, Clone)]
enum PartialMessage {
    GameStarted(Items<(PlayerId, Player)>),
    Turn { turn: u16, events: Items<Event>, event: Option<PartialEvent> },
    GameEnded(Items<(PlayerId, u32)>),
    // A message without items.
    Whole(ServerMessage),
}

impl Partial for PartialMessage {
    type Whole = ServerMessage;

    fn decode_front(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.clone();
        Ok(match u8::decode(reader)? {
            GAME_STARTED => Self::GameStarted(Items::new(reader.entries::<PlayerId>()?)),
            TURN => Self::Turn { turn: u16::decode(reader)?, events: Items::new(reader.items()?), event: None },
            GAME_ENDED => Self::GameEnded(Items::new(reader.entries::<PlayerId>()?)),
            _ => {
                *reader = start;
                Self::Whole(ServerMessage::decode(reader)?)
            }
        })
    }

    fn take_items(&mut self, reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        match self {
            Self::GameStarted(players) => players.take(reader),
            Self::Turn { events, event, .. } => {
                while events.missing > 0 {
                    let Some(event) = go_on(event, reader)? else { return Ok(false) };
                    events.push(event);
                }
                Ok(true)
            }
            Self::GameEnded(scores) => scores.take(reader),
            Self::Whole(_) => Ok(true),
        }
    }

    fn into_whole(self) -> ServerMessage {
        match self {
            Self::GameStarted(players) => ServerMessage::GameStarted { players: players.items.into_iter().collect() },
            Self::Turn { turn, events, .. } => ServerMessage::Turn { turn, events: events.items },
            Self::GameEnded(scores) => ServerMessage::GameEnded { scores: scores.items.into_iter().collect() },
            Self::Whole(message) => message,
        }
    }
}

#[derive(Debug, Clone)]
enum PartialEvent {
    // The count of the blocks follows the robots.
    BombExploded { id: BombId, robots: Items<PlayerId>, blocks: Option<Items<Position>> },
    // An event without items.
    Whole(Event),
}

impl Partial for PartialEvent {
    type Whole = Event;

    fn decode_front(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.clone();
        Ok(if u8::decode(reader)? == BOMB_EXPLODED {
            Self::BombExploded { id: BombId::decode(reader)?, robots: Items::new(reader.items()?), blocks: None }
        } else {
            *reader = start;
            Self::Whole(Event::decode(reader)?)
        })
    }

    fn take_items(&mut self, reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        let Self::BombExploded { robots, blocks, .. } = self else { return Ok(true) };
        if !robots.take(reader)? {
            return Ok(false);
        }
        if blocks.is_none() {
            *blocks = reader.whole(Reader::items)?.map(Items::new);
        }
        blocks.as_mut().map_or(Ok(false), |blocks| blocks.take(reader))
    }

    fn into_whole(self) -> Event {
        match self {
            Self::BombExploded { id, robots, blocks } => Event::BombExploded {
                id,
                robots_destroyed: robots.items,
                blocks_destroyed: blocks.map_or_else(Vec::new, |blocks| blocks.items),
            },
            Self::Whole(event) => event,
        }
    }
}

// The decoded items, and the number of missing ones. Memory is allocated for decoded items only.
#[derive(Debug, Clone)]
struct Items<T> {
    items: Vec<T>,
    missing: u32,
}

impl<T> Items<T> {
    const fn new(count: u32) -> Self {
        Self { items: Vec::new(), missing: count }
    }

    fn push(&mut self, item: T) {
        self.items.push(item);
        self.missing -= 1;
    }
}

impl<T: Decode> Items<T> {
    // Decodes the items that have arrived; `true` if none is missing.
    fn take(&mut self, reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        while self.missing > 0 {
            let Some(item) = reader.whole(T::decode)? else { return Ok(false) };
            self.push(item);
        }
        Ok(true)
    }
}

// The same error, with its offset increased by the `taken` bytes that were already removed.
fn behind(error: DecodeError, taken: usize) -> DecodeError {
    match error {
        DecodeError::UnknownTag { ty, tag, at } => DecodeError::UnknownTag { ty, tag, at: at + taken },
        DecodeError::NotUtf8 { at } => DecodeError::NotUtf8 { at: at + taken },
        DecodeError::TooMany { at, count, max } => DecodeError::TooMany { at: at + taken, count, max },
        DecodeError::Trailing { at, extra } => DecodeError::Trailing { at: at + taken, extra },
        DecodeError::Invalid { what, at } => DecodeError::Invalid { what, at: at + taken },
        other => other,
    }
}
