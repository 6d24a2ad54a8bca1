use termkit::{Key, Pad};

use super::{MAX_TYPED, Reaction, ReplayScreen, SPEEDS};
use crate::{
    format::parse_clock,
    games::{Game, GameDisplay, Step},
    playback::Goal,
};

pub(crate) const HELP: &[(&str, &str)] = &[
    ("Space", "pause, and continue"),
    ("Right .", "next turn or arrival"),
    ("Left ,", "previous turn or arrival"),
    ("+ -", "faster, slower: 0.25 to 64 times"),
    ("PgUp PgDn", "30 seconds back, forward"),
    ("g", "go to a turn, an arrival or a time such as 14:02"),
    ("Home End", "go to the start, to the end"),
    ("Up Down", "scroll; Shift and an arrow as well"),
    ("Tab", "follow the next robot"),
    ("F1 ?", "this help"),
    ("Ctrl-L", "redraw the screen"),
    ("Q", "leave"),
    ("", ""),
    ("", "Any key closes the help."),
];

impl<E: Game> ReplayScreen<E> {
    pub(crate) fn key(&mut self, typed: Key) -> Reaction {
        match typed {
            Key::Interrupt | Key::EndOfInput => return Reaction::Leave,
            Key::Redraw => return Reaction::Redraw,
            Key::Suspend => return Reaction::Suspend,
            _ => {}
        }
        self.note = None;
        if self.help {
            self.help = false;
        } else if self.typed.is_some() {
            self.type_in(typed);
        } else {
            return self.command(typed);
        }
        Reaction::Nothing
    }

    fn command(&mut self, typed: Key) -> Reaction {
        match typed {
            Key::Byte(b'q' | b'Q') => return Reaction::Leave,
            Key::Byte(b' ') => self.pause(),
            Key::Byte(b'.') | Key::Pad { key: Pad::Right, shift: false } => self.step(true),
            Key::Byte(b',') | Key::Pad { key: Pad::Left, shift: false } => self.step(false),
            Key::Byte(b'+' | b'=') => self.speed = (self.speed + 1).min(SPEEDS.len() - 1),
            Key::Byte(b'-') => self.speed = self.speed.saturating_sub(1),
            Key::Byte(b'g') => self.typed = Some(String::new()),
            Key::Byte(b'?') | Key::Function(1) => self.help = true,
            Key::Byte(b'\t') => self.playback.scene().0.follow_next(&mut self.view),
            Key::Pad { key: Pad::Home, .. } => self.go_to(Goal::Arrivals(self.playback.start.arrivals)),
            Key::Pad { key: Pad::End, .. } => self.go_to(Goal::End),
            Key::Pad { key: Pad::PageUp, .. } => self.leap(false),
            Key::Pad { key: Pad::PageDown, .. } => self.leap(true),
            Key::Pad { key: Pad::Up, .. } => self.scroll(0, -1),
            Key::Pad { key: Pad::Down, .. } => self.scroll(0, 1),
            Key::Pad { key: Pad::Left, shift: true } => self.scroll(-1, 0),
            Key::Pad { key: Pad::Right, shift: true } => self.scroll(1, 0),
            _ => {}
        }
        Reaction::Nothing
    }

    fn pause(&mut self) {
        self.playing = !self.playing;
        // At the end, playing restarts the match.
        if self.playing && self.goal.is_none() && self.playback.next_time().is_none() {
            self.go_to(Goal::Arrivals(self.playback.start.arrivals));
        }
    }

    fn step(&mut self, forward: bool) {
        self.playing = false;
        if forward {
            self.go_to(Goal::Step);
        } else {
            self.back();
        }
    }

    fn scroll(&mut self, columns: i32, rows: i32) {
        self.playback.scene().0.scroll(&mut self.view, columns, rows);
    }

    fn type_in(&mut self, key: Key) {
        let Some(typed) = &mut self.typed else { return };
        match key {
            Key::Byte(byte @ (b'0'..=b'9' | b':')) if typed.len() < MAX_TYPED => typed.push(char::from(byte)),
            Key::Byte(0x08 | 0x7f) => drop(typed.pop()),
            Key::Byte(0x1b) => self.typed = None,
            Key::Byte(b'\n') => {
                let typed = self.typed.take().unwrap_or_default();
                match self.place(&typed) {
                    Some(goal) => self.go_to(goal),
                    None if typed.is_empty() => {}
                    None => {
                        self.note = Some(format!("'{typed}' is not a position; type {} or mm:ss", E::STEP.one()));
                    }
                }
            }
            _ => {}
        }
    }

    fn place(&self, typed: &str) -> Option<Goal> {
        if typed.contains(':') {
            return parse_clock(typed).map(Goal::Time);
        }
        let number = typed.parse().ok()?;
        Some(match self.playback.turn() {
            Some(_) => Goal::Turn { game: self.playback.game(), turn: number },
            // A turn of the next game.
            None if E::STEP == Step::Turn => Goal::Turn { game: self.playback.game() + 1, turn: number },
            None => Goal::Arrivals(number),
        })
    }
}
