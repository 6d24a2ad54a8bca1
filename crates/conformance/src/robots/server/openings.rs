//! Seeds that put robots and blocks at the positions that a rule needs.

use std::{cmp::Ordering, collections::BTreeSet};

use anyhow::Context as _;
use robots::{Action, Board, Direction, PlayerId, Position};

use super::{MOVE, lobby::small, model::Model, session::Session, setup::Setup};
use crate::{
    judge::{Halt, Judge, ScenarioResult},
    robots::{context::Context, draws::Draws},
    rule::Rule,
};

const SEEDS: u32 = 1_000_000;
const MOST_STEPS: usize = 8;
const NAMES: [&str; 3] = ["Ann", "Bob", "Cid"];

pub(super) struct Opening {
    pub(super) robots: Vec<Position>,
    pub(super) blocks: BTreeSet<Position>,
    pub(super) draws: Draws,
    pub(super) board: Board,
}

impl Setup {
    fn opening(&self, seed: u32) -> Opening {
        let board = Board::new(self.size.0, self.size.1);
        let mut draws = Draws(seed);
        let robots = (0..self.players).map(|_| draws.field(&board)).collect();
        let blocks = (0..self.blocks).map(|_| draws.field(&board)).collect();
        Opening { robots, blocks, draws, board }
    }

    /// Tries this and the following seeds until turn 0 matches.
    pub(super) fn with_opening(self, fits: impl Fn(&mut Opening) -> bool) -> ScenarioResult<Self> {
        let mut seeds = (0..SEEDS).map(|further| self.seed.wrapping_add(further));
        let seed = seeds.find(|&seed| fits(&mut self.opening(seed)));
        let seed = seed.context("no seed places the robots as a scenario requires")?;
        Ok(Self { seed, ..self })
    }

    pub(super) fn with_robots(self, fields: &[(u16, u16)]) -> ScenarioResult<Self> {
        Self { robots: fields.to_vec(), ..self }
            .with_opening(|opening| opening.robots.iter().map(|robot| (robot.x, robot.y)).eq(fields.iter().copied()))
    }
}

pub(super) fn row(context: &Context<'_>, size_x: u16) -> Setup {
    Setup { blocks: 0, radius: 1, bomb_timer: 2, length: 40, size: (size_x, 1), ..small(context) }
}

pub(super) fn one_field(context: &Context<'_>, players: u8) -> Setup {
    Setup { players, ..row(context, 1) }
}

/// Joins all players and receives turn 0. The clients have the numbers of their robots.
pub(super) fn start_game<'a>(
    context: &'a Context<'a>,
    judge: &'a mut Judge,
    setup: Setup,
) -> ScenarioResult<Session<'a>> {
    let mut session = Session::open(context, judge, setup)?;
    for (id, name) in PlayerId::all().zip(NAMES).take(session.setup.players.into()) {
        let index = session.connect(name)?;
        session.join(index, name)?;
        debug_assert_eq!(index, usize::from(id.0), "all clients are players");
    }
    session.start()?;
    session.walk()?;
    Ok(session)
}

impl Session<'_> {
    // If the server draws other fields, the robots may walk to the required ones.
    fn walk(&mut self) -> ScenarioResult {
        let focus = self.context.focus.unwrap_or(&MOVE);
        for (seat, &(x, y)) in self.setup.robots.clone().iter().enumerate() {
            for _ in 0..MOST_STEPS {
                let from = self.robot(seat);
                let way = match (x.cmp(&from.x), y.cmp(&from.y)) {
                    (Ordering::Greater, _) => Direction::Right,
                    (Ordering::Less, _) => Direction::Left,
                    (_, Ordering::Greater) => Direction::Up,
                    (_, Ordering::Less) => Direction::Down,
                    (Ordering::Equal, Ordering::Equal) => break,
                };
                self.play(seat, &[Action::Move(way)], focus)?;
            }
            if self.robot(seat) != Position::new(x, y) {
                return Err(Halt::Broken);
            }
        }
        Ok(())
    }

    /// Sends actions without a wait, and receives the turn that should play them.
    pub(super) fn together(&mut self, actions: &[(usize, Action)], focus: &'static Rule) -> ScenarioResult {
        for &(index, action) in actions {
            self.act(index, &[action]);
        }
        self.turn(focus)?;
        if self.model.as_ref().is_some_and(Model::waits) {
            // The next actions would be too early while earlier ones are pending.
            self.judge.fall_behind();
        }
        Ok(())
    }

    pub(super) fn pass(&mut self, turns: u16, focus: &'static Rule) -> ScenarioResult {
        (0..turns).try_for_each(|_| self.turn(focus))?;
        while self.is_running() && self.model.as_ref().is_some_and(Model::waits) {
            self.turn(focus)?;
        }
        Ok(())
    }
}
