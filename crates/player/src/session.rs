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

/// The maximum number of anomalies that are logged, so that a faulty dealer cannot fill a disk.
const MAX_LOGGED_ANOMALIES: u32 = 20;

/// How long a text may lack its zero byte before the player is warned.
pub(crate) const UNENDED: Duration = Duration::from_secs(2);
/// The maximum number of bytes of such a text that are shown.
const LOGGED: usize = 80;

/// The client and its results.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) score: Score,
    /// Hands lost because they were not played to their end. The score also counts them.
    pub(crate) forfeits: u64,
    anomalies: u32,
}

impl Session {
    pub(crate) fn new(name: Name, dialect: Dialect, space: StateSpace) -> Self {
        let client = Client::new(name, dialect, Framing::Stream, space);
        Self { client, score: Score::default(), forfeits: 0, anomalies: 0 }
    }

    /// Processes received bytes.
    ///
    /// [`poll_event`](Self::poll_event) returns their events, including valid messages before an error. Fails if
    /// the bytes are not a message, or one that is not valid in this phase.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Result<(), ClientError> {
        // This client does not use the time.
        self.client.receive(Time::ZERO, bytes)
    }

    /// The event of the next message; `None` at the end.
    pub(crate) fn poll_event(&mut self) -> Option<Meaning> {
        let Event { message, meaning, anomaly } = self.client.poll_event()?;
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
        if let Meaning::Ended { verdict, .. } = meaning {
            self.score.add(verdict);
        }
        Some(meaning)
    }

    /// The warning about a text that still lacks its zero byte, if there is one.
    pub(crate) fn unended(&self) -> Option<String> {
        let text = self.client.unended_text();
        let start = text.get(..LOGGED).unwrap_or(text).escape_ascii();
        (!text.is_empty()).then(|| format!("the dealer sent '{start}' without the zero byte that ends a message"))
    }

    /// Counts the current hand as lost, as the dealer does.
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
            return anyhow!(
                "the dealer disconnected in the middle of the message at byte {}",
                self.client.bytes_read()
            );
        }
        anyhow!("the dealer disconnected without QUIT after {rounds} rounds")
    }
}

/// The results of all games.
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

    /// Prints the result line of a player.
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
