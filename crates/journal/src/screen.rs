mod draw;
mod keys;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use netcore::Time;
use ratatui::layout::Size;
use termkit::Palette;

use crate::{
    games::{Game, GameDisplay},
    playback::{Goal, Playback},
};

/// Text and fraction.
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
const LEAP: Duration = Duration::from_secs(30);
const BATCH: u32 = 64;
const MAX_TYPED: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reaction {
    Nothing,
    Leave,
    Redraw,
    /// Suspend the program until the shell resumes it.
    Suspend,
}

#[derive(Debug)]
pub(crate) struct ReplayScreen<E: Game> {
    playback: Playback<E>,
    view: <E::Display as GameDisplay<E>>::View,
    palette: Palette,
    speed: usize,
    playing: bool,
    // At least the time of the last arrival.
    clock: Time,
    // The destination, and the position when it was requested.
    goal: Option<(Goal, (u64, Option<u64>))>,
    // The input line of the position prompt.
    typed: Option<String>,
    // The error about the input.
    note: Option<String>,
    help: bool,
    window: Size,
}

impl<E: Game> ReplayScreen<E> {
    pub(crate) fn new(playback: Playback<E>, palette: Palette, speed: usize) -> Self {
        let clock = playback.start.time;
        Self {
            playback,
            view: E::Display::view(palette),
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

    pub(crate) const fn playback(&mut self) -> &mut Playback<E> {
        &mut self.playback
    }

    /// Shows the time of the last arrival, after the caller has moved the replay.
    pub(crate) fn settle(&mut self) {
        self.clock = self.playback.time().max(self.playback.start.time);
    }

    /// Whether the display changes without input.
    pub(crate) const fn is_moving(&self) -> bool {
        self.playing || self.goal.is_some()
    }

    pub(crate) const fn is_busy(&self) -> bool {
        self.goal.is_some()
    }

    /// Works until `until` at most. Returns whether the display has changed.
    pub(crate) fn elapse(&mut self, passed: Duration, until: Instant) -> bool {
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
        let arrivals = self.playback.arrivals();
        if !self.run(Goal::Time(self.clock), (0, None), until) {
            // Too many arrivals for this speed.
            self.clock = self.playback.time();
        }
        if self.playback.next_time().is_none() {
            self.playing = false;
            self.clock = self.clock.min(self.playback.end.time).max(self.playback.time());
            return true;
        }
        self.playback.arrivals() != arrivals || self.clock.as_nanos() / 1_000_000_000 != before
    }

    /// [`elapse`](Self::elapse) does the work.
    pub(crate) fn go_to(&mut self, goal: Goal) {
        let from = (self.playback.arrivals(), self.playback.turn());
        if self.playback.rewind(goal) {
            let (display, _) = self.playback.scene();
            display.discard_later(&mut self.view);
        }
        self.goal = Some((goal, from));
    }

    fn wind(&mut self, until: Instant) {
        let Some((goal, from)) = self.goal else { return };
        if self.run(goal, from, until) {
            self.goal = None;
            self.clock = match goal {
                Goal::Time(time) => time.clamp(self.playback.time(), self.playback.end.time.max(self.playback.time())),
                _ => self.playback.time(),
            };
            if self.playback.next_time().is_none() {
                self.playing = false;
            }
        } else {
            self.clock = self.playback.time();
        }
    }

    fn run(&mut self, goal: Goal, from: (u64, Option<u64>), until: Instant) -> bool {
        loop {
            for _ in 0..BATCH {
                if self.playback.is_at(goal, from) || !self.playback.forward() {
                    return true;
                }
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    // Moves to the state after the previous arrival or turn.
    fn back(&mut self) {
        let (game, arrivals) = (self.playback.game(), self.playback.arrivals());
        self.go_to(match self.playback.turn() {
            Some(turn @ 1..) => Goal::Turn { game, turn: turn - 1 },
            _ => Goal::Arrivals(arrivals.saturating_sub(1).max(self.playback.start.arrivals)),
        });
    }

    fn leap(&mut self, forward: bool) {
        let start = self.playback.start.time;
        let time =
            if forward { self.clock.plus(LEAP) } else { start.plus(self.clock.since(start).saturating_sub(LEAP)) };
        self.go_to(Goal::Time(time));
    }
}
