mod connection;
mod queue;
mod ready;
mod stream;

use std::{
    collections::{BTreeMap, VecDeque},
    io, net,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{DisconnectReason, Full, History, HostId, Link, Progress, Rate, Role, Time};
use tokio::net::TcpListener;
use tracing::{debug, warn};

use self::{
    connection::{CHUNK, Connection, Serviced},
    queue::{Broadcasts, MAX_OWN_TOTAL},
    ready::ReadyList,
    stream::{Accepted, Listener},
};
use crate::{
    Answer, BytesTicket, ConnectionBudget, ConnectionEvent, ConnectionId, Delivery, LogLimit, Transport,
    fair_queue::FairQueue, sockets::canonical,
};

pub use self::{
    queue::MAX_LAG,
    stream::{ByteStream, Listen},
};

/// How long one connection with buffered messages may delay the others, except for the message being processed.
const QUANTUM: Duration = Duration::from_micros(20);
const TICK: Duration = Duration::from_millis(50);
/// A later tick means that the whole process was stopped.
const LATE: Duration = Duration::from_secs(1);

/// A transport over TCP listeners.
pub type Tcp = Streams<TcpListener>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Listener(usize),
    Connection(ConnectionId),
}

/// A transport over streams. A connection is reported as soon as it is accepted.
///
/// Broadcast messages are stored once for all connections that have not written them yet. A connection that lags by
/// more than [`MAX_LAG`] is dropped (while it catches up: by more than `MAX_CATCH_UP`, or without progress for
/// `MAX_STALL`). Each connection is read at a bounded rate, and at most one message and one chunk of it are buffered.
#[derive(Debug)]
pub struct Streams<L: Listen> {
    listeners: Vec<Listener<L>>,
    connections: BTreeMap<ConnectionId, Connection<L::Stream>>,
    next_id: u64,
    role: Role,
    rate: Rate,
    budget: ConnectionBudget,
    shared: Broadcasts,
    own_cost: usize,
    ready: ReadyList<Key>,
    // `tick_at` is `None` if no tick is scheduled.
    tick_at: Option<Time>,
    last_tick: Option<Time>,
    gone: VecDeque<(ConnectionId, DisconnectReason)>,
    unwritten: Vec<ConnectionId>,
    // The connection whose bytes are in the buffer, and the start of its turn.
    current: Option<(ConnectionId, Time)>,
    // Busy connections, and when the last piece of work began.
    fair: FairQueue,
    began: Time,
    buffer: BytesMut,
    gone_log: LogLimit,
    ended_log: LogLimit,
    unended_log: LogLimit,
    accept_log: LogLimit,
}

impl Tcp {
    /// Creates a transport over non-blocking `listeners`. Must be called within a tokio runtime.
    ///
    /// `rate` limits the bytes per second read from one connection. `budget` is either separate
    /// [`Limits`](crate::Limits), or a shared [`ConnectionBudget`].
    pub fn new(listeners: Vec<net::TcpListener>, rate: Rate, budget: impl Into<ConnectionBudget>) -> io::Result<Self> {
        let listeners: Vec<_> = listeners.into_iter().map(TcpListener::from_std).collect::<io::Result<_>>()?;
        Ok(Self::over(listeners, rate, budget))
    }
}

impl<L: Listen> Streams<L> {
    /// As [`Streams::new`], over any listeners. Connections count in `budget` until they are closed.
    pub fn over(listeners: Vec<L>, rate: Rate, budget: impl Into<ConnectionBudget>) -> Self {
        let now = Time::ZERO;
        let ready = ReadyList::new();
        let listener = |(index, socket)| Listener::new(socket, ready.source(Key::Listener(index)));
        Self {
            listeners: listeners.into_iter().enumerate().map(listener).collect(),
            connections: BTreeMap::new(),
            next_id: 0,
            role: Role::Player,
            rate: Rate { burst: rate.burst.max(u32::try_from(CHUNK).unwrap_or(u32::MAX)), ..rate },
            budget: budget.into(),
            shared: Broadcasts::default(),
            own_cost: 0,
            ready,
            tick_at: None,
            last_tick: None,
            gone: VecDeque::new(),
            unwritten: vec![],
            current: None,
            fair: FairQueue::default(),
            began: now,
            buffer: BytesMut::new(),
            gone_log: LogLimit::new(now),
            ended_log: LogLimit::new(now),
            unended_log: LogLimit::new(now),
            accept_log: LogLimit::new(now),
        }
    }

    /// Sets the role of all peers of this transport.
    #[must_use]
    pub const fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    #[cfg(test)]
    fn wake(&self, id: ConnectionId) {
        self.connections[&id].wake();
    }

    fn watch_time(&mut self, now: Time) {
        self.tick_at.get_or_insert_with(|| now.plus(TICK));
    }

    fn accept(&mut self, index: usize, now: Time) -> Option<ConnectionEvent<'_>> {
        let (stream, address) = match self.listeners.get_mut(index)?.accept(now) {
            Accepted::Connection(stream, address) => (stream, address),
            Accepted::Nothing => return None,
            Accepted::Full(error) => {
                self.watch_time(now);
                if let Some(held_back) = self.accept_log.admit(now) {
                    let open = self.connections.len();
                    warn!(%error, open, held_back, "cannot accept a connection now");
                }
                return None;
            }
        };
        let permit = match self.budget.open(HostId::from(address)) {
            Ok(permit) => permit,
            Err(full) => {
                if let Some(held_back) = self.accept_log.admit(now) {
                    let (most, whose) = match full {
                        Full::All(most) => (most, "all"),
                        Full::Share(most) => (most, "of this host or its network"),
                    };
                    let address = canonical(address);
                    warn!(%address, most, whose, held_back, "rejected a connection, since too many are open");
                }
                return None;
            }
        };
        let id = ConnectionId(self.next_id);
        self.next_id += 1;
        let source = self.ready.source(Key::Connection(id));
        let connection = Connection::new(stream, source, (address, permit), self.rate, &self.shared, now);
        self.connections.insert(id, connection);
        self.fair.open(now, id);
        Some(ConnectionEvent::Opened { id, role: self.role, link: Link::Stream, address })
    }

    // Returns whether there are bytes in the buffer.
    fn service(&mut self, id: ConnectionId, now: Time) -> bool {
        let Some(connection) = self.connections.get_mut(&id) else { return false };
        let before = connection.queue().own_cost;
        let serviced = connection.service(now, &self.shared, &mut self.buffer);
        self.own_cost = self.own_cost + connection.queue().own_cost - before;
        match serviced {
            Serviced::Bytes => return true,
            Serviced::Waits => {}
            Serviced::Pauses => self.watch_time(now),
            Serviced::Left => self.gone.push_back((id, DisconnectReason::Left)),
            Serviced::Lost(why) => self.lose(now, id, why),
            Serviced::Done => self.remove(id),
        }
        self.buffer.clear();
        false
    }

    fn remove(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.remove(&id) {
            self.fair.close(id);
            self.own_cost -= connection.queue().own_cost;
        }
    }

    fn lose(&mut self, now: Time, id: ConnectionId, why: DisconnectReason) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        connection.abort(&self.shared);
        let (connected, address) = (connection.is_connected(), canonical(connection.address));
        self.remove(id);
        if !connected {
            return;
        }
        match why {
            DisconnectReason::Left | DisconnectReason::Broken | DisconnectReason::Interrupted => {
                if let Some(held_back) = self.ended_log.admit(now) {
                    debug!(%id, %address, held_back, "the connection broke");
                }
            }
            DisconnectReason::Lagging => {
                if let Some(held_back) = self.gone_log.admit(now) {
                    warn!(%id, %address, held_back, "disconnected, since it does not read its messages");
                }
            }
        }
        self.gone.push_back((id, why));
    }

    fn tick(&mut self, now: Time) {
        let since = self.last_tick.map_or(Duration::ZERO, |last| now.since(last));
        let stopped = since.saturating_sub(LATE);
        self.tick_at = None;
        let mut timed = false;
        for listener in &self.listeners {
            timed |= listener.elapsed();
        }
        let mut lost = vec![];
        for (&id, connection) in &mut self.connections {
            if let Some(text) = connection.unended(now)
                && let Some(held_back) = self.unended_log.admit(now)
            {
                let address = canonical(connection.address);
                warn!(%id, %address, held_back, "sent '{text}' without a zero byte or a line feed at the end");
            }
            match connection.elapsed(now, &self.shared, stopped) {
                Ok(changes) => timed |= changes,
                Err(why) => lost.push((id, why)),
            }
        }
        for (id, why) in lost {
            self.lose(now, id, why);
        }
        if timed {
            self.watch_time(now);
        }
        self.last_tick = timed.then_some(now);
    }

    fn write_to(&mut self, now: Time, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let before = connection.queue().own_cost;
        let written = connection.write(now, &self.shared);
        self.own_cost = self.own_cost + connection.queue().own_cost - before;
        if let Err(why) = written {
            self.lose(now, id, why);
        }
    }

    fn write_unwritten(&mut self, now: Time) {
        let mut unwritten = std::mem::take(&mut self.unwritten);
        for id in unwritten.drain(..) {
            self.write_to(now, id);
        }
        self.unwritten = unwritten;
        while self.own_cost > MAX_OWN_TOTAL {
            let most = self.connections.iter().max_by_key(|(_, connection)| connection.queue().own_cost);
            let Some((&id, _)) = most else { return };
            self.lose(now, id, DisconnectReason::Lagging);
        }
    }
}

impl<L: Listen> Transport for Streams<L> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.current.is_some() || !self.gone.is_empty() || !self.fair.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.ready.poll(context).map(Ok)
    }

    fn wake_at(&self) -> Option<Time> {
        self.tick_at
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        self.began = now;
        if let Some((id, _)) = self.current {
            return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
        }
        if let Some((id, why)) = self.gone.pop_front() {
            return Ok(Some(ConnectionEvent::Closed { id, why }));
        }
        if self.tick_at.is_some_and(|at| at <= now) {
            self.tick(now);
            return Ok(Some(ConnectionEvent::Internal));
        }
        let id = match self.ready.next() {
            Some(Key::Listener(index)) => {
                return Ok(Some(self.accept(index, now).unwrap_or(ConnectionEvent::Internal)));
            }
            Some(Key::Connection(id)) if self.fair.is_light(now, id) => id,
            Some(Key::Connection(id)) => {
                // Only its input is queued; its output is written immediately.
                self.write_to(now, id);
                self.fair.wait(id);
                return Ok(Some(ConnectionEvent::Internal));
            }
            None => match self.fair.next() {
                Some(id) => id,
                None => return Ok(None),
            },
        };
        if self.service(id, now) {
            self.current = Some((id, now));
            return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
        }
        Ok(Some(ConnectionEvent::Internal))
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        match answer {
            Answer::Processed(ticket, progress) => self.processed(now, ticket.id(), &progress),
            Answer::Paused(ticket, until) => self.pause(now, ticket.id(), until),
            Answer::UnknownPeer(..) => {}
        }
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.send(to, frame),
            Delivery::Everyone(frame) => self.send_everyone(now, frame),
            Delivery::History(to, history) => self.replay(now, to, history),
            Delivery::Close(id) => self.close(now, id),
        }
    }

    fn flush(&mut self, now: Time) {
        if !self.unwritten.is_empty() {
            self.write_unwritten(now);
        }
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        while self.ready.next().is_some() {}
        self.buffer.clear();
        let Self { connections, shared, buffer, .. } = self;
        let mut all = true;
        for connection in connections.values_mut() {
            all &= connection.finish(now, shared, buffer);
        }
        if all {
            return Poll::Ready(());
        }
        if self.ready.poll(context).is_ready() {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<L: Listen> Streams<L> {
    fn processed(&mut self, now: Time, id: ConnectionId, progress: &Progress) {
        let Some((current, since)) = self.current.filter(|&(current, _)| current == id) else { return };
        self.fair.charge(now, id, now.since(self.began));
        let goes_on = if let Some(connection) = self.connections.get_mut(&current) {
            let goes_on = connection.processed(progress, &mut self.buffer, now.since(since) >= QUANTUM);
            if connection.left_unfinished(now, *progress == Progress::Incomplete) {
                self.watch_time(now);
            }
            goes_on
        } else {
            self.buffer.clear();
            false
        };
        if !goes_on {
            self.current = None;
        }
    }

    fn pause(&mut self, now: Time, id: ConnectionId, until: Time) {
        if self.current.take_if(|(current, _)| *current == id).is_none() {
            return;
        }
        self.fair.charge(now, id, now.since(self.began));
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.pause(until, &mut self.buffer);
            self.watch_time(now);
        } else {
            self.buffer.clear();
        }
    }

    fn send(&mut self, to: ConnectionId, frame: Bytes) {
        let Some(connection) = self.connections.get_mut(&to) else { return };
        let before = connection.queue().own_cost;
        connection.send(&self.shared, frame);
        self.own_cost += connection.queue().own_cost - before;
        if self.unwritten.last() != Some(&to) {
            self.unwritten.push(to);
        }
    }

    fn send_everyone(&mut self, now: Time, frame: &Bytes) {
        if frame.is_empty() {
            return;
        }
        self.shared.push(frame.clone());
        let mut needed = self.shared.end();
        let mut lost = vec![];
        for (&id, connection) in &mut self.connections {
            if let Err(why) = connection.broadcast(now, &self.shared, frame) {
                lost.push((id, why));
            } else if !connection.queue().is_empty(&self.shared) {
                needed = needed.min(connection.queue().place);
            }
        }
        self.shared.drop_before(needed);
        for (id, why) in lost {
            self.lose(now, id, why);
        }
    }

    fn replay(&mut self, now: Time, to: ConnectionId, history: &History) {
        if let Some(connection) = self.connections.get_mut(&to) {
            connection.replay(now, &self.shared, history);
            self.watch_time(now);
        }
    }

    fn close(&mut self, now: Time, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            if let Some(held_back) = self.ended_log.admit(now) {
                debug!(%id, address = %canonical(connection.address), held_back, "closed");
            }
            connection.close(now, &self.shared);
            self.watch_time(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::IoSlice,
        net::SocketAddr,
        sync::{Arc, Mutex},
        task::{Context, Poll},
    };

    use bytes::Bytes;
    use netcore::Progress;

    use super::{
        queue::{MAX_OWN, OVERHEAD},
        *,
    };
    use crate::{Answer, Delivery, Transport};

    const FAST: Rate = Rate { per_second: 1 << 30, burst: 1 << 30 };

    /// Accepts either all output or none.
    #[derive(Debug, Clone, Default)]
    pub(super) struct Fake {
        pub(super) sends: Arc<Mutex<BytesMut>>,
        pub(super) takes: bool,
        pub(super) has_left: bool,
        pub(super) written: Vec<u8>,
        pub(super) finished: bool,
    }

    impl ByteStream for Fake {
        fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
            let mut sends = self.sends.lock().unwrap();
            let count = sends.len().min(most);
            if count == 0 && !self.has_left {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            buffer.extend_from_slice(&sends.split_to(count));
            Ok(count)
        }

        fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
            if !self.takes {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let before = self.written.len();
            self.written.extend(slices.iter().flat_map(|slice| slice.iter()));
            Ok(self.written.len() - before)
        }

        fn poll_readable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            let waits = self.sends.lock().unwrap().is_empty() && !self.has_left;
            if waits { Poll::Pending } else { Poll::Ready(Ok(())) }
        }

        fn poll_writable(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Pending
        }

        fn finish(&mut self) {
            self.finished = true;
        }
    }

    struct FakeListener(Vec<Fake>);

    impl Listen for FakeListener {
        type Stream = Fake;

        fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(Fake, SocketAddr)>> {
            let address = SocketAddr::from(([10, 0, 0, 1], 7));
            self.0.pop().map_or(Poll::Pending, |peer| Poll::Ready(Ok((peer, address))))
        }
    }

    /// Opens a connection for each peer, and does all pending work.
    fn streams(mut peers: Vec<Fake>) -> (Streams<FakeListener>, Vec<ConnectionId>) {
        peers.reverse();
        let mut streams = Streams::over(vec![FakeListener(peers)], FAST, crate::Limits { connections: usize::MAX });
        let mut ids = vec![];
        while let Some(event) = streams.next(Time::ZERO).unwrap() {
            match event {
                ConnectionEvent::Opened { id, .. } => ids.push(id),
                ConnectionEvent::Bytes { ticket, .. } => {
                    streams.answer(Time::ZERO, Answer::Processed(ticket, Progress::Incomplete));
                }
                _ => {}
            }
        }
        (streams, ids)
    }

    #[test]
    fn the_queues_of_all_connections_together_are_bounded() {
        let (mut streams, ids) = streams(vec![Fake::default(); 200]);
        let frame = Bytes::from(vec![7; MAX_OWN - 10 * OVERHEAD]);
        let mut lost = 0;
        for &id in &ids {
            streams.deliver(Time::ZERO, Delivery::Frame(id, frame.clone()));
            streams.flush(Time::ZERO);
            assert!(streams.own_cost <= MAX_OWN_TOTAL);
            while let Some((_, why)) = streams.gone.pop_front() {
                assert_eq!(why, DisconnectReason::Lagging);
                lost += 1;
            }
        }
        assert_eq!(lost, 200 - MAX_OWN_TOTAL / (frame.len() + OVERHEAD));
        assert_eq!(streams.connections.len(), 200 - lost);
    }

    #[test]
    fn a_busy_connection_waits_for_the_others() {
        let (eve, ann) = (Fake::default(), Fake::default());
        let (mut streams, ids) = streams(vec![eve.clone(), ann.clone()]);
        let [eve_id, ann_id] = ids[..] else { panic!("two connections") };
        let (mut now, mut order) = (Time::ZERO, vec![]);
        for round in 0..100 {
            // Eve always has a message that takes a millisecond; Ann occasionally sends one.
            eve.sends.lock().unwrap().extend_from_slice(b"e");
            streams.wake(eve_id);
            if round % 10 == 9 {
                ann.sends.lock().unwrap().extend_from_slice(b"a");
                streams.wake(ann_id);
            }
            while let Some(event) = streams.next(now).unwrap() {
                let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
                let id = ticket.id();
                bytes.clear();
                let work = if id == eve_id { Duration::from_millis(1) } else { Duration::from_micros(10) };
                now = now.plus(work);
                streams.answer(now, Answer::Processed(ticket, Progress::Decoded));
                order.push(if id == eve_id { 'e' } else { 'a' });
            }
        }
        let order: String = order.into_iter().collect();
        assert_eq!(order.matches('e').count(), 100, "nothing is lost");
        // Once Eve has used up her burst, Ann is served first although Eve's message arrived earlier.
        assert!(order.ends_with(&format!("{}ae", "e".repeat(9)).repeat(5)), "{order}");
    }

    #[test]
    fn a_paused_connection_keeps_its_messages_and_is_not_read() {
        let (eve, ann) = (Fake::default(), Fake::default());
        let (mut streams, ids) = streams(vec![eve.clone(), ann.clone()]);
        let [eve_id, ann_id] = ids[..] else { panic!("two connections") };
        let until = Time::from_millis(170);
        let (mut now, mut paused) = (Time::ZERO, 0);
        let say = |streams: &Streams<FakeListener>, peer: &Fake, id, messages: &[u8]| {
            peer.sends.lock().unwrap().extend_from_slice(messages);
            streams.wake(id);
        };
        say(&streams, &eve, eve_id, b"ab");
        let mut heard = vec![];
        loop {
            while let Some(event) = streams.next(now).unwrap() {
                let ConnectionEvent::Bytes { ticket, bytes } = event else { continue };
                let id = ticket.id();
                if id == eve_id && now < until {
                    paused += 1;
                    assert_eq!(paused, 1, "it is not read before its time");
                    streams.answer(now, Answer::Paused(ticket, until));
                    say(&streams, &eve, eve_id, b"cd");
                    say(&streams, &ann, ann_id, b"x");
                } else {
                    heard.push((now, bytes.split_to(1)[0]));
                    streams.answer(now, Answer::Processed(ticket, Progress::Decoded));
                }
            }
            match streams.wake_at() {
                Some(wake) => now = wake,
                None => break,
            }
        }
        let heard_at = Time::from_millis(200);
        let expected = [(Time::ZERO, b'x'), (heard_at, b'a'), (heard_at, b'b'), (heard_at, b'c'), (heard_at, b'd')];
        assert_eq!(heard, expected, "with the tick after its time, all of it and in order");
    }
}
