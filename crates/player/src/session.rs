//! A session at a dealer: the client and its score.

use std::{
    io::{self, Write},
    time::Duration,
};

use anyhow::anyhow;
use blackjack::{
    Client, Dialect, Name, Score, StateSpace, Verdict,
    client::{ClientError, Event, Meaning},
};
use clientkit::Wire;
use netcore::{Client as _, Framing, Gone, Time};
use tracing::{trace, warn};

/// How many anomalies are logged, so that a faulty dealer cannot fill a disk.
const TOLD: u32 = 20;

/// How long a text may lack its zero byte before the player is warned.
pub(crate) const UNENDED: Duration = Duration::from_secs(2);
/// The most bytes of such a text that are shown.
const LOGGED: usize = 80;

/// The client and how it went so far.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) score: Score,
    /// Hands that were lost because they were not played to their end; the score counts them too.
    pub(crate) forfeits: u64,
    anomalies: u32,
}

impl Session {
    pub(crate) fn new(name: Name, dialect: Dialect, space: StateSpace) -> Self {
        let client = Client::new(name, dialect, Framing::Stream, space);
        Self { client, score: Score::default(), forfeits: 0, anomalies: 0 }
    }

    /// Takes in bytes. [`poll_event`](Self::poll_event) gives their meaning, also of valid messages in front of an error.
    /// Fails when the bytes are no message, or one that makes no sense there.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        // This client never looks at the time.
        self.client.receive(Time::ZERO, bytes)
    }

    /// The event of the next message; none when all were taken.
    pub(crate) fn poll_event(&mut self) -> Option<Meaning> {
        let Event { message, meaning, anomaly } = self.client.poll_event()?;
        trace!("< {message}");
        if let Some(anomaly) = anomaly {
            self.anomalies = self.anomalies.saturating_add(1);
            if self.anomalies <= TOLD {
                warn!("{anomaly}");
            }
            if self.anomalies == TOLD {
                warn!("further anomalies of this dealer are not logged");
            }
        }
        if let Meaning::Ended { verdict, .. } = meaning {
            self.score.add(verdict);
        }
        Some(meaning)
    }

    /// The warning about a text whose zero byte has not come, if one is there.
    pub(crate) fn unended(&self) -> Option<String> {
        let text = self.client.unended_text();
        let start = text.get(..LOGGED).unwrap_or(text).escape_ascii();
        (!text.is_empty()).then(|| {
            format!("the dealer sent '{start}' and no zero byte to end it; without one the message cannot be read")
        })
    }

    /// Counts the hand that is played as lost, as the dealer does.
    pub(crate) fn forfeit(&mut self) {
        self.score.add(Verdict::Lose);
        self.forfeits += 1;
    }

    /// Sends the answers. Returns whether there were any.
    pub(crate) fn send_answers(&mut self, wire: &mut Wire) -> bool {
        let mut sent = false;
        while let Some(message) = self.client.take_outgoing() {
            wire.send(message);
            sent = true;
        }
        sent
    }

    /// The error of a stream that ends without QUIT, with the place where it ended.
    pub(crate) fn ended(&mut self) -> anyhow::Error {
        self.client.disconnected(Time::ZERO, Gone::Left);
        let rounds = self.score.rounds();
        if self.client.is_within_message() {
            return anyhow!("the dealer is gone in the middle of the message at byte {}", self.client.bytes_read());
        }
        anyhow!("the dealer is gone without QUIT, after {rounds} rounds")
    }
}

/// How it went, in all games.
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

    /// Prints the line about a player.
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
