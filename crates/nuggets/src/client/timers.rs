use core::time::Duration;
use netcore::{Link, Time};

use super::scores::End;

/// The delays before PLAY or SPECTATE is sent again over datagrams.
pub const RETRIES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// How long a client waits for the first response.
pub const GIVE_UP: Duration = Duration::from_secs(15);
/// How long a player waits over datagrams for the rest of the welcome. Resending PLAY would take a second seat on some
/// servers.
const WELCOME: Duration = Duration::from_secs(2);
/// A server is silent after this long without a response to a key.
const SILENCE: Duration = Duration::from_secs(3);
/// How long a leaving client waits for a goodbye. Over datagrams it repeats `KEY Q` halfway.
pub const GOODBYE: Duration = Duration::from_secs(2);
/// A port counts as reopened if no error follows a message for this long.
const REOPENED: Duration = Duration::from_secs(1);
/// The interval of probes by a spectator without incoming datagrams. The system reports a closed port only in response
/// to a datagram.
const PROBE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// At `give_up`, the client plays if a message has arrived, and otherwise ends.
    Joining {
        attempt: usize,
        again: Option<Time>,
        give_up: Time,
    },
    Playing,
    /// Sends Q again at `again`, and leaves at `until`.
    Leaving {
        again: Option<Time>,
        until: Time,
    },
    Over,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    FirstMessage,
    HalfWelcome,
    Probe,
    Quit,
    End(End),
}

/// A port that was reported as closed and has sent no message since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Closed {
    since: Time,
    // When the first message after the last report was sent. A port that is still closed causes another report
    // immediately.
    tried: Option<Time>,
}

#[derive(Debug, Clone)]
pub(super) struct Timers {
    link: Link,
    spectates: bool,
    phase: Phase,
    last_message: Option<Time>,
    // The first key since the last message that requires a response.
    unanswered_since: Option<Time>,
    closed: Option<Closed>,
    // When the last probe was sent or the server moved, and whether a response to a probe is outstanding.
    probed: Option<Time>,
    probing: bool,
}

impl Timers {
    pub(super) fn new(link: Link, spectates: bool, now: Time) -> Self {
        let phase = Phase::Joining { attempt: 1, again: retry(link, now, RETRIES[0]), give_up: now.plus(GIVE_UP) };
        let (last_message, unanswered_since, closed, probed) = (None, None, None, None);
        Self { link, spectates, phase, last_message, unanswered_since, closed, probed, probing: false }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn record_message(&mut self, now: Time) -> bool {
        (self.last_message, self.unanswered_since, self.closed) = (Some(now), None, None);
        core::mem::take(&mut self.probing)
    }

    pub(super) fn seated(&mut self, now: Time) {
        if let Phase::Joining { attempt, again: Some(_), give_up } = self.phase {
            self.phase = Phase::Joining { attempt, again: None, give_up: give_up.min(now.plus(WELCOME)) };
        }
    }

    pub(super) const fn joined(&mut self) {
        self.phase = Phase::Playing;
    }

    /// `answered` states whether a response is certain.
    pub(super) fn key(&mut self, now: Time, answered: bool) {
        self.tries(now);
        if answered {
            self.unanswered_since.get_or_insert(now);
        }
    }

    pub(super) fn leave(&mut self, now: Time) {
        self.tries(now);
        self.phase = Phase::Leaving { again: retry(self.link, now, GOODBYE / 2), until: now.plus(GOODBYE) };
    }

    pub(super) const fn end(&mut self) {
        self.phase = Phase::Over;
    }

    pub(super) fn moved(&mut self, now: Time) {
        (self.unanswered_since, self.closed) = (None, None);
        match self.phase {
            Phase::Joining { .. } => {
                let again = retry(self.link, now, RETRIES[0]);
                self.phase = Phase::Joining { attempt: 1, again, give_up: now.plus(GIVE_UP) };
            }
            Phase::Playing => (self.probed, self.probing) = (Some(now), !self.spectates),
            Phase::Leaving { .. } | Phase::Over => {}
        }
    }

    pub(super) fn refused(&mut self, now: Time) {
        let since = self.closed.map_or(now, |closed| closed.since);
        self.closed = Some(Closed { since, tried: None });
    }

    /// How long a key has been unanswered, if the server is silent.
    ///
    /// A server sends no messages while the game does not change, so only keys that require a response count.
    pub(super) fn silent_for(&self, now: Time) -> Option<Duration> {
        let silence = now.since(self.unanswered_since?);
        (self.phase == Phase::Playing && silence >= SILENCE).then_some(silence)
    }

    pub(super) fn closed_for(&self, now: Time) -> Option<Duration> {
        self.closed.map(|closed| now.since(closed.since))
    }

    pub(super) fn has_reopened(&self, now: Time) -> bool {
        self.closed.and_then(|closed| closed.tried).is_some_and(|tried| now.since(tried) >= REOPENED)
    }

    pub(super) fn deadline(&self, now: Time) -> Option<Time> {
        match self.phase {
            Phase::Joining { again, give_up, .. } => Some(again.map_or(give_up, |again| again.min(give_up))),
            Phase::Playing => {
                let silence = self.unanswered_since.map(|since| {
                    let next = Duration::from_secs(now.since(since).as_secs() + 1);
                    since.plus(next.max(SILENCE))
                });
                let reopened = self.closed.and_then(|closed| Some(closed.tried?.plus(REOPENED)));
                let reopened = reopened.filter(|&reopened| reopened > now);
                silence.into_iter().chain(reopened).chain(self.next_probe()).min()
            }
            Phase::Leaving { again, until } => Some(again.unwrap_or(until)),
            Phase::Over => None,
        }
    }

    pub(super) fn elapsed(&mut self, now: Time) -> Option<Due> {
        match self.phase {
            Phase::Joining { give_up, .. } if now >= give_up && self.last_message.is_none() => {
                Some(Due::End(End::NoAnswer))
            }
            Phase::Joining { give_up, .. } if now >= give_up => {
                self.phase = Phase::Playing;
                Some(Due::HalfWelcome)
            }
            Phase::Joining { attempt, again, give_up } if is_due(again, now) => {
                self.closed = None;
                let next = RETRIES.get(attempt).map(|&delay| now.plus(delay));
                self.phase = Phase::Joining { attempt: attempt + 1, again: next, give_up };
                Some(Due::FirstMessage)
            }
            Phase::Leaving { until, .. } if now >= until => {
                Some(Due::End(if self.closed.is_some() { End::Gone } else { End::NoGoodbye }))
            }
            Phase::Leaving { again, until } if is_due(again, now) => {
                self.phase = Phase::Leaving { again: None, until };
                Some(Due::Quit)
            }
            Phase::Playing if is_due(self.next_probe(), now) => {
                (self.probed, self.probing) = (Some(now), true);
                self.tries(now);
                Some(Due::Probe)
            }
            Phase::Joining { .. } | Phase::Leaving { .. } | Phase::Playing | Phase::Over => None,
        }
    }

    fn tries(&mut self, now: Time) {
        if let Some(Closed { tried, .. }) = &mut self.closed {
            tried.get_or_insert(now);
        }
    }

    fn next_probe(&self) -> Option<Time> {
        let looks_on = self.phase == Phase::Playing && self.spectates && self.link == Link::Datagram;
        let last = self.last_message.max(self.probed).filter(|_| looks_on)?;
        Some(last.plus(PROBE))
    }
}

fn is_due(moment: Option<Time>, now: Time) -> bool {
    moment.is_some_and(|moment| now >= moment)
}

fn retry(link: Link, now: Time, delay: Duration) -> Option<Time> {
    (link == Link::Datagram).then(|| now.plus(delay))
}
