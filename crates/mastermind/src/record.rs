//! Statistics of past games, and their text form.
//!
//! ```text
//! mastermind-record 1
//! won 0 0 1 4 7 2 0 0 0 0
//! lost 3
//! hinted 2
//! streak 5
//! best-streak 6
//! days 4/8/yes/20465 4/8/yes/20466
//! seeds 4/8/no/7 5/8/yes/42
//! ```
//!
//! `won` counts the games won in 1 to 10 turns. `days` and `seeds` list the most recently begun puzzles, the newest
//! last: pegs, colours, whether colours may repeat, and the day or seed. A line without puzzles is omitted.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{
    fmt::{self, Display, Write},
    str::FromStr,
};

use thiserror::Error;

use crate::{
    config::Rules,
    game::{Game, Outcome, TURNS},
    puzzle::{Day, Origin, Puzzle},
};

/// The maximum size of a record as text, in bytes.
pub const MAX_RECORD: usize = 4096;

/// The number of remembered puzzles of each kind. The oldest is dropped first.
pub const MOST_PUZZLES: usize = 64;

/// Statistics of past games. Those with hints do not affect the distribution and the streak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    won: [u64; TURNS],
    lost: u64,
    hinted: u64,
    streak: u64,
    best_streak: u64,
    puzzles: [Vec<(Rules, u64)>; 2],
}

/// The name of the line, and the largest day or seed.
const KINDS: [(&str, u64); 2] = [("days", u32::MAX as u64), ("seeds", u64::MAX)];

const fn kind(origin: Origin) -> (usize, u64) {
    match origin {
        Origin::Day(Day(day)) => (0, day as u64),
        Origin::Seed(seed) => (1, seed),
    }
}

impl Record {
    /// Records the start of a game of this puzzle, and returns whether it is the first.
    ///
    /// [Add](Self::add) only the first, since a player who has seen answers has an advantage.
    pub fn begin(&mut self, puzzle: Puzzle) -> bool {
        if self.has_begun(puzzle) {
            return false;
        }
        let (kind, number) = kind(puzzle.origin);
        let puzzles = &mut self.puzzles[kind];
        if puzzles.len() >= MOST_PUZZLES {
            puzzles.remove(0);
        }
        puzzles.push((puzzle.rules, number));
        true
    }

    /// Whether this puzzle is among the last [`MOST_PUZZLES`] of its kind.
    pub fn has_begun(&self, puzzle: Puzzle) -> bool {
        let (kind, number) = kind(puzzle.origin);
        self.puzzles[kind].contains(&(puzzle.rules, number))
    }

    /// Adds a game if it is over. Returns whether it was added.
    pub fn add(&mut self, game: &Game) -> bool {
        let Some(outcome) = game.outcome() else {
            return false;
        };
        if game.hints() > 0 {
            self.hinted = self.hinted.saturating_add(1);
            return true;
        }
        match outcome {
            Outcome::Won(turns) => {
                if let Some(won) = turns.checked_sub(1).and_then(|index| self.won.get_mut(index)) {
                    *won = won.saturating_add(1);
                }
                self.streak = self.streak.saturating_add(1);
                self.best_streak = self.best_streak.max(self.streak);
            }
            Outcome::Lost(_) => {
                self.lost = self.lost.saturating_add(1);
                self.streak = 0;
            }
        }
        true
    }

    /// Games won without hints, by number of turns.
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

    /// The current streak of games won without hints.
    pub const fn streak(&self) -> u64 {
        self.streak
    }

    /// The longest streak of games won without hints.
    pub const fn best_streak(&self) -> u64 {
        self.best_streak
    }

    /// The distribution of turns as a [`histogram`]: one line per number of turns, and one for lost games.
    pub fn bars(&self, width: usize) -> String {
        let labels = (1..=TURNS).map(|turns| turns.to_string()).chain([String::from("lost")]);
        let counts: Vec<(String, u64)> = labels.zip(self.won.iter().copied().chain([self.lost])).collect();
        histogram(&counts, width)
    }
}

const HEAD: &str = "mastermind-record 1";

impl Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}")?;
        f.write_str("won")?;
        for won in self.won {
            write!(f, " {won}")?;
        }
        writeln!(f, "\nlost {}\nhinted {}", self.lost, self.hinted)?;
        writeln!(f, "streak {}\nbest-streak {}", self.streak, self.best_streak)?;
        for ((name, _), puzzles) in KINDS.iter().zip(&self.puzzles).filter(|(_, puzzles)| !puzzles.is_empty()) {
            f.write_str(name)?;
            for (rules, number) in puzzles {
                let repeats = if rules.repeats() { "yes" } else { "no" };
                write!(f, " {}/{}/{repeats}/{number}", rules.length(), rules.colours())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Parses digits only.
fn number<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
}

fn numbers(line: &str, name: &str, into: &mut [u64]) -> Option<()> {
    let mut words = line.split(' ');
    (words.next()? == name).then_some(())?;
    for place in into {
        *place = number(words.next()?)?;
    }
    words.next().is_none().then_some(())
}

/// An empty list is invalid: its line is omitted.
fn puzzles(line: &str, most: u64) -> Option<Vec<(Rules, u64)>> {
    let puzzles: Vec<_> = line.split(' ').skip(1).map(|text| puzzle(text, most)).collect::<Option<_>>()?;
    (1..=MOST_PUZZLES).contains(&puzzles.len()).then_some(puzzles)
}

fn puzzle(text: &str, most: u64) -> Option<(Rules, u64)> {
    let [length, colours, repeats @ ("yes" | "no"), origin] = text.split('/').collect::<Vec<_>>()[..] else {
        return None;
    };
    let rules = Rules::new(number(length)?, number(colours)?, repeats == "yes").ok()?;
    Some((rules, number(origin).filter(|origin| *origin <= most)?))
}

/// The text is not a valid record.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseRecordError {
    /// The text is longer than `MAX_RECORD` bytes.
    #[error("{0} bytes are too long for a record: at most {MAX_RECORD} are read")]
    TooLong(usize),
    /// The first line is not that of a record of this version.
    #[error("line 1 is not {HEAD:?}")]
    Head,
    /// A line has the wrong name or invalid contents.
    #[error("line {line} is not {expected:?} and what belongs to it")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// The expected beginning.
        expected: &'static str,
    },
    /// There is a line after the last entry.
    #[error("line {0} is one too many")]
    TooMany(usize),
    /// The best streak is shorter than the current one, or longer than the games won.
    #[error("invalid streak {streak} with a best streak of {best} and {won} games won")]
    Streak {
        /// The current streak.
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
            return Err(ParseRecordError::TooLong(text.len()));
        }
        let mut lines = text.lines().zip(1..).peekable();
        if lines.next().is_none_or(|(head, _)| head != HEAD) {
            return Err(ParseRecordError::Head);
        }
        let mut record = Self::default();
        for ((expected, into), line) in [
            ("won", &mut record.won[..]),
            ("lost", core::slice::from_mut(&mut record.lost)),
            ("hinted", core::slice::from_mut(&mut record.hinted)),
            ("streak", core::slice::from_mut(&mut record.streak)),
            ("best-streak", core::slice::from_mut(&mut record.best_streak)),
        ]
        .into_iter()
        .zip(2..)
        {
            let found = lines.next().and_then(|(found, _)| numbers(found, expected, into));
            found.ok_or(ParseRecordError::Line { line, expected })?;
        }
        for ((expected, most), into) in KINDS.into_iter().zip(&mut record.puzzles) {
            if let Some((found, line)) = lines.next_if(|(found, _)| found.split(' ').next() == Some(expected)) {
                *into = puzzles(found, most).ok_or(ParseRecordError::Line { line, expected })?;
            }
        }
        if let Some((_, line)) = lines.next() {
            return Err(ParseRecordError::TooMany(line));
        }
        let (streak, best) = (record.streak, record.best_streak);
        let won = record.won.iter().fold(0u64, |sum, won| sum.saturating_add(*won));
        if streak > best || best > won {
            return Err(ParseRecordError::Streak { streak, best, won });
        }
        Ok(record)
    }
}

// Counts as bars of text.

/// Formats a line for each count: its label, a bar of up to `width` columns (at least one unless the count is 0) and
/// the count.
pub fn histogram(counts: &[(impl Display, u64)], width: usize) -> String {
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (label, count) in counts {
        let columns = u128::from(*count) * width as u128 / u128::from(most);
        let columns = usize::try_from(columns).unwrap_or(width).max(usize::from(*count > 0));
        let _ = write!(text, "{label:>4} ");
        text.extend(core::iter::repeat_n('█', columns));
        let _ = writeln!(text, "{}{count}", if columns > 0 { " " } else { "" });
    }
    text
}
