//! Output queues of connections.
//!
//! Broadcast messages are stored once, in [`Shared`], until every connection has written them; the [`Queue`] of a
//! connection has its position in there. Messages to one connection alone are in its own queue, each with its position
//! among the broadcast messages.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    time::Duration,
};

use bytes::{Buf, Bytes};
use netcore::{Log, Time};

/// Bytes of broadcast messages by which a connection may lag, plus [`OVERHEAD`] for each message.
pub const MAX_LAG: usize = 4 << 20;
/// The lag allowed while a connection is sent a history. Afterwards the limit decreases with the lag: it is the
/// smallest lag so far plus [`MAX_LAG`], until the connection has caught up. So a connection that has read the history,
/// and reads faster than the game produces messages, is not dropped.
pub const MAX_CATCH_UP: usize = 32 << 20;
/// Bytes that may be queued for one connection alone, plus [`OVERHEAD`] for each message. Histories do not count.
pub const MAX_OWN: usize = 1 << 20;
/// Bytes that may be queued for single connections, over all connections of a transport. Above that, the connection
/// with the most is dropped.
pub const MAX_OWN_TOTAL: usize = 128 << 20;
/// Cost of a queued message in addition to its bytes.
pub const OVERHEAD: usize = 64;
/// Time limit for each [`PROGRESS`] bytes while a connection catches up. The system accepts bytes in lumps: only when a
/// third of its buffer is free, and the peer opens its window in lumps too. So a reader at 8 KiB per second may seem to
/// stand still for 19 seconds.
pub const MAX_STALL: Duration = Duration::from_secs(30);
/// See [`MAX_STALL`].
pub const PROGRESS: usize = 64 << 10;

/// Slices passed to one write call.
const SLICES: usize = 32;
/// Bytes written to one connection before the others have their turn.
const BURST: usize = 64 << 10;

/// The broadcast messages, from the position of the slowest connection.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    // Each with the cumulative cost of all messages up to and including it.
    frames: VecDeque<(Bytes, u64)>,
    // The position of the first one, and the cumulative cost before it.
    first: u64,
    before: u64,
}

impl Shared {
    /// The position of the next message, which is also that of a connection that has written everything.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    /// Appends a message, which must not be empty.
    pub(crate) fn push(&mut self, frame: Bytes) {
        let before = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let cost = before + (frame.len() + OVERHEAD) as u64;
        self.frames.push_back((frame, cost));
    }

    /// Removes the messages before `place`.
    pub(crate) fn forget(&mut self, place: u64) {
        while self.first < place
            && let Some((_, cost)) = self.frames.pop_front()
        {
            self.first += 1;
            self.before = cost;
        }
    }

    // The cost of the messages from `place` on.
    fn cost_from(&self, place: u64) -> u64 {
        let all = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let before =
            place.checked_sub(self.first + 1).and_then(|index| self.get(index)).map_or(self.before, |(_, cost)| *cost);
        all - before
    }

    fn get(&self, index: u64) -> Option<&(Bytes, u64)> {
        self.frames.get(usize::try_from(index).ok()?)
    }

    // The message at this position.
    fn at(&self, place: u64) -> Option<&Bytes> {
        self.get(place.checked_sub(self.first)?).map(|(frame, _)| frame)
    }
}

// A message to one connection, to be sent before the broadcast message at `place`.
#[derive(Debug, Clone)]
struct Own {
    place: u64,
    bytes: Bytes,
    history: bool,
}

/// The output queue of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Queue {
    // The next broadcast message, and how many of its bytes have been written.
    place: u64,
    taken: usize,
    // Once it is closed: the first broadcast message that is not sent to it.
    end: Option<u64>,
    own: VecDeque<Own>,
    // Cost of the messages in `own`, without histories.
    own_cost: usize,
    // Remaining bytes of histories.
    history: usize,
    // The lag allowed; above `MAX_LAG` only while it catches up.
    allowance: u64,
    // Total bytes written, and that total and the time at the last progress.
    taken_bytes: u64,
    progress: (u64, Time),
}

impl Queue {
    /// A queue that starts after all broadcast messages so far.
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

    /// Whether everything has been written.
    pub(crate) fn is_empty(&self, shared: &Shared) -> bool {
        self.own.is_empty() && self.place >= self.end.unwrap_or_else(|| shared.end())
    }

    /// Excludes all later broadcast messages.
    pub(crate) fn close(&mut self, shared: &Shared) {
        self.end.get_or_insert_with(|| shared.end());
    }

    /// Whether the newest broadcast message is the next to write.
    pub(crate) fn is_next(&self, shared: &Shared) -> bool {
        self.own.is_empty() && self.end.is_none() && self.taken == 0 && self.place + 1 == shared.end()
    }

    // The broadcast message at this position, if this connection receives it.
    fn frame<'a>(&self, shared: &'a Shared, place: u64) -> Option<&'a Bytes> {
        shared.at(place).filter(|_| self.end.is_none_or(|end| place < end))
    }

    /// The position of the first broadcast message that is not written yet.
    pub(crate) const fn place(&self) -> u64 {
        self.place
    }

    /// Whether it is being sent a history or has not caught up since, so that [`Queue::lags`] depends on the time.
    pub(crate) const fn catches_up(&self) -> bool {
        self.allowance > MAX_LAG as u64
    }

    /// Cost of the queued messages to this connection alone.
    pub(crate) const fn own_cost(&self) -> usize {
        self.own_cost
    }

    /// Queues a message to this connection.
    pub(crate) fn push(&mut self, shared: &Shared, bytes: Bytes) {
        if !bytes.is_empty() {
            self.own_cost += bytes.len() + OVERHEAD;
            self.own.push_back(Own { place: shared.end(), bytes, history: false });
        }
    }

    /// Queues a history.
    pub(crate) fn replay(&mut self, shared: &Shared, now: Time, log: &Log) {
        self.history += log.len();
        self.allowance = MAX_CATCH_UP as u64;
        self.progress = (self.taken_bytes, now);
        let place = shared.end();
        self.own.extend(log.segments().map(|bytes| Own { place, bytes: bytes.clone(), history: true }));
    }

    /// Extends the time limit by a time during which the process was stopped.
    pub(crate) fn forgive(&mut self, time: Duration) {
        self.progress.1 = self.progress.1.plus(time);
    }

    /// Records that `written` bytes of the newest broadcast message were written while nothing else was queued.
    pub(crate) fn wrote(&mut self, shared: &Shared, written: usize) {
        self.taken = written;
        if shared.at(self.place).is_some_and(|frame| written >= frame.len()) {
            self.place += 1;
            self.taken = 0;
        }
    }

    /// Whether the connection is too slow to be kept: it exceeds its allowance, or makes no progress while it catches
    /// up ([`MAX_STALL`]). A closed connection never lags, because it is soon dropped anyway.
    pub(crate) fn lags(&self, shared: &Shared, now: Time) -> bool {
        if self.end.is_some() {
            return false;
        }
        let stalls = self.catches_up() && now.since(self.progress.1) >= MAX_STALL;
        stalls || self.own_cost > MAX_OWN || shared.cost_from(self.place) > self.allowance
    }

    /// Writes what the connection accepts, within a bound.
    ///
    /// # Errors
    /// Any error of `write` except `WouldBlock`.
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

    // Fills slices with the next bytes, at most `room`. Returns the number of slices.
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
            // Once it has caught up, the usual limit applies.
            let above = if lag == 0 { 0 } else { MAX_LAG as u64 };
            self.allowance = self.allowance.min(lag + above).max(MAX_LAG as u64);
        }
    }
}

/// The result of writing a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Everything was written.
    All,
    /// The bound was reached; the connection may accept more.
    Some,
    /// The connection accepts no more now.
    Blocked,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SEND_BUFFER;
    use netcore::LogWriter;
    use proptest::prelude::*;

    /// A connection that accepts so many bytes at each call; 0 means that it would block.
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
            // The first connection receives everything, the second only broadcast messages.
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
    fn a_message_written_directly_continues_where_it_stopped() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        shared.push(Bytes::from_static(b"all of it"));
        assert!(queue.is_next(&shared));
        queue.wrote(&shared, 9);
        assert!(queue.is_empty(&shared));
        shared.push(Bytes::from_static(b"part of it"));
        queue.wrote(&shared, 4);
        let mut taken = vec![];
        queue.write(&shared, Time::ZERO, taker(&mut [100].into_iter(), &mut taken)).unwrap();
        assert_eq!(taken, b" of it");
    }

    #[test]
    fn a_connection_that_reads_nothing_lags_above_the_bound() {
        let mut shared = Shared::default();
        let (queue, frame) = (Queue::new(&shared), Bytes::from_static(&[7; 1_000]));
        let mut count = 0;
        while !queue.lags(&shared, Time::ZERO) {
            shared.push(frame.clone());
            count += 1;
        }
        assert_eq!(count, MAX_LAG / (1_000 + OVERHEAD) + 1);
        assert!(!Queue::new(&shared).lags(&shared, Time::ZERO), "a new connection does not lag");
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
    fn a_connection_that_catches_up_has_higher_limits() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(3 * PROGRESS));
        // Meanwhile more is broadcast than MAX_LAG.
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(!queue.lags(&shared, at(29_999)));
        assert!(queue.lags(&shared, at(30_000)));
        // A trickle does not count as progress.
        let mut taken = vec![];
        queue.write(&shared, at(29_000), taker(&mut [PROGRESS - 1].into_iter(), &mut taken)).unwrap();
        assert!(queue.lags(&shared, at(30_000)));
        queue.write(&shared, at(29_500), taker(&mut [1].into_iter(), &mut taken)).unwrap();
        assert!(!queue.lags(&shared, at(59_000)));
        assert!(queue.lags(&shared, at(60_000)));
        let mut forgiven = queue.clone();
        forgiven.forgive(Duration::from_secs(3));
        assert!(!forgiven.lags(&shared, at(62_000)));
        // Broadcast messages are bounded meanwhile as well.
        (0..=MAX_CATCH_UP / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, at(29_500)));
    }

    #[test]
    fn a_slow_reader_is_kept_although_the_system_accepts_its_history_in_lumps() {
        // A third of the doubled buffer plus the largest TCP segment, read at 8 KiB per second.
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
    fn a_connection_that_reads_faster_than_the_broadcast_is_kept_after_its_history() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(6 * MAX_LAG));
        let mut taken = vec![];
        let mut furthest = 0;
        // Two bytes are read for each byte that is sent.
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
        assert!(furthest > 2 * MAX_LAG as u64, "it lagged by more than the usual limit: {furthest}");
        assert!(!queue.catches_up(), "it has caught up");
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, Time::ZERO));
    }

    #[test]
    fn a_connection_that_stops_reading_after_its_history_is_dropped() {
        let mut shared = Shared::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(PROGRESS));
        (0..2 * MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        let mut taken = vec![];
        queue.write(&shared, at(1), taker(&mut [PROGRESS + 500].into_iter(), &mut taken)).unwrap();
        assert!(!queue.lags(&shared, at(2)) && queue.catches_up());
        assert!(queue.lags(&shared, at(30_001)), "no progress");
        (0..=MAX_LAG / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, at(2)), "the lag has grown by more than the usual limit");
    }

    #[test]
    fn one_connection_does_not_delay_the_others() {
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
    fn a_closed_connection_receives_no_later_messages() {
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
