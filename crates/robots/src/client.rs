//! The state of a client: it folds the server's messages into the pictures for the GUI. It has no sockets.
//!
//! Source: the task text of robots, "The client".

mod talk;

use alloc::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    vec::Vec,
};
use core::net::SocketAddr;
use netcore::wire::ShortText;
use thiserror::Error;

use crate::{
    board::{Board, Position},
    explosion::{Blast, covered},
    incoming::Incoming,
    messages::{
        Bomb, BombId, ClientMessage, DrawMessage, Event, GamePicture, InputMessage, MAX_DATAGRAM, Parameters, Player,
        PlayerId, ServerMessage,
    },
};

/// The most blocks, and the most bombs, that a client stores, so that no server can exhaust its memory. Further ones are
/// ignored. The bound is about a hundred times what fits in a picture.
pub const MAX_REMEMBERED: usize = 1 << 20;

/// The error for a picture that is too large for a datagram. It is skipped; later pictures may fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the picture takes {bytes} bytes or more, and a datagram {MAX_DATAGRAM} at most")]
pub struct PictureTooLarge {
    /// The size in bytes, counted until it exceeded the bound.
    pub bytes: usize,
}

pub use talk::MAX_OUTGOING;

/// The state of a client, and the messages that it sends.
///
/// As a [`netcore::Client`] it takes the server's bytes and the user's inputs and returns messages for the server. A caller
/// that needs the picture after every message uses [`Client::feed`], [`Client::next_message`] and [`Client::message`] instead.
///
/// ```
/// use netcore::{Client as _, Time, wire::ShortText};
/// use robots::{Action, Client, DrawMessage, Parameters, ServerMessage};
///
/// let server_name = ShortText::try_from("here")?;
/// let parameters = Parameters {
///     server_name, players_count: 2, size_x: 5, size_y: 5, game_length: 9, explosion_radius: 1, bomb_timer: 3,
/// };
/// let mut client = Client::new(ShortText::try_from("Ann")?, None);
/// assert!(client.message(ServerMessage::Hello(parameters)), "a picture is due");
/// assert!(matches!(client.picture(), Some(Ok(DrawMessage::Lobby { .. }))));
/// // Any input in the lobby joins.
/// client.act(Time::ZERO, Action::PlaceBomb);
/// assert_eq!(client.take_outgoing().as_deref(), Some(&b"\x00\x03Ann"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Client {
    name: ShortText,
    address: Option<SocketAddr>,
    parameters: Option<Parameters>,
    players: BTreeMap<PlayerId, Player>,
    game: Option<GameState>,
    // Whether a Join was sent since the last game ended.
    joined: bool,
    own: Option<Own>,
    incoming: Incoming,
    outgoing: VecDeque<ClientMessage>,
    over: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Own {
    // By address and name.
    Certain(PlayerId),
    // By name alone.
    Guessed(PlayerId),
}

/// A game as a client knows it.
#[derive(Debug, Clone)]
pub struct GameState {
    board: Board,
    turn: u16,
    // Turns that have come; bombs are counted down by it all at once.
    ticks: u64,
    positions: BTreeMap<PlayerId, Position>,
    scores: BTreeMap<PlayerId, u32>,
    bombs: BTreeMap<BombId, PlacedBomb>,
    blasts: Vec<Blast>,
    bomb_timer: u16,
    explosion_radius: u16,
}

#[derive(Debug, Clone, Copy)]
struct PlacedBomb {
    position: Position,
    tick: u64,
}

impl Client {
    /// A client before the first message. `address` is its own end of the connection, which identifies it among the
    /// players; without it only the name does.
    pub fn new(name: ShortText, address: Option<SocketAddr>) -> Self {
        Self {
            name,
            address: address.map(canonical),
            parameters: None,
            players: BTreeMap::new(),
            game: None,
            joined: false,
            own: None,
            incoming: Incoming::default(),
            outgoing: VecDeque::new(),
            over: false,
        }
    }

    /// The parameters from the server's Hello; `None` before it.
    pub const fn parameters(&self) -> Option<&Parameters> {
        self.parameters.as_ref()
    }

    /// The players of the game, or in the lobby the players accepted so far.
    pub const fn players(&self) -> &BTreeMap<PlayerId, Player> {
        &self.players
    }

    /// The current game; `None` in the lobby.
    pub const fn game(&self) -> Option<&GameState> {
        self.game.as_ref()
    }

    /// The player that this client is: the one with its address and name, or else the last one of its name that was
    /// accepted after its Join.
    pub const fn own_player(&self) -> Option<PlayerId> {
        match self.own {
            Some(Own::Certain(id) | Own::Guessed(id)) => Some(id),
            None => None,
        }
    }

    // The message for the user's `input`: in the lobby a Join.
    fn answer(&mut self, input: InputMessage) -> ClientMessage {
        if self.game.is_some() {
            return ClientMessage::Action(input);
        }
        self.joined = true;
        ClientMessage::Join { name: self.name.clone() }
    }

    /// Takes in a message from the server; `true` if [`Client::picture`] is to be sent to the GUI now.
    ///
    /// The server's word is taken as it is. Messages out of place are ignored, and so are events about unknown players or
    /// fields off the board. A Hello resets the state.
    #[must_use = "a picture may be due"]
    pub fn message(&mut self, message: ServerMessage) -> bool {
        match (message, &self.parameters, &mut self.game) {
            (ServerMessage::Hello(parameters), ..) => {
                self.parameters = Some(parameters);
                self.players.clear();
                self.game = None;
                self.own = None;
                true
            }
            (ServerMessage::AcceptedPlayer { id, player }, Some(_), None) => {
                self.recognise(id, &player, self.joined);
                self.players.insert(id, player);
                true
            }
            (ServerMessage::GameStarted { players }, Some(parameters), None) => {
                self.game = Some(GameState::new(parameters, &players));
                // These may have been accepted before this client joined, so the name alone identifies nobody.
                for (&id, player) in &players {
                    self.recognise(id, player, false);
                }
                self.players = players;
                false
            }
            (ServerMessage::Turn { turn, events }, Some(_), Some(game)) => {
                game.turn(turn, &events);
                true
            }
            (ServerMessage::GameEnded { .. }, Some(_), Some(_)) => {
                self.game = None;
                self.players.clear();
                self.joined = false;
                self.own = None;
                true
            }
            // Before the Hello, a second start, turns without a game.
            _ => false,
        }
    }

    /// The picture for the GUI; `None` before the server's Hello.
    ///
    /// # Errors
    /// [`PictureTooLarge`] if it does not fit in a datagram. The size is computed before the picture is built.
    pub fn picture(&self) -> Option<Result<DrawMessage, PictureTooLarge>> {
        let parameters = self.parameters.as_ref()?;
        Some(match &self.game {
            Some(game) => game.picture(parameters, &self.players).map(DrawMessage::Game),
            None => lobby_picture(parameters, &self.players),
        })
    }

    // With `by_name` a player of the same name is taken for this client.
    fn recognise(&mut self, id: PlayerId, player: &Player, by_name: bool) {
        if player.name != self.name {
            return;
        }
        if self.address.is_some() && parsed(&player.address) == self.address {
            self.own = Some(Own::Certain(id));
        } else if by_name && !matches!(self.own, Some(Own::Certain(_))) {
            self.own = Some(Own::Guessed(id));
        }
    }
}

impl GameState {
    fn new(parameters: &Parameters, players: &BTreeMap<PlayerId, Player>) -> Self {
        Self {
            board: Board::new(parameters.size_x, parameters.size_y),
            turn: 0,
            ticks: 0,
            positions: BTreeMap::new(),
            scores: players.keys().map(|&id| (id, 0)).collect(),
            bombs: BTreeMap::new(),
            blasts: Vec::new(),
            bomb_timer: parameters.bomb_timer,
            explosion_radius: parameters.explosion_radius,
        }
    }

    /// The board.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The number of the last turn.
    pub const fn turn_number(&self) -> u16 {
        self.turn
    }

    /// Where the robots stand.
    pub const fn positions(&self) -> &BTreeMap<PlayerId, Position> {
        &self.positions
    }

    /// How often each robot was destroyed, in turns.
    pub const fn scores(&self) -> &BTreeMap<PlayerId, u32> {
        &self.scores
    }

    /// The bombs, by id.
    pub fn bombs(&self) -> impl ExactSizeIterator<Item = Bomb> {
        self.bombs.values().map(|&PlacedBomb { position, tick }| {
            let age = u16::try_from(self.ticks - tick).unwrap_or(u16::MAX);
            Bomb { position, timer: self.bomb_timer.saturating_sub(age) }
        })
    }

    /// The blasts of the last turn.
    pub fn blasts(&self) -> &[Blast] {
        &self.blasts
    }

    /// Length of an explosion's arms, in fields.
    pub const fn explosion_radius(&self) -> u16 {
        self.explosion_radius
    }

    /// Turns from the placing of a bomb to its explosion.
    pub const fn bomb_timer(&self) -> u16 {
        self.bomb_timer
    }

    fn turn(&mut self, turn: u16, events: &[Event]) {
        self.turn = turn;
        self.ticks += 1;
        self.blasts.clear();
        // Blasts depend on the blocks at the start of the turn, so they are computed before any block changes.
        let mut destroyed = BTreeSet::new();
        for event in events {
            match event {
                &Event::BombPlaced { id, position } => {
                    let room = self.bombs.len() < MAX_REMEMBERED || self.bombs.contains_key(&id);
                    if room && self.board.contains(position) {
                        self.bombs.insert(id, PlacedBomb { position, tick: self.ticks });
                    }
                }
                Event::BombExploded { id, robots_destroyed, .. } => {
                    if let Some(bomb) = self.bombs.remove(id) {
                        self.blasts.push(Blast::new(&self.board, bomb.position, self.explosion_radius));
                    }
                    destroyed.extend(robots_destroyed);
                }
                Event::PlayerMoved { .. } | Event::BlockPlaced { .. } => {}
            }
        }
        for event in events {
            match event {
                Event::BombPlaced { .. } => {}
                Event::BombExploded { blocks_destroyed, .. } => {
                    for &position in blocks_destroyed {
                        self.board.remove_block(position);
                    }
                }
                &Event::PlayerMoved { id, position } => {
                    if self.scores.contains_key(&id) && self.board.contains(position) {
                        self.positions.insert(id, position);
                    }
                }
                &Event::BlockPlaced { position } => {
                    if self.board.blocks().len() < MAX_REMEMBERED {
                        self.board.put_block(position);
                    }
                }
            }
        }
        for id in destroyed {
            if let Some(score) = self.scores.get_mut(&id) {
                *score = score.saturating_add(1);
            }
        }
    }

    fn picture(
        &self,
        parameters: &Parameters,
        players: &BTreeMap<PlayerId, Player>,
    ) -> Result<GamePicture, PictureTooLarge> {
        let Parameters { server_name, size_x, size_y, game_length, .. } = parameters.clone();
        // Tag, sizes, length and turn, the counts of seven lists; then their items.
        let bytes = (1 + text_bytes(&server_name) + 4 * 2)
            + players_bytes(players)
            + (4 + 5 * self.positions.len())
            + (4 + 4 * self.board.blocks().len())
            + (4 + 6 * self.bombs.len())
            + 4
            + (4 + 5 * self.scores.len());
        let room = MAX_DATAGRAM.checked_sub(bytes).ok_or(PictureTooLarge { bytes })? / 4;
        let explosions = covered(&self.blasts, room).ok_or(PictureTooLarge { bytes: bytes + 4 * (room + 1) })?;
        Ok(GamePicture {
            server_name,
            size_x,
            size_y,
            game_length,
            turn: self.turn,
            players: players.clone(),
            player_positions: self.positions.clone(),
            blocks: self.board.blocks().collect(),
            bombs: self.bombs().collect(),
            explosions,
            scores: self.scores.clone(),
        })
    }
}

fn lobby_picture(
    parameters: &Parameters,
    players: &BTreeMap<PlayerId, Player>,
) -> Result<DrawMessage, PictureTooLarge> {
    // Tag, name, players count and five more numbers, players.
    let bytes = 1 + text_bytes(&parameters.server_name) + 1 + 5 * 2 + players_bytes(players);
    if bytes > MAX_DATAGRAM {
        return Err(PictureTooLarge { bytes });
    }
    Ok(DrawMessage::Lobby { parameters: parameters.clone(), players: players.clone() })
}

fn text_bytes(text: &ShortText) -> usize {
    1 + text.len()
}

fn players_bytes(players: &BTreeMap<PlayerId, Player>) -> usize {
    let bytes = |player: &Player| 1 + text_bytes(&player.name) + text_bytes(&player.address);
    4 + players.values().map(bytes).sum::<usize>()
}

// The form in which addresses are compared. Servers may write an IPv4 address as an IPv6 one.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn parsed(address: &str) -> Option<SocketAddr> {
    address.parse().ok().map(canonical)
}
