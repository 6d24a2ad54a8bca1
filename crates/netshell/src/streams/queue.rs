//! Output queues of connections.
//!
//! Broadcast messages are stored once, in [`Broadcasts`], until every connection has written them. The [`Queue`] of a
//! connection has a position in this list, and the connection's own messages, each with a position among the others.

#[cfg(test)]
mod tests;

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
