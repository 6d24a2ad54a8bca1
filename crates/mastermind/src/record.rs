//! Statistics of past games, and the text that they are kept as.
//!
//! The text is a line with the version, then a line for each entry:
//!
//! ```text
//! mastermind-record 1
//! won 0 0 1 4 7 2 0 0 0 0
//! lost 3
//! hinted 2
//! streak 5
//! best-streak 6
//! last-daily 20466
//! ```
//!
//! `won` has the games won in 1 to 10 turns; `last-daily` is there after the first puzzle of a day.

use alloc::string::{String, ToString};
use core::{fmt, fmt::Write, str::FromStr};
use thiserror::Error;

use crate::{
    daily::Day,
    game::{Game, Outcome, TURNS},
};

/// Most bytes that a record takes as text.
pub const MAX_RECORD: usize = 4096;

/// Past games. Those played with hints are counted, but neither in the distribution nor in the streak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    won: [u64; TURNS],
    lost: u64,
    hinted: u64,
    streak: u64,
    best_streak: u64,
    last_daily: Option<Day>,
}

impl Record {
    /// Adds a game that is over; one that goes on is not added. `day` is the day whose puzzle it was, if it was one: a
    /// second game at the puzzle of the same day is not added, nor one at the puzzle of a day before.
    ///
    /// Returns whether it was added.
    pub fn add(&mut self, game: &Game, day: Option<Day>) -> bool {
        let Some(outcome) = game.outcome() else {
            return false;
        };
        if day.is_some() {
            if day <= self.last_daily {
                return false;
            }
            self.last_daily = day;
        }
        if game.hints() > 0 {
            self.hinted = self.hinted.saturating_add(1);
            return true;
        }
        match outcome {
            Outcome::Won { turns } => {
                if let Some(won) = turns.checked_sub(1).and_then(|index| self.won.get_mut(index)) {
                    *won = won.saturating_add(1);
                }
                self.streak = self.streak.saturating_add(1);
                self.best_streak = self.best_streak.max(self.streak);
            }
            Outcome::Lost { .. } => {
                self.lost = self.lost.saturating_add(1);
                self.streak = 0;
            }
        }
        true
    }

    /// Games won without hints in 1 to 10 turns.
    pub const fn won(&self) -> &[u64; TURNS] {
        &self.won
    }

    /// Games lost without hints.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Games played with hints, won or lost.
    pub const fn hinted(&self) -> u64 {
        self.hinted
    }

    /// Games played without hints.
    pub fn played(&self) -> u64 {
        self.won.iter().fold(self.lost, |sum, won| sum.saturating_add(*won))
    }

    /// Games won in a row without hints, up to now.
    pub const fn streak(&self) -> u64 {
        self.streak
    }

    /// Most games ever won in a row without hints.
    pub const fn best_streak(&self) -> u64 {
        self.best_streak
    }

    /// The last day whose puzzle was played.
    pub const fn last_daily(&self) -> Option<Day> {
        self.last_daily
    }

    /// The distribution of turns as a picture: a line for each number of turns and one for lost games, the longest bar
    /// `width` columns long. Games that are counted have a bar of one column at least.
    pub fn bars(&self, width: usize) -> String {
        let most = self.won.iter().copied().max().unwrap_or(0).max(self.lost).max(1);
        let mut text = String::new();
        let labels = (1..=TURNS).map(|turns| turns.to_string()).chain([String::from("lost")]);
        for (label, count) in labels.zip(self.won.iter().copied().chain([self.lost])) {
            let columns = u128::from(count) * width as u128 / u128::from(most);
            let columns = usize::try_from(columns).unwrap_or(width).max(usize::from(count > 0));
            let _ = write!(text, "{label:>4} ");
            text.extend(core::iter::repeat_n('█', columns));
            let _ = writeln!(text, "{}{count}", if columns > 0 { " " } else { "" });
        }
        text
    }
}

const HEAD: &str = "mastermind-record 1";

impl fmt::Display for Record {
    /// The text that it is kept as.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        f.write_str("won")?;
        for won in self.won {
            write!(f, " {won}")?;
        }
        writeln!(f, "\nlost {}\nhinted {}", self.lost, self.hinted)?;
        writeln!(f, "streak {}\nbest-streak {}", self.streak, self.best_streak)?;
        if let Some(Day(day)) = self.last_daily {
            writeln!(f, "last-daily {day}")?;
        }
        Ok(())
    }
}

/// A text that is no record.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseRecordError {
    /// Longer than any record.
    #[error("{length} bytes are too long for a record: at most {MAX_RECORD} are read")]
    TooLong {
        /// Bytes in the text.
        length: usize,
    },
    /// Not the first line of a record that can be read.
    #[error("line 1 is not {HEAD:?}")]
    Head,
    /// A line that is none of a record's, or has a number that is none.
    #[error("line {line} is not {expected:?} and the numbers of it")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// How it should begin.
        expected: &'static str,
    },
    /// A line after the last one of a record.
    #[error("line {line} is one too many")]
    TooMany {
        /// The line, counted from 1.
        line: usize,
    },
    /// The best streak is shorter than the one that goes on, or longer than there are games won.
    #[error("a streak of {streak} with a best one of {best} and {won} games won is not possible")]
    Streak {
        /// The streak.
        streak: u64,
        /// The best streak.
        best: u64,
        /// Games won.
        won: u64,
    },
}

impl FromStr for Record {
    type Err = ParseRecordError;

    fn from_str(text: &str) -> Result<Self, ParseRecordError> {
        if text.len() > MAX_RECORD {
            return Err(ParseRecordError::TooLong { length: text.len() });
        }
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(ParseRecordError::Head);
        }
        let mut line = 1;
        let mut numbers = |expected: &'static str, into: &mut [u64]| {
            line += 1;
            let error = ParseRecordError::Line { line, expected };
            let Some(found) = lines.next() else {
                return if expected == LAST_DAILY { Ok(false) } else { Err(error) };
            };
            let mut words = found.split(' ');
            if words.next() != Some(expected) {
                return Err(error);
            }
            for number in into {
                let word = words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                *number = word.and_then(|word| word.parse().ok()).ok_or_else(|| error.clone())?;
            }
            if words.next().is_some() { Err(error) } else { Ok(true) }
        };
        let mut record = Self::default();
        numbers("won", &mut record.won)?;
        for (name, into) in [
            ("lost", &mut record.lost),
            ("hinted", &mut record.hinted),
            ("streak", &mut record.streak),
            ("best-streak", &mut record.best_streak),
        ] {
            numbers(name, core::slice::from_mut(into))?;
        }
        let mut day = 0;
        if numbers(LAST_DAILY, core::slice::from_mut(&mut day))? {
            let day = u32::try_from(day).map_err(|_| ParseRecordError::Line { line, expected: LAST_DAILY })?;
            record.last_daily = Some(Day(day));
            line += 1;
            if lines.next().is_some() {
                return Err(ParseRecordError::TooMany { line });
            }
        }
        let (streak, best) = (record.streak, record.best_streak);
        let won = record.won.iter().fold(0u64, |sum, won| sum.saturating_add(*won));
        if streak > best || best > won {
            return Err(ParseRecordError::Streak { streak, best, won });
        }
        Ok(record)
    }
}

const LAST_DAILY: &str = "last-daily";
