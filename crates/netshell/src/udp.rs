//! Rooms that are reached by datagrams.

mod backlog;
mod port;
mod receiver;

use std::{
    io,
    net::{self, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, Link, Log, Progress, Role, Time};
use tracing::{debug, warn};

pub use self::port::{DatagramPort, Port};
use crate::{
    Arrival, ConnectionEvent, ConnectionId, Datagrams, LogLimit, Transport, datagrams::is_answerable, host::plain,
};

/// Datagrams that are taken off the sockets before one that waits has its turn.
const RECEIVES: usize = 64;
/// Larger than any datagram, so that none is cut unnoticed.
const DATAGRAM: usize = 1 << 16;
/// How long what the system could not take waits at most for the next attempt: the system does not tell of all room.
const RETRY: Duration = Duration::from_millis(5);

/// A port, by its place in the list, and an address at its other end.
type Remote = (usize, SocketAddr);

/// A transport over one or several UDP sockets.
pub type Udp = Ports<Port>;

/// A transport over places at which datagrams come in. [`Datagrams`] decides who becomes a connection and whose turn it is.
#[derive(Debug)]
pub struct Ports<P> {
    all: Vec<P>,
    datagrams: Datagrams<Remote>,
    // The port that is asked first, so that each has its turn.
    turn: usize,
    // When to look at the ports although none is ready.
    wake: Option<Time>,
    // The last datagram; it stays until it is decided what becomes of it.
    buffer: BytesMut,
    // The datagram that has waited for its turn and is handed over now.
    waited: BytesMut,
    state: State,
    // When the host was handed the last bytes.
    handed: Time,
    refused_log: LogLimit,
    ignored_log: LogLimit,
}

/// What the next piece of work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    // Ask the sockets.
    Receive,
    // The datagram in the buffer is from nobody who is known.
    Stranger(Remote),
    // It was admitted: first its connection is told of, then it is handed over.
    Opened(ConnectionId, Remote),
    Admitted(ConnectionId),
}

impl Udp {
    /// A transport over `sockets`, which must be non-blocking. Call it within a tokio runtime.
    ///
    /// # Errors
    /// When a socket cannot be watched.
    pub fn new(sockets: Vec<net::UdpSocket>) -> io::Result<Self> {
        let ports = sockets.into_iter().map(|socket| Port::new(Time::ZERO, socket)).collect::<io::Result<_>>()?;
        Ok(Self::over(ports))
    }
}

impl<P: DatagramPort> Ports<P> {
    /// A transport over whatever takes datagrams in.
    pub fn over(ports: Vec<P>) -> Self {
        let now = Time::ZERO;
        Self {
            all: ports,
            datagrams: Datagrams::new(now),
            turn: 0,
            wake: None,
            buffer: BytesMut::with_capacity(DATAGRAM),
            waited: BytesMut::new(),
            state: State::Receive,
            handed: now,
            refused_log: LogLimit::new(now),
            ignored_log: LogLimit::new(now),
        }
    }

    // Takes datagrams off the sockets until one is to be taken in now; what has to wait is put by.
    fn receive(&mut self, now: Time) -> io::Result<Received> {
        for _ in 0..RECEIVES {
            let Some(remote) = self.receive_one(now)? else { return Ok(Received::Nothing) };
            if !is_answerable(remote.1) {
                if let Some(held_back) = self.ignored_log.admit(now) {
                    debug!(address = %plain(remote.1), held_back, "a datagram from an address that cannot be answered");
                }
                continue;
            }
            match self.datagrams.arrive(now, remote, &self.buffer) {
                Arrival::Now(id) => return Ok(Received::Known(id)),
                Arrival::Stranger => return Ok(Received::Stranger(remote)),
                Arrival::Waits => {}
                Arrival::Refused => self.refuse(now, remote.1),
            }
        }
        Ok(Received::Others)
    }

    fn receive_one(&mut self, now: Time) -> io::Result<Option<Remote>> {
        for _ in 0..self.all.len() {
            let index = self.turn;
            self.buffer.clear();
            self.buffer.reserve(DATAGRAM);
            if let Some(from) = self.all[index].receive(now, &mut self.buffer)? {
                return Ok(Some((index, from)));
            }
            self.turn = (index + 1) % self.all.len();
        }
        Ok(None)
    }

    fn refuse(&mut self, now: Time, address: SocketAddr) {
        if let Some(held_back) = self.refused_log.admit(now) {
            warn!(address = %plain(address), held_back, "too many datagrams, one was dropped");
        }
    }

    // Schedules the next look at what waits for time to pass.
    fn set_wake(&mut self, now: Time) {
        let retry = self.all.iter().any(|port| !port.is_drained()).then(|| now.plus(RETRY));
        let resume = self.all.iter().filter_map(DatagramPort::resume).min();
        self.wake = retry.into_iter().chain(resume).chain(self.wake).min();
    }
}

enum Received {
    Known(ConnectionId),
    Stranger(Remote),
    // None of those that came is to be taken in now. There may be more.
    Others,
    Nothing,
}

impl<P: DatagramPort> Transport for Ports<P> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.state != State::Receive || self.datagrams.is_waiting() {
            return Poll::Ready(Ok(()));
        }
        let ready = self.all.iter().map(|port| port.poll_ready(context)).find(Poll::is_ready);
        ready.unwrap_or(Poll::Pending)
    }

    fn wake_at(&self) -> Option<Time> {
        self.wake
    }

    fn next(&mut self, now: Time) -> io::Result<Option<ConnectionEvent<'_>>> {
        self.handed = now;
        match self.state {
            State::Receive => {}
            State::Stranger(_) => return Ok(Some(ConnectionEvent::Stranger { datagram: &self.buffer })),
            State::Opened(id, (_, address)) => {
                self.state = State::Admitted(id);
                let (role, link) = (Role::Player, Link::Datagram);
                return Ok(Some(ConnectionEvent::Opened { id, role, link, address }));
            }
            State::Admitted(id) => {
                self.state = State::Receive;
                return Ok(Some(ConnectionEvent::Bytes { id, bytes: &mut self.buffer }));
            }
        }
        self.wake = None;
        self.all.iter_mut().for_each(|port| port.drain(now));
        let received = self.receive(now)?;
        self.set_wake(now);
        match received {
            Received::Known(id) => Ok(Some(ConnectionEvent::Bytes { id, bytes: &mut self.buffer })),
            Received::Stranger(remote) => {
                self.state = State::Stranger(remote);
                Ok(Some(ConnectionEvent::Stranger { datagram: &self.buffer }))
            }
            Received::Others | Received::Nothing => match self.datagrams.next_waiting() {
                Some((id, datagram)) => {
                    self.waited = datagram;
                    Ok(Some(ConnectionEvent::Bytes { id, bytes: &mut self.waited }))
                }
                None => Ok(matches!(received, Received::Others).then_some(ConnectionEvent::Worked)),
            },
        }
    }

    fn admit(&mut self, now: Time, admission: Admission) {
        let State::Stranger(remote) = self.state else { return };
        self.state = State::Receive;
        if admission == Admission::Ignored {
            if let Some(held_back) = self.ignored_log.admit(now) {
                debug!(address = %plain(remote.1), held_back, "a message from an address without a seat is ignored");
            }
            return;
        }
        match self.datagrams.admit(now, remote, remote.1, admission) {
            Some(id) => self.state = State::Opened(id, remote),
            None => self.refuse(now, remote.1),
        }
    }

    // Which port it came in at is not known, so it may go on at any that can reach it; the first is used until it is heard.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        if link != Link::Datagram || !is_answerable(address) {
            return None;
        }
        let ports = self.all.iter().enumerate();
        let remotes = ports.filter_map(|(index, port)| Some((index, port.spell(address)?))).collect();
        self.datagrams.adopt(now, remotes)
    }

    fn took(&mut self, now: Time, id: ConnectionId, _: Progress) {
        self.datagrams.charge(now, id, now.since(self.handed));
    }

    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes) {
        if let Some(((index, address), heard)) = self.datagrams.place(to) {
            self.all[index].send(now, (address, heard), frame);
        }
    }

    fn send_everyone(&mut self, now: Time, frame: &Bytes) {
        for ((index, address), heard) in self.datagrams.places() {
            self.all[index].send(now, (address, heard), frame.clone());
        }
    }

    fn replay(&mut self, now: Time, to: ConnectionId, log: &Log) {
        log.frames().for_each(|frame| self.send(now, to, frame));
    }

    fn close(&mut self, _: Time, id: ConnectionId) {
        self.datagrams.close(id);
    }

    fn delivered(&mut self, now: Time) {
        self.set_wake(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        for port in &mut self.all {
            port.drain(now);
        }
        if self.all.iter().all(DatagramPort::is_drained) {
            return Poll::Ready(());
        }
        // The system tells of room only when half of its buffer is free, so the caller also tries again after a while.
        if self.all.iter().any(|port| port.poll_room(context).is_ready()) {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
