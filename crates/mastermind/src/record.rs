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
//! last-daily 20466 4/8/yes
//! seeds 4/8/no/7 5/8/yes/42
//! ```
//!
//! `won` has the games won in 1 to 10 turns. `last-daily` has the last day of which a puzzle was begun and the rules of those
//! that were: pegs, colours, and whether colours may repeat. `seeds` has the last puzzles that came from a seed, as rules and
//! seed, the newest last. Either line is there when there is such a puzzle.

use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use core::{fmt, fmt::Write, str::FromStr};
use thiserror::Error;

use crate::{
    code::Rules,
    daily::Day,
    game::{Game, Outcome, TURNS},
    puzzle::{Origin, Puzzle},
};

/// Most bytes that a record takes as text.
pub const MAX_RECORD: usize = 4096;

/// How many puzzles from seeds are remembered; then the oldest is forgotten.
pub const MOST_SEEDS: usize = 64;

/// Past games. Those played with hints are counted, but neither in the distribution nor in the streak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    won: [u64; TURNS],
    lost: u64,
    hinted: u64,
    streak: u64,
    best_streak: u64,
    last_daily: Option<Day>,
    // The puzzles of that day that were begun.
    daily: Vec<Rules>,
    seeds: Vec<(Rules, u64)>,
}

impl Record {
    /// Takes down that a puzzle is begun. Whoever has seen an answer to it knows more than somebody who has not, so that only
    /// the first game at a puzzle is to be [added](Self::add).
    ///
    /// Returns whether this is the first.
    pub fn begin(&mut self, puzzle: Puzzle) -> bool {
        if self.has_begun(puzzle) {
            return false;
        }
        match puzzle.origin {
            Origin::Day(day) => {
                if self.last_daily < Some(day) {
                    self.daily.clear();
                }
                self.last_daily = Some(day);
                self.daily.push(puzzle.rules);
            }
            Origin::Seed(seed) => {
                if self.seeds.len() >= MOST_SEEDS {
                    self.seeds.remove(0);
                }
                self.seeds.push((puzzle.rules, seed));
            }
        }
        true
    }

    /// Whether this puzzle was begun before, as far as is remembered: of puzzles from seeds the last [`MOST_SEEDS`]. Those of a
    /// day before the last count as begun.
    pub fn has_begun(&self, puzzle: Puzzle) -> bool {
        match puzzle.origin {
            Origin::Day(day) if self.last_daily == Some(day) => self.daily.contains(&puzzle.rules),
            Origin::Day(day) => Some(day) < self.last_daily,
            Origin::Seed(seed) => self.seeds.contains(&(puzzle.rules, seed)),
        }
    }

    /// Adds a game that is over; one that goes on is not added.
    ///
    /// Returns whether it was added.
    pub fn add(&mut self, game: &Game) -> bool {
        let Some(outcome) = game.outcome() else {
            return false;
        };
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

    /// The last day of which a puzzle was begun.
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
            write!(f, "{LAST_DAILY} {day}")?;
            for rules in &self.daily {
                write!(f, " {}", Kept(*rules))?;
            }
            writeln!(f)?;
        }
        if !self.seeds.is_empty() {
            f.write_str(SEEDS)?;
            for (rules, seed) in &self.seeds {
                write!(f, " {}/{seed}", Kept(*rules))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Rules as they are kept: `4/8/yes`.
struct Kept(Rules);

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repeats = if self.0.repeats() { "yes" } else { "no" };
        write!(f, "{}/{}/{repeats}", self.0.length(), self.0.colours())
    }
}

/// Reads a number that has digits and nothing else.
fn number<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Reads the numbers of a line with this name.
fn numbers(line: &str, name: &str, into: &mut [u64]) -> Option<()> {
    let mut words = line.split(' ');
    (words.next()? == name).then_some(())?;
    for place in into {
        *place = number(words.next()?)?;
    }
    words.next().is_none().then_some(())
}

fn last_daily(line: &str) -> Option<(Day, Vec<Rules>)> {
    let mut words = line.split(' ').skip(1);
    let day = Day(number(words.next()?)?);
    let mut begun = Vec::new();
    for rules in words.map(kept_rules) {
        let rules = rules?;
        // Each puzzle of the day is there once, which bounds the line.
        (!begun.contains(&rules)).then(|| begun.push(rules))?;
    }
    Some((day, begun))
}

fn seeds(line: &str) -> Option<Vec<(Rules, u64)>> {
    let seeded = |word: &str| {
        let (rules, seed) = word.rsplit_once('/')?;
        Some((kept_rules(rules)?, number(seed)?))
    };
    let seeds: Vec<_> = line.split(' ').skip(1).map(seeded).collect::<Option<_>>()?;
    // A line with nothing on it would not have been written.
    (1..=MOST_SEEDS).contains(&seeds.len()).then_some(seeds)
}

fn kept_rules(text: &str) -> Option<Rules> {
    let mut words = text.split('/');
    let (length, colours) = (number(words.next()?)?, number(words.next()?)?);
    let repeats = match words.next()? {
        "yes" => true,
        "no" => false,
        _ => return None,
    };
    words.next().is_none().then(|| Rules::new(length, colours, repeats).ok())?
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
    /// A line that is none of a record's, or holds something else than it should.
    #[error("line {line} is not {expected:?} and what belongs to it")]
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
        if let Some((found, line)) = lines.next_if(|(found, _)| is_named(found, LAST_DAILY)) {
            let (day, rules) = last_daily(found).ok_or(ParseRecordError::Line { line, expected: LAST_DAILY })?;
            (record.last_daily, record.daily) = (Some(day), rules);
        }
        if let Some((found, line)) = lines.next_if(|(found, _)| is_named(found, SEEDS)) {
            record.seeds = seeds(found).ok_or(ParseRecordError::Line { line, expected: SEEDS })?;
        }
        if let Some((_, line)) = lines.next() {
            return Err(ParseRecordError::TooMany { line });
        }
        let (streak, best) = (record.streak, record.best_streak);
        let won = record.won.iter().fold(0u64, |sum, won| sum.saturating_add(*won));
        if streak > best || best > won {
            return Err(ParseRecordError::Streak { streak, best, won });
        }
        Ok(record)
    }
}

/// Whether a line has this name.
fn is_named(line: &str, name: &str) -> bool {
    line.split(' ').next() == Some(name)
}

const LAST_DAILY: &str = "last-daily";
const SEEDS: &str = "seeds";
