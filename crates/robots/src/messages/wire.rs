//! Encoding and decoding of messages, as the tables of the parent module describe it.

use netcore::{
    DecodeError,
    wire::{Decode, Encode, Reader, Writer},
};

use super::{
    Action, Bomb, BombId, ClientMessage, DrawMessage, Event, GamePicture, Parameters, Player, PlayerId, ServerMessage,
};
use crate::board::{Direction, Position};

// A record is its fields in the listed order.
macro_rules! records {
    ($($record:ident { $($field:ident),* })*) => {$(
        impl Decode for $record {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: Decode::decode(reader)?),* })
            }
        }

        impl Encode for $record {
            fn encode(&self, writer: &mut Writer<'_>) {
                $(self.$field.encode(writer);)*
            }
        }
    )*};
}
records! {
    Position { x, y }
    Player { name, address }
    Bomb { position, timer }
    Parameters { server_name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer }
    GamePicture {
        server_name, size_x, size_y, game_length, turn, players, player_positions, blocks, bombs, explosions, scores
    }
}

macro_rules! ids {
    ($($id:ident($of:ty)),*) => {$(
        impl Decode for $id {
            const MAX_KEYS: u32 = <$of>::MAX_KEYS;

            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Decode::decode(reader).map(Self)
            }
        }

        impl Encode for $id {
            fn encode(&self, writer: &mut Writer<'_>) {
                self.0.encode(writer);
            }
        }
    )*};
}
ids!(PlayerId(u8), BombId(u32));

impl Decode for Direction {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let tag = u8::decode(reader)?;
        Self::ALL.get(usize::from(tag)).copied().ok_or(DecodeError::unknown_tag("Direction", tag, at))
    }
}

impl Encode for Direction {
    fn encode(&self, writer: &mut Writer<'_>) {
        writer.put(&[*self as u8]);
    }
}

// An action is the same in both of its protocols, but for where its tags begin.
impl Action {
    fn decode_tagged(tag: u8, first: u8, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        Ok(match tag.checked_sub(first) {
            Some(0) => Some(Self::PlaceBomb),
            Some(1) => Some(Self::PlaceBlock),
            Some(2) => Some(Self::Move(Direction::decode(reader)?)),
            _ => None,
        })
    }

    // The length of the whole action of a client's stream that `bytes` begin with, if they do.
    pub(crate) fn length_on_stream(bytes: &[u8]) -> Option<usize> {
        match bytes {
            [1 | 2, ..] => Some(1),
            [3, direction, ..] if usize::from(*direction) < Direction::ALL.len() => Some(2),
            _ => None,
        }
    }

    fn encode_tagged(self, first: u8, writer: &mut Writer<'_>) {
        match self {
            Self::PlaceBomb => writer.put(&[first]),
            Self::PlaceBlock => writer.put(&[first + 1]),
            Self::Move(direction) => writer.put(&[first + 2, direction as u8]),
        }
    }
}

/// As a GUI's message, that is [`InputMessage`](crate::InputMessage).
impl Decode for Action {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let tag = u8::decode(reader)?;
        Self::decode_tagged(tag, 0, reader)?.ok_or(DecodeError::unknown_tag("InputMessage", tag, at))
    }
}

/// As a GUI's message, that is [`InputMessage`](crate::InputMessage).
impl Encode for Action {
    fn encode(&self, writer: &mut Writer<'_>) {
        self.encode_tagged(0, writer);
    }
}

impl Decode for ClientMessage {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let tag = u8::decode(reader)?;
        if tag == 0 {
            return Ok(Self::Join { name: Decode::decode(reader)? });
        }
        let action = Action::decode_tagged(tag, 1, reader)?;
        action.map(Self::Action).ok_or(DecodeError::unknown_tag("ClientMessage", tag, at))
    }
}

impl Encode for ClientMessage {
    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Join { name } => {
                writer.put(&[0]);
                name.encode(writer);
            }
            Self::Action(action) => action.encode_tagged(1, writer),
        }
    }
}

impl Decode for ServerMessage {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        Ok(match u8::decode(reader)? {
            0 => Self::Hello(Decode::decode(reader)?),
            1 => Self::AcceptedPlayer { id: Decode::decode(reader)?, player: Decode::decode(reader)? },
            GAME_STARTED => Self::GameStarted { players: Decode::decode(reader)? },
            TURN => Self::Turn { turn: Decode::decode(reader)?, events: Decode::decode(reader)? },
            GAME_ENDED => Self::GameEnded { scores: Decode::decode(reader)? },
            tag => return Err(DecodeError::unknown_tag("ServerMessage", tag, at)),
        })
    }
}

// The tags of what has a list or a map, and so can be long: three messages and an event.
pub(crate) const GAME_STARTED: u8 = 2;
pub(crate) const TURN: u8 = 3;
pub(crate) const GAME_ENDED: u8 = 4;
pub(crate) const BOMB_EXPLODED: u8 = 1;

impl Encode for ServerMessage {
    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Hello(parameters) => {
                writer.put(&[0]);
                parameters.encode(writer);
            }
            Self::AcceptedPlayer { id, player } => {
                writer.put(&[1]);
                id.encode(writer);
                player.encode(writer);
            }
            Self::GameStarted { players } => {
                writer.put(&[GAME_STARTED]);
                players.encode(writer);
            }
            Self::Turn { turn, events } => {
                writer.put(&[TURN]);
                turn.encode(writer);
                events.encode(writer);
            }
            Self::GameEnded { scores } => {
                writer.put(&[GAME_ENDED]);
                scores.encode(writer);
            }
        }
    }
}

impl Decode for Event {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        Ok(match u8::decode(reader)? {
            0 => Self::BombPlaced { id: Decode::decode(reader)?, position: Decode::decode(reader)? },
            BOMB_EXPLODED => Self::BombExploded {
                id: Decode::decode(reader)?,
                robots_destroyed: Decode::decode(reader)?,
                blocks_destroyed: Decode::decode(reader)?,
            },
            2 => Self::PlayerMoved { id: Decode::decode(reader)?, position: Decode::decode(reader)? },
            3 => Self::BlockPlaced { position: Decode::decode(reader)? },
            tag => return Err(DecodeError::unknown_tag("Event", tag, at)),
        })
    }
}

impl Encode for Event {
    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::BombPlaced { id, position } => {
                writer.put(&[0]);
                id.encode(writer);
                position.encode(writer);
            }
            Self::BombExploded { id, robots_destroyed, blocks_destroyed } => {
                writer.put(&[BOMB_EXPLODED]);
                id.encode(writer);
                robots_destroyed.encode(writer);
                blocks_destroyed.encode(writer);
            }
            Self::PlayerMoved { id, position } => {
                writer.put(&[2]);
                id.encode(writer);
                position.encode(writer);
            }
            Self::BlockPlaced { position } => {
                writer.put(&[3]);
                position.encode(writer);
            }
        }
    }
}

impl Decode for DrawMessage {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        Ok(match u8::decode(reader)? {
            0 => Self::Lobby { parameters: Decode::decode(reader)?, players: Decode::decode(reader)? },
            1 => Self::Game(Decode::decode(reader)?),
            tag => return Err(DecodeError::unknown_tag("DrawMessage", tag, at)),
        })
    }
}

impl Encode for DrawMessage {
    fn encode(&self, writer: &mut Writer<'_>) {
        match self {
            Self::Lobby { parameters, players } => {
                writer.put(&[0]);
                parameters.encode(writer);
                players.encode(writer);
            }
            Self::Game(picture) => {
                writer.put(&[1]);
                picture.encode(writer);
            }
        }
    }
}
