//! The messages and their bytes: between client and server in a TCP stream, between client and GUI in datagrams.
//!
//! Integers are big-endian; lists, maps and texts are encoded as in [`netcore::wire`]. There is no other framing.
//! `docs/protocols/robots.md` specifies every byte.
//!
//! | from | to | messages |
//! |------|----|----------|
//! | client | server | [`ClientMessage`], at most [`MAX_CLIENT_MESSAGE`] bytes |
//! | server | client | [`ServerMessage`], with the [`Event`]s of a turn |
//! | GUI | client | [`InputMessage`]: as from client to server without `Join`, so each tag is one less |
//! | client | GUI | [`DrawMessage`]: a [`GamePicture`], or the lobby |
//!
//! Source: the task text of robots, "Protocols".

mod incoming;
pub mod shape;
mod wire;

use alloc::{collections::BTreeMap, vec::Vec};

use bytes::BytesMut;
use netcore::{
    DecodeError, Framing, Protocol,
    wire::{Encode, ShortText, Writer, read_datagram, read_message},
};
use serde::{Deserialize, Serialize};

use crate::board::{Direction, Position};

pub use self::incoming::{Incoming, Malformed, MessagePosition, ServerDecoder};

/// The messages from clients to a server.
///
/// Only the last action of a player before a turn counts, so a run of complete actions in a stream is decoded as one
/// request, the last of them. A run ends at a Join, an incomplete message or malformed bytes. If no turn ends within a
/// run, the effect is that of decoding message by message.
///
/// ```
/// use bytes::BytesMut;
/// use netcore::Protocol;
/// use robots::{Action, ClientMessage, Direction, protocol::Robots};
///
/// // PlaceBomb, PlaceBlock, Move Down, and the front of another Move.
/// let mut buffer = BytesMut::from(&[1, 2, 3, 2, 3][..]);
/// let request = Robots::take(&mut (), &mut buffer)?;
/// assert_eq!(request, Some(ClientMessage::Action(Action::Move(Direction::Down))));
/// assert_eq!(buffer[..], [3]);
/// # Ok::<(), netcore::DecodeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Robots {}

impl Protocol for Robots {
    type Request = ClientMessage;
    type Decoder = ();
    const MAX_MESSAGE: usize = MAX_CLIENT_MESSAGE;

    fn length((): &(), bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        let (_, end) = run(bytes);
        if end > 0 {
            return Ok(Some(end));
        }
        Ok(read_message::<ClientMessage>(bytes, Self::MAX_MESSAGE, 0)?.map(|(_, length)| length))
    }

    fn decode((): &mut (), message: &[u8], framing: Framing) -> Result<ClientMessage, DecodeError> {
        let overridden = match framing {
            Framing::Stream => run(message).0,
            Framing::Whole => 0,
        };
        read_datagram(&message[overridden..], 0)
    }
}

// The start and end of the last action of the run at the front; 0 and 0 without one.
fn run(bytes: &[u8]) -> (usize, usize) {
    let (mut last, mut end) = (0, 0);
    while let Some(length) = bytes.get(end..).and_then(Action::length_on_stream) {
        (last, end) = (end, end + length);
    }
    (last, end)
}

/// Appends a message to `out`.
pub fn encode<T: Encode>(message: &T, out: &mut BytesMut) {
    message.encode(&mut Writer::new(out));
}

// The messages as types, and their size limits.

/// The longest message from a client: a Join with a name of 255 bytes.
pub const MAX_CLIENT_MESSAGE: usize = 257;
/// The longest accepted message from a server, in bytes: three times a turn with 65535 new blocks.
pub const MAX_SERVER_MESSAGE: usize = 1 << 20;
/// The maximum number of items in a list of a server's message: each takes at least one byte. Maps are limited by their
/// keys.
pub const MAX_SERVER_ITEMS: u32 = 1 << 20;
/// The largest payload of a datagram over IPv4, and so the largest picture, in bytes.
pub const MAX_DATAGRAM: usize = 65_507;
/// The maximum number of items in a list of a picture: each takes at least one byte.
pub const MAX_PICTURE_ITEMS: u32 = 65_507;

/// A player's number, from 0 in the order of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u8);

impl PlayerId {
    /// All values, in ascending order.
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

/// A player.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// The name; may be empty and need not be unique.
    pub name: ShortText,
    /// The client's address, such as `[::1]:5`; other servers may send any text.
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

/// The parameters of a server and its games.
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
    /// The length of an explosion's arms, in fields.
    pub explosion_radius: u16,
    /// Turns from the placing of a bomb to its explosion.
    pub bomb_timer: u16,
}

/// A robot's action in a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Action {
    /// Place a bomb on the robot's field.
    PlaceBomb,
    /// Place a block on the robot's field.
    PlaceBlock,
    /// Move to the neighbouring field.
    Move(Direction),
}

/// The action of a GUI's user.
pub type InputMessage = Action;

/// A message from a client to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Request to join the game.
    Join {
        /// The name.
        name: ShortText,
    },
    /// An action of the client's robot.
    Action(Action),
}

/// A message from a server to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage {
    /// The first message on each connection.
    Hello(Parameters),
    /// A player has joined the coming game.
    AcceptedPlayer {
        /// Its number.
        id: PlayerId,
        /// The player.
        player: Player,
    },
    /// The game has started.
    GameStarted {
        /// The players.
        players: BTreeMap<PlayerId, Player>,
    },
    /// A turn has ended.
    Turn {
        /// Its number. Turn 0 sets up the board.
        turn: u16,
        /// Its events, in order.
        events: Vec<Event>,
    },
    /// The game has ended, and the lobby follows.
    GameEnded {
        /// The deaths of each player's robot, at most one per turn.
        scores: BTreeMap<PlayerId, u32>,
    },
}

/// An event of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A new bomb.
    BombPlaced {
        /// Its number.
        id: BombId,
        /// Its field.
        position: Position,
    },
    /// A bomb has exploded.
    BombExploded {
        /// Its number.
        id: BombId,
        /// The destroyed robots, each once, in any order.
        robots_destroyed: Vec<PlayerId>,
        /// The fields of the destroyed blocks, each once, in any order.
        blocks_destroyed: Vec<Position>,
    },
    /// A robot has moved or respawned.
    PlayerMoved {
        /// Its player.
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

/// A picture for the GUI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DrawMessage {
    /// Before the game.
    Lobby {
        /// The parameters.
        parameters: Parameters,
        /// The players accepted so far.
        players: BTreeMap<PlayerId, Player>,
    },
    /// During the game.
    Game(GamePicture),
}

/// The state of a game after a turn.
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
    /// The last completed turn.
    pub turn: u16,
    /// The players.
    pub players: BTreeMap<PlayerId, Player>,
    /// The positions of the robots.
    pub player_positions: BTreeMap<PlayerId, Position>,
    /// The positions of the blocks, each once.
    pub blocks: Vec<Position>,
    /// The bombs; several may share field and timer.
    pub bombs: Vec<Bomb>,
    /// The fields covered by this turn's explosions, each once.
    pub explosions: Vec<Position>,
    /// The deaths of each robot, at most one per turn.
    pub scores: BTreeMap<PlayerId, u32>,
}
