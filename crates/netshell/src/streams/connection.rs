//! One connection: what it has sent that is not taken yet, what it has not taken yet, and how it ends. It knows the time as
//! an argument and its stream as a trait.

use std::{io, io::IoSlice, net::SocketAddr, task::Poll, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Log, Progress, Rate, Time, TokenBucket};

use super::{
    queue::{Queue, Shared, Written},
    ready::Source,
    stream::ByteStream,
};

/// Bytes read from a connection at a time.
pub(super) const CHUNK: usize = 4 << 10;
/// How long a connection that was closed may take to read what is left and to close its end.
pub(super) const LINGER: Duration = Duration::from_secs(2);
/// Chunks of what lies unread that are thrown away at the very end.
const LAST_CHUNKS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    // Nothing more comes from it, because it has closed its end or sent what is no message. The room decides what becomes of
    // it, and may still send to it.
    Ignoring { left: bool },
    // It was closed: what is queued goes out, then it has until then to close its end, unless it has left.
    Closing { left: bool, until: Time },
    // At the very end: everything is out.
    Finished,
}

/// What looking after a connection has brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attended {
    /// There are bytes in the buffer.
    Bytes,
    /// It waits for the system.
    Waits,
    /// It has used up its rate and waits for time to pass.
    Pauses,
    /// It has closed its sending half.
    Left,
    /// It cannot be kept.
    Lost(Gone),
    /// It is closed and done with.
    Done,
}

/// A connection over a stream.
#[derive(Debug)]
pub(super) struct Connection<S> {
    stream: S,
    source: Source,
    address: SocketAddr,
    state: State,
    // What was not taken in yet: the front of an unfinished message, or what has to wait for the next turn. Holds no memory
    // when there is nothing.
    unread: BytesMut,
    // There may be whole messages in there.
    held: bool,
    queue: Queue,
    rate: TokenBucket,
    paused: bool,
}

impl<S: ByteStream> Connection<S> {
    /// A new connection, from which bytes are read at `rate`.
    pub(super) fn new(stream: S, source: Source, address: SocketAddr, rate: Rate, shared: &Shared, now: Time) -> Self {
        Self {
            stream,
            source,
            address,
            state: State::Open,
            unread: BytesMut::new(),
            held: false,
            queue: Queue::new(shared),
            rate: TokenBucket::new(rate, now),
            paused: false,
        }
    }

    /// The other end.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts it on the list of those that have something to do.
    #[cfg(test)]
    pub(super) fn wake(&self) {
        self.source.wake();
    }

    /// What waits for it.
    pub(super) const fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Whether what it sends is listened to.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether the host has to be told when it is lost: not of those who have left or were closed.
    pub(super) const fn is_known(&self) -> bool {
        matches!(self.state, State::Open | State::Ignoring { left: false })
    }

    /// Writes what waits for it and reads a chunk from it into `buffer`, which is empty.
    pub(super) fn attend(&mut self, now: Time, shared: &Shared, buffer: &mut BytesMut) -> Attended {
        if let Err(why) = self.write(now, shared) {
            return Attended::Lost(why);
        }
        match self.state {
            State::Closing { left: true, .. } if self.queue.is_empty(shared) => return Attended::Done,
            State::Closing { left: true, .. } | State::Ignoring { .. } | State::Finished => return Attended::Waits,
            State::Closing { left: false, .. } | State::Open => {}
        }
        // It pays for what it sends, but a chunk must be affordable.
        let ready = self.rate.ready_at(now, u32::try_from(CHUNK).unwrap_or(u32::MAX));
        self.paused = ready.is_none_or(|ready| ready > now);
        if self.paused {
            return Attended::Pauses;
        }
        if self.state != State::Open {
            return self.discard(now, shared, buffer);
        }
        if !self.unread.is_empty() {
            std::mem::swap(buffer, &mut self.unread);
        }
        // What was held comes first.
        if std::mem::take(&mut self.held) {
            self.source.wake();
            return Attended::Bytes;
        }
        match self.read(now, buffer) {
            Ok(true) => {
                // There may be more; the others come first.
                self.source.wake();
                Attended::Bytes
            }
            Ok(false) => {
                self.keep(buffer, false);
                Attended::Waits
            }
            Err(Gone::Left) => {
                // It may have closed its end alone, and still read.
                self.state = State::Ignoring { left: true };
                buffer.clear();
                Attended::Left
            }
            Err(why) => Attended::Lost(why),
        }
    }

    /// Takes note of what became of its bytes, of which `buffer` has what is left. Whether it goes on with the next message
    /// at once, unless it has had its turn.
    pub(super) fn took(&mut self, progress: Progress, buffer: &mut BytesMut, had_its_turn: bool) -> bool {
        match progress {
            Progress::Decoded if !buffer.is_empty() && self.is_open() => {
                if had_its_turn {
                    self.keep(buffer, true);
                    self.source.wake();
                }
                return !had_its_turn;
            }
            Progress::Incomplete if self.is_open() => self.keep(buffer, false),
            Progress::Malformed(_) if self.is_open() => self.state = State::Ignoring { left: false },
            _ => {}
        }
        buffer.clear();
        false
    }

    /// Queues a message for this one alone. [`Connection::write`] sends it.
    pub(super) fn send(&mut self, shared: &Shared, frame: Bytes) {
        if !matches!(self.state, State::Closing { .. } | State::Finished) {
            self.queue.push(shared, frame);
        }
    }

    /// Sends the newest message to everybody now, or later.
    ///
    /// # Errors
    /// Why the connection cannot be kept.
    pub(super) fn hear(&mut self, now: Time, shared: &Shared, frame: &Bytes) -> Result<(), Gone> {
        if self.queue.is_next(shared) {
            let written = match self.stream.try_write(&[IoSlice::new(frame)]) {
                Ok(written) => written,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
                Err(_) => return Err(Gone::Broken),
            };
            self.queue.took(shared, written);
            // Unless that was all, the system has to say when it goes on.
            return self.write(now, shared);
        }
        self.check(now, shared)
    }

    /// Queues a history, to be written when it is this connection's turn: many who come at once hold up nobody.
    pub(super) fn replay(&mut self, now: Time, shared: &Shared, log: &Log) {
        if !matches!(self.state, State::Closing { .. } | State::Finished) {
            self.queue.replay(shared, now, log);
            self.source.wake();
        }
    }

    /// Nothing more is for it: what is queued goes out, then it ends.
    pub(super) fn close(&mut self, now: Time, shared: &Shared) {
        let left = matches!(self.state, State::Ignoring { left: true });
        self.state = State::Closing { left, until: now.plus(LINGER) };
        self.queue.close(shared);
        self.source.wake();
    }

    /// Ends the connection with a reset if something still waits for it. Then the system frees what it holds at once, instead of
    /// keeping it for minutes, and the other end cannot take a part for the whole.
    pub(super) fn abort(&mut self, shared: &Shared) {
        if !self.queue.is_empty(shared) {
            self.stream.abort();
        }
    }

    /// Writes what waits, as far as the connection takes it, and sees to it that it goes on from there.
    ///
    /// # Errors
    /// Why the connection cannot be kept.
    pub(super) fn write(&mut self, now: Time, shared: &Shared) -> Result<(), Gone> {
        let Self { stream, queue, source, .. } = self;
        if queue.is_empty(shared) {
            return Ok(());
        }
        loop {
            match queue.write(shared, now, |slices| stream.try_write(slices)) {
                Ok(Written::All) => return Ok(()),
                Ok(Written::Some) => {
                    source.wake();
                    break;
                }
                Ok(Written::Blocked) => match stream.poll_writable(&mut source.context()) {
                    Poll::Pending => break,
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(_)) => return Err(Gone::Broken),
                },
                Err(_) => return Err(Gone::Broken),
            }
        }
        self.check(now, shared)
    }

    /// Checks the time limits: an error if the connection is lost, otherwise whether it has to be checked again later. The limits
    /// move by `stopped`, the time for which the whole server stood still.
    pub(super) fn elapsed(&mut self, now: Time, shared: &Shared, stopped: Duration) -> Result<bool, Gone> {
        self.queue.forgive(stopped);
        self.check(now, shared)?;
        let mut closing = false;
        if let State::Closing { until, .. } = &mut self.state {
            closing = true;
            *until = until.plus(stopped);
            if now >= *until {
                return Err(Gone::Lagging);
            }
        }
        if self.paused {
            self.source.wake();
        }
        Ok(closing || self.paused || self.queue.catches_up())
    }

    /// At the very end: writes what is queued, and takes leave once that is out. Whether it is.
    pub(super) fn finish(&mut self, now: Time, shared: &Shared, buffer: &mut BytesMut) -> bool {
        if self.state == State::Finished {
            return true;
        }
        let written = self.write(now, shared);
        if written.is_ok() && !self.queue.is_empty(shared) {
            return false;
        }
        self.stream.finish();
        // What lies unread would reset the connection under the last messages.
        for _ in 0..LAST_CHUNKS {
            buffer.clear();
            if !matches!(self.stream.try_read(buffer, CHUNK), Ok(1..)) {
                break;
            }
        }
        buffer.clear();
        self.state = State::Finished;
        true
    }

    // Reads what it sends though nobody listens to it any more, so that its end of the connection is not reset under the last
    // messages, until it closes.
    fn discard(&mut self, now: Time, shared: &Shared, buffer: &mut BytesMut) -> Attended {
        if self.queue.is_empty(shared) {
            self.stream.finish();
        }
        let read = self.read(now, buffer);
        buffer.clear();
        match read {
            Ok(true) => {
                self.source.wake();
                Attended::Waits
            }
            Ok(false) => Attended::Waits,
            Err(_) => Attended::Done,
        }
    }

    // Keeps what is left in a buffer in as little memory as it needs.
    fn keep(&mut self, buffer: &mut BytesMut, held: bool) {
        if !buffer.is_empty() {
            self.unread = BytesMut::from(&buffer[..]);
            self.held = held;
        }
        buffer.clear();
    }

    fn check(&self, now: Time, shared: &Shared) -> Result<(), Gone> {
        if self.queue.lags(shared, now) { Err(Gone::Lagging) } else { Ok(()) }
    }

    // Reads once, and charges for it. Whether something came.
    fn read(&mut self, now: Time, buffer: &mut BytesMut) -> Result<bool, Gone> {
        buffer.reserve(CHUNK);
        loop {
            match self.stream.try_read(buffer, CHUNK) {
                Ok(0) => return Err(Gone::Left),
                Ok(count) => {
                    self.rate.charge(now, u32::try_from(count).unwrap_or(u32::MAX));
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.stream.poll_readable(&mut self.source.context()) {
                        Poll::Pending => return Ok(false),
                        Poll::Ready(Ok(())) => {}
                        Poll::Ready(Err(_)) => return Err(Gone::Broken),
                    }
                }
                Err(_) => return Err(Gone::Broken),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::ready::ReadyList;
    use std::task::Context;

    /// A peer that sends as much as is read, or nothing, and takes everything, or nothing.
    #[derive(Debug, Default)]
    #[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
    struct Fake {
        sends: bool,
        takes: bool,
        has_left: bool,
        read: usize,
        written: Vec<u8>,
        finished: bool,
    }

    impl ByteStream for Fake {
        fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
            if self.has_left {
                return Ok(0);
            }
            if !self.sends {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            buffer.extend_from_slice(&vec![7; most]);
            self.read += most;
            Ok(most)
        }

        fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            if !self.takes {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let before = self.written.len();
            for slice in slices {
                self.written.extend_from_slice(slice);
            }
            Ok(self.written.len() - before)
        }

        fn poll_readable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn poll_writable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn finish(&mut self) {
            self.finished = true;
        }
    }

    fn connection(stream: Fake, rate: Rate) -> Connection<Fake> {
        let source = ReadyList::new().source(());
        Connection::new(stream, source, "10.0.0.1:1".parse().unwrap(), rate, &Shared::default(), Time::ZERO)
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    const FAST: Rate = Rate { per_second: 1 << 30, burst: 1 << 30 };

    // Takes in everything it sends for so many milliseconds, a thousand looks each.
    fn read_for(connection: &mut Connection<Fake>, millis: u64) -> usize {
        let (shared, mut buffer) = (Shared::default(), BytesMut::new());
        for now in (0..millis).map(at) {
            for _ in 0..1_000 {
                if connection.attend(now, &shared, &mut buffer) != Attended::Bytes {
                    break;
                }
                // Whole messages, all of them.
                buffer.clear();
                assert!(!connection.took(Progress::Decoded, &mut buffer, true));
            }
        }
        connection.stream.read
    }

    #[test]
    fn no_more_is_read_than_the_rate_and_a_chunk_however_much_comes() {
        let sends = || Fake { sends: true, ..Fake::default() };
        for (per_second, burst) in [(10_000, 20_000), (1 << 20, 8 << 10), (0, 8 << 10)] {
            let read = read_for(&mut connection(sends(), Rate { per_second, burst }), 3_000);
            let most = burst as usize + 3 * per_second as usize + CHUNK;
            assert!(read <= most, "{read} of {most} bytes");
            assert!(read + 2 * CHUNK >= most, "and no less: {read} of {most} bytes");
        }
    }

    #[test]
    fn whoever_has_had_its_turn_goes_on_where_it_stopped_and_is_read_no_further_meanwhile() {
        let (shared, mut buffer) = (Shared::default(), BytesMut::new());
        let mut connection = connection(Fake { sends: true, ..Fake::default() }, FAST);
        assert_eq!(connection.attend(at(0), &shared, &mut buffer), Attended::Bytes);
        let _ = buffer.split_to(10);
        assert!(connection.took(Progress::Decoded, &mut buffer, false), "more at once");
        let _ = buffer.split_to(10);
        assert!(!connection.took(Progress::Decoded, &mut buffer, true), "the others first");
        assert!(buffer.is_empty());
        assert_eq!(connection.attend(at(1), &shared, &mut buffer), Attended::Bytes);
        assert_eq!((buffer.len(), connection.stream.read), (CHUNK - 20, CHUNK));
        assert!(!connection.took(Progress::Incomplete, &mut buffer, false));
        assert_eq!(connection.attend(at(2), &shared, &mut buffer), Attended::Bytes);
        assert_eq!(buffer.len(), 2 * CHUNK - 20, "an unfinished message comes before what follows it");
    }

    #[test]
    fn a_closed_connection_is_told_what_is_left_and_lingers_no_longer_than_it_may() {
        let (mut shared, mut buffer) = (Shared::default(), BytesMut::new());
        let mut connection = connection(Fake::default(), FAST);
        connection.send(&shared, Bytes::from_static(b"farewell"));
        connection.close(at(0), &shared);
        connection.send(&shared, Bytes::from_static(b"not for it"));
        shared.push(Bytes::from_static(b"nor this"));
        assert_eq!(connection.attend(at(1), &shared, &mut buffer), Attended::Waits);
        assert_eq!(connection.elapsed(at(1_999), &shared, Duration::ZERO), Ok(true));
        connection.stream.takes = true;
        assert_eq!(connection.attend(at(1_999), &shared, &mut buffer), Attended::Waits);
        assert_eq!((&connection.stream.written[..], connection.stream.finished), (&b"farewell"[..], true));
        // The time for which the whole server stood still is not its fault, at any later look either.
        assert_eq!(connection.elapsed(at(4_500), &shared, Duration::from_millis(2_501)), Ok(true));
        assert_eq!(connection.elapsed(at(4_500), &shared, Duration::ZERO), Ok(true));
        assert_eq!(connection.elapsed(at(4_501), &shared, Duration::ZERO), Err(Gone::Lagging));
        connection.stream.has_left = true;
        assert_eq!(connection.attend(at(4_501), &shared, &mut buffer), Attended::Done);
    }

    #[test]
    fn whoever_has_stopped_sending_is_still_told_and_is_done_with_once_it_is_closed() {
        let (shared, mut buffer) = (Shared::default(), BytesMut::new());
        let mut connection = connection(Fake { has_left: true, takes: true, ..Fake::default() }, FAST);
        assert_eq!(connection.attend(at(0), &shared, &mut buffer), Attended::Left);
        assert!(!connection.is_known(), "the host is told once");
        connection.send(&shared, Bytes::from_static(b"result"));
        connection.close(at(0), &shared);
        assert_eq!(connection.attend(at(0), &shared, &mut buffer), Attended::Done);
        assert_eq!(connection.stream.written, b"result");
    }

    #[test]
    fn nothing_behind_what_is_no_message_is_read() {
        let (shared, mut buffer) = (Shared::default(), BytesMut::new());
        let mut connection = connection(Fake { sends: true, ..Fake::default() }, FAST);
        assert_eq!(connection.attend(at(0), &shared, &mut buffer), Attended::Bytes);
        let wrong = netcore::DecodeError::Incomplete;
        assert!(!connection.took(Progress::Malformed(wrong), &mut buffer, false));
        assert!(!connection.is_open() && connection.is_known());
        assert_eq!(connection.attend(at(1), &shared, &mut buffer), Attended::Waits);
        assert_eq!(connection.stream.read, CHUNK);
    }
}
