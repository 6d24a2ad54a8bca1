//! A client that is watched while it plays: how late it is answered, and when its matches end.

use std::{
    collections::VecDeque,
    time::{Duration, Instant, SystemTime},
};

use bytes::Bytes;
use clientkit::Pilot;
use netcore::{Client, Gone, Time};

use super::Recorder;
use crate::{lateness::Arrivals, robots::TURN};

/// A key without a meaning, which the server answers with an error to its sender alone: so each of them is answered once, whoever else
/// plays, and whatever stands in the way of the key before it.
const PROBE: &[u8] = b"KEY x";
const PROBE_ANSWER: &[u8] = b"ERROR";
/// An answer that takes longer counts as none.
const LOST: Duration = Duration::from_secs(5);

/// Looks at the messages of a client.
pub(super) trait Watch<C> {
    /// This is about to be sent. Returns what is to be sent besides.
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        None
    }

    /// The client has taken in these bytes.
    fn heard(&mut self, client: &C, bytes: &[u8]);
}

/// A client and what watches it.
#[derive(Debug)]
pub(super) struct Watched<C, W> {
    pub(super) client: C,
    watch: W,
    more: VecDeque<Bytes>,
}

impl<C, W> Watched<C, W> {
    pub(super) const fn new(client: C, watch: W) -> Self {
        Self { client, watch, more: VecDeque::new() }
    }
}

impl<C: Client, W: Watch<C>> Client for Watched<C, W> {
    type Action = C::Action;
    type Error = C::Error;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), C::Error> {
        self.client.receive(now, bytes)?;
        self.watch.heard(&self.client, bytes);
        Ok(())
    }

    fn act(&mut self, now: Time, action: C::Action) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        if let Some(message) = self.more.pop_front() {
            return Some(message);
        }
        let message = self.client.take_outgoing()?;
        self.more.extend(self.watch.sent(&message));
        Some(message)
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.client.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        self.client.elapsed(now);
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

/// The pilot of a client that is watched.
#[derive(Debug)]
pub(super) struct Steered<P>(pub(super) P);

impl<C: Client, W: Watch<C>, P: Pilot<C>> Pilot<Watched<C, W>> for Steered<P> {
    fn act(&mut self, watched: &mut Watched<C, W>, now: Time) {
        self.0.act(&mut watched.client, now);
    }

    fn due(&self, watched: &Watched<C, W>) -> Option<Time> {
        self.0.due(&watched.client)
    }

    fn leave(&mut self, watched: &mut Watched<C, W>, now: Time) {
        self.0.leave(&mut watched.client, now);
    }
}

/// The answer to the last message, by its time.
#[derive(Debug)]
struct Pending {
    recorder: Recorder,
    since: Option<Instant>,
}

impl Pending {
    /// Whether a message is to be answered from now on; not while another one is.
    fn ask(&mut self) -> bool {
        match self.since {
            Some(since) if since.elapsed() < LOST => return false,
            Some(_) => self.recorder.failed("no answer"),
            None => {}
        }
        self.since = Some(Instant::now());
        true
    }

    fn answered(&mut self) {
        if let Some(since) = self.since.take() {
            self.recorder.answered(since.elapsed());
        }
    }
}

/// Nuggets: each key is followed by one without a meaning, whose answer is awaited.
#[derive(Debug)]
pub(super) struct Keys(Pending);

impl Keys {
    pub(super) const fn new(recorder: Recorder) -> Self {
        Self(Pending { recorder, since: None })
    }
}

impl Watch<nuggets::Client> for Keys {
    fn sent(&mut self, message: &Bytes) -> Option<Bytes> {
        (message.starts_with(b"KEY ") && self.0.ask()).then(|| Bytes::from_static(PROBE))
    }

    fn heard(&mut self, _: &nuggets::Client, bytes: &[u8]) {
        if bytes.starts_with(PROBE_ANSWER) {
            self.0.answered();
        }
    }
}

/// Blackjack and mastermind: whatever comes next answers a message, since nobody else sits at the table.
#[derive(Debug)]
pub(super) struct Answers {
    pending: Pending,
    // The last game of mastermind that was over: its games end while the connection stays.
    over: Option<u32>,
}

impl Answers {
    pub(super) const fn new(recorder: Recorder) -> Self {
        Self { pending: Pending { recorder, since: None }, over: None }
    }
}

impl Watch<blackjack::Client> for Answers {
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        self.pending.ask();
        None
    }

    fn heard(&mut self, _: &blackjack::Client, _: &[u8]) {
        self.pending.answered();
    }
}

impl Watch<mastermind::Client> for Answers {
    fn sent(&mut self, _: &Bytes) -> Option<Bytes> {
        self.pending.ask();
        None
    }

    fn heard(&mut self, client: &mastermind::Client, _: &[u8]) {
        self.pending.answered();
        if let Some(board) = client.board()
            && board.over.is_some()
            && self.over.replace(board.number) != Some(board.number)
        {
            self.pending.recorder.ended();
        }
    }
}

/// Robots: when turns arrive. They are judged when their match is over, by the schedule that they show. The last one is not if it arrives
/// together with the end.
#[derive(Debug)]
pub(super) struct Turns {
    recorder: Recorder,
    arrivals: Arrivals,
    // The turn that arrived last in this match.
    last: Option<u16>,
}

impl Turns {
    pub(super) fn new(recorder: Recorder) -> Self {
        Self { recorder, arrivals: Arrivals::default(), last: None }
    }
}

impl Watch<robots::Client> for Turns {
    fn heard(&mut self, client: &robots::Client, _: &[u8]) {
        let Some(game) = client.game() else {
            if self.last.take().is_some() {
                let arrivals = std::mem::take(&mut self.arrivals);
                for late in arrivals.lateness(Duration::from_millis(TURN)) {
                    self.recorder.answered(late);
                }
                self.recorder.ended();
            }
            return;
        };
        // Before the first turn nobody has a place. Several turns may have arrived together.
        let first = match self.last {
            None if game.positions().is_empty() => return,
            None => 0,
            Some(last) => last + 1,
        };
        for turn in first..=game.turn() {
            self.arrivals.push(turn, SystemTime::now());
        }
        self.last = Some(game.turn());
    }
}
