//! What goes over the wire: between client and server in a TCP stream, between client and GUI one message a datagram.
//!
//! Integers are big-endian; lists, maps and texts are as in [`netcore::wire`]. There is no framing but the content.
//!
//! | type | fields |
//! |------|--------|
//! | [`Position`] | x u16, y u16 |
//! | [`Direction`] | u8: 0 up, 1 right, 2 down, 3 left |
//! | [`PlayerId`], [`BombId`], score | u8, u32, u32 |
//! | [`Player`] | name text, address text |
//! | [`Bomb`] | position, timer u16 |
//! | [`Parameters`] | server\_name text, players\_count u8, size\_x u16, size\_y u16, game\_length u16, explosion\_radius u16, bomb\_timer u16 |
//!
//! Client to server, [`ClientMessage`]; a message is at most [`MAX_CLIENT_MESSAGE`] bytes:
//!
//! | tag | message | fields | example |
//! |-----|---------|--------|---------|
//! | 0 | `Join` | name text | `00 02 68 69` |
//! | 1, 2 | `PlaceBomb`, `PlaceBlock` | | `02` |
//! | 3 | `Move` | direction | `03 02` (down) |
//!
//! GUI to client, [`InputMessage`]: the same without `Join`, so each tag is one less:
//!
//! | tag | message | fields | example |
//! |-----|---------|--------|---------|
//! | 0, 1 | `PlaceBomb`, `PlaceBlock` | | `01` |
//! | 2 | `Move` | direction | `02 03` (left) |
//!
//! Server to client, [`ServerMessage`] and [`Event`]:
//!
//! | tag | message | fields |
//! |-----|---------|--------|
//! | 0 | `Hello` | the fields of [`Parameters`] |
//! | 1 | `AcceptedPlayer` | id, player |
//! | 2 | `GameStarted` | players: map from id to player |
//! | 3 | `Turn` | turn u16, events: list |
//! | 4 | `GameEnded` | scores: map from id to score |
//!
//! | tag | event | fields |
//! |-----|-------|--------|
//! | 0 | `BombPlaced` | id, position |
//! | 1 | `BombExploded` | id, robots\_destroyed: list of player ids, blocks\_destroyed: list of positions |
//! | 2 | `PlayerMoved` | id, position |
//! | 3 | `BlockPlaced` | position |
//!
//! Client to GUI, [`DrawMessage`]:
//!
//! | tag | message | fields |
//! |-----|---------|--------|
//! | 0 | `Lobby` | the fields of [`Parameters`], players: map from id to player |
//! | 1 | `Game` | the fields of [`GamePicture`] in their order |
//!
//! Source: the task text of robots, "Protocols".

use alloc::{collections::BTreeMap, vec::Vec};
use netcore::{
    DecodeError,
    wire::{Decode, Encode, Reader, ShortText, Writer},
};
use serde::{Deserialize, Serialize};

use crate::board::{Direction, Position};

/// The longest message from a client: a Join with a name of 255 bytes.
pub const MAX_CLIENT_MESSAGE: usize = 257;
/// The longest message from a server that a client takes, in bytes. A turn with 65535 new blocks is a third of it.
pub const MAX_SERVER_MESSAGE: usize = 1 << 20;
/// The most items in a list of a server's message: each takes a byte at least. A map has fewer: an entry for each
/// [`PlayerId`].
pub const MAX_SERVER_ITEMS: u32 = 1 << 20;
/// The largest payload of a datagram over IPv4, and so of a picture, in bytes.
pub const MAX_DATAGRAM: usize = 65_507;
/// The most items in a list of a picture: each takes a byte at least. A map has fewer: an entry for each [`PlayerId`].
pub const MAX_PICTURE_ITEMS: u32 = 65_507;

/// A player's number: 0 for the first who was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u8);

impl PlayerId {
    /// All numbers that there are, from 0.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).map(Self)
    }

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A bomb's number, unique within a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BombId(pub u32);

/// Who plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// As the player wants to be called; may be empty and need not be unique.
    pub name: ShortText,
    /// The client's end of its connection, `1.2.3.4:5` or `[::1]:5`. From a server it may be anything.
    pub address: ShortText,
}

/// A bomb in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bomb {
    /// Its field.
    pub position: Position,
    /// Turns until it explodes.
    pub timer: u16,
}

/// What a server tells everybody about itself and its games.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// The server's name.
    pub server_name: ShortText,
    /// Players in a game.
    pub players_count: u8,
    /// Columns of the board.
    pub size_x: u16,
    /// Rows of the board.
    pub size_y: u16,
    /// Turns after turn 0.
    pub game_length: u16,
    /// Length of an explosion's arms, in fields.
    pub explosion_radius: u16,
    /// Turns from the placing of a bomb to its explosion.
    pub bomb_timer: u16,
}

/// What a robot can do in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Action {
    /// Put a bomb on the robot's field.
    PlaceBomb,
    /// Put a block on the robot's field.
    PlaceBlock,
    /// Go to the neighbouring field.
    Move(Direction),
}

/// What a GUI tells its client: which action its user wants.
pub type InputMessage = Action;

/// What a client tells a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Wants to play.
    Join {
        /// As the player wants to be called.
        name: ShortText,
    },
    /// Wants its robot to do something.
    Action(Action),
}

/// What a server tells a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage {
    /// The first message on each connection.
    Hello(Parameters),
    /// Somebody will play in the coming game.
    AcceptedPlayer {
        /// The new player's number.
        id: PlayerId,
        /// Who it is.
        player: Player,
    },
    /// The game begins.
    GameStarted {
        /// Who plays.
        players: BTreeMap<PlayerId, Player>,
    },
    /// A turn is over.
    Turn {
        /// Its number; 0 sets the board up.
        turn: u16,
        /// What happened in it, in order.
        events: Vec<Event>,
    },
    /// The game is over; what follows belongs to the lobby.
    GameEnded {
        /// How often each player's robot was destroyed, in turns.
        scores: BTreeMap<PlayerId, u32>,
    },
}

/// Something that happened in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A new bomb.
    BombPlaced {
        /// Its number.
        id: BombId,
        /// Its field.
        position: Position,
    },
    /// A bomb is gone.
    BombExploded {
        /// Its number.
        id: BombId,
        /// Whom it hit; each once, in any order.
        robots_destroyed: Vec<PlayerId>,
        /// Where it destroyed a block; each once, in any order.
        blocks_destroyed: Vec<Position>,
    },
    /// A robot stands somewhere else than before, by its own move or reborn.
    PlayerMoved {
        /// Whose robot.
        id: PlayerId,
        /// Its field.
        position: Position,
    },
    /// A new block.
    BlockPlaced {
        /// Its field.
        position: Position,
    },
}

/// What a client tells its GUI: all that is to be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawMessage {
    /// Players gather.
    Lobby {
        /// What the server told about itself.
        parameters: Parameters,
        /// Who has been accepted so far.
        players: BTreeMap<PlayerId, Player>,
    },
    /// A game is played.
    Game(GamePicture),
}

/// A game as it is after a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GamePicture {
    /// The server's name.
    pub server_name: ShortText,
    /// Columns of the board.
    pub size_x: u16,
    /// Rows of the board.
    pub size_y: u16,
    /// Turns after turn 0.
    pub game_length: u16,
    /// The turn that is over.
    pub turn: u16,
    /// Who plays.
    pub players: BTreeMap<PlayerId, Player>,
    /// Where the robots stand.
    pub player_positions: BTreeMap<PlayerId, Position>,
    /// Where blocks are, each once.
    pub blocks: Vec<Position>,
    /// The bombs; several may share field and timer.
    pub bombs: Vec<Bomb>,
    /// The fields covered by this turn's explosions, each once.
    pub explosions: Vec<Position>,
    /// How often each robot was destroyed, in turns.
    pub scores: BTreeMap<PlayerId, u32>,
}

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
        Self::ALL.get(usize::from(tag)).copied().ok_or(DecodeError::UnknownTag { ty: "Direction", tag, at })
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

/// As a GUI's message, that is [`InputMessage`].
impl Decode for Action {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let at = reader.at();
        let tag = u8::decode(reader)?;
        Self::decode_tagged(tag, 0, reader)?.ok_or(DecodeError::UnknownTag { ty: "InputMessage", tag, at })
    }
}

/// As a GUI's message, that is [`InputMessage`].
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
        action.map(Self::Action).ok_or(DecodeError::UnknownTag { ty: "ClientMessage", tag, at })
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
            tag => return Err(DecodeError::UnknownTag { ty: "ServerMessage", tag, at }),
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
            tag => return Err(DecodeError::UnknownTag { ty: "Event", tag, at }),
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
            tag => return Err(DecodeError::UnknownTag { ty: "DrawMessage", tag, at }),
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
