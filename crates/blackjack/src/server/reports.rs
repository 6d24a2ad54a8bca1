//! The log and the output of a dealer: protocol violations, periodic standings, and results.

use alloc::{
    format,
    string::{String, ToString},
};
use core::{mem, time::Duration};
use netcore::{DecodeError, GameEvent, Outbox, PeerId, Rate, Severity, Time, TokenBucket};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Server;
use crate::{config::Config, game::Standings, name::Name, protocol::PlayerMessage};

#[derive(Debug, Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Malformed(DecodeError),
    #[error("{0} was not asked for")]
    OutOfTurn(PlayerMessage),
    #[error("no JOIN in time")]
    NoJoin,
    #[error("no answer in time")]
    NoAnswer,
}

impl Fault {
    pub(crate) fn log(&self, peer: PeerId, name: Option<&Name>, out: &mut Outbox) {
        let who = name.map_or_else(String::new, |name| format!("{name} "));
        note(out, Severity::Warning, Some(peer), format!("{who}is sent away: {self}"));
    }
}

pub(crate) fn note(out: &mut Outbox, severity: Severity, peer: Option<PeerId>, text: String) {
    out.event(GameEvent::Notice { severity, peer, text });
}

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

    pub(super) fn give(&mut self, now: Time, every: Duration, server: &Server, out: &mut Outbox) {
        if self.due > now {
            return;
        }
        let mut tell = |line: String| note(out, Severity::Requested, None, line);
        let rounds = server.rounds();
        // The number shrinks when results are taken back.
        let gained = rounds.saturating_sub(mem::replace(&mut self.rounds, rounds));
        let seconds = now.since(mem::replace(&mut self.last, now)).as_secs_f64();
        // A suspended machine does not catch up on missed reports.
        self.due = now.plus(every);
        #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
        let rate = gained as f64 / seconds;
        tell(format!("{rounds} rounds so far, {rate:.1} a second"));
        for table in server.tables() {
            let game = table.game();
            tell(format!("table {} after {} rounds:", table.number(), game.played()));
            for line in game.standings(table.number()).to_string().lines().skip(1) {
                tell(line.into());
            }
        }
    }
}

/// The rate limit for printing standings of deserted tables. Joining and leaving one costs a client two messages, so it
/// could fill a disk.
const DESERTED_RATE: Rate = Rate { per_second: 1, burst: 10 };

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Printer {
    #[serde(skip)]
    json: bool,
    // `None` if the number of tables is bounded.
    deserted: Option<TokenBucket>,
    looked: Time,
    left_out: u64,
}

impl Printer {
    pub(super) fn new(config: &Config) -> Self {
        let deserted = config.forever.then(|| TokenBucket::new(DESERTED_RATE, Time::ZERO));
        Self { json: config.json, deserted, looked: Time::ZERO, left_out: 0 }
    }

    /// Omits standings of deserted tables beyond the rate limit. The next output reports their number.
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

    pub(super) fn finish(&mut self, out: &mut Outbox) {
        let left_out = mem::take(&mut self.left_out);
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

    pub(super) fn restored(self, config: &Config) -> Self {
        Self { json: config.json, ..self }
    }
}

fn in_words(left_out: u64) -> String {
    match left_out {
        1 => "1 table that was deserted before is left out".into(),
        _ => format!("{left_out} tables that were deserted before are left out"),
    }
}
