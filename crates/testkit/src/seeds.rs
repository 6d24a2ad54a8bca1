//! Tests that depend on chance, and how to play one again.

use std::{env, ops::RangeInclusive, thread};

/// Set to a number, it is the only seed that [`for_each_seed`] runs.
pub const ONE: &str = "TESTKIT_SEED";
/// Set to a number, it is how many seeds [`for_each_seed`] runs.
pub const MANY: &str = "TESTKIT_SEEDS";

/// Runs `test` with the seeds from 1 to `count`. Each time the same ones, so that a test does not fail now and then; the
/// environment asks for others.
///
/// When a seed fails, the line to play it again goes to standard error.
pub fn for_each_seed(count: u64, mut test: impl FnMut(u64)) {
    for seed in chosen(number(ONE), number(MANY), count) {
        let _named = Named(seed);
        test(seed);
    }
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
}

fn chosen(one: Option<u64>, many: Option<u64>, count: u64) -> RangeInclusive<u64> {
    match one {
        Some(seed) => seed..=seed,
        None => 1..=many.unwrap_or(count),
    }
}

// Says which seed is under way if the test fails with it.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("this failed with seed {0}; play it again with {ONE}={0}", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_goes_before_many() {
        assert_eq!(chosen(None, None, 3), 1..=3);
        assert_eq!(chosen(None, Some(100), 3), 1..=100);
        assert_eq!(chosen(Some(7), Some(100), 3), 7..=7);
    }
}
