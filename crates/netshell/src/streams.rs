mod connection;
mod listener;
mod queue;
mod ready;
mod stream;
#[cfg(test)]
mod tests;
mod transport;

use std::{
    collections::{BTreeMap, VecDeque},
    io, net,
    time::Duration,
};

use bytes::BytesMut;
use netcore::{DisconnectReason, Full, HostId, Link, Rate, Role, Time};
use tokio::net::TcpListener;
use tracing::{debug, warn};

use self::{
    connection::{CHUNK, Connection, Serviced},
    listener::{Accepted, Listener},
    queue::{Broadcasts, MAX_OWN_TOTAL},
    ready::ReadyList,
};
pub use self::{
    queue::MAX_LAG,
    stream::{ByteStream, Listen},
};
use crate::{ConnectionBudget, ConnectionEvent, ConnectionId, LogLimit, address::canonical, fair_queue::FairQueue};

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
