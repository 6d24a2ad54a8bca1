//! The standings so far, logged at intervals.

use alloc::{
    format,
    string::{String, ToString},
};
use core::{mem, time::Duration};
use netcore::{Fingerprint, Outbox, Severity, Time};
use serde::{Deserialize, Serialize};

use super::{Server, fault::note};

/// When the next account is due, and what the last one reported.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Accounts {
    pub(super) due: Time,
    last: Time,
    rounds: u64,
}

impl Accounts {
    pub(super) fn new(every: Duration) -> Self {
        Self { due: Time::ZERO.plus(every), last: Time::ZERO, rounds: 0 }
    }

    /// Gives an account if it is due; the next one is due after `every`.
    pub(super) fn give(&mut self, now: Time, every: Duration, server: &Server, out: &mut Outbox) {
        if self.due > now {
            return;
        }
        let mut tell = |line: String| note(out, Severity::Requested, None, line);
        let rounds = server.rounds();
        // The number shrinks when results are taken back.
        let gained = rounds.saturating_sub(mem::replace(&mut self.rounds, rounds));
        let seconds = now.since(mem::replace(&mut self.last, now)).as_secs_f64();
        // Counted from now, not from when it was due, so that a machine that was suspended does not catch up on missed accounts.
        self.due = now.plus(every);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
        let rate = gained as f64 / seconds;
        tell(format!("{rounds} rounds so far, {rate:.1} a second"));
        for table in server.tables() {
            let game = table.game();
            tell(format!("table {} after {} rounds:", table.number(), game.played()));
            // The first line is the number of the table.
            for line in game.standings(table.number()).to_string().lines().skip(1) {
                tell(line.into());
            }
        }
    }

    pub(super) fn fingerprint(&self) -> u64 {
        Fingerprint::of([self.due.as_nanos(), self.last.as_nanos(), self.rounds]).value()
    }
}
