//! Datagrams that the system could not send yet.
//!
//! All peers of a socket share its send buffer. Datagrams to a host that has vanished from the local network stay in it
//! for seconds, until address resolution fails, so a few such hosts would block all peers. Therefore an address that
//! has been silent for a while may only use the first half of the buffer, which is nearly always enough.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use netcore::Time;
use tracing::warn;

use crate::{LogLimit, sockets::canonical};

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

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: &str = "10.0.0.1:1";
    const BOB: &str = "10.0.0.2:1";
    const EVE: &str = "10.0.0.3:1";

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    /// A send buffer for `room` datagrams, which [`FakeSystem::drain`] empties.
    struct FakeSystem {
        backlog: Backlog,
        room: usize,
        used: usize,
        attempts: usize,
        sent: Vec<String>,
        refusal: Option<(SocketAddr, io::ErrorKind)>,
    }

    impl FakeSystem {
        fn new(room: usize) -> Self {
            Self { backlog: Backlog::new(at(0)), room, used: 0, attempts: 0, sent: vec![], refusal: None }
        }

        fn parts(&mut self) -> (&mut Backlog, impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
            let Self { backlog, room, used, attempts, sent, refusal } = self;
            let take = |share, to: SocketAddr, frame: &[u8]| {
                *attempts += 1;
                if let Some((_, kind)) = refusal.filter(|(of, _)| *of == to) {
                    return Err(kind.into());
                }
                if *used >= if share == Share::Whole { *room } else { *room / 2 } {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                *used += 1;
                let text =
                    if frame.len() < 10 { String::from_utf8_lossy(frame) } else { frame.len().to_string().into() };
                sent.push(format!("{} {text}", to.ip().to_string().replace("10.0.0.", "")));
                Ok(())
            };
            (backlog, take)
        }

        fn send(&mut self, (now, last_received): (u64, u64), to: &str, frame: impl Into<Bytes>) {
            let (backlog, take) = self.parts();
            backlog.send(at(now), (address(to), at(last_received)), frame.into(), take);
            self.check();
        }

        fn drain(&mut self, now: u64) -> Vec<String> {
            self.used = 0;
            let (backlog, take) = self.parts();
            backlog.drain(at(now), take);
            self.check();
            std::mem::take(&mut self.sent)
        }

        fn check(&self) {
            let Backlog { queues, order, bytes, .. } = &self.backlog;
            let of = |queue: &AddressQueue| queue.frames.iter().map(|(_, frame)| cost(frame)).sum::<usize>();
            assert!(
                queues.values().all(|queue| queue.bytes == of(queue) && (1..=MAX_ADDRESS_QUEUE).contains(&queue.bytes))
            );
            assert_eq!(*bytes, queues.values().map(of).sum::<usize>());
            assert!(*bytes <= MAX_BACKLOG);
            assert_eq!(queues.len(), order.len());
            assert!(queues.iter().all(|(to, queue)| order.get(&queue.priority) == Some(to)));
        }
    }

    #[test]
    fn a_datagram_that_the_system_accepts_is_not_queued() {
        let mut system = FakeSystem::new(10);
        system.send((0, 0), ANN, "one");
        system.send((9_000, 0), BOB, "two");
        assert!(system.backlog.is_empty());
        assert_eq!(system.sent, ["1 one", "2 two"]);
    }

    #[test]
    fn addresses_take_turns_and_their_datagrams_stay_in_order() {
        let mut system = FakeSystem::new(1);
        for frame in ["a", "b", "c", "d"] {
            system.send((0, 0), ANN, frame);
        }
        system.send((0, 0), BOB, "x");
        system.send((0, 0), BOB, "y");
        assert_eq!(system.sent, ["1 a"]);
        assert_eq!(system.attempts, 2, "while somebody is queued no attempt is made");
        assert_eq!(system.backlog.len(), 5);
        system.room = 3;
        assert_eq!(system.drain(1), ["1 a", "1 b", "2 x", "1 c"]);
        // A new address queues after them, even if there is space.
        system.used = 0;
        system.send((1, 1), EVE, "e");
        system.send((1, 1), ANN, "e");
        assert_eq!(system.drain(2), ["2 y", "1 d", "3 e"]);
        assert_eq!(system.drain(2), ["1 e"]);
        assert!(system.backlog.is_empty());
    }

    #[test]
    fn silent_addresses_leave_half_of_the_buffer_to_active_ones() {
        let mut system = FakeSystem::new(4);
        for number in 0..10 {
            system.send((2_000, 0), BOB, format!("b{number}"));
        }
        assert_eq!(system.sent, ["2 b0", "2 b1"]);
        assert_eq!(system.attempts, 3, "while somebody is queued no attempt is made");
        for number in 0..3 {
            system.send((2_000, 1), ANN, format!("a{number}"));
        }
        assert_eq!(system.sent[2..], ["1 a0", "1 a1"]);
        system.send((2_000, 0), EVE, "e0");
        assert_eq!(system.drain(2_000)[4..], ["1 a2", "2 b2"]);
        assert_eq!(system.drain(2_000), ["3 e0", "2 b3"]);
    }

    #[test]
    fn an_address_that_becomes_active_comes_first_and_one_that_becomes_silent_last() {
        let mut system = FakeSystem::new(0);
        system.send((2_500, 0), BOB, "b0");
        system.send((2_500, 1_000), ANN, "a0");
        system.send((2_500, 1_000), ANN, "a1");
        assert!(!system.backlog.record_arrival(at(2_500), address(EVE)), "nothing waits for it");
        assert!(!system.backlog.record_arrival(at(2_500), address(ANN)), "it was active already");
        assert!(system.backlog.record_arrival(at(2_500), address(BOB)));
        system.check();
        system.room = 2;
        // Ann is active for one more millisecond.
        assert_eq!(system.drain(4_499), ["1 a0", "2 b0"]);
        system.send((4_499, 4_499), BOB, "b1");
        system.send((4_499, 4_499), BOB, "b2");
        system.used = 2;
        system.send((4_499, 4_499), BOB, "b3");
        system.sent.clear();
        assert_eq!(system.drain(4_500), ["2 b1", "2 b2"], "and now she is silent");
        assert_eq!(system.drain(4_500), ["2 b3"], "which uses up the half for silent addresses");
        assert_eq!(system.drain(4_500), ["1 a1"]);
    }

    #[test]
    fn datagrams_to_one_address_stay_in_order() {
        let mut system = FakeSystem::new(2);
        for frame in ["b0", "b1"] {
            system.send((2_500, 0), BOB, frame);
        }
        // There is space for active addresses, but the backlog has not detected yet that Bob is active.
        system.send((2_500, 2_500), BOB, "b2");
        assert_eq!(system.sent, ["2 b0"]);
        assert_eq!(system.drain(2_500), ["2 b0", "2 b1", "2 b2"]);
    }

    #[test]
    fn silent_addresses_get_recent_datagrams_and_active_ones_get_all() {
        let mut system = FakeSystem::new(0);
        for now in [3_000, 3_100, 3_200, 3_300, 3_400] {
            system.send((now, 0), BOB, format!("b{now}"));
            system.send((now, 2_500), ANN, format!("a{now}"));
        }
        system.room = 100;
        let sent = system.drain(3_500);
        assert_eq!(sent[..5], ["1 a3000", "1 a3100", "1 a3200", "1 a3300", "1 a3400"]);
        assert_eq!(sent[5..], ["2 b3300", "2 b3400"]);
        // The last queued datagram never becomes stale.
        system.room = 0;
        system.send((3_500, 0), BOB, "b");
        system.room = 2;
        assert_eq!(system.drain(90_000), ["2 b"]);
    }

    #[test]
    fn an_address_above_its_bound_loses_its_own_oldest_datagrams() {
        let mut system = FakeSystem::new(0);
        system.send((0, 0), ANN, "a");
        for size in 1_000..1_300 {
            system.send((0, 0), BOB, vec![0; size]);
        }
        let queued = system.backlog.queues[&address(BOB)].frames.len();
        let newest = |count: usize| (1_300 - count..1_300).map(|size| size + ENTRY).sum::<usize>();
        assert!(newest(queued) <= MAX_ADDRESS_QUEUE && newest(queued + 1) > MAX_ADDRESS_QUEUE);
        system.room = 1_000;
        let sent = system.drain(0);
        assert_eq!(sent.len(), 1 + queued);
        assert_eq!(sent[0], "1 a");
        assert_eq!(sent[1], format!("2 {}", 1_300 - queued));
        assert_eq!(sent[queued], "2 1299");
    }

    #[test]
    fn empty_datagrams_count_and_the_whole_backlog_is_bounded() {
        let mut system = FakeSystem::new(0);
        // A silent address, an active one, then a flood to ever new addresses.
        for _ in 0..10_000 {
            system.send((2_000, 0), BOB, "");
        }
        assert_eq!(system.backlog.len(), MAX_ADDRESS_QUEUE / ENTRY);
        system.send((2_000, 2_000), ANN, "a");
        let (fits, ip) = (MAX_BACKLOG / ENTRY, address(ANN).ip());
        for port in 0..u16::MAX {
            let (backlog, take) = system.parts();
            backlog.send(at(2_000), ((ip, port).into(), at(2_000)), Bytes::new(), take);
        }
        system.check();
        assert_eq!(system.backlog.len(), fits - 1);
        assert!(!system.backlog.queues.contains_key(&address(BOB)), "the silent lose first");
        system.room = usize::MAX;
        assert_eq!(system.drain(2_000)[0], "1 a");
    }

    #[test]
    fn rejected_datagram_does_not_delay_other_addresses() {
        let mut system = FakeSystem::new(0);
        for to in [BOB, ANN, BOB, EVE] {
            system.send((0, 0), to, "x");
        }
        system.refusal = Some((address(BOB), io::ErrorKind::HostUnreachable));
        system.room = 10;
        assert_eq!(system.drain(0), ["1 x", "3 x"]);
        assert!(system.backlog.is_empty());
        system.send((0, 0), BOB, "x");
        assert!(system.backlog.is_empty(), "lost, not queued");
    }
}
