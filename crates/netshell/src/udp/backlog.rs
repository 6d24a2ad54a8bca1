//! Datagrams that the system could not take yet.
//!
//! All peers of a socket share the system's send buffer. What was sent to a host that has vanished from the local network
//! stays in there until the system gives up looking for it, which takes seconds: a few such hosts fill the buffer, and
//! nobody else is sent anything. So whoever has been silent for a while, as the vanished are, may only use the first half
//! of it. The other half is for those who speak. While the buffer is less than half full, and it nearly always is, there is
//! no difference: silent spectators are sent everything.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    net::SocketAddr,
    time::Duration,
};

use bytes::Bytes;
use netcore::Time;
use tracing::warn;

use crate::{LogLimit, host::plain};

/// After how long without a datagram from it an address counts as silent. A host that vanishes is still sent to for at
/// least three seconds before the system looks for it in vain.
const SILENT: Duration = Duration::from_secs(2);
/// How long a datagram may wait for a silent address while newer ones wait behind it. After a long wait what is new is
/// worth more than all that has happened.
const STALE: Duration = Duration::from_millis(250);
/// Bytes that wait for one address, [`ENTRY`] for each datagram included; beyond that its oldest are lost.
const MAX_LANE: usize = 256 << 10;
/// Bytes that wait for all addresses of a socket, [`ENTRY`] for each datagram included; beyond that, datagrams of those
/// who come last are lost. Enough for a full table with [`MAX_LANE`] each.
const MAX_BACKLOG: usize = 8 << 20;
/// What a datagram that waits costs besides its bytes: its place, and that of its address.
const ENTRY: usize = 256;

/// How much of the system's send buffer a datagram may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Share {
    /// All of it; for addresses that speak. They come first.
    Whole,
    /// Only what is free of the first half; for addresses that are silent.
    Half,
}

impl Share {
    fn of(now: Time, heard: Time) -> Self {
        if now.since(heard) < SILENT { Self::Whole } else { Self::Half }
    }
}

/// What waits for one address, oldest first; never empty.
#[derive(Debug)]
struct Lane {
    turn: Turn,
    heard: Time,
    frames: VecDeque<(Time, Bytes)>,
    bytes: usize,
}

impl Lane {
    // Whether its oldest datagram has waited for so long that the next is wanted in its place.
    fn is_stale(&self, now: Time) -> bool {
        self.frames.len() > 1 && self.frames.front().is_some_and(|&(since, _)| now.since(since) > STALE)
    }
}

// The lowest has its turn next.
type Turn = (Share, u64);

/// What a socket could not take yet. The order of what goes to one address stays; between addresses there is none.
#[derive(Debug)]
pub(crate) struct Backlog {
    lanes: BTreeMap<SocketAddr, Lane>,
    // Exactly one turn for each lane.
    turns: BTreeMap<Turn, SocketAddr>,
    turn: u64,
    bytes: usize,
    log: LogLimit,
}

impl Backlog {
    /// Nothing waits.
    pub(crate) fn new(now: Time) -> Self {
        Self { lanes: BTreeMap::new(), turns: BTreeMap::new(), turn: 0, bytes: 0, log: LogLimit::new(now) }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    // How many datagrams wait.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.lanes.values().map(|lane| lane.frames.len()).sum()
    }

    /// Sends a datagram to an address from which something came last at `heard`: now with `try_send`, or later.
    pub(crate) fn send(
        &mut self,
        now: Time,
        (to, heard): (SocketAddr, Time),
        frame: Bytes,
        try_send: impl FnOnce(Share, SocketAddr, &[u8]) -> io::Result<()>,
    ) {
        let share = Share::of(now, heard);
        // If others with the same or a better share wait already, the system has no room for this one either.
        let first = self.turns.first_key_value().is_none_or(|(&(waiting, _), _)| share < waiting);
        if first && !self.lanes.contains_key(&to) {
            match try_send(share, to, &frame) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                sent => return self.done(now, to, sent),
            }
        }
        self.queue(now, (to, heard), frame);
    }

    /// Sends what waits until the system is full again.
    pub(crate) fn drain(&mut self, now: Time, mut try_send: impl FnMut(Share, SocketAddr, &[u8]) -> io::Result<()>) {
        while let Some((&turn, &to)) = self.turns.first_key_value() {
            let Some(lane) = self.lanes.get_mut(&to) else {
                self.turns.remove(&turn);
                continue;
            };
            let share = Share::of(now, lane.heard);
            if turn.0 < share {
                // It has fallen silent while it waited.
                self.take_turn(to, share);
                continue;
            }
            if share == Share::Half && lane.is_stale(now) {
                self.lose_oldest(now, to);
                continue;
            }
            let sent = lane.frames.front().map_or(Ok(()), |(_, frame)| try_send(share, to, frame));
            if sent.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
                // Then there is no room for those behind either.
                return;
            }
            self.done(now, to, sent);
            self.forget_oldest(to);
            // Behind the others now: each has its turn.
            self.take_turn(to, share);
        }
    }

    /// Takes note that something came from an address. Whether it is now among the first while it was not before.
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

    // Gives the lane of an address, if it has one, the last turn among those with the same share.
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

    // A datagram that could not be sent is lost like any other; the game goes on.
    fn done(&mut self, now: Time, to: SocketAddr, sent: io::Result<()>) {
        if let Err(error) = sent
            && let Some(held_back) = self.log.admit(now)
        {
            warn!(address = %plain(to), %error, held_back, "a datagram could not be sent");
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

    /// A system with a buffer for so many datagrams, whose owner looks when it likes.
    struct Pretend {
        backlog: Backlog,
        room: usize,
        used: usize,
        asked: usize,
        sent: Vec<String>,
        // What the system says of each datagram to this address.
        refusal: Option<(SocketAddr, io::ErrorKind)>,
    }

    impl Pretend {
        fn new(room: usize) -> Self {
            Self { backlog: Backlog::new(at(0)), room, used: 0, asked: 0, sent: vec![], refusal: None }
        }

        // The backlog, and the system as it asks for it.
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

        // Sends at `now` to somebody who was heard at `heard`.
        fn send(&mut self, (now, heard): (u64, u64), to: &str, frame: impl Into<Bytes>) {
            let (backlog, take) = self.parts();
            backlog.send(at(now), (address(to), at(heard)), frame.into(), take);
            self.check();
        }

        // Lets the system get rid of all that it has, then sends what waits; gives what has been sent since the last time.
        fn drain(&mut self, now: u64) -> Vec<String> {
            self.used = 0;
            let (backlog, take) = self.parts();
            backlog.drain(at(now), take);
            self.check();
            std::mem::take(&mut self.sent)
        }

        // What is counted is what is there.
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
    fn what_the_system_takes_does_not_wait() {
        let mut system = Pretend::new(10);
        system.send((0, 0), ANN, "one");
        system.send((9_000, 0), BOB, "two");
        assert!(system.backlog.is_empty());
        assert_eq!(system.sent, ["1 one", "2 two"]);
    }

    #[test]
    fn each_address_has_its_turn_and_keeps_its_order() {
        let mut system = Pretend::new(1);
        for frame in ["a", "b", "c", "d"] {
            system.send((0, 0), ANN, frame);
        }
        system.send((0, 0), BOB, "x");
        system.send((0, 0), BOB, "y");
        assert_eq!(system.sent, ["1 a"]);
        assert_eq!(system.asked, 2, "behind somebody who waits nobody asks");
        assert_eq!(system.backlog.len(), 5);
        system.room = 3;
        assert_eq!(system.drain(1), ["1 a", "1 b", "2 x", "1 c"]);
        // A newcomer goes behind them, and room that is there is not used out of order.
        system.used = 0;
        system.send((1, 1), EVE, "e");
        system.send((1, 1), ANN, "e");
        assert_eq!(system.drain(2), ["2 y", "1 d", "3 e"]);
        assert_eq!(system.drain(2), ["1 e"]);
        assert!(system.backlog.is_empty());
    }

    #[test]
    fn the_silent_leave_half_of_the_room_to_those_who_speak() {
        let mut system = Pretend::new(4);
        for number in 0..10 {
            system.send((2_000, 0), BOB, format!("b{number}"));
        }
        assert_eq!(system.sent, ["2 b0", "2 b1"]);
        assert_eq!(system.asked, 3, "behind somebody who waits nobody asks");
        for number in 0..3 {
            system.send((2_000, 1), ANN, format!("a{number}"));
        }
        assert_eq!(system.sent[2..], ["1 a0", "1 a1"]);
        // Those who speak come first.
        system.send((2_000, 0), EVE, "e0");
        assert_eq!(system.drain(2_000)[4..], ["1 a2", "2 b2"]);
        assert_eq!(system.drain(2_000), ["3 e0", "2 b3"]);
    }

    #[test]
    fn who_speaks_again_comes_first_and_who_falls_silent_does_not() {
        let mut system = Pretend::new(0);
        system.send((2_500, 0), BOB, "b0");
        system.send((2_500, 1_000), ANN, "a0");
        system.send((2_500, 1_000), ANN, "a1");
        assert!(!system.backlog.heard(at(2_500), address(EVE)), "nothing waits for it");
        assert!(!system.backlog.heard(at(2_500), address(ANN)), "it was not behind");
        assert!(system.backlog.heard(at(2_500), address(BOB)));
        system.check();
        system.room = 2;
        // Ann was heard just then.
        assert_eq!(system.drain(4_499), ["1 a0", "2 b0"]);
        system.send((4_499, 4_499), BOB, "b1");
        system.send((4_499, 4_499), BOB, "b2");
        system.used = 2;
        system.send((4_499, 4_499), BOB, "b3");
        system.sent.clear();
        assert_eq!(system.drain(4_500), ["2 b1", "2 b2"], "and now she is silent");
        assert_eq!(system.drain(4_500), ["2 b3"], "which uses up what is hers");
        assert_eq!(system.drain(4_500), ["1 a1"]);
    }

    #[test]
    fn nothing_overtakes_what_waits_for_the_same_address() {
        let mut system = Pretend::new(2);
        for frame in ["b0", "b1"] {
            system.send((2_500, 0), BOB, frame);
        }
        // There is room for somebody who speaks, and nobody has said yet that Bob does.
        system.send((2_500, 2_500), BOB, "b2");
        assert_eq!(system.sent, ["2 b0"]);
        assert_eq!(system.drain(2_500), ["2 b0", "2 b1", "2 b2"]);
    }

    #[test]
    fn the_silent_get_what_is_new_and_the_others_get_everything() {
        let mut system = Pretend::new(0);
        for now in [3_000, 3_100, 3_200, 3_300, 3_400] {
            system.send((now, 0), BOB, format!("b{now}"));
            system.send((now, 2_500), ANN, format!("a{now}"));
        }
        system.room = 100;
        let sent = system.drain(3_500);
        assert_eq!(sent[..5], ["1 a3000", "1 a3100", "1 a3200", "1 a3300", "1 a3400"]);
        assert_eq!(sent[5..], ["2 b3300", "2 b3400"]);
        // The last of all is never too old.
        system.room = 0;
        system.send((3_500, 0), BOB, "b");
        system.room = 2;
        assert_eq!(system.drain(90_000), ["2 b"]);
    }

    #[test]
    fn an_address_for_which_too_much_waits_loses_its_oldest_alone() {
        let mut system = Pretend::new(0);
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
    fn empty_datagrams_count_and_all_addresses_together_are_bounded() {
        let mut system = Pretend::new(0);
        // Somebody silent, somebody who speaks, then a flood from ever new addresses.
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
    fn a_datagram_that_the_system_refuses_holds_nobody_up() {
        let mut system = Pretend::new(0);
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
