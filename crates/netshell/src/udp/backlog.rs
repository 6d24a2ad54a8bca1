//! Datagrams that the system could not send yet.
//!
//! All peers of a socket share its send buffer. Datagrams to a host that has vanished from the local network stay in it
//! for seconds, until address resolution fails, and a few such hosts would block all peers. Therefore an address that
//! has been silent for a while may only use the first half of the buffer, which is nearly always enough.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use netcore::Time;
use tracing::warn;

use crate::{LogLimit, address::canonical};

/// An address is silent if no datagram came from it for this long. Address resolution takes at least three seconds to
/// fail.
const SILENT: Duration = Duration::from_secs(2);
/// How long a datagram for a silent address may wait while newer ones are queued for it: only recent state is useful.
const STALE: Duration = Duration::from_millis(250);
/// Bytes queued for one address, including [`ENTRY`] for each datagram. Above that its oldest datagrams are dropped.
const MAX_LANE: usize = 256 << 10;
/// Bytes queued for all addresses of a socket, including [`ENTRY`] for each datagram: enough for a full table with
/// [`MAX_LANE`] each. Above that the datagrams last in turn are dropped.
const MAX_BACKLOG: usize = 8 << 20;
/// Cost of a queued datagram in addition to its bytes, for its entry and that of its address.
const ENTRY: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Share {
    /// For active addresses, which are served first.
    Whole,
    /// For silent addresses.
    Half,
}

impl Share {
    fn of(now: Time, heard: Time) -> Self {
        if now.since(heard) < SILENT { Self::Whole } else { Self::Half }
    }
}

#[derive(Debug)]
struct Lane {
    turn: Turn,
    heard: Time,
    frames: VecDeque<(Time, Bytes)>,
    bytes: usize,
}

impl Lane {
    // Whether its oldest datagram is dropped in favour of the next.
    fn is_stale(&self, now: Time) -> bool {
        self.frames.len() > 1 && self.frames.front().is_some_and(|&(since, _)| now.since(since) > STALE)
    }
}

// The lowest value is next.
type Turn = (Share, u64);

/// Datagrams to one address stay in order; the addresses take turns.
#[derive(Debug)]
pub(crate) struct Backlog {
    lanes: BTreeMap<SocketAddr, Lane>,
    // Exactly one entry for each lane.
    turns: BTreeMap<Turn, SocketAddr>,
    turn: u64,
    bytes: usize,
    log: LogLimit,
}

impl Backlog {
    pub(crate) fn new(now: Time) -> Self {
        Self { lanes: BTreeMap::new(), turns: BTreeMap::new(), turn: 0, bytes: 0, log: LogLimit::new(now) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.lanes.values().map(|lane| lane.frames.len()).sum()
    }

    /// `heard` is the time of the address's last datagram.
    pub(crate) fn send(
        &mut self,
        now: Time,
        (to, heard): (SocketAddr, Time),
        frame: Bytes,
        try_send: impl FnOnce(Share, SocketAddr, &[u8]) -> io::Result<()>,
    ) {
        let share = Share::of(now, heard);
        // If datagrams with the same or a better share are queued, the buffer has no space for this one either.
        let first = self.turns.first_key_value().is_none_or(|(&(waiting, _), _)| share < waiting);
        if first && !self.lanes.contains_key(&to) {
            match try_send(share, to, &frame) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return self.done(now, to, sent),
            }
        }
        self.queue(now, (to, heard), frame);
    }

    pub(crate) fn drain(&mut self, now: Time, mut try_send: impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
        while let Some((&turn, &to)) = self.turns.first_key_value() {
            let Some(lane) = self.lanes.get_mut(&to) else {
                self.turns.remove(&turn);
                continue;
            };
            let share = Share::of(now, lane.heard);
            if turn.0 < share {
                // The address became silent while its datagrams were queued.
                self.take_turn(to, share);
                continue;
            }
            if share == Share::Half && lane.is_stale(now) {
                self.lose_oldest(now, to);
                continue;
            }
            let sent = lane.frames.front().map_or(Ok(()), |(_, frame)| try_send(share, to, frame));
            if sent.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                // There is no space for the following ones either.
                return;
            }
            self.done(now, to, sent);
            self.forget_oldest(to);
            // Moves the address to the end, so that each has its turn.
            self.take_turn(to, share);
        }
    }

    /// Records that a datagram arrived from an address. Returns whether the address becomes active.
    pub(crate) fn heard(&mut self, now: Time, from: SocketAddr) -> bool {
        let Some(lane) = self.lanes.get_mut(&from) else { return false };
        lane.heard = now;
        let moves = lane.turn.0 > Share::Whole;
        if moves {
            self.take_turn(from, Share::Whole);
        }
        moves
    }

    fn queue(&mut self, now: Time, (to, heard): (SocketAddr, Time), frame: Bytes) {
        let cost = cost(&frame);
        self.bytes += cost;
        let lane = self.lanes.entry(to).or_insert_with(|| {
            let turn = (Share::of(now, heard), self.turn);
            self.turn += 1;
            self.turns.insert(turn, to);
            Lane { turn, heard, frames: VecDeque::new(), bytes: 0 }
        });
        lane.heard = lane.heard.max(heard);
        lane.bytes += cost;
        lane.frames.push_back((now, frame));
        while self.lanes.get(&to).is_some_and(|lane| lane.bytes > MAX_LANE) {
            self.lose_oldest(now, to);
        }
        while self.bytes > MAX_BACKLOG {
            let Some((_, &last)) = self.turns.last_key_value() else { break };
            self.lose_oldest(now, last);
        }
    }

    fn take_turn(&mut self, of: SocketAddr, share: Share) {
        if let Some(lane) = self.lanes.get_mut(&of) {
            self.turns.remove(&lane.turn);
            lane.turn = (share, self.turn);
            self.turn += 1;
            self.turns.insert(lane.turn, of);
        }
    }

    fn lose_oldest(&mut self, now: Time, to: SocketAddr) {
        self.forget_oldest(to);
        let error = io::Error::new(io::ErrorKind::TimedOut, "the send buffer of the system was full for too long");
        self.done(now, to, Err(error));
    }

    fn forget_oldest(&mut self, to: SocketAddr) {
        let Some(lane) = self.lanes.get_mut(&to) else { return };
        let cost = lane.frames.pop_front().map_or(0, |(_, frame)| cost(&frame));
        lane.bytes -= cost;
        self.bytes -= cost;
        if lane.frames.is_empty() {
            self.turns.remove(&lane.turn);
            self.lanes.remove(&to);
        }
    }

    // A datagram that could not be sent is lost like any other; the game continues.
    fn done(&mut self, now: Time, to: SocketAddr, sent: io::Result<()>) {
        if let Err(error) = sent
            && let Some(held_back) = self.log.admit(now)
        {
            warn!(address = %canonical(to), %error, held_back, "cannot send a datagram");
        }
    }
}

fn cost(frame: &Bytes) -> usize {
    frame.len() + ENTRY
}
