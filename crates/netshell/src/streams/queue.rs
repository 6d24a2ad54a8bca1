//! Delivery: what connections have not taken yet.
//!
//! What is sent to everybody is kept once, in [`Shared`], for as long as somebody has not taken it; a connection that is
//! behind is a place in there. Only what is sent to one alone waits in a [`Queue`] of its own, at the place where it came.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    time::Duration,
};

use bytes::{Buf, Bytes};
use netcore::{Log, Time};

/// How far a connection may lag behind what is sent to everybody, in bytes; each message counts [`OVERHEAD`] more.
pub const MAX_LAG: usize = 4 << 20;
/// How far one may lag while it is told a history. After the history the limit falls as the lag does: it is the smallest lag so
/// far plus [`MAX_LAG`], until the connection is up to date. So whoever has read the history and reads faster than the game
/// goes is not dropped.
pub const MAX_CATCH_UP: usize = 32 << 20;
/// How much may wait that was sent to one connection alone, in bytes; each message counts [`OVERHEAD`] more. Histories do
/// not count.
pub const MAX_OWN: usize = 1 << 20;
/// How much may wait that was sent to single connections, in bytes, over all connections of a transport: beyond that, the one
/// with the most is dropped.
pub const MAX_OWN_TOTAL: usize = 128 << 20;
/// What a message costs beyond its bytes while it waits.
pub const OVERHEAD: usize = 64;
/// How long a connection that catches up may take for each [`PROGRESS`] bytes. The system takes bytes in lumps: not before a
/// third of its buffer is free, and the other end tells of room in lumps of its own. So a reader of 8 KiB a second may seem
/// to stand still for 19 seconds.
pub const MAX_STALL: Duration = Duration::from_secs(30);
/// See [`MAX_STALL`].
pub const PROGRESS: usize = 64 << 10;

/// Pieces handed to the system at once.
const SLICES: usize = 32;
/// Bytes written to one connection before the others have their turn.
const BURST: usize = 64 << 10;

/// What was sent to everybody, from the place of whoever is furthest behind.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    // Each with the cost of all messages up to it, itself included.
    frames: VecDeque<(Bytes, u64)>,
    // The number of the first of them, and the cost of all before it.
    first: u64,
    before: u64,
}

impl Shared {
    /// The number that the next message will have: the place of whoever has taken everything.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    /// Keeps a message, which is not empty.
    pub(crate) fn push(&mut self, frame: Bytes) {
        let before = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let cost = before + (frame.len() + OVERHEAD) as u64;
        self.frames.push_back((frame, cost));
    }

    /// Forgets the messages before `place`, which nobody needs any more.
    pub(crate) fn forget(&mut self, place: u64) {
        while self.first < place
            && let Some((_, cost)) = self.frames.pop_front()
        {
            self.first += 1;
            self.before = cost;
        }
    }

    // What the messages from `place` on cost.
    fn cost_from(&self, place: u64) -> u64 {
        let all = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let before =
            place.checked_sub(self.first + 1).and_then(|index| self.get(index)).map_or(self.before, |(_, cost)| *cost);
        all - before
    }

    fn get(&self, index: u64) -> Option<&(Bytes, u64)> {
        self.frames.get(usize::try_from(index).ok()?)
    }

    // The message with this number.
    fn at(&self, place: u64) -> Option<&Bytes> {
        self.get(place.checked_sub(self.first)?).map(|(frame, _)| frame)
    }
}

// Something that was sent to one alone, when everybody had been sent the messages before `place`.
#[derive(Debug, Clone)]
struct Own {
    place: u64,
    bytes: Bytes,
    history: bool,
}

/// How far one connection is.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    // The next message to everybody, and how many of its bytes are taken.
    place: u64,
    taken: usize,
    // The first one that is not for it any more, once it is closed.
    end: Option<u64>,
    own: VecDeque<Own>,
    // What waits of its own, at its cost, without histories.
    own_cost: usize,
    // Bytes of histories.
    history: usize,
    // How far it may lag; more than `MAX_LAG` only while it catches up.
    allowance: u64,
    // Bytes that it has taken in all; and how many that were, and when, at the last sign of progress.
    taken_bytes: u64,
    progress: (u64, Time),
}

impl Queue {
    /// A connection that has to be told nothing of what everybody was told so far.
    pub(crate) fn new(shared: &Shared) -> Self {
        Self {
            place: shared.end(),
            taken: 0,
            end: None,
            own: VecDeque::new(),
            own_cost: 0,
            history: 0,
            allowance: MAX_LAG as u64,
            taken_bytes: 0,
            progress: (0, Time::ZERO),
        }
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self, shared: &Shared) -> bool {
        self.own.is_empty() && self.place >= self.end.unwrap_or_else(|| shared.end())
    }

    /// Nothing that comes from now on is for this connection.
    pub(crate) fn close(&mut self, shared: &Shared) {
        self.end.get_or_insert_with(|| shared.end());
    }

    /// Whether nothing waited before the newest message to everybody, which is still to be written.
    pub(crate) fn is_next(&self, shared: &Shared) -> bool {
        self.own.is_empty() && self.end.is_none() && self.taken == 0 && self.place + 1 == shared.end()
    }

    // The message to everybody with this number, if it is for this connection.
    fn frame<'a>(&self, shared: &'a Shared, place: u64) -> Option<&'a Bytes> {
        shared.at(place).filter(|_| self.end.is_none_or(|end| place < end))
    }

    /// The first message to everybody that it still needs.
    pub(crate) const fn place(&self) -> u64 {
        self.place
    }

    /// Whether it is told a history or has not made up for one yet, so that [`Queue::lags`] changes as time passes.
    pub(crate) const fn catches_up(&self) -> bool {
        self.allowance > MAX_LAG as u64
    }

    /// What waits that was sent to this connection alone, at its cost.
    pub(crate) const fn own_cost(&self) -> usize {
        self.own_cost
    }

    /// Puts a message to this one alone behind what waits.
    pub(crate) fn push(&mut self, shared: &Shared, bytes: Bytes) {
        if !bytes.is_empty() {
            self.own_cost += bytes.len() + OVERHEAD;
            self.own.push_back(Own { place: shared.end(), bytes, history: false });
        }
    }

    /// Puts a history behind what waits.
    pub(crate) fn replay(&mut self, shared: &Shared, now: Time, log: &Log) {
        self.history += log.len();
        self.allowance = MAX_CATCH_UP as u64;
        self.progress = (self.taken_bytes, now);
        let place = shared.end();
        self.own.extend(log.segments().map(|bytes| Own { place, bytes: bytes.clone(), history: true }));
    }

    /// Forgives the time for which nothing was written because the server itself stood still.
    pub(crate) fn forgive(&mut self, time: Duration) {
        self.progress.1 = self.progress.1.plus(time);
    }

    /// Takes note that the newest message to everybody, which came when nothing waited, is taken up to `written` bytes.
    pub(crate) fn took(&mut self, shared: &Shared, written: usize) {
        self.taken = written;
        if shared.at(self.place).is_some_and(|frame| written >= frame.len()) {
            self.place += 1;
            self.taken = 0;
        }
    }

    /// Whether the connection is too slow to be kept. While it catches up it has to make progress in time ([`MAX_STALL`]). At all
    /// times it may lag by no more than its allowance. A closed one never lags: it is not kept for long.
    pub(crate) fn lags(&self, shared: &Shared, now: Time) -> bool {
        if self.end.is_some() {
            return false;
        }
        let stalls = self.catches_up() && now.since(self.progress.1) >= MAX_STALL;
        stalls || self.own_cost > MAX_OWN || shared.cost_from(self.place) > self.allowance
    }

    /// Writes what the connection takes, within a bound.
    ///
    /// # Errors
    /// What `write` fails with, unless that is that it would block.
    pub(crate) fn write(
        &mut self,
        shared: &Shared,
        now: Time,
        mut write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<Written> {
        let mut left = BURST;
        while !self.is_empty(shared) {
            if left == 0 {
                return Ok(Written::Some);
            }
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.gather(shared, left, &mut slices);
            match write(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    left = left.saturating_sub(written);
                    self.advance(shared, now, written);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Written::Blocked),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Written::All)
    }

    // Lays out what comes next, at most `room` bytes of it; gives how many slices that are.
    fn gather<'a>(&'a self, shared: &'a Shared, mut room: usize, slices: &mut [IoSlice<'a>]) -> usize {
        let (mut place, mut taken, mut own) = (self.place, self.taken, self.own.iter().peekable());
        let mut count = 0;
        while count < slices.len() && room > 0 {
            let piece = if let Some(next) = own.next_if(|own| own.place <= place) {
                &next.bytes[..]
            } else if let Some(frame) = self.frame(shared, place) {
                place += 1;
                &frame[std::mem::take(&mut taken)..]
            } else {
                break;
            };
            let piece = &piece[..piece.len().min(room)];
            room -= piece.len();
            slices[count] = IoSlice::new(piece);
            count += 1;
        }
        count
    }

    fn advance(&mut self, shared: &Shared, now: Time, mut written: usize) {
        self.taken_bytes += written as u64;
        while written > 0 {
            if let Some(own) = self.own.front_mut().filter(|own| own.place <= self.place) {
                let step = written.min(own.bytes.len());
                written -= step;
                own.bytes.advance(step);
                let cost = if own.history { &mut self.history } else { &mut self.own_cost };
                *cost -= step;
                if own.bytes.is_empty() {
                    if !own.history {
                        self.own_cost -= OVERHEAD;
                    }
                    self.own.pop_front();
                }
            } else if let Some(frame) = self.frame(shared, self.place) {
                let step = written.min(frame.len() - self.taken);
                written -= step;
                self.taken += step;
                if self.taken == frame.len() {
                    self.place += 1;
                    self.taken = 0;
                }
            } else {
                break;
            }
        }
        if self.taken_bytes - self.progress.0 >= PROGRESS as u64 {
            self.progress = (self.taken_bytes, now);
        }
        if self.catches_up() && self.history == 0 {
            let lag = shared.cost_from(self.place);
            // Once it is up to date it is like the others.
            let above = if lag == 0 { 0 } else { MAX_LAG as u64 };
            self.allowance = self.allowance.min(lag + above).max(MAX_LAG as u64);
        }
    }
}

/// How far writing has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Nothing is left.
    All,
    /// The bound is reached; the connection may take more.
    Some,
    /// The connection takes nothing more just now.
    Blocked,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEND_BUFFER;
    use netcore::LogWriter;
    use proptest::prelude::*;

    /// A connection that takes so many bytes at each call; 0 is not now.
    fn taker<'a>(
        script: &'a mut dyn Iterator<Item = usize>,
        taken: &'a mut Vec<u8>,
    ) -> impl FnMut(&[IoSlice<'_>]) -> io::Result<usize> + 'a {
        move |slices| match script.next().unwrap_or(0) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            room => {
                let before = taken.len();
                taken.extend(slices.iter().flat_map(|slice| slice.iter().copied()).take(room));
                Ok(taken.len() - before)
            }
        }
    }

    fn history(bytes: usize) -> Log {
        let mut writer = LogWriter::new();
        let all: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect();
        for frame in all.chunks(997) {
            writer.append(|out| out.extend_from_slice(frame));
        }
        writer.snapshot()
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    proptest! {
        #[test]
        fn everything_goes_out_in_order_whatever_the_pieces(
            parts in prop::collection::vec((0..3u8, 0..40_000usize), 0..12),
            rooms in prop::collection::vec(0..30_000usize, 0..60),
            slow in prop::collection::vec(0..9_000usize, 0..20),
        ) {
            // Two connections, of which the first is told everything and the second what is for all.
            let mut shared = Shared::default();
            let mut queues = [Queue::new(&shared), Queue::new(&shared)];
            let (mut sent, mut taken) = ([vec![], vec![]], [vec![], vec![]]);
            let mut rooms = [rooms.into_iter(), slow.into_iter()];
            for (index, (kind, length)) in parts.into_iter().enumerate() {
                let frame = vec![u8::try_from(index).unwrap(); length];
                match kind {
                    0 if length > 0 => {
                        for sent in &mut sent {
                            sent.extend_from_slice(&frame);
                        }
                        shared.push(frame.into());
                    }
                    0 => {}
                    1 => {
                        sent[0].extend_from_slice(&frame);
                        queues[0].push(&shared, frame.into());
                    }
                    _ => {
                        let log = history(length);
                        sent[0].extend(log.segments().flatten());
                        queues[0].replay(&shared, Time::ZERO, &log);
                    }
                }
                for (who, queue) in queues.iter_mut().enumerate() {
                    queue.write(&shared, Time::ZERO, taker(&mut rooms[who], &mut taken[who])).unwrap();
                    prop_assert_eq!(&sent[who][..taken[who].len()], &taken[who][..]);
                }
                shared.forget(queues[0].place().min(queues[1].place()));
            }
            for (who, queue) in queues.iter_mut().enumerate() {
                let mut endless = std::iter::repeat(7_777);
                while queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken[who])).unwrap() != Written::All {}
                prop_assert_eq!(&sent[who], &taken[who]);
                prop_assert_eq!((queue.own_cost, queue.history, shared.cost_from(queue.place)), (0, 0, 0));
            }
            shared.forget(shared.end());
            prop_assert!(shared.frames.is_empty());
        }
    }

    #[test]
    fn a_message_that_came_when_nothing_waited_is_taken_up_to_where_it_was_written() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        shared.push(Bytes::from_static(b"all of it"));
        assert!(queue.is_next(&shared));
        queue.took(&shared, 9);
        assert!(queue.is_empty(&shared));
        shared.push(Bytes::from_static(b"part of it"));
        queue.took(&shared, 4);
        let mut taken = vec![];
        queue.write(&shared, Time::ZERO, taker(&mut [100].into_iter(), &mut taken)).unwrap();
        assert_eq!(taken, b" of it");
    }

    #[test]
    fn a_connection_that_takes_nothing_lags_once_the_bound_is_passed() {
        let mut shared = Shared::default();
        let (queue, frame) = (Queue::new(&shared), Bytes::from_static(&[7; 1_000]));
        let mut count = 0;
        while !queue.lags(&shared, Time::ZERO) {
            shared.push(frame.clone());
            count += 1;
        }
        assert_eq!(count, MAX_LAG / (1_000 + OVERHEAD) + 1);
        assert!(!Queue::new(&shared).lags(&shared, Time::ZERO), "one who comes then does not");
    }

    #[test]
    fn short_messages_count_what_they_cost() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        (0..=MAX_OWN / OVERHEAD).for_each(|_| queue.push(&shared, Bytes::from_static(b"x")));
        assert!(queue.lags(&shared, Time::ZERO));
        let queue = Queue::new(&shared);
        (0..=MAX_LAG / OVERHEAD).for_each(|_| shared.push(Bytes::from_static(b"x")));
        assert!(queue.lags(&shared, Time::ZERO));
    }

    #[test]
    fn whoever_catches_up_has_time_and_many_bytes() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(3 * PROGRESS));
        // Meanwhile more comes than one who is up to date could leave lying.
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(!queue.lags(&shared, at(29_999)));
        assert!(queue.lags(&shared, at(30_000)));
        // A trickle is no progress.
        let mut taken = vec![];
        queue.write(&shared, at(29_000), taker(&mut [PROGRESS - 1].into_iter(), &mut taken)).unwrap();
        assert!(queue.lags(&shared, at(30_000)));
        queue.write(&shared, at(29_500), taker(&mut [1].into_iter(), &mut taken)).unwrap();
        assert!(!queue.lags(&shared, at(59_000)));
        assert!(queue.lags(&shared, at(60_000)));
        let mut forgiven = queue.clone();
        forgiven.forgive(Duration::from_secs(3));
        assert!(!forgiven.lags(&shared, at(62_000)));
        // What comes meanwhile is bounded as well.
        (0..=MAX_CATCH_UP / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, at(29_500)));
    }

    #[test]
    fn a_slow_reader_is_kept_though_the_system_takes_its_history_in_lumps() {
        // A third of the doubled buffer, and the largest segment on top; read at 8 KiB a second.
        let lump = 2 * SEND_BUFFER / 3 + (64 << 10);
        let pause = 1_000 * u64::try_from(lump).unwrap() / 8_192;
        let shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(5 * lump));
        let mut taken = vec![];
        for count in 1..=5 {
            let now = at(count * pause);
            assert!(!queue.lags(&shared, now), "dropped before lump {count}");
            while taken.len() < usize::try_from(count).unwrap() * lump {
                let room = usize::try_from(count).unwrap() * lump - taken.len();
                queue.write(&shared, now, taker(&mut [room].into_iter(), &mut taken)).unwrap();
            }
        }
        assert!(queue.is_empty(&shared));
    }

    #[test]
    fn whoever_reads_faster_than_the_game_goes_is_kept_when_its_history_ends() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(6 * MAX_LAG));
        let mut taken = vec![];
        let mut furthest = 0;
        // Two bytes are read for each that is sent.
        let frame = Bytes::from(vec![7; 32_000]);
        for step in 0.. {
            shared.push(frame.clone());
            let mut room = [64_000].into_iter();
            queue.write(&shared, at(step), taker(&mut room, &mut taken)).unwrap();
            assert!(!queue.lags(&shared, at(step)), "dropped at step {step}");
            furthest = furthest.max(shared.cost_from(queue.place()));
            if queue.is_empty(&shared) {
                break;
            }
        }
        assert!(furthest > 2 * MAX_LAG as u64, "it did lag further than others may: {furthest}");
        assert!(!queue.catches_up(), "and is like the others now");
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, Time::ZERO));
    }

    #[test]
    fn whoever_stops_reading_when_its_history_ends_is_dropped_by_bytes_and_by_time() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(PROGRESS));
        (0..2 * MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        let mut taken = vec![];
        queue.write(&shared, at(1), taker(&mut [PROGRESS + 500].into_iter(), &mut taken)).unwrap();
        assert!(!queue.lags(&shared, at(2)) && queue.catches_up());
        assert!(queue.lags(&shared, at(30_001)), "no progress");
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, at(2)), "further behind than it was, by more than others may be");
    }

    #[test]
    fn one_connection_does_not_hold_up_the_others() {
        let shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(4 * BURST));
        let mut taken = vec![];
        let mut endless = std::iter::repeat(usize::MAX);
        for round in 1..=3 {
            assert_eq!(queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken)).unwrap(), Written::Some);
            assert_eq!(taken.len(), round * BURST);
        }
        queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken)).unwrap();
        assert!(queue.is_empty(&shared));
    }

    #[test]
    fn what_comes_after_it_was_closed_is_not_for_it() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        shared.push(Bytes::from_static(b"before"));
        queue.close(&shared);
        shared.push(Bytes::from_static(b"after"));
        queue.close(&shared);
        let mut taken = vec![];
        let written = queue.write(&shared, Time::ZERO, taker(&mut std::iter::repeat(100), &mut taken)).unwrap();
        assert_eq!((written, &taken[..]), (Written::All, &b"before"[..]));
        assert!(queue.is_empty(&shared) && !queue.is_next(&shared));
    }

    #[test]
    fn a_broken_connection_is_an_error() {
        let shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.push(&shared, Bytes::from_static(b"x"));
        assert!(queue.write(&shared, Time::ZERO, |_| Err(io::ErrorKind::BrokenPipe.into())).is_err());
        assert!(queue.write(&shared, Time::ZERO, |_| Ok(0)).is_err());
    }
}
