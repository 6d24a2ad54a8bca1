//! Encoding and decoding of messages. Source: `docs/protocols/robots.md`.

use alloc::{collections::BTreeMap, vec::Vec};
use netcore::{
    DecodeError,
    wire::{Decode, Encode, Reader, ShortText, Writer},
};

use super::{
    Action, Bomb, BombId, ClientMessage, DrawMessage, Event, GamePicture, Parameters, Player, PlayerId, ServerMessage,
    shape::{Described, Enum, Field, Shape, Variant, field},
};
use crate::board::{Direction, Position};

// Encodes a record as its fields in this order.
macro_rules! records {
    ($($shape:ident $record:ident { $($field:ident: $of:ty),* })*) => {$(
        impl Described for $record {
            const SHAPE: Shape = Shape::$shape(&[$(field(stringify!($field), <$of>::SHAPE)),*]);
        }

        impl Decode for $record {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: <$of>::decode(reader)?),* })
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
    Position Position { x: u16, y: u16 }
    Record Player { name: ShortText, address: ShortText }
    Bomb Bomb { position: Position, timer: u16 }
    Inline Parameters {
        server_name: ShortText, players_count: u8, size_x: u16, size_y: u16, game_length: u16, explosion_radius: u16,
        bomb_timer: u16
    }
    Inline GamePicture {
        server_name: ShortText, size_x: u16, size_y: u16, game_length: u16, turn: u16,
        players: BTreeMap<PlayerId, Player>, player_positions: BTreeMap<PlayerId, Position>, blocks: Vec<Position>,
        bombs: Vec<Bomb>, explosions: Vec<Position>, scores: BTreeMap<PlayerId, u32>
    }
}

macro_rules! ids {
    ($($id:ident($of:ty)),*) => {$(
        impl Described for $id {
            const SHAPE: Shape = Shape::$id;
        }

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

const fn variant(name: &'static str, fields: &'static [Field]) -> Variant {
    Variant { name, fields }
}

const PLACE_BOMB: Variant = variant("PlaceBomb", &[]);
const PLACE_BLOCK: Variant = variant("PlaceBlock", &[]);
const MOVE: Variant = variant("Move", &[field("direction", Direction::SHAPE)]);

impl Described for Direction {
    const SHAPE: Shape = Shape::Enum(&Enum {
        name: "Direction",
        variants: &[variant("Up", &[]), variant("Right", &[]), variant("Down", &[]), variant("Left", &[])],
    });
}

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

// Both protocols encode actions alike, but with different first tags.
impl Action {
    fn decode_tagged(tag: u8, first: u8, reader: &mut Reader<'_>) -> Result<Option<Self>, DecodeError> {
        Ok(match tag.checked_sub(first) {
            Some(0) => Some(Self::PlaceBomb),
            Some(1) => Some(Self::PlaceBlock),
            Some(2) => Some(Self::Move(Direction::decode(reader)?)),
            _ => None,
        })
    }

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

/// The wire format of a GUI's [`InputMessage`](crate::InputMessage), as in the next two implementations.
impl Described for Action {
    const SHAPE: Shape = Shape::Enum(&Enum { name: "InputMessage", variants: &[PLACE_BOMB, PLACE_BLOCK, MOVE] });
}

impl Decode for Action {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let tag = u8::decode(reader)?;
        Self::decode_tagged(tag, 0, reader)?.ok_or(DecodeError::unknown_tag("InputMessage", tag, at))
    }
}

impl Encode for Action {
    fn encode(&self, writer: &mut Writer<'_>) {
        self.encode_tagged(0, writer);
    }
}

impl Described for ClientMessage {
    const SHAPE: Shape = Shape::Enum(&Enum {
        name: "ClientMessage",
        variants: &[variant("Join", &[field("name", ShortText::SHAPE)]), PLACE_BOMB, PLACE_BLOCK, MOVE],
    });
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

// Encodes an enumeration as a tag, then the fields of the variant.
macro_rules! tagged {
    ($($name:ident { $($tag:tt => $variant:ident $(($item:ident: $of:ty))? $({ $($field:ident: $ty:ty),* })?,)* })*) => {$(
        impl Described for $name {
            const SHAPE: Shape = Shape::Enum(&Enum {
                name: stringify!($name),
                variants: &[$(variant(stringify!($variant), &[
                    $(field(stringify!($item), <$of>::SHAPE))?
                    $($(field(stringify!($field), <$ty>::SHAPE)),*)?
                ])),*],
            });
        }

        impl Decode for $name {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                let at = reader.at();
                Ok(match u8::decode(reader)? {
                    $($tag => Self::$variant
                        $((<$of>::decode(reader)?))?
                        $({ $($field: <$ty>::decode(reader)?),* })?,)*
                    tag => return Err(DecodeError::unknown_tag(stringify!($name), tag, at)),
                })
            }
        }

        impl Encode for $name {
            fn encode(&self, writer: &mut Writer<'_>) {
                match self {
                    $(Self::$variant $(($item))? $({ $($field),* })? => {
                        writer.put(&[$tag]);
                        $($item.encode(writer);)?
                        $($($field.encode(writer);)*)?
                    })*
                }
            }
        }
    )*};
}
tagged! {
    ServerMessage {
        0 => Hello(parameters: Parameters),
        1 => AcceptedPlayer { id: PlayerId, player: Player },
        2 => GameStarted { players: BTreeMap<PlayerId, Player> },
        3 => Turn { turn: u16, events: Vec<Event> },
        4 => GameEnded { scores: BTreeMap<PlayerId, u32> },
    }
    Event {
        0 => BombPlaced { id: BombId, position: Position },
        1 => BombExploded { id: BombId, robots_destroyed: Vec<PlayerId>, blocks_destroyed: Vec<Position> },
        2 => PlayerMoved { id: PlayerId, position: Position },
        3 => BlockPlaced { position: Position },
    }
    DrawMessage {
        0 => Lobby { parameters: Parameters, players: BTreeMap<PlayerId, Player> },
        1 => Game(picture: GamePicture),
    }
}
