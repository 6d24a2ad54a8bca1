use std::collections::BTreeMap;

use netcore::{Level, Time};

use crate::settings::Settings;

/// A new record evicts the oldest one of a disconnected name.
pub const MAX_RECORDS: usize = 1_024;

#[derive(Debug, Clone, Default)]
pub(crate) struct NameRecord {
    /// Of the last match; `None` if it was a bot.
    pub(crate) opponent: Option<String>,
    /// Matches since the last one against a bot.
    pub(crate) since_bot: u32,
    /// Of the last bot that it played.
    pub(crate) level: Option<Level>,
    pub(crate) not_before: Time,
    // Consecutive ones.
    forfeits: u32,
    updated: Time,
}

#[derive(Debug, Default)]
pub(crate) struct NameRecords(BTreeMap<String, NameRecord>);

impl NameRecords {
    pub(crate) fn of(&self, name: &str) -> NameRecord {
        self.0.get(name).cloned().unwrap_or_default()
    }

    /// Names for which `is_connected` returns true are not evicted.
    pub(crate) fn update(&mut self, now: Time, name: &str, is_connected: impl Fn(&str) -> bool) -> &mut NameRecord {
        if self.0.len() >= MAX_RECORDS && !self.0.contains_key(name) {
            let away = self.0.iter().filter(|(name, _)| !is_connected(name));
            let oldest = away.min_by_key(|(_, record)| record.updated).map(|(name, _)| name.clone());
            oldest.and_then(|oldest| self.0.remove(&oldest));
        }
        let record = self.0.entry(name.to_owned()).or_default();
        record.updated = now;
        record
    }
}

impl NameRecord {
    pub(crate) fn add_forfeit(&mut self, now: Time, settings: &Settings) {
        let (first, most) = settings.penalty;
        let pause = first.saturating_mul(1 << self.forfeits.min(16)).min(most);
        self.forfeits = self.forfeits.saturating_add(1);
        self.not_before = now.plus(pause);
    }

    pub(crate) fn reset_forfeits(&mut self) {
        self.forfeits = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_longest_absent_names_are_evicted() {
        let mut records = NameRecords::default();
        for number in 0..2 * MAX_RECORDS as u64 {
            let name = number.to_string();
            records.update(Time::from_millis(number), &name, |name| name == "0").since_bot = 7;
        }
        assert_eq!(records.0.len(), MAX_RECORDS);
        assert_eq!(["0", "1", "2047"].map(|name| records.of(name).since_bot), [7, 0, 7]);
    }
}
