//! Datagrams that the system could not send yet.
//!
//! All peers of a socket share its send buffer. Datagrams to a host that has vanished from the local network stay in
//! the buffer until address resolution fails, which takes seconds: a few such hosts fill the buffer and block
//! everybody. So an address that has been silent for a while may only use the first half of the buffer; the other half
//! is for active addresses. The buffer is nearly always less than half full, and then there is no difference: silent
//! spectators receive everything.

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

/// An address is silent if no datagram came from it for this long. Address resolution of a vanished host takes at least
/// three seconds to fail.
const SILENT: Duration = Duration::from_secs(2);
/// How long a datagram for a silent address may wait while newer ones are queued for it. After a long wait only recent
/// state is useful.
const STALE: Duration = Duration::from_millis(250);
/// Bytes queued for one address, including [`ENTRY`] for each datagram. Above that its oldest datagrams are dropped.
const MAX_LANE: usize = 256 << 10;
/// Bytes queued for all addresses of a socket, including [`ENTRY`] for each datagram. Above that the datagrams with the
/// last turn are dropped. Enough for a full table with [`MAX_LANE`] each.
const MAX_BACKLOG: usize = 8 << 20;
/// Cost of a queued datagram in addition to its bytes, for its entry and that of its address.
const ENTRY: usize = 256;

/// The part of the system's send buffer that a datagram may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Share {
    /// All of it, for active addresses, which come first.
    Whole,
    /// Only the first half, for silent addresses.
    Half,
}

impl Share {
    fn of(now: Time, heard: Time) -> Self {
        if now.since(heard) < SILENT { Self::Whole } else { Self::Half }
    }
}

/// The datagrams queued for one address, oldest first; never empty.
#[derive(Debug)]
struct Lane {
    turn: Turn,
    heard: Time,
    frames: VecDeque<(Time, Bytes)>,
    bytes: usize,
}

impl Lane {
    // Whether its oldest datagram has waited for so long that it is dropped in favour of the next.
    fn is_stale(&self, now: Time) -> bool {
        self.frames.len() > 1 && self.frames.front().is_some_and(|&(since, _)| now.since(since) > STALE)
    }
}

// The lowest value is next.
type Turn = (Share, u64);

/// The datagrams that a socket could not send yet. The order is kept per address, not between addresses.
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
    /// An empty backlog.
    pub(crate) fn new(now: Time) -> Self {
        Self { lanes: BTreeMap::new(), turns: BTreeMap::new(), turn: 0, bytes: 0, log: LogLimit::new(now) }
    }

    /// Whether nothing is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    // The number of queued datagrams.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lanes.values().map(|lane| lane.frames.len()).sum()
    }

    /// Sends a datagram to an address that last sent at `heard`: immediately with `try_send`, or later.
    pub(crate) fn send(
        &mut self,
        now: Time,
        (to, heard): (SocketAddr, Time),
        frame: Bytes,
        try_send: impl FnOnce(Share, SocketAddr, &[u8]) -> io::Result<()>,
    ) {
        let share = Share::of(now, heard);
        // If others with the same or a better share are queued, the buffer has no space for this one either.
        let first = self.turns.first_key_value().is_none_or(|(&(waiting, _), _)| share < waiting);
        if first && !self.lanes.contains_key(&to) {
            match try_send(share, to, &frame) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return self.done(now, to, sent),
            }
        }
        self.queue(now, (to, heard), frame);
    }

    /// Sends queued datagrams until the buffer is full.
    pub(crate) fn drain(&mut self, now: Time, mut try_send: impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
        while let Some((&turn, &to)) = self.turns.first_key_value() {
            let Some(lane) = self.lanes.get_mut(&to) else {
                self.turns.remove(&turn);
                continue;
            };
            let share = Share::of(now, lane.heard);
            if turn.0 < share {
                // It became silent while it was queued.
                self.take_turn(to, share);
                continue;
            }
            if share == Share::Half && lane.is_stale(now) {
                self.lose_oldest(now, to);
                continue;
            }
            let sent = lane.frames.front().map_or(Ok(()), |(_, frame)| try_send(share, to, frame));
            if sent.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                // Then there is no space for those after it either.
                return;
            }
            self.done(now, to, sent);
            self.forget_oldest(to);
            // To the end, so that each address has its turn.
            self.take_turn(to, share);
        }
    }

    /// Records that an address sent something. Returns whether that moved it to the active ones.
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

    // Moves the lane of an address, if it has one, to the end of those with this share.
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
            warn!(address = %canonical(to), %error, held_back, "a datagram could not be sent");
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

    /// A simulated system with a send buffer for `room` datagrams, which is emptied on demand.
    struct FakeSystem {
        backlog: Backlog,
        room: usize,
        used: usize,
        asked: usize,
        sent: Vec<String>,
        // The error for each datagram to this address.
        refusal: Option<(SocketAddr, io::ErrorKind)>,
    }

    impl FakeSystem {
        fn new(room: usize) -> Self {
            Self { backlog: Backlog::new(at(0)), room, used: 0, asked: 0, sent: vec![], refusal: None }
        }

        // The backlog, and the send function of the simulated system.
        fn parts(&mut self) -> (&mut Backlog, impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
            let Self { backlog, room, used, asked, sent, refusal } = self;
            let take = |share, to: SocketAddr, frame: &[u8]| {
                *asked += 1;
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

        // Sends at `now` to an address that last sent at `heard`.
        fn send(&mut self, (now, heard): (u64, u64), to: &str, frame: impl Into<Bytes>) {
            let (backlog, take) = self.parts();
            backlog.send(at(now), (address(to), at(heard)), frame.into(), take);
            self.check();
        }

        // Empties the buffer of the system, sends what is queued, and returns what was sent since the last call.
        fn drain(&mut self, now: u64) -> Vec<String> {
            self.used = 0;
            let (backlog, take) = self.parts();
            backlog.drain(at(now), take);
            self.check();
            std::mem::take(&mut self.sent)
        }

        // Checks that the counters match the contents.
        fn check(&self) {
            let Backlog { lanes, turns, bytes, .. } = &self.backlog;
            let of = |lane: &Lane| lane.frames.iter().map(|(_, frame)| cost(frame)).sum::<usize>();
            assert!(lanes.values().all(|lane| lane.bytes == of(lane) && (1..=MAX_LANE).contains(&lane.bytes)));
            assert_eq!(*bytes, lanes.values().map(of).sum::<usize>());
            assert!(*bytes <= MAX_BACKLOG);
            assert_eq!(lanes.len(), turns.len());
            assert!(lanes.iter().all(|(to, lane)| turns.get(&lane.turn) == Some(to)));
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
    fn each_address_has_its_turn_and_keeps_its_order() {
        let mut system = FakeSystem::new(1);
        for frame in ["a", "b", "c", "d"] {
            system.send((0, 0), ANN, frame);
        }
        system.send((0, 0), BOB, "x");
        system.send((0, 0), BOB, "y");
        assert_eq!(system.sent, ["1 a"]);
        assert_eq!(system.asked, 2, "while somebody is queued no attempt is made");
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
        assert_eq!(system.asked, 3, "while somebody is queued no attempt is made");
        for number in 0..3 {
            system.send((2_000, 1), ANN, format!("a{number}"));
        }
        assert_eq!(system.sent[2..], ["1 a0", "1 a1"]);
        // Active addresses come first.
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
        assert!(!system.backlog.heard(at(2_500), address(EVE)), "nothing waits for it");
        assert!(!system.backlog.heard(at(2_500), address(ANN)), "it was active already");
        assert!(system.backlog.heard(at(2_500), address(BOB)));
        system.check();
        system.room = 2;
        // Ann was active until just then.
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
    fn nothing_overtakes_a_queued_datagram_of_the_same_address() {
        let mut system = FakeSystem::new(2);
        for frame in ["b0", "b1"] {
            system.send((2_500, 0), BOB, frame);
        }
        // There is space for active addresses, but the backlog does not know yet that Bob is active.
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
        let kept = system.backlog.lanes[&address(BOB)].frames.len();
        let newest = |count: usize| (1_300 - count..1_300).map(|size| size + ENTRY).sum::<usize>();
        assert!(newest(kept) <= MAX_LANE && newest(kept + 1) > MAX_LANE);
        system.room = 1_000;
        let sent = system.drain(0);
        assert_eq!(sent.len(), 1 + kept);
        assert_eq!(sent[0], "1 a");
        assert_eq!(sent[1], format!("2 {}", 1_300 - kept));
        assert_eq!(sent[kept], "2 1299");
    }

    #[test]
    fn empty_datagrams_count_and_the_whole_backlog_is_bounded() {
        let mut system = FakeSystem::new(0);
        // A silent address, an active one, then a flood from ever new addresses.
        for _ in 0..10_000 {
            system.send((2_000, 0), BOB, "");
        }
        assert_eq!(system.backlog.len(), MAX_LANE / ENTRY);
        system.send((2_000, 2_000), ANN, "a");
        let fits = MAX_BACKLOG / ENTRY;
        for port in 0..u16::MAX {
            let (backlog, take) = system.parts();
            backlog.send(
                at(2_000),
                ((ANN.parse::<SocketAddr>().unwrap().ip(), port).into(), at(2_000)),
                Bytes::new(),
                take,
            );
        }
        system.check();
        assert_eq!(system.backlog.len(), fits - 1);
        assert!(!system.backlog.lanes.contains_key(&address(BOB)), "the silent lose first");
        system.room = usize::MAX;
        assert_eq!(system.drain(2_000)[0], "1 a");
    }

    #[test]
    fn a_datagram_that_the_system_rejects_delays_nobody() {
        let mut system = FakeSystem::new(0);
        for to in [BOB, ANN, BOB, EVE] {
            system.send((0, 0), to, "x");
        }
        system.refusal = Some((address(BOB), io::ErrorKind::HostUnreachable));
        system.room = 10;
        assert_eq!(system.drain(0), ["1 x", "3 x"]);
        assert!(system.backlog.is_empty());
        system.send((0, 0), BOB, "x");
        assert!(system.backlog.is_empty(), "lost, not kept");
    }
}
