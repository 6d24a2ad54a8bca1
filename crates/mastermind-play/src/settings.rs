//! What is settled before the first question, and the games that come of it.

use mastermind::{
    Code, ConfigError, Day, Rules, Style,
    code::{MAX_COLOURS, MIN_LENGTH},
    game::CodeError,
};

use crate::round::Round;

/// Rules, as far as the command line gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) length: Option<usize>,
    pub(crate) repeats: Option<bool>,
    /// The number of colours; all eight if none is given.
    pub(crate) colours: Option<usize>,
}

impl Wanted {
    /// The rules with these answers to what is not given.
    pub(crate) fn rules(self, length: usize, repeats: bool) -> Result<Rules, ConfigError> {
        let length = self.length.unwrap_or(length);
        Rules::new(length, self.colours.unwrap_or(MAX_COLOURS), self.repeats.unwrap_or(repeats))
    }

    /// The rules if nothing is asked: the shortest code and repeats where nothing else is given.
    pub(crate) fn without_asking(self) -> Result<Rules, ConfigError> {
        self.rules(MIN_LENGTH, true)
    }
}

/// Who sets the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setter {
    /// The machine, from the next seed.
    Seed,
    /// The machine, by the day.
    Day(Day),
    /// Two people, for each other.
    People,
}

/// What is settled before the first question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Rules that are not asked for.
    pub(crate) wanted: Wanted,
    /// The rules if nothing is asked.
    pub(crate) rules: Rules,
    pub(crate) setter: Setter,
    /// The seed of the next game, or of what its lifelines tell.
    pub(crate) seed: u64,
    /// Whether there is a hint on each turn.
    pub(crate) hints: bool,
}

impl Settings {
    /// The next game whose code the machine sets.
    pub(crate) fn deal(&mut self, rules: Rules, style: Style) -> Round {
        match self.setter {
            Setter::Day(day) => Round::of_day(rules, style, day),
            Setter::Seed | Setter::People => Round::from_seed(rules, style, self.next_seed()),
        }
    }

    /// The next game whose code somebody has set.
    pub(crate) fn deal_code(&mut self, rules: Rules, style: Style, code: Code) -> Result<Round, CodeError> {
        let round = Round::with_code(rules, style, code, self.seed)?;
        self.next_seed();
        Ok(round)
    }

    const fn next_seed(&mut self) -> u64 {
        let seed = self.seed;
        self.seed = seed.wrapping_add(1);
        seed
    }
}
