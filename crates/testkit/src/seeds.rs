use std::{env, ops::RangeInclusive, thread};

/// Runs only this seed.
pub const ONE: &str = "TESTKIT_SEED";
/// Runs this many seeds.
pub const MANY: &str = "TESTKIT_SEEDS";

/// A debug build runs one in this many seeds.
const SHARE: u64 = if cfg!(debug_assertions) { 4 } else { 1 };

/// Runs the seeds 1 to `count`, or a quarter of them in a debug build, unless an environment variable selects other
/// seeds. A failure prints the command that repeats it.
pub fn for_each_seed(count: u64, mut test: impl FnMut(u64)) {
    for seed in chosen(number(ONE), number(MANY), count) {
        let _named = Named(seed);
        test(seed);
    }
}

pub fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
}

fn chosen(one: Option<u64>, many: Option<u64>, count: u64) -> RangeInclusive<u64> {
    match one {
        Some(seed) => seed..=seed,
        None => 1..=many.unwrap_or(count.div_ceil(SHARE)),
    }
}

struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("failed with seed {0}; repeat it with {ONE}={0}", self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_seed_takes_precedence() {
        assert_eq!(chosen(None, None, 9), 1..=if cfg!(debug_assertions) { 3 } else { 9 });
        assert_eq!(chosen(None, Some(100), 3), 1..=100);
        assert_eq!(chosen(Some(7), Some(100), 3), 7..=7);
    }
}
