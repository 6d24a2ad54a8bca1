mod backlog;
mod port;
mod receiver;
mod socket;
#[cfg(test)]
mod tests;

use std::{
    io,
    net::{self, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{Admission, Link, Role, Time};
use tokio::net::UdpSocket;
use tracing::{debug, warn};

use self::port::Port;
pub use self::socket::DatagramSocket;
use crate::{
    Answer, BytesTicket, ConnectionEvent, ConnectionId, Delivery, LogLimit, Transport, UnknownPeerTicket,
    address::canonical,
    datagrams::{Arrival, Datagrams, is_answerable},
};

/// Datagrams read from the sockets before a queued one has its turn.
const RECEIVES: usize = 64;
/// Larger than any datagram, so that none is truncated unnoticed.
const DATAGRAM: usize = 1 << 16;
/// Interval of attempts to send the backlog: the system does not always report free space.
const RETRY: Duration = Duration::from_millis(5);

type Remote = (usize, SocketAddr);

/// A transport over one or more UDP sockets.
pub type Udp = Ports<UdpSocket>;

/// A transport over any sockets for datagrams.
#[derive(Debug)]
pub struct Ports<S> {
    all: Vec<Port<S>>,
    datagrams: Datagrams<Remote>,
    turn: usize,
    // Datagrams read since the last turn of a queued one.
    reads: usize,
    // When to poll the ports even if none is ready.
    wake: Option<Time>,
    // A datagram from a socket or from the queue.
    buffer: BytesMut,
    waited: BytesMut,
    admission: AdmissionState,
    handed: Time,
    refused_log: LogLimit,
    ignored_log: LogLimit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionState {
    Idle,
    UnknownPeer(Remote),
    // Report the connection first, then the bytes.
    Opened(ConnectionId, Remote),
    Admitted(ConnectionId),
}

impl Udp {
    /// Creates a transport over non-blocking `sockets`. Must be called within a tokio runtime.
    pub fn new(sockets: Vec<net::UdpSocket>) -> io::Result<Self> {
        Ok(Self::over(sockets.into_iter().map(UdpSocket::from_std).collect::<io::Result<_>>()?))
    }
}

impl<S: DatagramSocket> Ports<S> {
    /// Creates a transport over `sockets`.
    pub fn over(sockets: Vec<S>) -> Self {
        let now = Time::ZERO;
        Self {
            all: sockets.into_iter().map(|socket| Port::new(now, socket)).collect(),
            datagrams: Datagrams::new(now),
            turn: 0,
            reads: 0,
            wake: None,
            buffer: BytesMut::with_capacity(DATAGRAM),
            waited: BytesMut::new(),
            admission: AdmissionState::Idle,
            handed: now,
            refused_log: LogLimit::new(now),
            ignored_log: LogLimit::new(now),
        }
    }

    // Reads datagrams until one should be processed now, or a queued one has its turn.
    fn receive(&mut self, now: Time) -> io::Result<Received> {
        while self.reads < RECEIVES {
            let Some(remote) = self.receive_one(now)? else { return Ok(Received::Nothing) };
            self.reads += 1;
            if !is_answerable(remote.1) {
                if let Some(held_back) = self.ignored_log.admit(now) {
                    debug!(address = %canonical(remote.1), held_back, "ignored a datagram from an address without a \
                        route back");
                }
                continue;
            }
            match self.datagrams.arrive(now, remote, &self.buffer) {
                Arrival::Ready(id) => return Ok(Received::Connection(id)),
                Arrival::Unknown => return Ok(Received::UnknownPeer(remote)),
                Arrival::Queued => {}
                Arrival::Dropped => self.refuse(now, remote.1),
            }
        }
        Ok(Received::LimitReached)
    }

    fn receive_one(&mut self, now: Time) -> io::Result<Option<Remote>> {
        for _ in 0..self.all.len() {
            let index = self.turn;
            // One per turn, so that a flood on one socket does not delay the others.
            self.turn = (index + 1) % self.all.len();
            self.buffer.clear();
            self.buffer.reserve(DATAGRAM);
            if let Some(from) = self.all[index].receive(now, &mut self.buffer)? {
                return Ok(Some((index, from)));
            }
        }
        Ok(None)
    }

    fn refuse(&mut self, now: Time, address: SocketAddr) {
        if let Some(held_back) = self.refused_log.admit(now) {
            warn!(address = %canonical(address), held_back, "dropped a datagram, since too many are queued");
        }
    }

    fn set_wake(&mut self, now: Time) {
        let retry = self.all.iter().any(|port| !port.backlog.is_empty()).then(|| now.plus(RETRY));
        let resume = self.all.iter().filter_map(|port| port.receiver.resume).min();
        self.wake = retry.into_iter().chain(resume).chain(self.wake).min();
    }
}

enum Received {
    Connection(ConnectionId),
    UnknownPeer(Remote),
    LimitReached,
    Nothing,
}

impl<S: DatagramSocket> Transport for Ports<S> {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.admission != AdmissionState::Idle || !self.datagrams.fair.is_empty() {
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
        match self.admission {
            AdmissionState::Idle => {}
            AdmissionState::UnknownPeer((_, address)) => {
                return Ok(Some(ConnectionEvent::UnknownPeer {
                    ticket: UnknownPeerTicket::new(),
                    address,
                    datagram: &self.buffer,
                }));
            }
            AdmissionState::Opened(id, (_, address)) => {
                self.admission = AdmissionState::Admitted(id);
                let (role, link) = (Role::Player, Link::Datagram);
                return Ok(Some(ConnectionEvent::Opened { id, role, link, address }));
            }
            AdmissionState::Admitted(id) => {
                self.admission = AdmissionState::Idle;
                return Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }));
            }
        }
        self.wake = None;
        self.all.iter_mut().for_each(|port| port.drain(now));
        let received = self.receive(now)?;
        self.set_wake(now);
        match received {
            Received::Connection(id) => {
                Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.buffer }))
            }
            Received::UnknownPeer(remote) => {
                self.admission = AdmissionState::UnknownPeer(remote);
                Ok(Some(ConnectionEvent::UnknownPeer {
                    ticket: UnknownPeerTicket::new(),
                    address: remote.1,
                    datagram: &self.buffer,
                }))
            }
            Received::LimitReached | Received::Nothing => {
                self.reads = 0;
                match self.datagrams.next_waiting() {
                    Some((id, datagram)) => {
                        self.waited = datagram;
                        Ok(Some(ConnectionEvent::Bytes { ticket: BytesTicket::new(id), bytes: &mut self.waited }))
                    }
                    None => Ok(matches!(received, Received::LimitReached).then_some(ConnectionEvent::Internal)),
                }
            }
        }
    }

    // The port of the earlier run is unknown, so all that can reach the address are registered. The first is used until
    // a datagram arrives on another.
    fn adopt(&mut self, now: Time, link: Link, address: SocketAddr) -> Option<ConnectionId> {
        if link != Link::Datagram || !is_answerable(address) {
            return None;
        }
        let ports = self.all.iter().enumerate();
        let remotes = ports.filter_map(|(index, port)| Some((index, port.map_address(address)?))).collect();
        self.datagrams.adopt(now, remotes)
    }

    fn answer(&mut self, now: Time, answer: Answer) {
        match answer {
            Answer::Processed(ticket, _) => self.datagrams.fair.charge(now, ticket.id(), now.since(self.handed)),
            Answer::Paused(ticket, until) => self.pause(now, ticket.id(), until),
            Answer::UnknownPeer(_, admission) => self.admit(now, admission),
        }
    }

    fn deliver(&mut self, now: Time, delivery: Delivery<'_>) {
        match delivery {
            Delivery::Frame(to, frame) => self.send(now, to, frame),
            Delivery::Everyone(frame) => {
                for ((index, address), last_received) in self.datagrams.remotes() {
                    self.all[index].send(now, (address, last_received), frame.clone());
                }
            }
            Delivery::History(to, history) => history.frames().for_each(|frame| self.send(now, to, frame)),
            Delivery::Close(id) => self.datagrams.close(id),
        }
    }

    fn flush(&mut self, now: Time) {
        self.set_wake(now);
    }

    fn poll_flush(&mut self, now: Time, context: &mut Context<'_>) -> Poll<()> {
        for port in &mut self.all {
            port.drain(now);
        }
        if self.all.iter().all(|port| port.backlog.is_empty()) {
            return Poll::Ready(());
        }
        // The system reports space only when half of its buffer is free, so the caller also retries periodically.
        if self.all.iter().any(|port| port.poll_room(context).is_ready()) {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl<S: DatagramSocket> Ports<S> {
    fn admit(&mut self, now: Time, admission: Option<Admission>) {
        let AdmissionState::UnknownPeer(remote) = self.admission else { return };
        self.admission = AdmissionState::Idle;
        let Some(admission) = admission else { return self.refuse(now, remote.1) };
        if admission == Admission::Ignored {
            if let Some(held_back) = self.ignored_log.admit(now) {
                debug!(address = %canonical(remote.1), held_back, "ignored a message from an address without a seat");
            }
            return;
        }
        match self.datagrams.admit(now, remote, remote.1, admission) {
            Some(id) => self.admission = AdmissionState::Opened(id, remote),
            None => self.refuse(now, remote.1),
        }
    }

    fn pause(&mut self, now: Time, id: ConnectionId, until: Time) {
        self.datagrams.fair.charge(now, id, now.since(self.handed));
        self.datagrams.pause(id, until);
        if let Some(((_, address), _)) = self.datagrams.remote(id) {
            self.refuse(now, address);
        }
    }

    fn send(&mut self, now: Time, to: ConnectionId, frame: Bytes) {
        if let Some(((index, address), last_received)) = self.datagrams.remote(to) {
            self.all[index].send(now, (address, last_received), frame);
        }
    }
}
