//! Whole messages in order, one per frame, over connections that can be resumed, like a WebSocket.

use std::{collections::VecDeque, net::SocketAddr, task::Waker};

use bytes::Bytes;
use netcore::{Gone, Role, Time};

use super::{
    arrived::{Arrived, End},
    conditions::Chance,
};

/// Bytes that may be queued for one client, not counting histories.
pub const MAX_QUEUE: usize = 1 << 20;

/// All connections so far, and their arrivals.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) all: Vec<Line>,
    pub(super) inbox: VecDeque<(usize, Up)>,
    // The server has ended.
    pub(super) closed: bool,
    pub(super) waker: Option<Waker>,
}

#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one of the two ends")]
pub(super) struct Line {
    pub(super) address: SocketAddr,
    pub(super) role: Role,
    pub(super) up: Lane<Up>,
    pub(super) down: Lane<Down>,
    // The host has been notified of the connection.
    pub(super) known: bool,
    // The client reconnected, and the host has not noticed. Output sent meanwhile is lost.
    pub(super) away: bool,
    // Bytes in flight to the client, or unread there.
    pub(super) queued: usize,
    // The client reads what arrives.
    pub(super) reading: bool,
    // The client knows that the connection has ended.
    pub(super) end_known: bool,
    // The server no longer receives or sends on it.
    pub(super) closed: bool,
}

/// The data in flight in one direction of a connection. It arrives in the order of sending.
#[derive(Debug)]
pub(super) struct Lane<T> {
    flight: VecDeque<(Time, T)>,
    latest: Time,
}

#[derive(Debug)]
pub(super) enum Up {
    Opened,
    Message(Bytes),
    Refreshed,
    Gone(Gone),
}

#[derive(Debug)]
pub(super) enum Down {
    Message { bytes: Bytes, history: bool },
    End(End),
}

impl<T> Default for Lane<T> {
    fn default() -> Self {
        Self { flight: VecDeque::new(), latest: Time::ZERO }
    }
}

impl<T> Lane<T> {
    pub(super) fn push(&mut self, chance: &mut Chance, what: T) {
        let delay = chance.rough.draw_delay(&mut chance.rng);
        self.latest = self.latest.max(chance.now.plus(delay));
        self.flight.push_back((self.latest, what));
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        self.flight.front().map(|&(due, _)| due)
    }

    pub(super) fn arrive(&mut self, now: Time) -> Option<T> {
        self.next_due().filter(|&due| due <= now)?;
        self.flight.pop_front().map(|(_, what)| what)
    }
}

impl Line {
    // Sends a frame to the client. Above the bound the connection breaks.
    pub(super) fn push(&mut self, chance: &mut Chance, bytes: Bytes, history: bool) -> Result<(), Gone> {
        if self.closed || self.away || !self.known {
            return Ok(());
        }
        if !history {
            self.queued += bytes.len();
            if self.queued > MAX_QUEUE {
                self.end(chance, End::Broken);
                return Err(Gone::Lagging);
            }
        }
        chance.traffic.messages += 1;
        self.down.push(chance, Down::Message { bytes, history });
        Ok(())
    }

    pub(super) fn end(&mut self, chance: &mut Chance, end: End) {
        if !self.closed {
            self.closed = true;
            self.down.push(chance, Down::End(end));
        }
    }
}

impl Lines {
    pub(super) fn connect(&mut self, chance: &mut Chance, address: SocketAddr, role: Role) -> usize {
        let mut line = Line {
            address,
            role,
            up: Lane::default(),
            down: Lane::default(),
            known: false,
            away: false,
            queued: 0,
            reading: true,
            end_known: false,
            closed: self.closed,
        };
        line.up.push(chance, Up::Opened);
        if self.closed {
            line.down.push(chance, Down::End(End::Broken));
        }
        self.all.push(line);
        self.all.len() - 1
    }

    /// Sends one message of a client.
    pub(super) fn send(&mut self, chance: &mut Chance, line: usize, message: Bytes) {
        chance.traffic.messages += 1;
        self.all[line].up.push(chance, Up::Message(message));
    }

    /// Closes the client's side in an orderly way.
    pub(super) fn close(&mut self, chance: &mut Chance, line: usize) {
        self.all[line].up.push(chance, Up::Gone(Gone::Left));
    }

    /// Resets the connection; both ends notice.
    pub(super) fn reset(&mut self, chance: &mut Chance, line: usize) {
        chance.traffic.resets += 1;
        let broken = &mut self.all[line];
        if !broken.closed {
            self.inbox.push_back((line, Up::Gone(Gone::Broken)));
            broken.down.flight.clear();
            broken.end(chance, End::Broken);
            self.waker.take().into_iter().for_each(Waker::wake);
        }
    }

    /// Reconnects a client. All data in flight is lost.
    pub(super) fn reconnect(&mut self, chance: &mut Chance, line: usize) {
        let line = &mut self.all[line];
        line.up.flight.clear();
        line.down.flight.retain(|(_, down)| matches!(down, Down::End(_)));
        line.queued = 0;
        line.reading = true;
        line.away = true;
        line.up.push(chance, Up::Refreshed);
    }

    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        let lines = self.all.iter();
        let downs = lines.clone().filter(|line| line.reading).filter_map(|line| line.down.next_due());
        // Messages that waited for the client to read arrive now.
        lines.filter_map(|line| line.up.next_due()).chain(downs).min().map(|due| due.max(now))
    }

    pub(super) fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        let Self { all, inbox, closed, waker } = self;
        for (index, line) in all.iter_mut().enumerate() {
            while let Some(up) = line.up.arrive(chance.now) {
                if !*closed && !line.closed {
                    inbox.push_back((index, up));
                    waker.take().into_iter().for_each(Waker::wake);
                }
            }
            while line.reading
                && !line.end_known
                && let Some(down) = line.down.arrive(chance.now)
            {
                arrived.push((
                    line.address,
                    match down {
                        Down::Message { bytes, history } => {
                            line.queued -= if history { 0 } else { bytes.len() };
                            Arrived::Bytes(bytes)
                        }
                        Down::End(end) => {
                            line.end_known = true;
                            Arrived::End(end)
                        }
                    },
                ));
            }
        }
    }
}
