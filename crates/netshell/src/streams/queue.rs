//! Output queues of connections.
//!
//! Broadcast messages are stored once, in [`Broadcasts`], until every connection has written them. The [`Queue`] of a
//! connection has a position in this list, and the connection's own messages, each with a position among the others.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    time::Duration,
};

use bytes::{Buf, Bytes};
use netcore::{History, Time};

/// Bytes of broadcast messages by which a connection may lag, plus `OVERHEAD` for each message.
pub const MAX_LAG: usize = 4 << 20;
/// The allowed lag while a connection is sent a history. Afterwards the limit is the smallest lag so far plus
/// [`MAX_LAG`], until the connection has caught up: one that reads faster than the game writes is not dropped.
pub(crate) const MAX_CATCH_UP: usize = 32 << 20;
/// Bytes that may be queued for one connection alone, plus [`OVERHEAD`] for each message. Histories do not count.
pub(crate) const MAX_OWN: usize = 1 << 20;
/// Bytes queued for single connections of a transport; beyond it, the connection with the most is dropped.
pub(crate) const MAX_OWN_TOTAL: usize = 128 << 20;
/// Cost of a queued message in addition to its bytes.
pub(crate) const OVERHEAD: usize = 64;
/// Time limit for each [`PROGRESS`] bytes while a connection catches up. The system accepts bytes only when a third of
/// its buffer is free, and the peer opens its window in lumps too: a reader at 8 KiB per second may seem to stall for
/// 19 seconds.
pub(crate) const MAX_STALL: Duration = Duration::from_secs(30);
/// See [`MAX_STALL`].
pub(crate) const PROGRESS: usize = 64 << 10;

/// Slices passed to one write call.
const SLICES: usize = 32;
/// Bytes written to one connection before others are served.
const BURST: usize = 64 << 10;

/// The broadcast messages, from the position of the slowest connection.
#[derive(Debug, Default)]
pub(crate) struct Broadcasts {
    // Each with the cumulative cost up to and including it.
    frames: VecDeque<(Bytes, u64)>,
    // The position of the first frame, and the cumulative cost before it.
    first: u64,
    before: u64,
}

impl Broadcasts {
    pub(crate) fn end(&self) -> u64 {
        self.first + self.frames.len() as u64
    }

    /// `frame` must not be empty.
    pub(crate) fn push(&mut self, frame: Bytes) {
        let before = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let cost = before + (frame.len() + OVERHEAD) as u64;
        self.frames.push_back((frame, cost));
    }

    pub(crate) fn drop_before(&mut self, place: u64) {
        while self.first < place
            && let Some((_, cost)) = self.frames.pop_front()
        {
            self.first += 1;
            self.before = cost;
        }
    }

    fn cost_from(&self, place: u64) -> u64 {
        let all = self.frames.back().map_or(self.before, |&(_, cost)| cost);
        let before =
            place.checked_sub(self.first + 1).and_then(|index| self.get(index)).map_or(self.before, |(_, cost)| *cost);
        all - before
    }

    fn get(&self, index: u64) -> Option<&(Bytes, u64)> {
        self.frames.get(usize::try_from(index).ok()?)
    }

    fn at(&self, place: u64) -> Option<&Bytes> {
        self.get(place.checked_sub(self.first)?).map(|(frame, _)| frame)
    }
}

// A message to one connection, sent before the broadcast message at `place`.
#[derive(Debug, Clone)]
struct DirectMessage {
    place: u64,
    bytes: Bytes,
    history: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Queue {
    // The next broadcast message, and its bytes that are written.
    pub(crate) place: u64,
    taken: usize,
    // Once closed: the first broadcast message that is not sent.
    end: Option<u64>,
    own: VecDeque<DirectMessage>,
    // Cost of `own` without histories.
    pub(crate) own_cost: usize,
    // Remaining bytes of histories.
    history: usize,
    // Above `MAX_LAG` only while it catches up.
    allowance: u64,
    // Total bytes written; then the total and the time at the last progress.
    taken_bytes: u64,
    progress: (u64, Time),
}

impl Queue {
    pub(crate) fn new(shared: &Broadcasts) -> Self {
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

    pub(crate) fn is_empty(&self, shared: &Broadcasts) -> bool {
        self.own.is_empty() && self.place >= self.end.unwrap_or_else(|| shared.end())
    }

    pub(crate) fn close(&mut self, shared: &Broadcasts) {
        self.end.get_or_insert_with(|| shared.end());
    }

    /// Whether only the newest broadcast message is left to write.
    pub(crate) fn is_next(&self, shared: &Broadcasts) -> bool {
        self.own.is_empty() && self.end.is_none() && self.taken == 0 && self.place + 1 == shared.end()
    }

    fn frame<'a>(&self, shared: &'a Broadcasts, place: u64) -> Option<&'a Bytes> {
        shared.at(place).filter(|_| self.end.is_none_or(|end| place < end))
    }

    /// Whether a history is being sent, or the connection has not caught up after one. Then [`Queue::lags`] depends on
    /// the time.
    pub(crate) const fn catches_up(&self) -> bool {
        self.allowance > MAX_LAG as u64
    }

    pub(crate) fn push(&mut self, shared: &Broadcasts, bytes: Bytes) {
        if !bytes.is_empty() {
            self.own_cost += bytes.len() + OVERHEAD;
            self.own.push_back(DirectMessage { place: shared.end(), bytes, history: false });
        }
    }

    pub(crate) fn replay(&mut self, shared: &Broadcasts, now: Time, history: &History) {
        self.history += history.len();
        self.allowance = MAX_CATCH_UP as u64;
        self.progress = (self.taken_bytes, now);
        let place = shared.end();
        self.own.extend(history.segments().map(|bytes| DirectMessage { place, bytes: bytes.clone(), history: true }));
    }

    pub(crate) fn extend_limits(&mut self, time: Duration) {
        self.progress.1 = self.progress.1.plus(time);
    }

    /// Records that the newest broadcast message was written while the queue was otherwise empty.
    pub(crate) fn wrote(&mut self, shared: &Broadcasts, written: usize) {
        self.taken = written;
        if shared.at(self.place).is_some_and(|frame| written >= frame.len()) {
            self.place += 1;
            self.taken = 0;
        }
    }

    /// Whether the connection exceeds its allowance, or makes no progress while it catches up ([`MAX_STALL`]). A closed
    /// one never lags, because it is soon dropped anyway.
    pub(crate) fn lags(&self, shared: &Broadcasts, now: Time) -> bool {
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
        shared: &Broadcasts,
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

    fn gather<'a>(&'a self, shared: &'a Broadcasts, mut room: usize, slices: &mut [IoSlice<'a>]) -> usize {
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

    fn advance(&mut self, shared: &Broadcasts, now: Time, mut written: usize) {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    All,
    /// The bound was reached.
    Some,
    Blocked,
}

#[cfg(test)]
mod tests {
    use netcore::HistoryWriter;
    use proptest::prelude::*;

    use super::*;
    use crate::streams::stream::SEND_BUFFER;

    /// Accepts the scripted number of bytes at each call; 0 means `WouldBlock`.
    fn taker<'a>(
        script: &'a mut dyn Iterator<Item = usize>,
        taken: &'a mut Vec<u8>,
    ) -> impl FnMut(&[IoSlice<'_>]) -> io::Result<usize> + 'a {
        move |slices| match script.next().unwrap_or(0) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            room => {
                let before = taken.len();
                for slice in slices {
                    let left = room - (taken.len() - before);
                    taken.extend_from_slice(&slice[..slice.len().min(left)]);
                }
                Ok(taken.len() - before)
            }
        }
    }

    fn history(bytes: usize) -> History {
        let mut writer = HistoryWriter::new();
        let all = (0..251).collect::<Vec<u8>>().repeat(bytes / 251 + 1);
        for frame in all[..bytes].chunks(997) {
            writer.append(|out| out.extend_from_slice(frame));
        }
        writer.snapshot()
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    proptest! {
        #[test]
        fn queues_write_all_bytes_in_order_for_any_write_sizes(
            parts in prop::collection::vec((0..3u8, 0..40_000usize), 0..12),
            rooms in prop::collection::vec(0..30_000usize, 0..60),
            slow in prop::collection::vec(0..9_000usize, 0..20),
        ) {
            // The first receives everything, the second only broadcast messages.
            let mut shared = Broadcasts::default();
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
                        log.segments().for_each(|segment| sent[0].extend_from_slice(segment));
                        queues[0].replay(&shared, Time::ZERO, &log);
                    }
                }
                for (who, queue) in queues.iter_mut().enumerate() {
                    queue.write(&shared, Time::ZERO, taker(&mut rooms[who], &mut taken[who])).unwrap();
                    prop_assert_eq!(&sent[who][..taken[who].len()], &taken[who][..]);
                }
                shared.drop_before(queues[0].place.min(queues[1].place));
            }
            for (who, queue) in queues.iter_mut().enumerate() {
                let mut endless = std::iter::repeat(7_777);
                while queue.write(&shared, Time::ZERO, taker(&mut endless, &mut taken[who])).unwrap() != Written::All {}
                prop_assert_eq!(&sent[who], &taken[who]);
                prop_assert_eq!((queue.own_cost, queue.history, shared.cost_from(queue.place)), (0, 0, 0));
            }
            shared.drop_before(shared.end());
            prop_assert!(shared.frames.is_empty());
        }
    }

    #[test]
    fn a_message_written_directly_continues_where_it_stopped() {
        let mut shared = Broadcasts::default();
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
    fn a_connection_that_reads_nothing_lags_above_the_bounds() {
        let mut shared = Broadcasts::default();
        for length in [1, 1_000] {
            let (behind, frame) = (Queue::new(&shared), Bytes::from(vec![7; length]));
            let most = MAX_LAG / (length + OVERHEAD);
            (0..most).for_each(|_| shared.push(frame.clone()));
            assert!(!behind.lags(&shared, Time::ZERO), "{length}");
            shared.push(frame.clone());
            assert!(behind.lags(&shared, Time::ZERO), "{length}");
            assert!(!Queue::new(&shared).lags(&shared, Time::ZERO), "a new connection does not lag");
        }
        let mut queue = Queue::new(&shared);
        (0..=MAX_OWN / OVERHEAD).for_each(|_| queue.push(&shared, Bytes::from_static(b"x")));
        assert!(queue.lags(&shared, Time::ZERO));
    }

    #[test]
    fn a_connection_that_catches_up_has_higher_limits() {
        let mut shared = Broadcasts::default();
        let mut queue = Queue::new(&shared);
        queue.replay(&shared, Time::ZERO, &history(3 * PROGRESS));
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
        forgiven.extend_limits(Duration::from_secs(3));
        assert!(!forgiven.lags(&shared, at(62_000)));
        (0..=MAX_CATCH_UP / 1_000).for_each(|_| shared.push(Bytes::from_static(&[7; 1_000])));
        assert!(queue.lags(&shared, at(29_500)));
    }

    #[test]
    fn slow_reader_is_not_dropped_while_the_system_accepts_bytes_in_lumps() {
        // A third of the doubled buffer plus the largest TCP segment, read at 8 KiB per second.
        let lump = 2 * SEND_BUFFER / 3 + (64 << 10);
        let pause = 1_000 * u64::try_from(lump).unwrap() / 8_192;
        let shared = Broadcasts::default();
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
        let mut shared = Broadcasts::default();
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
            furthest = furthest.max(shared.cost_from(queue.place));
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
        let mut shared = Broadcasts::default();
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
        let shared = Broadcasts::default();
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
        let mut shared = Broadcasts::default();
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
        let shared = Broadcasts::default();
        let mut queue = Queue::new(&shared);
        queue.push(&shared, Bytes::from_static(b"x"));
        assert!(queue.write(&shared, Time::ZERO, |_| Err(io::ErrorKind::BrokenPipe.into())).is_err());
        assert!(queue.write(&shared, Time::ZERO, |_| Ok(0)).is_err());
    }
}
