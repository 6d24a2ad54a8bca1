//! Puzzles identify games with the same code.

use core::fmt;
use rand::{SeedableRng, rngs::ChaCha12Rng};
use rand_pcg::Pcg64;

use crate::{code::Code, config::Rules};

/// The origin of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A seed, which players can pass on.
    Seed(u64),
    /// A day, whose puzzle all players share.
    Day(Day),
}

/// Rules and an origin, which determine a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Puzzle {
    /// The rules.
    pub rules: Rules,
    /// The origin of the code.
    pub origin: Origin,
}

/// A day, as the number of days since 1 January 1970. The caller chooses the time zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub u32);

/// Days in 400 years of the Gregorian calendar.
const ERA: u64 = 146_097;

impl Day {
    /// The code of the day for these rules.
    pub fn puzzle(self, rules: Rules) -> Code {
        rules.draw(&mut Pcg64::seed_from_u64(self.number(rules)))
    }

    /// The code of the day for these rules and a key, so that codes of other days do not reveal it.
    pub fn keyed_puzzle(self, rules: Rules, key: [u8; 32]) -> Code {
        let mut rng = ChaCha12Rng::from_seed(key);
        rng.set_stream(self.number(rules));
        rules.draw(&mut rng)
    }

    // Includes the rules: otherwise a longer code would begin with the shorter one.
    fn number(self, rules: Rules) -> u64 {
        let kind = (rules.length() << 5 | rules.colours() << 1 | usize::from(rules.repeats())) as u64;
        u64::from(self.0) << 16 | kind
    }
}

impl fmt::Display for Day {
    /// Formats the day as `2026-01-13`, in the Gregorian calendar.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Years begin in March here, so the leap day is the last of its year. Day 0 is 1 March of the year 0.
        let days = u64::from(self.0) + 719_468;
        let day_of_era = days % ERA;
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        // Counted from March, five consecutive months have 153 days.
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = days / ERA * 400 + year_of_era + u64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}
