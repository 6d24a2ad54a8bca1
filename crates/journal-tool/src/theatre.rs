//! A replay on a screen: keys, speeds, and what is drawn.

mod draw;
mod keys;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use netcore::Time;
use ratatui::layout::Size;
use termkit::Palette;

use crate::{
    film::{Film, Goal},
    games::{Eye, Game},
};

/// How many times as fast as it was played a match can be seen: in words, and as a fraction.
pub(crate) const SPEEDS: [(&str, (u32, u32)); 9] = [
    ("0.25", (1, 4)),
    ("0.5", (1, 2)),
    ("1", (1, 1)),
    ("2", (2, 1)),
    ("4", (4, 1)),
    ("8", (8, 1)),
    ("16", (16, 1)),
    ("32", (32, 1)),
    ("64", (64, 1)),
];
/// How far a large step goes.
const LEAP: Duration = Duration::from_secs(30);
/// Arrivals between two looks at the clock.
const BATCH: u32 = 64;
/// What can be typed into the line that asks where to go.
const MAX_TYPED: usize = 20;

/// What a key asks of whoever has the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    Nothing,
    /// To leave.
    Leave,
    /// To draw everything again.
    Redraw,
    /// To stop until the shell goes on with the program.
    Suspend,
}

/// A match that is shown.
#[derive(Debug)]
pub struct Theatre<E: Game> {
    film: Film<E>,
    view: <E::Eye as Eye<E>>::View,
    palette: Palette,
    speed: usize,
    playing: bool,
    // The time that is shown: at or behind the last arrival.
    clock: Time,
    // Where it is being wound to, and where it was when that was asked for.
    goal: Option<(Goal, (u64, Option<u64>))>,
    // What was typed so far of the place to go to.
    typed: Option<String>,
    // What is wrong with what was typed.
    note: Option<String>,
    help: bool,
    window: Size,
}

impl<E: Game> Theatre<E> {
    /// The beginning of a match, which goes on at one of the speeds.
    pub fn new(film: Film<E>, palette: Palette, speed: usize) -> Self {
        let clock = film.start().time;
        Self {
            film,
            view: E::Eye::view(palette),
            palette,
            speed: speed.min(SPEEDS.len() - 1),
            playing: true,
            clock,
            goal: None,
            typed: None,
            note: None,
            help: false,
            window: Size::ZERO,
        }
    }

    /// The match.
    pub const fn film(&mut self) -> &mut Film<E> {
        &mut self.film
    }

    /// Shows the time of the last arrival, after the film was wound by somebody else.
    pub fn settle(&mut self) {
        self.clock = self.film.time().max(self.film.start().time);
    }

    /// Whether anything moves by itself.
    pub const fn is_moving(&self) -> bool {
        self.playing || self.goal.is_some()
    }

    /// Whether there is work to do at once.
    pub const fn is_busy(&self) -> bool {
        self.goal.is_some()
    }

    /// Goes on by as much as has passed, and works until `until` at most. Whether there is anything new to see.
    pub fn elapse(&mut self, passed: Duration, until: Instant) -> bool {
        if self.goal.is_some() {
            self.wind(until);
            return true;
        }
        if !self.playing {
            return false;
        }
        let (_, (times, over)) = SPEEDS[self.speed];
        let before = self.clock.as_nanos() / 1_000_000_000;
        self.clock = self.clock.plus(passed * times / over);
        let arrivals = self.film.arrivals();
        if !self.run(Goal::Time(self.clock), (0, None), until) {
            // Too much arrives for this speed.
            self.clock = self.film.time();
        }
        if self.film.next_time().is_none() {
            self.playing = false;
            self.clock = self.clock.min(self.film.end().time).max(self.film.time());
            return true;
        }
        self.film.arrivals() != arrivals || self.clock.as_nanos() / 1_000_000_000 != before
    }

    /// Winds to a place; [`elapse`](Self::elapse) does the work.
    pub fn go_to(&mut self, goal: Goal) {
        let from = (self.film.arrivals(), self.film.turn());
        if self.film.rewind(goal) {
            let (eye, _) = self.film.scene();
            eye.wound_back(&mut self.view);
        }
        self.goal = Some((goal, from));
    }

    fn wind(&mut self, until: Instant) {
        let Some((goal, from)) = self.goal else { return };
        if self.run(goal, from, until) {
            self.goal = None;
            self.clock = match goal {
                Goal::Time(time) => time.clamp(self.film.time(), self.film.end().time.max(self.film.time())),
                _ => self.film.time(),
            };
            if self.film.next_time().is_none() {
                self.playing = false;
            }
        } else {
            self.clock = self.film.time();
        }
    }

    // Whether it came to where it should.
    fn run(&mut self, goal: Goal, from: (u64, Option<u64>), until: Instant) -> bool {
        loop {
            for _ in 0..BATCH {
                if self.film.is_at(goal, from) || !self.film.forward() {
                    return true;
                }
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    // One step back: behind the arrival or the turn before.
    fn back(&mut self) {
        let (game, arrivals) = (self.film.game(), self.film.arrivals());
        self.go_to(match self.film.turn() {
            Some(turn @ 1..) => Goal::Turn { game, turn: turn - 1 },
            _ => Goal::Arrivals(arrivals.saturating_sub(1).max(self.film.start().arrivals)),
        });
    }

    fn leap(&mut self, forward: bool) {
        let start = self.film.start().time;
        let time =
            if forward { self.clock.plus(LEAP) } else { start.plus(self.clock.since(start).saturating_sub(LEAP)) };
        self.go_to(Goal::Time(time));
    }
}
