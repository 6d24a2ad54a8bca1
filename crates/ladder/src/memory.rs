//! The record of each name, which outlives a match.

use std::collections::BTreeMap;

use netcore::{Level, Time};

use crate::settings::Settings;

/// The maximum number of records. Beyond that, the names that have been absent longest are evicted.
pub const MAX_REMEMBERED: usize = 1_024;

/// The record of a name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// The name of its last opponent, if that was a program.
    pub(crate) opponent: Option<String>,
    /// Matches since the last one against a bot.
    pub(crate) since_bot: u32,
    /// The bot that it played last.
    pub(crate) level: Option<Level>,
    /// The earliest time of the next match.
    pub(crate) not_before: Time,
    // The number of consecutive forfeits.
    forfeits: u32,
    seen: Time,
}

/// The records of all names.
#[derive(Debug, Default)]
pub(crate) struct Memory(BTreeMap<String, Known>);

impl Memory {
    /// Returns the record of a name; an empty one if the name is new.
    pub(crate) fn of(&self, name: &str) -> Known {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Creates or refreshes the record of a name. Names for which `is_here` returns true are not evicted.
    pub(crate) fn note(&mut self, now: Time, name: &str, is_here: impl Fn(&str) -> bool) -> &mut Known {
        if self.0.len() >= MAX_REMEMBERED && !self.0.contains_key(name) {
            let away = self.0.iter().filter(|(name, _)| !is_here(name));
            let oldest = away.min_by_key(|(_, known)| known.seen).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        let known = self.0.entry(name.to_owned()).or_default();
        known.seen = now;
        known
    }
}

impl Known {
    /// Delays the next match after a forfeit.
    pub(crate) fn punish(&mut self, now: Time, settings: &Settings) {
        let (first, most) = settings.penalty;
        let pause = first.saturating_mul(1 << self.forfeits.min(16)).min(most);
        self.forfeits = self.forfeits.saturating_add(1);
        self.not_before = now.plus(pause);
    }

    /// Resets the count of forfeits after a completed match.
    pub(crate) fn forgive(&mut self) {
        self.forfeits = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_were_away_longest_are_forgotten() {
        let mut memory = Memory::default();
        for number in 0..2 * MAX_REMEMBERED as u64 {
            let name = number.to_string();
            memory.note(Time::from_millis(number), &name, |name| name == "0").since_bot = 7;
        }
        assert_eq!(memory.0.len(), MAX_REMEMBERED);
        assert_eq!(["0", "1", "2047"].map(|name| memory.of(name).since_bot), [7, 0, 7]);
    }
}
