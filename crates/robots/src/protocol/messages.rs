//! The messages as types, and the bounds of their lengths.

use alloc::{collections::BTreeMap, vec::Vec};
use netcore::wire::ShortText;
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

/// A player's number; the first accepted player has 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId(pub u8);

impl PlayerId {
    /// All possible numbers, from 0.
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
    /// The client's end of its connection, `1.2.3.4:5` or `[::1]:5`. A foreign server may send any text.
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

/// A message from a GUI to its client: the action of its user.
pub type InputMessage = Action;

/// A message from a client to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientMessage {
    /// Wants to play.
    Join {
        /// The player's name.
        name: ShortText,
    },
    /// Wants its robot to do something.
    Action(Action),
}

/// A message from a server to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerMessage {
    /// The first message on each connection.
    Hello(Parameters),
    /// A player has joined the coming game.
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
        /// Its number. Turn 0 sets up the board.
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
        /// The robots that it destroyed, each once, in any order.
        robots_destroyed: Vec<PlayerId>,
        /// The fields of the destroyed blocks, each once, in any order.
        blocks_destroyed: Vec<Position>,
    },
    /// A robot has moved or was reborn.
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

/// A message from a client to its GUI: the whole picture.
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
