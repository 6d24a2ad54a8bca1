//! A game reconstructed from the server's messages, and its pictures. Nothing in it is secret.
//!
//! Source: the task text of robots, "The client".

use alloc::{
    collections::{BTreeMap, BTreeSet},
    vec::Vec,
};
use netcore::wire::ShortText;
use thiserror::Error;

use crate::{
    board::{Board, Position},
    explosion::{Blast, covered},
    protocol::{Bomb, BombId, DrawMessage, Event, GamePicture, MAX_DATAGRAM, Parameters, Player, PlayerId},
};

/// The maximum number of stored blocks, and of bombs, so that no server can exhaust the memory: about a hundred times
/// the capacity of a picture.
const MAX_REMEMBERED: usize = 1 << 20;

/// A picture is too large for a datagram. Later pictures may fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the picture takes {bytes} bytes or more, and a datagram {MAX_DATAGRAM} at most")]
pub struct PictureTooLarge {
    /// The number of bytes when the size exceeded the bound.
    pub bytes: usize,
}

/// A game as seen by a client.
#[derive(Debug, Clone)]
pub struct GameView {
    board: Board,
    turn: u16,
    // Received turns, which determine the timers of the bombs.
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

impl GameView {
    pub(crate) fn new(parameters: &Parameters, players: &BTreeMap<PlayerId, Player>) -> Self {
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

    /// The last turn.
    pub const fn turn(&self) -> u16 {
        self.turn
    }

    /// The positions of the robots.
    pub const fn positions(&self) -> &BTreeMap<PlayerId, Position> {
        &self.positions
    }

    /// The deaths of each robot, at most one per turn.
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

    /// The length of an explosion's arms, in fields.
    pub const fn explosion_radius(&self) -> u16 {
        self.explosion_radius
    }

    pub(crate) const fn bomb_timer(&self) -> u16 {
        self.bomb_timer
    }

    pub(crate) fn apply(&mut self, turn: u16, events: &[Event]) {
        self.turn = turn;
        self.ticks += 1;
        self.blasts.clear();
        // Blasts depend on the blocks at the start of the turn.
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

    pub(crate) fn picture(
        &self,
        parameters: &Parameters,
        players: &BTreeMap<PlayerId, Player>,
    ) -> Result<GamePicture, PictureTooLarge> {
        let Parameters { server_name, size_x, size_y, game_length, .. } = parameters.clone();
        // Tag, name, sizes, length and turn, then six lists and maps with their counts.
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

pub(crate) fn lobby_picture(
    parameters: &Parameters,
    players: &BTreeMap<PlayerId, Player>,
) -> Result<DrawMessage, PictureTooLarge> {
    // Tag, name, number of players, five more numbers, players.
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
