use std::{
    io::{self, Write},
    time::Duration,
};

use anyhow::anyhow;
use blackjack::{
    Client, Dialect, Name, Score, StateSpace, Verdict,
    client::{ClientError, Event, MessageEffect},
};
use clientkit::Wire;
use netcore::{Client as _, DisconnectReason, Framing, Time};
use tracing::{trace, warn};

/// So that a faulty dealer cannot fill a disk.
const MAX_LOGGED_ANOMALIES: u32 = 20;

/// How long a text may lack its zero byte before the player is warned.
pub(crate) const UNENDED: Duration = Duration::from_secs(2);
/// The shown bytes of such a text.
const LOGGED: usize = 80;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) score: Score,
    /// Hands lost because they were not played to the end. The score includes them.
    pub(crate) forfeits: u64,
    anomalies: u32,
}

impl Session {
    pub(crate) fn new(name: Name, dialect: Dialect, space: StateSpace) -> Self {
        let client = Client::new(name, dialect, Framing::Stream, space);
        Self { client, score: Score::default(), forfeits: 0, anomalies: 0 }
    }

    /// [`poll_event`](Self::poll_event) returns the events, including those before an error.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        self.client.receive(Time::ZERO, bytes)
    }

    pub(crate) fn poll_event(&mut self) -> Option<MessageEffect> {
        let Event { message, effect, anomaly } = self.client.poll_event()?;
        trace!("< {message}");
        if let Some(anomaly) = anomaly {
            self.anomalies = self.anomalies.saturating_add(1);
            if self.anomalies <= MAX_LOGGED_ANOMALIES {
                warn!("{anomaly}");
            }
            if self.anomalies == MAX_LOGGED_ANOMALIES {
                warn!("further anomalies of this dealer are not logged");
            }
        }
        if let MessageEffect::Ended { verdict, .. } = effect {
            self.score.add(verdict);
        }
        Some(effect)
    }

    pub(crate) fn unended(&self) -> Option<String> {
        let text = self.client.unended_text();
        let start = text.get(..LOGGED).unwrap_or(text).escape_ascii();
        (!text.is_empty()).then(|| format!("the dealer sent '{start}' without the zero byte that ends a message"))
    }

    pub(crate) fn forfeit(&mut self) {
        self.score.add(Verdict::Lose);
        self.forfeits += 1;
    }

    /// Returns whether there were any answers.
    pub(crate) fn send_answers(&mut self, wire: &mut Wire) -> bool {
        let mut sent = false;
        while let Some(message) = self.client.take_outgoing() {
            wire.send(message);
            sent = true;
        }
        sent
    }

    pub(crate) fn ended(&mut self) -> anyhow::Error {
        self.client.disconnected(Time::ZERO, DisconnectReason::Left);
        let rounds = self.score.rounds();
        if self.client.is_within_message() {
            return anyhow!(
                "the dealer disconnected in the middle of the message at byte {}",
                self.client.bytes_read()
            );
        }
        anyhow!("the dealer disconnected without QUIT after {rounds} rounds")
    }
}

#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) score: Score,
    pub(crate) forfeits: u64,
    pub(crate) games: u64,
}

impl Summary {
    pub(crate) fn add(&mut self, score: Score, forfeits: u64) {
        self.score += score;
        self.forfeits += forfeits;
        self.games += 1;
    }

    pub(crate) fn print(self, name: &Name) -> io::Result<()> {
        let Self { score, forfeits, games } = self;
        let Score { wins, pushes, losses, busts } = score;
        let width = score.half_width().map_or_else(String::new, |width| format!(" +/- {width:.4} (95 %)"));
        let forfeited = if forfeits > 0 { format!(" ({forfeits} forfeited)") } else { String::new() };
        let games = if games > 1 { format!(" in {games} games") } else { String::new() };
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{name}: {} rounds{games}, {wins} won, {pushes} pushed, {losses} lost{forfeited}, {busts} bust, mean reward {:+.4}{width}",
            score.rounds(),
            score.mean()
        )?;
        out.flush()
    }
}
