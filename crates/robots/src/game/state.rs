//! The state of a game as plain data, and a game restored from it.

use alloc::{format, vec::Vec};
use netcore::{Digest, StateError};
use serde::{Deserialize, Serialize};

use super::{BLOCK, Game, PlacedBomb, ROBOT, RULES, Robot, SCORE, packed};
use crate::{board::Position, config::Config};

/// The state of a running game, without its configuration.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct State {
    turn: u16,
    robots: Vec<Robot>,
    blocks: Vec<Position>,
    bombs: Vec<PlacedBomb>,
    next_bomb: u32,
}

impl Game {
    pub(crate) fn state(&self) -> State {
        State {
            turn: self.turn,
            robots: self.robots.clone(),
            blocks: self.board.blocks().collect(),
            bombs: self.bombs.iter().copied().collect(),
            next_bomb: self.next_bomb,
        }
    }

    /// Restores the game with this state.
    ///
    /// # Errors
    /// [`StateError`] if no running game can have it.
    pub(crate) fn restore(config: &Config, state: State) -> Result<Self, StateError> {
        let mut game = Self::empty(&config.parameters);
        let State { turn, robots, blocks, bombs, next_bomb } = state;
        if turn >= game.length {
            return Err(format!("turn {turn} is over, and the game has {} turns", game.length).into());
        }
        let players = config.parameters.players_count;
        if robots.len() != usize::from(players) {
            return Err(format!("{} robots for {players} players", robots.len()).into());
        }
        if !robots.iter().all(|robot| game.board.contains(robot.position) && robot.score <= u32::from(turn)) {
            return Err("a robot that is off the board, or was destroyed more than once a turn".into());
        }
        if !blocks.into_iter().all(|block| game.board.put_block(block)) {
            return Err("a block that is off the board, or there twice".into());
        }
        // A robot places at most one per turn.
        if next_bomb > u32::from(turn) * u32::from(players) {
            return Err(format!("{next_bomb} bombs after {turn} turns of {players} players").into());
        }
        let (turn_32, timer) = (u32::from(turn), u32::from(game.bomb_timer));
        let may_lie = |bomb: &PlacedBomb| {
            let placed = bomb.explodes.checked_sub(timer);
            bomb.id.0 < next_bomb
                && bomb.explodes > turn_32
                && placed.is_some_and(|placed| (1..=turn_32).contains(&placed))
                && game.board.contains(bomb.position)
        };
        if !bombs.iter().all(may_lie) {
            return Err("a bomb that nobody can have placed, or that has exploded".into());
        }
        if !bombs.is_sorted_by(|one, next| one.id < next.id && one.explodes <= next.explodes) {
            return Err("bombs that are not in the order in which they were placed".into());
        }
        (game.turn, game.robots, game.bombs, game.next_bomb) = (turn, robots, bombs.into(), next_bomb);
        game.recount();
        Ok(game)
    }

    pub(crate) fn recount(&mut self) {
        let mut digest = Digest::default();
        let Self { length, explosion_radius, bomb_timer, .. } = *self;
        let rules = [self.board.size_x(), self.board.size_y(), length, explosion_radius, bomb_timer];
        for (which, rule) in (0..).zip(rules) {
            digest.toggle(RULES, which, rule.into());
        }
        for (id, robot) in (0..).zip(&self.robots) {
            digest.toggle(ROBOT, id, packed(robot.position).into());
            digest.change(SCORE, id, 0, robot.score.into());
        }
        for block in self.board.blocks() {
            digest.toggle(BLOCK, packed(block), 1);
        }
        for bomb in &self.bombs {
            bomb.toggle(&mut digest);
        }
        self.digest = digest;
    }
}
