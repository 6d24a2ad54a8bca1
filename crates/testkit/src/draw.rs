use std::{ops::RangeInclusive, time::Duration};

use rand::RngExt;
use rand_pcg::Pcg64;

pub(crate) fn draw(rng: &mut Pcg64, range: &RangeInclusive<Duration>) -> Duration {
    let nanos = |delay: &Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(nanos(range.start())..=nanos(range.end())))
}
