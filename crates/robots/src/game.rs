//! One game: turn 0, the turns after it, and the scores.
//!
//! Source: the task text of robots, "The game" and "Explosions".

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec,
    vec::Vec,
};
use serde::{Deserialize, Serialize};

use crate::{
    board::{Board, Position},
    config::Config,
    explosion::Blast,
    minstd::MinStd,
    protocol::{Action, BombId, Event, Parameters, PlayerId},
};

/// A player's robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robot {
    /// Its field.
    pub position: Position,
    /// The number of its deaths, at most one per turn.
    pub score: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PlacedBomb {
    id: BombId,
    position: Position,
    // May be after the end of the game and exceed 16 bits.
    explodes: u32,
}

/// A running game. The random number generator outlives it.
#[derive(Debug, Clone)]
pub struct Game {
    board: Board,
    explosion_radius: u16,
    bomb_timer: u16,
    length: u16,
    turn: u16,
    robots: Vec<Robot>,
    // Ordered by id, and so by the turn of the explosion, because all timers are equal.
    bombs: VecDeque<PlacedBomb>,
    next_bomb: u32,
}

impl Game {
    /// A game after turn 0, and its events: the positions of the robots by number, then the blocks.
    pub fn new(config: &Config, draws: &mut MinStd) -> (Self, Vec<Event>) {
        let mut game = Self::empty(&config.parameters);
        let mut events = vec![];
        for id in (0..config.parameters.players_count).map(PlayerId) {
            let position = game.draw_position(draws);
            game.robots.push(Robot { position, score: 0 });
            events.push(Event::PlayerMoved { id, position });
        }
        for _ in 0..config.initial_blocks {
            let position = game.draw_position(draws);
            if game.board.put_block(position) {
                events.push(Event::BlockPlaced { position });
            }
        }
        (game, events)
    }

    fn empty(parameters: &Parameters) -> Self {
        Self {
            board: Board::new(parameters.size_x, parameters.size_y),
            explosion_radius: parameters.explosion_radius,
            bomb_timer: parameters.bomb_timer,
            length: parameters.game_length,
            turn: 0,
            robots: vec![],
            bombs: VecDeque::new(),
            next_bomb: 0,
        }
    }

    /// Plays one turn and returns its events. Players without an entry in `actions` pass.
    pub fn end_turn(&mut self, actions: &[Option<Action>], draws: &mut MinStd) -> Vec<Event> {
        self.turn = self.turn.saturating_add(1);
        let mut events = vec![];
        let mut destroyed = vec![false; self.robots.len()];
        self.explode(&mut events, &mut destroyed);
        for (id, destroyed) in PlayerId::all().zip(destroyed) {
            if destroyed {
                let position = self.draw_position(draws);
                let robot = &mut self.robots[id.index()];
                robot.position = position;
                robot.score += 1;
                events.push(Event::PlayerMoved { id, position });
            } else if let Some(&Some(action)) = actions.get(id.index()) {
                events.extend(self.act(id, action));
            }
        }
        events
    }

    // Explodes the due bombs, using the blocks and robots at the start of the turn.
    fn explode(&mut self, events: &mut Vec<Event>, destroyed: &mut [bool]) {
        let mut hit = vec![];
        while let Some(&bomb) = self.bombs.front()
            && bomb.explodes <= u32::from(self.turn)
        {
            self.bombs.pop_front();
            let blast = Blast::new(&self.board, bomb.position, self.explosion_radius);
            let mut robots_destroyed = vec![];
            for ((id, robot), destroyed) in PlayerId::all().zip(&self.robots).zip(&mut *destroyed) {
                if blast.contains(robot.position) {
                    robots_destroyed.push(id);
                    *destroyed = true;
                }
            }
            let blocks_destroyed: Vec<_> = blast.blocks().collect();
            hit.extend_from_slice(&blocks_destroyed);
            events.push(Event::BombExploded { id: bomb.id, robots_destroyed, blocks_destroyed });
        }
        for position in hit {
            // Several bombs may have hit the same block.
            let _ = self.board.remove_block(position);
        }
    }

    // `None` for an impossible action.
    fn act(&mut self, id: PlayerId, action: Action) -> Option<Event> {
        let position = self.robots[id.index()].position;
        match action {
            Action::PlaceBomb => {
                let explodes = u32::from(self.turn) + u32::from(self.bomb_timer);
                let bomb = PlacedBomb { id: BombId(self.next_bomb), position, explodes };
                self.next_bomb += 1;
                self.bombs.push_back(bomb);
                Some(Event::BombPlaced { id: bomb.id, position })
            }
            Action::PlaceBlock => self.board.put_block(position).then_some(Event::BlockPlaced { position }),
            Action::Move(way) => {
                let to = self.board.step(position, way).filter(|&to| !self.board.is_block(to))?;
                self.robots[id.index()].position = to;
                Some(Event::PlayerMoved { id, position: to })
            }
        }
    }

    /// The board.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// All robots, by player number.
    pub fn robots(&self) -> &[Robot] {
        &self.robots
    }

    /// The bombs on the board, by id, and the turns until they explode.
    pub fn bombs(&self) -> impl ExactSizeIterator<Item = (BombId, Position, u32)> {
        self.bombs.iter().map(|bomb| (bomb.id, bomb.position, bomb.explodes - u32::from(self.turn)))
    }

    /// The last turn played.
    pub const fn turn(&self) -> u16 {
        self.turn
    }

    pub(crate) const fn length(&self) -> u16 {
        self.length
    }

    /// The scores; `None` until the game is over.
    pub fn outcome(&self) -> Option<BTreeMap<PlayerId, u32>> {
        let scores = || PlayerId::all().zip(self.robots.iter().map(|robot| robot.score)).collect();
        self.is_over().then(scores)
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.turn >= self.length
    }

    fn draw_position(&self, draws: &mut MinStd) -> Position {
        let x = draw_below(draws, self.board.size_x());
        Position { x, y: draw_below(draws, self.board.size_y()) }
    }
}

fn draw_below(draws: &mut MinStd, size: u16) -> u16 {
    // A valid configuration has at least one field.
    u16::try_from(draws.draw() % u32::from(size.max(1))).unwrap_or_default()
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct GameState {
    turn: u16,
    robots: Vec<Robot>,
    blocks: Vec<Position>,
    bombs: Vec<PlacedBomb>,
    next_bomb: u32,
}

impl Game {
    pub(crate) fn state(&self) -> GameState {
        GameState {
            turn: self.turn,
            robots: self.robots.clone(),
            blocks: self.board.blocks().collect(),
            bombs: self.bombs.iter().copied().collect(),
            next_bomb: self.next_bomb,
        }
    }

    pub(crate) fn restore(config: &Config, state: GameState) -> Self {
        let GameState { turn, robots, blocks, bombs, next_bomb } = state;
        let mut game = Self { turn, robots, bombs: bombs.into(), next_bomb, ..Self::empty(&config.parameters) };
        for block in blocks {
            game.board.put_block(block);
        }
        game
    }
}
