//! What one connection has not taken yet.

use std::{
    collections::VecDeque,
    io::{self, IoSlice},
    time::Duration,
};

use bytes::{Buf, Bytes};
use netcore::{Log, Time};

/// How far a connection may lag behind what is sent live, in bytes; each message counts [`OVERHEAD`] more.
pub const MAX_LAG: usize = 4 << 20;
/// What a message costs beyond its bytes while it waits.
pub const OVERHEAD: usize = 64;
/// How long a connection that is still being told a history may take for each [`PROGRESS`] bytes of it.
pub const MAX_STALL: Duration = Duration::from_secs(10);
/// See [`MAX_STALL`].
pub const PROGRESS: usize = 64 << 10;

/// Pieces handed to the system at once.
const SLICES: usize = 32;
/// Bytes written to one connection before the others have their turn.
const BURST: usize = 256 << 10;

#[derive(Debug)]
struct Piece {
    bytes: Bytes,
    history: bool,
}

/// Bytes that wait for a connection to take them, oldest first.
#[derive(Debug)]
pub(crate) struct Queue {
    pieces: VecDeque<Piece>,
    // Live messages, at their cost.
    lag: usize,
    // Bytes of histories.
    history: usize,
    // How many bytes of history were left, and when, at the last sign of progress.
    progress: (usize, Time),
}

impl Queue {
    /// Nothing waits.
    pub(crate) fn new() -> Self {
        Self { pieces: VecDeque::new(), lag: 0, history: 0, progress: (0, Time::ZERO) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether part of a history waits, so that [`Queue::lags`] changes as time passes.
    pub(crate) const fn catches_up(&self) -> bool {
        self.history > 0
    }

    /// Puts a live message behind what waits.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.lag += bytes.len() + OVERHEAD;
            self.pieces.push_back(Piece { bytes, history: false });
        }
    }

    /// Puts a history behind what waits.
    pub(crate) fn replay(&mut self, now: Time, log: &Log) {
        self.history += log.len();
        self.progress = (self.history, now);
        self.pieces.extend(log.segments().map(|bytes| Piece { bytes: bytes.clone(), history: true }));
    }

    /// Whether the connection is too slow to be kept. While it is told a history it has its time, however much is sent
    /// live meanwhile; after that it has its bytes.
    pub(crate) fn lags(&self, now: Time) -> bool {
        if self.catches_up() { now.since(self.progress.1) >= MAX_STALL } else { self.lag > MAX_LAG }
    }

    /// Writes what the connection takes, within a bound; `true` if that was all, `false` if something is left.
    ///
    /// # Errors
    /// What `write` fails with, unless that is that it would block.
    pub(crate) fn write(
        &mut self,
        now: Time,
        mut write: impl FnMut(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<Written> {
        let mut left = BURST;
        while !self.pieces.is_empty() {
            if left == 0 {
                return Ok(Written::Some);
            }
            let mut slices = [IoSlice::new(&[]); SLICES];
            let count = self.pieces.len().min(SLICES);
            for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
                *slice = IoSlice::new(&piece.bytes);
            }
            match write(&slices[..count]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    left = left.saturating_sub(written);
                    self.advance(now, written);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Written::Blocked),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Written::All)
    }

    fn advance(&mut self, now: Time, mut written: usize) {
        while written > 0 {
            let Some(piece) = self.pieces.front_mut() else { return };
            let step = written.min(piece.bytes.len());
            written -= step;
            piece.bytes.advance(step);
            let cost = if piece.history { &mut self.history } else { &mut self.lag };
            *cost -= step;
            if piece.bytes.is_empty() {
                if !piece.history {
                    self.lag -= OVERHEAD;
                }
                self.pieces.pop_front();
            }
        }
        if self.progress.0.saturating_sub(self.history) >= PROGRESS {
            self.progress = (self.history, now);
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
        for at in 0..bytes {
            writer.append(|out| out.extend_from_slice(&[u8::try_from(at % 251).unwrap()]));
        }
        writer.snapshot()
    }

    proptest! {
        #[test]
        fn everything_goes_out_in_order_whatever_the_pieces(
            parts in prop::collection::vec((any::<bool>(), 0..40_000usize), 0..8),
            rooms in prop::collection::vec(0..30_000usize, 0..60),
        ) {
            let (mut queue, mut sent, mut taken) = (Queue::new(), vec![], vec![]);
            let mut rooms = rooms.into_iter();
            for (index, (live, length)) in parts.into_iter().enumerate() {
                if live {
                    let frame = vec![u8::try_from(index).unwrap(); length];
                    sent.extend_from_slice(&frame);
                    queue.push(frame.into());
                } else {
                    let log = history(length);
                    sent.extend(log.segments().flatten());
                    queue.replay(Time::ZERO, &log);
                }
                queue.write(Time::ZERO, taker(&mut rooms, &mut taken)).unwrap();
                prop_assert_eq!(&sent[..taken.len()], &taken[..]);
            }
            while queue.write(Time::ZERO, taker(&mut std::iter::repeat(7_777), &mut taken)).unwrap() != Written::All {}
            prop_assert_eq!(sent, taken);
            prop_assert_eq!((queue.lag, queue.history), (0, 0));
        }
    }

    #[test]
    fn a_connection_that_takes_nothing_lags_once_the_bound_is_passed() {
        let mut queue = Queue::new();
        let frame = Bytes::from_static(&[7; 1_000]);
        let mut count = 0;
        while !queue.lags(Time::ZERO) {
            queue.push(frame.clone());
            count += 1;
        }
        assert_eq!(count, MAX_LAG / (1_000 + OVERHEAD) + 1);
    }

    #[test]
    fn short_messages_count_what_they_cost() {
        let mut queue = Queue::new();
        (0..=MAX_LAG / OVERHEAD).for_each(|_| queue.push(Bytes::from_static(b"x")));
        assert!(queue.lags(Time::ZERO));
    }

    #[test]
    fn whoever_catches_up_has_time_and_not_bytes() {
        let mut queue = Queue::new();
        queue.replay(Time::ZERO, &history(3 * PROGRESS));
        // Meanwhile more comes live than one who is up to date could leave lying.
        (0..=MAX_LAG / 1_000).for_each(|_| queue.push(Bytes::from_static(&[7; 1_000])));
        let late = |queue: &Queue, seconds: u64| queue.lags(Time::from_millis(seconds * 1_000));
        assert!(!late(&queue, 9));
        assert!(late(&queue, 10));
        // A trickle is no progress.
        let mut taken = vec![];
        queue.write(Time::from_millis(9_000), taker(&mut [PROGRESS - 1].into_iter(), &mut taken)).unwrap();
        assert!(late(&queue, 10));
        queue.write(Time::from_millis(9_500), taker(&mut [1].into_iter(), &mut taken)).unwrap();
        assert!(!late(&queue, 19));
        assert!(late(&queue, 20));
        queue.write(Time::from_millis(19_000), taker(&mut [2 * PROGRESS].into_iter(), &mut taken)).unwrap();
        assert!(!queue.catches_up());
        assert!(late(&queue, 19), "once it has caught up its bytes count");
    }

    #[test]
    fn one_connection_does_not_hold_up_the_others() {
        let mut queue = Queue::new();
        queue.replay(Time::ZERO, &history(4 * BURST));
        let mut taken = vec![];
        let mut endless = std::iter::repeat(usize::MAX);
        assert_eq!(queue.write(Time::ZERO, taker(&mut endless, &mut taken)).unwrap(), Written::Some);
        assert!((BURST..3 * BURST).contains(&taken.len()));
        while queue.write(Time::ZERO, taker(&mut endless, &mut taken)).unwrap() != Written::All {}
    }

    #[test]
    fn a_broken_connection_is_an_error() {
        let mut queue = Queue::new();
        queue.push(Bytes::from_static(b"x"));
        assert!(queue.write(Time::ZERO, |_| Err(io::ErrorKind::BrokenPipe.into())).is_err());
        assert!(queue.write(Time::ZERO, |_| Ok(0)).is_err());
    }
}
