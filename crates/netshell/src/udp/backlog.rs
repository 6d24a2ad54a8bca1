//! Datagrams that the system could not send yet.
//!
//! All peers of a socket share its send buffer. Datagrams to a host that has vanished from the local network stay in it
//! for seconds, until address resolution fails, so a few such hosts would block all peers. Therefore an address that
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
/// Bytes queued for one address, including [`ENTRY`] per datagram; beyond it, its oldest datagrams are dropped.
const MAX_ADDRESS_QUEUE: usize = 256 << 10;
/// Bytes queued for all addresses of a socket, including [`ENTRY`] per datagram: enough for a full table with
/// [`MAX_ADDRESS_QUEUE`] each; beyond it, the last datagrams in the order are dropped.
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
    fn of(now: Time, last_received: Time) -> Self {
        if now.since(last_received) < SILENT { Self::Whole } else { Self::Half }
    }
}

#[derive(Debug)]
struct AddressQueue {
    priority: Priority,
    last_received: Time,
    frames: VecDeque<(Time, Bytes)>,
    bytes: usize,
}

impl AddressQueue {
    // Whether its oldest datagram is dropped in favour of the next.
    fn is_stale(&self, now: Time) -> bool {
        self.frames.len() > 1 && self.frames.front().is_some_and(|&(since, _)| now.since(since) > STALE)
    }
}

// The lowest value is next.
type Priority = (Share, u64);

/// Datagrams to one address stay in order; the addresses take turns.
#[derive(Debug)]
pub(crate) struct Backlog {
    queues: BTreeMap<SocketAddr, AddressQueue>,
    // One entry for each queue.
    order: BTreeMap<Priority, SocketAddr>,
    sequence: u64,
    bytes: usize,
    log: LogLimit,
}

impl Backlog {
    pub(crate) fn new(now: Time) -> Self {
        Self { queues: BTreeMap::new(), order: BTreeMap::new(), sequence: 0, bytes: 0, log: LogLimit::new(now) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.queues.values().map(|queue| queue.frames.len()).sum()
    }

    /// `last_received` is the time of the address's last datagram.
    pub(crate) fn send(
        &mut self,
        now: Time,
        (to, last_received): (SocketAddr, Time),
        frame: Bytes,
        try_send: impl FnOnce(Share, SocketAddr, &[u8]) -> io::Result<()>,
    ) {
        let share = Share::of(now, last_received);
        // If datagrams with the same or a better share are queued, the buffer has no space for this one either.
        let first = self.order.first_key_value().is_none_or(|(&(waiting, _), _)| share < waiting);
        if first && !self.queues.contains_key(&to) {
            match try_send(share, to, &frame) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return self.log_failure(now, to, sent),
            }
        }
        self.queue(now, (to, last_received), frame);
    }

    pub(crate) fn drain(&mut self, now: Time, mut try_send: impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
        while let Some((&priority, &to)) = self.order.first_key_value() {
            let Some(queue) = self.queues.get_mut(&to) else {
                self.order.remove(&priority);
                continue;
            };
            let share = Share::of(now, queue.last_received);
            if priority.0 < share {
                // The address became silent while its datagrams were queued.
                self.move_to_end(to, share);
                continue;
            }
            if share == Share::Half && queue.is_stale(now) {
                self.drop_oldest(now, to);
                continue;
            }
            let sent = queue.frames.front().map_or(Ok(()), |(_, frame)| try_send(share, to, frame));
            if sent.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                // There is no space for the following ones either.
                return;
            }
            self.log_failure(now, to, sent);
            self.pop_oldest(to);
            // Each address has its turn.
            self.move_to_end(to, share);
        }
    }

    /// Records that a datagram arrived from an address. Returns whether the address becomes active.
    pub(crate) fn record_arrival(&mut self, now: Time, from: SocketAddr) -> bool {
        let Some(queue) = self.queues.get_mut(&from) else { return false };
        queue.last_received = now;
        let moves = queue.priority.0 > Share::Whole;
        if moves {
            self.move_to_end(from, Share::Whole);
        }
        moves
    }

    fn queue(&mut self, now: Time, (to, last_received): (SocketAddr, Time), frame: Bytes) {
        let cost = cost(&frame);
        self.bytes += cost;
        let queue = self.queues.entry(to).or_insert_with(|| {
            let priority = (Share::of(now, last_received), self.sequence);
            self.sequence += 1;
            self.order.insert(priority, to);
            AddressQueue { priority, last_received, frames: VecDeque::new(), bytes: 0 }
        });
        queue.last_received = queue.last_received.max(last_received);
        queue.bytes += cost;
        queue.frames.push_back((now, frame));
        while self.queues.get(&to).is_some_and(|queue| queue.bytes > MAX_ADDRESS_QUEUE) {
            self.drop_oldest(now, to);
        }
        while self.bytes > MAX_BACKLOG {
            let Some((_, &last)) = self.order.last_key_value() else { break };
            self.drop_oldest(now, last);
        }
    }

    fn move_to_end(&mut self, of: SocketAddr, share: Share) {
        if let Some(queue) = self.queues.get_mut(&of) {
            self.order.remove(&queue.priority);
            queue.priority = (share, self.sequence);
            self.sequence += 1;
            self.order.insert(queue.priority, of);
        }
    }

    fn drop_oldest(&mut self, now: Time, to: SocketAddr) {
        self.pop_oldest(to);
        let error = io::Error::new(io::ErrorKind::TimedOut, "the send buffer of the system was full for too long");
        self.log_failure(now, to, Err(error));
    }

    fn pop_oldest(&mut self, to: SocketAddr) {
        let Some(queue) = self.queues.get_mut(&to) else { return };
        let cost = queue.frames.pop_front().map_or(0, |(_, frame)| cost(&frame));
        queue.bytes -= cost;
        self.bytes -= cost;
        if queue.frames.is_empty() {
            self.order.remove(&queue.priority);
            self.queues.remove(&to);
        }
    }

    // A datagram that could not be sent is lost like any other.
    fn log_failure(&mut self, now: Time, to: SocketAddr, sent: io::Result<()>) {
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
