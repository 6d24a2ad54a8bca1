//! The standings on standard output, rate-limited for deserted tables.

use alloc::{
    format,
    string::{String, ToString},
};
use core::time::Duration;
use netcore::{Fingerprint, Outbox, Rate, StateError, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use crate::{config::Config, game::Standings};

/// How many standings of tables that their players have left are printed. A table that is joined and left costs a client
/// two messages, so somebody could fill a disk.
const DESERTED_RATE: Rate = Rate { per_second: 1, burst: 10 };

/// Prints standings.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Printer {
    // It is in the set-up.
    #[serde(skip)]
    json: bool,
    // None where the number of tables is bounded.
    deserted: Option<TokenBucket>,
    // The time of the last look.
    looked: Time,
    left_out: u64,
}

impl Printer {
    pub(super) fn new(config: &Config) -> Self {
        let deserted = config.forever.then(|| TokenBucket::new(DESERTED_RATE, Time::ZERO));
        Self { json: config.json, deserted, looked: Time::ZERO, left_out: 0 }
    }

    /// Prints the standings of a table that is over. Those of one where nobody is left are left out when there are too many;
    /// the next ones that are printed tell how many these were.
    pub(super) fn print(&mut self, now: Time, standings: &Standings, deserted: bool, out: &mut Outbox) {
        if let Some(bucket) = self.deserted.as_mut().filter(|_| deserted) {
            self.looked = now;
            if !bucket.take(now, 1) {
                self.left_out = self.left_out.saturating_add(1);
                return;
            }
        }
        out.summary(self.text(standings));
        self.left_out = 0;
    }

    /// Prints what is left at the end.
    pub(super) fn finish(&mut self, out: &mut Outbox) {
        let left_out = core::mem::take(&mut self.left_out);
        if left_out > 0 {
            out.summary(if self.json { format!("{{\"left_out\":{left_out}}}") } else { in_words(left_out) });
        }
    }

    fn text(&self, standings: &Standings) -> String {
        let left_out = self.left_out;
        match (self.json, left_out) {
            (true, 0) => standings.to_json(),
            (true, _) => {
                let json = standings.to_json();
                format!("{},\"left_out\":{left_out}}}", json.strip_suffix('}').unwrap_or(&json))
            }
            (false, 0) => standings.to_string(),
            (false, _) => format!("{standings}\n{}", in_words(left_out)),
        }
    }

    pub(super) fn fingerprint(&self) -> u64 {
        let mut fingerprint = Fingerprint::new();
        // When the bucket is full again is all that it follows from.
        let mut bucket = self.deserted.clone();
        fingerprint.add_time(bucket.as_mut().and_then(|bucket| bucket.ready_at(self.looked, DESERTED_RATE.burst)));
        fingerprint.add(self.left_out);
        fingerprint.value()
    }

    /// This printer, which was recorded, for a dealer that is set up so.
    /// Fails with [`StateError`] when it would print more or less than others.
    pub(super) fn restored(self, config: &Config) -> Result<Self, StateError> {
        let bucket = self.deserted.as_ref();
        if bucket.is_some() != config.forever || bucket.is_some_and(|bucket| !has_rate(bucket)) {
            return Err("standings that are printed at another rate".into());
        }
        Ok(Self { json: config.json, ..self })
    }
}

// Whether a bucket has our capacity and rate, determined by using it.
fn has_rate(bucket: &TokenBucket) -> bool {
    let Rate { per_second, burst } = DESERTED_RATE;
    let (mut bucket, later) = (bucket.clone(), Time::from_nanos(u64::MAX / 2));
    let full = bucket.is_full(later) && bucket.ready_at(later, burst + 1).is_none();
    bucket.charge(later, per_second);
    full && bucket.ready_at(later, burst) == Some(later.plus(Duration::from_secs(1)))
}

fn in_words(left_out: u64) -> String {
    match left_out {
        1 => "1 table that was deserted before is left out".into(),
        _ => format!("{left_out} tables that were deserted before are left out"),
    }
}
