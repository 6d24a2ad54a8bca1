//! Encoding and decoding of messages, as `docs/protocols/robots.md` describes them.

use netcore::{
    DecodeError,
    wire::{Decode, Encode, Reader, Writer},
};

use super::messages::{
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

// An action has the same encoding in both protocols, except that its tags start at another number.
impl Action {
    fn decode_tagged(tag: u8, first: u8, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        Ok(match tag.checked_sub(first) {
            Some(0) => Some(Self::PlaceBomb),
            Some(1) => Some(Self::PlaceBlock),
            Some(2) => Some(Self::Move(Direction::decode(reader)?)),
            _ => None,
        })
    }

    // The length of the complete client-stream action at the start of `bytes`, if there is one.
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

// The tags of values with a list or a map, which can therefore be long: three messages and an event.
pub(super) const GAME_STARTED: u8 = 2;
pub(super) const TURN: u8 = 3;
pub(super) const GAME_ENDED: u8 = 4;
pub(super) const BOMB_EXPLODED: u8 = 1;

// A tagged value is its tag, then the fields of that variant in the listed order.
macro_rules! tagged {
    ($($name:ident { $($tag:tt => $variant:ident $(($($item:ident),*))? $({ $($field:ident),* })?,)* })*) => {$(
        impl Decode for $name {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let at = reader.at();
                Ok(match u8::decode(reader)? {
                    $($tag => Self::$variant
                        $(($({ let $item = Decode::decode(reader)?; $item }),*))?
                        $({ $($field: Decode::decode(reader)?),* })?,)*
                    tag => return Err(DecodeError::unknown_tag(stringify!($name), tag, at)),
                })
            }
        }

        impl Encode for $name {
            fn encode(&self, writer: &mut Writer<'_>) {
                match self {
                    $(Self::$variant $(($($item),*))? $({ $($field),* })? => {
                        writer.put(&[$tag]);
                        $($($item.encode(writer);)*)?
                        $($($field.encode(writer);)*)?
                    })*
                }
            }
        }
    )*};
}
tagged! {
    ServerMessage {
        0 => Hello(parameters),
        1 => AcceptedPlayer { id, player },
        GAME_STARTED => GameStarted { players },
        TURN => Turn { turn, events },
        GAME_ENDED => GameEnded { scores },
    }
    Event {
        0 => BombPlaced { id, position },
        BOMB_EXPLODED => BombExploded { id, robots_destroyed, blocks_destroyed },
        2 => PlayerMoved { id, position },
        3 => BlockPlaced { position },
    }
    DrawMessage {
        0 => Lobby { parameters, players },
        1 => Game(picture),
    }
}
