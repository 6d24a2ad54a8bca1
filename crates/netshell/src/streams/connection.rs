//! A connection over any [`ByteStream`], without a clock.

use std::{
    io::{self, IoSlice},
    net::SocketAddr,
    task::Poll,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{DisconnectReason, History, Progress, Rate, Time, TokenBucket};

use super::{
    queue::{Broadcasts, Queue, Written},
    ready::Source,
    stream::ByteStream,
};
use crate::ConnectionPermit;

pub(super) const CHUNK: usize = 4 << 10;
/// How long a closed connection may take to read the remaining output and to close its end.
const LINGER: Duration = Duration::from_secs(2);
/// How long a text may lack its terminator before the transport logs it.
const UNENDED: Duration = Duration::from_secs(2);
/// Bytes of such a text in the log.
const LOGGED: usize = 80;
/// Unread chunks that are discarded at shutdown.
const LAST_CHUNKS: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConnectionState {
    Open,
    // After a half-close or an invalid message. The room may still send to it, and decides when to close it.
    Ignoring { left: bool },
    // Closed by the room. Until `until`, the peer may read the queue and close its end.
    Closing { left: bool, until: Time },
    Finished,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Serviced {
    Bytes,
    Waits,
    Pauses,
    Left,
    Lost(DisconnectReason),
    Done,
}

#[derive(Debug)]
pub(super) struct Connection<S> {
    stream: S,
    source: Source,
    pub(super) address: SocketAddr,
    _permit: ConnectionPermit,
    state: ConnectionState,
    // An unfinished message, or messages that wait for the next turn. An empty buffer uses no memory.
    unread: BytesMut,
    held: bool,
    // When the last part of an unfinished message arrived, until it is logged, once per connection.
    unfinished: Option<Time>,
    is_logged: bool,
    queue: Queue,
    rate: TokenBucket,
    paused: bool,
    paused_until: Time,
}

impl<S: ByteStream> Connection<S> {
    /// `permit` counts the connection until it is dropped.
    pub(super) fn new(
        stream: S,
        source: Source,
        (address, permit): (SocketAddr, ConnectionPermit),
        rate: Rate,
        shared: &Broadcasts,
        now: Time,
    ) -> Self {
        Self {
            stream,
            source,
            address,
            _permit: permit,
            state: ConnectionState::Open,
            unread: BytesMut::new(),
            held: false,
            unfinished: None,
            is_logged: false,
            queue: Queue::new(shared),
            rate: TokenBucket::new(rate, now),
            paused: false,
            paused_until: Time::ZERO,
        }
    }

    #[cfg(test)]
    pub(super) fn wake(&self) {
        self.source.wake();
    }

    pub(super) const fn queue(&self) -> &Queue {
        &self.queue
    }

    fn is_open(&self) -> bool {
        self.state == ConnectionState::Open
    }

    pub(super) const fn is_connected(&self) -> bool {
        matches!(self.state, ConnectionState::Open | ConnectionState::Ignoring { left: false })
    }

    pub(super) fn service(&mut self, now: Time, shared: &Broadcasts, buffer: &mut BytesMut) -> Serviced {
        if let Err(why) = self.write(now, shared) {
            return Serviced::Lost(why);
        }
        match self.state {
            ConnectionState::Closing { left: true, .. } if self.queue.is_empty(shared) => return Serviced::Done,
            ConnectionState::Closing { left: true, .. }
            | ConnectionState::Ignoring { .. }
            | ConnectionState::Finished => return Serviced::Waits,
            ConnectionState::Closing { left: false, .. } | ConnectionState::Open => {}
        }
        // Only the bytes read are charged, but the rate must permit a whole chunk.
        let ready = self.rate.ready_at(now, u32::try_from(CHUNK).unwrap_or(u32::MAX));
        self.paused = ready.is_none_or(|ready| ready > now) || (self.is_open() && self.paused_until > now);
        if self.paused {
            return Serviced::Pauses;
        }
        if self.state != ConnectionState::Open {
            return self.discard(now, shared, buffer);
        }
        if !self.unread.is_empty() {
            std::mem::swap(buffer, &mut self.unread);
        }
        if std::mem::take(&mut self.held) {
            self.source.wake();
            return Serviced::Bytes;
        }
        match self.read(now, buffer) {
            Ok(true) => {
                // Other connections are served before the rest.
                self.await_more();
                Serviced::Bytes
            }
            Ok(false) => {
                self.keep(buffer, false);
                Serviced::Waits
            }
            Err(DisconnectReason::Left) => {
                self.state = ConnectionState::Ignoring { left: true };
                buffer.clear();
                Serviced::Left
            }
            Err(why) => Serviced::Lost(why),
        }
    }

    /// Returns whether the caller processes another message immediately: if one may be buffered and the turn is not
    /// over.
    pub(super) fn processed(&mut self, progress: &Progress, buffer: &mut BytesMut, had_its_turn: bool) -> bool {
        match progress {
            Progress::Decoded if !buffer.is_empty() && self.is_open() => {
                if had_its_turn {
                    self.keep(buffer, true);
                    self.source.wake();
                }
                return !had_its_turn;
            }
            Progress::Incomplete if self.is_open() => self.keep(buffer, false),
            Progress::Malformed(_) if self.is_open() => self.state = ConnectionState::Ignoring { left: false },
            _ => {}
        }
        buffer.clear();
        false
    }

    /// Returns whether a later tick must check the message.
    pub(super) fn left_unfinished(&mut self, now: Time, is_unfinished: bool) -> bool {
        self.unfinished = (is_unfinished && self.is_open() && !self.is_logged).then_some(now);
        self.unfinished.is_some()
    }

    /// The start of a text whose terminator is overdue; at most once per connection.
    pub(super) fn unended(&mut self, now: Time) -> Option<String> {
        self.unfinished.take_if(|since| now.since(*since) >= UNENDED)?;
        self.is_logged = true;
        let is_text = self.unread.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
        let start = self.unread.get(..LOGGED).unwrap_or(&self.unread);
        (is_text && !start.is_empty()).then(|| start.escape_ascii().to_string())
    }

    pub(super) fn pause(&mut self, until: Time, buffer: &mut BytesMut) {
        self.keep(buffer, true);
        self.paused = true;
        self.paused_until = until;
    }

    pub(super) fn send(&mut self, shared: &Broadcasts, frame: Bytes) {
        if !matches!(self.state, ConnectionState::Closing { .. } | ConnectionState::Finished) {
            self.queue.push(shared, frame);
        }
    }

    /// Writes the newest broadcast message if the queue is otherwise empty. After an error the connection must be
    /// dropped.
    pub(super) fn broadcast(&mut self, now: Time, shared: &Broadcasts, frame: &Bytes) -> Result<(), DisconnectReason> {
        if self.queue.is_next(shared) {
            let written = match self.stream.try_write(&[IoSlice::new(frame)]) {
                Ok(written) => written,
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => 0,
                Err(_) => return Err(DisconnectReason::Broken),
            };
            self.queue.wrote(shared, written);
            // If it was not written completely, register for writability.
            return self.write(now, shared);
        }
        self.check(now, shared)
    }

    /// Queues a history, which is written in this connection's turn: many simultaneous joins do not delay other
    /// connections.
    pub(super) fn replay(&mut self, now: Time, shared: &Broadcasts, history: &History) {
        if !matches!(self.state, ConnectionState::Closing { .. } | ConnectionState::Finished) {
            self.queue.replay(shared, now, history);
            self.source.wake();
        }
    }

    pub(super) fn close(&mut self, now: Time, shared: &Broadcasts) {
        let left = matches!(self.state, ConnectionState::Ignoring { left: true });
        self.state = ConnectionState::Closing { left, until: now.plus(LINGER) };
        self.queue.close(shared);
        self.source.wake();
    }

    /// Resets the connection if its queue is not empty: the system frees its send buffer immediately instead of after
    /// minutes, and the peer cannot mistake partial output for all of it.
    pub(super) fn abort(&mut self, shared: &Broadcasts) {
        if !self.queue.is_empty(shared) {
            self.stream.abort();
        }
    }

    /// After an error the connection must be dropped.
    pub(super) fn write(&mut self, now: Time, shared: &Broadcasts) -> Result<(), DisconnectReason> {
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
                    Poll::Ready(Err(_)) => return Err(DisconnectReason::Broken),
                },
                Err(_) => return Err(DisconnectReason::Broken),
            }
        }
        self.check(now, shared)
    }

    /// Checks the time limits, extended by the time for which the process was `stopped`. Returns whether to check
    /// again, or an error if the connection must be dropped.
    pub(super) fn elapsed(
        &mut self,
        now: Time,
        shared: &Broadcasts,
        stopped: Duration,
    ) -> Result<bool, DisconnectReason> {
        self.queue.extend_limits(stopped);
        self.check(now, shared)?;
        let mut closing = false;
        if let ConnectionState::Closing { until, .. } = &mut self.state {
            closing = true;
            *until = until.plus(stopped);
            if now >= *until {
                return Err(DisconnectReason::Lagging);
            }
        }
        if self.paused {
            self.source.wake();
        }
        Ok(closing || self.paused || self.unfinished.is_some() || self.queue.catches_up())
    }

    /// At shutdown, writes the queue and closes the sending half. Returns whether that is done.
    pub(super) fn finish(&mut self, now: Time, shared: &Broadcasts, buffer: &mut BytesMut) -> bool {
        if self.state == ConnectionState::Finished {
            return true;
        }
        let written = self.write(now, shared);
        if written.is_ok() && !self.queue.is_empty(shared) {
            return false;
        }
        self.stream.finish();
        // Unread input would reset the connection and destroy the last messages.
        for _ in 0..LAST_CHUNKS {
            buffer.clear();
            if !matches!(self.stream.try_read(buffer, CHUNK), Ok(1..)) {
                break;
            }
        }
        buffer.clear();
        self.state = ConnectionState::Finished;
        true
    }

    // Discards input until the peer closes its end: a reset would destroy the last messages.
    fn discard(&mut self, now: Time, shared: &Broadcasts, buffer: &mut BytesMut) -> Serviced {
        if self.queue.is_empty(shared) {
            self.stream.finish();
        }
        let read = self.read(now, buffer);
        buffer.clear();
        match read {
            Ok(true) => {
                self.await_more();
                Serviced::Waits
            }
            Ok(false) => Serviced::Waits,
            Err(_) => Serviced::Done,
        }
    }

    // The next read reports an error of the stream.
    fn await_more(&mut self) {
        if self.stream.poll_readable(&mut self.source.context()).is_ready() {
            self.source.wake();
        }
    }

    // Copies the bytes, so that they occupy no more memory than needed.
    fn keep(&mut self, buffer: &mut BytesMut, held: bool) {
        if !buffer.is_empty() {
            self.unread = BytesMut::from(&buffer[..]);
            self.held = held;
        }
        buffer.clear();
    }

    fn check(&self, now: Time, shared: &Broadcasts) -> Result<(), DisconnectReason> {
        if self.queue.lags(shared, now) { Err(DisconnectReason::Lagging) } else { Ok(()) }
    }

    fn read(&mut self, now: Time, buffer: &mut BytesMut) -> Result<bool, DisconnectReason> {
        buffer.reserve(CHUNK);
        loop {
            match self.stream.try_read(buffer, CHUNK) {
                Ok(0) => return Err(DisconnectReason::Left),
                Ok(count) => {
                    self.rate.charge(now, u32::try_from(count).unwrap_or(u32::MAX));
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    match self.stream.poll_readable(&mut self.source.context()) {
                        Poll::Pending => return Ok(false),
                        Poll::Ready(Ok(())) => {}
                        Poll::Ready(Err(_)) => return Err(DisconnectReason::Broken),
                    }
                }
                Err(_) => return Err(DisconnectReason::Broken),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::{
        ConnectionBudget, Limits,
        streams::{ready::ReadyList, tests::Fake},
    };

    const MANY: usize = 4 << 20;

    fn sender() -> Fake {
        Fake { sends: Arc::new(Mutex::new(BytesMut::zeroed(MANY))), ..Fake::default() }
    }

    fn read(connection: &Connection<Fake>) -> usize {
        MANY - connection.stream.sends.lock().unwrap().len()
    }

    fn connection(stream: Fake, rate: Rate) -> Connection<Fake> {
        let source = ReadyList::new().source(());
        let address: SocketAddr = "10.0.0.1:1".parse().unwrap();
        let permit = ConnectionBudget::from(Limits { connections: 2 }).open(address.into()).unwrap();
        Connection::new(stream, source, (address, permit), rate, &Broadcasts::default(), Time::ZERO)
    }

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    const FAST: Rate = Rate { per_second: 1 << 30, burst: 1 << 30 };

    // Serves the connection up to a thousand times each millisecond. Returns the number of bytes read.
    fn read_for(connection: &mut Connection<Fake>, millis: u64) -> usize {
        let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
        for now in (0..millis).map(at) {
            for _ in 0..1_000 {
                if connection.service(now, &shared, &mut buffer) != Serviced::Bytes {
                    break;
                }
                buffer.clear();
                assert!(!connection.processed(&Progress::Decoded, &mut buffer, true));
            }
        }
        read(connection)
    }

    #[test]
    fn connection_reads_at_most_its_rate_plus_one_chunk() {
        for (per_second, burst) in [(10_000, 20_000), (1 << 20, 8 << 10), (0, 8 << 10)] {
            let read = read_for(&mut connection(sender(), Rate { per_second, burst }), 3_000);
            let most = burst as usize + 3 * per_second as usize + CHUNK;
            assert!(read <= most, "{read} of {most} bytes");
            assert!(read + 2 * CHUNK >= most, "and no less: {read} of {most} bytes");
        }
    }

    #[test]
    fn after_its_turn_a_connection_continues_where_it_stopped() {
        let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
        let mut connection = connection(sender(), FAST);
        assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Bytes);
        let _ = buffer.split_to(10);
        assert!(connection.processed(&Progress::Decoded, &mut buffer, false), "more at once");
        let _ = buffer.split_to(10);
        assert!(!connection.processed(&Progress::Decoded, &mut buffer, true), "the others first");
        assert!(buffer.is_empty());
        assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Bytes);
        assert_eq!((buffer.len(), read(&connection)), (CHUNK - 20, CHUNK));
        assert!(!connection.processed(&Progress::Incomplete, &mut buffer, false));
        assert_eq!(connection.service(at(2), &shared, &mut buffer), Serviced::Bytes);
        assert_eq!(buffer.len(), 2 * CHUNK - 20, "an unfinished message comes before what follows it");
    }

    #[test]
    fn unterminated_text_is_reported_once_after_two_seconds() {
        let (shared, mut buffer) = (Broadcasts::default(), BytesMut::from(&b"JOIN Ann"[..]));
        let mut connection = connection(Fake::default(), FAST);
        assert!(!connection.processed(&Progress::Incomplete, &mut buffer, false));
        assert!(connection.left_unfinished(at(0), true));
        assert_eq!(connection.unended(at(1_999)), None);
        assert_eq!(connection.elapsed(at(1_999), &shared, Duration::ZERO), Ok(true));
        assert_eq!(connection.unended(at(2_000)).as_deref(), Some("JOIN Ann"));
        assert!(!connection.left_unfinished(at(2_000), true), "once");
        assert_eq!(connection.elapsed(at(9_000), &shared, Duration::ZERO), Ok(false));
    }

    #[test]
    fn a_closed_connection_is_sent_its_queue_and_lingers_for_a_bounded_time() {
        let (mut shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
        let mut connection = connection(Fake::default(), FAST);
        connection.send(&shared, Bytes::from_static(b"farewell"));
        connection.close(at(0), &shared);
        connection.send(&shared, Bytes::from_static(b"not for it"));
        shared.push(Bytes::from_static(b"nor this"));
        assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Waits);
        assert_eq!(connection.elapsed(at(1_999), &shared, Duration::ZERO), Ok(true));
        connection.stream.takes = true;
        assert_eq!(connection.service(at(1_999), &shared, &mut buffer), Serviced::Waits);
        assert_eq!((&connection.stream.written[..], connection.stream.finished), (&b"farewell"[..], true));
        // Time for which the process was stopped does not count, now or at later checks.
        assert_eq!(connection.elapsed(at(4_500), &shared, Duration::from_millis(2_501)), Ok(true));
        assert_eq!(connection.elapsed(at(4_500), &shared, Duration::ZERO), Ok(true));
        assert_eq!(connection.elapsed(at(4_501), &shared, Duration::ZERO), Err(DisconnectReason::Lagging));
        connection.stream.has_left = true;
        assert_eq!(connection.service(at(4_501), &shared, &mut buffer), Serviced::Done);
    }

    #[test]
    fn half_closed_connection_receives_messages_until_it_is_closed() {
        let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
        let mut connection = connection(Fake { has_left: true, takes: true, ..Fake::default() }, FAST);
        assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Left);
        assert!(!connection.is_connected(), "the host is told once");
        connection.send(&shared, Bytes::from_static(b"result"));
        connection.close(at(0), &shared);
        assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Done);
        assert_eq!(connection.stream.written, b"result");
    }

    #[test]
    fn stream_is_not_read_after_a_malformed_message() {
        let (shared, mut buffer) = (Broadcasts::default(), BytesMut::new());
        let mut connection = connection(sender(), FAST);
        assert_eq!(connection.service(at(0), &shared, &mut buffer), Serviced::Bytes);
        let wrong = netcore::DecodeError::Incomplete;
        assert!(!connection.processed(&Progress::Malformed(wrong), &mut buffer, false));
        assert!(!connection.is_open() && connection.is_connected());
        assert_eq!(connection.service(at(1), &shared, &mut buffer), Serviced::Waits);
        assert_eq!(read(&connection), CHUNK);
    }
}
