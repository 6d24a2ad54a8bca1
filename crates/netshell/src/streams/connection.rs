//! A connection over any [`ByteStream`], without a clock.

#[cfg(test)]
mod tests;

use std::{io, io::IoSlice, net::SocketAddr, task::Poll, time::Duration};

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
pub(super) const LINGER: Duration = Duration::from_secs(2);
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

    pub(super) fn is_open(&self) -> bool {
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
