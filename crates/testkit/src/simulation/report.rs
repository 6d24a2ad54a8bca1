use std::{collections::BTreeMap, fmt, time::Duration};

/// Statistics of one or more simulations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    counts: BTreeMap<&'static str, u64>,
    pub simulated: Duration,
}

impl Report {
    pub fn count(&mut self, what: &'static str) {
        self.add_to(what, 1);
    }

    pub fn add_to(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }

    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(what, &more)| self.add_to(what, more));
        self.simulated += other.simulated;
    }

    /// Panics if an event never happened.
    pub fn expect(&self, all: &[&str]) {
        let never = |what: &&&str| self.counts.get(**what).is_none_or(|&count| count == 0);
        let missing: Vec<_> = all.iter().filter(never).collect();
        assert!(missing.is_empty(), "this never happened: {missing:?}\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:.2} simulated hours", self.simulated.as_secs_f64() / 3_600.0)?;
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>12} {what}"))
    }
}
