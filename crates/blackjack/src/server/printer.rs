//! What goes to standard output: the standings of each table, within reason.

use alloc::{
    format,
    string::{String, ToString},
};
use netcore::{Outbox, Rate, Time, TokenBucket};

use crate::{config::Config, fingerprint::Fingerprint, game::Standings};

/// How many standings of tables that their players have left are printed. A table that is joined and left costs a client
/// two messages, so somebody could fill a disk.
pub const DESERTED_RATE: Rate = Rate { per_second: 1, burst: 10 };

/// Prints standings.
#[derive(Debug, Clone)]
pub(super) struct Printer {
    json: bool,
    // None where the number of tables is limited anyway.
    deserted: Option<TokenBucket>,
    left_out: u64,
    // What the bucket follows from: when something was taken out of it.
    taken: Fingerprint,
}

impl Printer {
    pub(super) fn new(config: &Config) -> Self {
        let deserted = config.forever.then(|| TokenBucket::new(DESERTED_RATE, Time::ZERO));
        Self { json: config.json, deserted, left_out: 0, taken: Fingerprint::new() }
    }

    /// Prints the standings of a table that is over. Those of one where nobody is left are left out when there are too many;
    /// the next ones that are printed tell how many these were.
    pub(super) fn print(&mut self, now: Time, standings: &Standings, deserted: bool, out: &mut Outbox) {
        if let Some(bucket) = self.deserted.as_mut().filter(|_| deserted) {
            if !bucket.take(now, 1) {
                self.left_out = self.left_out.saturating_add(1);
                return;
            }
            self.taken.add(now.as_nanos());
        }
        out.summary(self.text(standings));
        self.left_out = 0;
    }

    /// Nothing more comes.
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
        let mut fingerprint = self.taken;
        fingerprint.add(self.left_out);
        fingerprint.value()
    }
}

fn in_words(left_out: u64) -> String {
    match left_out {
        1 => "1 table that was deserted before is left out".into(),
        _ => format!("{left_out} tables that were deserted before are left out"),
    }
}
