//! One game: turn 0, the turns after it, and the scores.
//!
//! Source: the task text of robots, "The game" and "Explosions".

use alloc::{
    collections::{BTreeMap, VecDeque},
    vec,
    vec::Vec,
};
use netcore::Digest;
use serde::{Deserialize, Serialize};

use crate::{
    board::{Board, Position},
    config::Config,
    explosion::Blast,
    minstd::MinStd,
    protocol::{Action, BombId, Event, Parameters, PlayerId},
};

pub(crate) mod state;

/// A player's robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robot {
    /// Where it stands.
    pub position: Position,
    /// In how many turns it was destroyed.
    pub score: u32,
}

// A bomb stays on its field until it explodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct PlacedBomb {
    id: BombId,
    position: Position,
    // The turn in which it explodes. It may lie after the end of the game, so 16 bits are too few.
    explodes: u32,
}

// The parts of the digest.
const BLOCK: u8 = 0;
const ROBOT: u8 = 1;
const SCORE: u8 = 2;
const BOMB: u8 = 3;
const TURN: u8 = 4;
const NEXT_BOMB: u8 = 5;
const RULES: u8 = 6;

/// A running game.
///
/// The generator of random numbers outlives the game and is passed in for each turn.
#[derive(Debug, Clone)]
pub struct Game {
    board: Board,
    explosion_radius: u16,
    bomb_timer: u16,
    length: u16,
    turn: u16,
    robots: Vec<Robot>,
    // Ordered by id, and so by the turn of the explosion, since all timers are equal. No timer has to be counted down.
    bombs: VecDeque<PlacedBomb>,
    next_bomb: u32,
    digest: Digest,
}

impl Game {
    /// A game after its turn 0, and the events of that turn: the positions of the robots by number, then the blocks.
    pub fn new(config: &Config, draws: &mut MinStd) -> (Self, Vec<Event>) {
        let mut game = Self::empty(&config.parameters);
        let mut events = vec![];
        for id in (0..config.parameters.players_count).map(PlayerId) {
            let position = game.draw_position(draws);
            game.robots.push(Robot { position, score: 0 });
            game.digest.toggle(ROBOT, id.0.into(), packed(position).into());
            events.push(Event::PlayerMoved { id, position });
        }
        for _ in 0..config.initial_blocks {
            let position = game.draw_position(draws);
            if game.put_block(position) {
                events.push(Event::BlockPlaced { position });
            }
        }
        (game, events)
    }

    // A game with an empty board.
    fn empty(parameters: &Parameters) -> Self {
        let mut game = Self {
            board: Board::new(parameters.size_x, parameters.size_y),
            explosion_radius: parameters.explosion_radius,
            bomb_timer: parameters.bomb_timer,
            length: parameters.game_length,
            turn: 0,
            robots: vec![],
            bombs: VecDeque::new(),
            next_bomb: 0,
            digest: Digest::default(),
        };
        game.recount();
        game
    }

    /// Plays one turn and returns its events. `actions` holds the action of each player by number; players beyond its end
    /// do nothing.
    pub fn end_turn(&mut self, actions: &[Option<Action>], draws: &mut MinStd) -> Vec<Event> {
        self.turn = self.turn.saturating_add(1);
        let mut events = vec![];
        let mut destroyed = vec![false; self.robots.len()];
        self.explode(&mut events, &mut destroyed);
        for (id, destroyed) in PlayerId::all().zip(destroyed) {
            if destroyed {
                let position = self.draw_position(draws);
                self.place(id, position);
                let score = &mut self.robots[id.index()].score;
                self.digest.change(SCORE, id.0.into(), u64::from(*score), u64::from(*score) + 1);
                *score += 1;
                events.push(Event::PlayerMoved { id, position });
            } else if let Some(&Some(action)) = actions.get(id.index()) {
                events.extend(self.act(id, action));
            }
        }
        events
    }

    // Explodes the bombs of this turn, each against the blocks and robots at the start of the turn.
    fn explode(&mut self, events: &mut Vec<Event>, destroyed: &mut [bool]) {
        let mut hit = vec![];
        while let Some(&bomb) = self.bombs.front()
            && bomb.explodes <= u32::from(self.turn)
        {
            self.bombs.pop_front();
            bomb.toggle(&mut self.digest);
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
            // Several bombs may have hit it.
            if self.board.remove_block(position) {
                self.digest.toggle(BLOCK, packed(position), 1);
            }
        }
    }

    // An impossible action has no event.
    fn act(&mut self, id: PlayerId, action: Action) -> Option<Event> {
        let position = self.robots[id.index()].position;
        match action {
            Action::PlaceBomb => {
                let explodes = u32::from(self.turn) + u32::from(self.bomb_timer);
                let bomb = PlacedBomb { id: BombId(self.next_bomb), position, explodes };
                self.next_bomb += 1;
                self.bombs.push_back(bomb);
                bomb.toggle(&mut self.digest);
                Some(Event::BombPlaced { id: bomb.id, position })
            }
            Action::PlaceBlock => self.put_block(position).then_some(Event::BlockPlaced { position }),
            Action::Move(way) => {
                let to = self.board.step(position, way).filter(|&to| !self.board.is_block(to))?;
                self.place(id, to);
                Some(Event::PlayerMoved { id, position: to })
            }
        }
    }

    /// The board.
    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The robots, by their players' numbers.
    pub fn robots(&self) -> &[Robot] {
        &self.robots
    }

    /// The bombs that lie on the board, by id, and the turns until each explodes.
    pub fn bombs(&self) -> impl ExactSizeIterator<Item = (BombId, Position, u32)> {
        self.bombs.iter().map(|bomb| (bomb.id, bomb.position, bomb.explodes - u32::from(self.turn)))
    }

    /// The number of the last turn played.
    pub const fn turn(&self) -> u16 {
        self.turn
    }

    pub(crate) const fn length(&self) -> u16 {
        self.length
    }

    /// The scores of a game whose last turn is over; `None` while it goes on.
    pub fn outcome(&self) -> Option<BTreeMap<PlayerId, u32>> {
        let scores = || PlayerId::all().zip(self.robots.iter().map(|robot| robot.score)).collect();
        self.is_over().then(scores)
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.turn >= self.length
    }

    /// A digest of the state that determines the rest of the game, updated with every change.
    pub fn digest(&self) -> u64 {
        let mut digest = self.digest;
        digest.toggle(TURN, 0, self.turn.into());
        // The next bomb id, which the bombs on the board do not determine.
        digest.toggle(NEXT_BOMB, 0, self.next_bomb.into());
        digest.value()
    }

    fn draw_position(&self, draws: &mut MinStd) -> Position {
        // x is drawn before y.
        let x = draw_below(draws, self.board.size_x());
        Position { x, y: draw_below(draws, self.board.size_y()) }
    }

    fn put_block(&mut self, position: Position) -> bool {
        let put = self.board.put_block(position);
        if put {
            self.digest.toggle(BLOCK, packed(position), 1);
        }
        put
    }

    fn place(&mut self, id: PlayerId, to: Position) {
        let from = core::mem::replace(&mut self.robots[id.index()].position, to);
        self.digest.change(ROBOT, id.0.into(), packed(from).into(), packed(to).into());
    }
}

impl PlacedBomb {
    fn toggle(self, digest: &mut Digest) {
        let value = u64::from(self.explodes) << 32 | u64::from(packed(self.position));
        digest.toggle(BOMB, self.id.0, value);
    }
}

fn draw_below(draws: &mut MinStd, size: u16) -> u16 {
    // The configuration was checked, so the board has fields.
    u16::try_from(draws.draw() % u32::from(size.max(1))).unwrap_or_default()
}

fn packed(position: Position) -> u32 {
    u32::from(position.x) << 16 | u32::from(position.y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{format, string::String};

    impl Game {
        /// Games that differ from this one in one thing each.
        pub(crate) fn neighbours(&self) -> Vec<(String, Self)> {
            let mut all = vec![];
            let mut add = |what: String, change: &dyn Fn(&mut Self)| {
                let mut other = self.clone();
                change(&mut other);
                all.push((what, other));
            };
            add("the turn".into(), &|game| game.turn += 1);
            add("the next bomb".into(), &|game| game.next_bomb += 1);
            add("the length".into(), &|game| game.length += 1);
            add("the radius".into(), &|game| game.explosion_radius += 1);
            add("the timer".into(), &|game| game.bomb_timer += 1);
            for number in 0..self.robots.len() {
                add(format!("the column of robot {number}"), &|game| game.robots[number].position.x += 100);
                add(format!("the row of robot {number}"), &|game| game.robots[number].position.y += 100);
                add(format!("the score of robot {number}"), &|game| game.robots[number].score += 1);
            }
            for number in 0..self.bombs.len() {
                add(format!("bomb {number} is gone"), &|game| {
                    let _ = game.bombs.remove(number);
                });
                add(format!("the number of bomb {number}"), &|game| game.bombs[number].id.0 += 1_000);
                add(format!("the timer of bomb {number}"), &|game| game.bombs[number].explodes += 1);
                add(format!("the column of bomb {number}"), &|game| game.bombs[number].position.x += 100);
            }
            for x in 0..self.board.size_x() {
                for y in 0..self.board.size_y() {
                    let field = Position::new(x, y);
                    add(format!("the block of {field:?}"), &|game| {
                        let _ = game.board.remove_block(field) || game.board.put_block(field);
                    });
                }
            }
            all
        }
    }
}
