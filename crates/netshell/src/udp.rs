//! Datagrams: who is who, and what happens when the system cannot take a datagram.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    future::poll_fn,
    io,
    net::{self, SocketAddr},
    task::Poll,
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use netcore::{DecodeError, Engine, Framing, Input, Link, Outbox, Output, PeerId, Protocol, Role, To, TokenBucket};
use tokio::{net::UdpSocket, time::timeout};
use tracing::{debug, info, warn};

use crate::{
    Clock, Transport,
    limits::{LogLimit, PEER_RATE, Strangers},
};

/// Bytes that wait for the system to take them; beyond that the oldest datagrams are lost, as datagrams may be.
const MAX_BACKLOG: usize = 8 << 20;
/// Datagrams taken in from one socket before signals and deadlines are looked at again.
const BATCH: usize = 64;
/// Larger than any datagram, so that none is cut unnoticed.
const DATAGRAM: usize = 1 << 16;
/// How long the last datagrams may take to go out at the end.
const FLUSH: Duration = Duration::from_secs(1);

// A socket, by its place in the list, and an address that it hears from.
type Remote = (usize, SocketAddr);

#[derive(Debug)]
struct Peer {
    remote: Remote,
    bucket: TokenBucket,
}

/// A transport over one or several UDP sockets.
///
/// An address becomes a peer with its first message that [`Protocol::admits`], and is one until the engine closes it.
/// From other addresses only what the limits on strangers let through is looked at. The engine has to close whom it does
/// not let in.
#[derive(Debug)]
pub struct Udp {
    sockets: Vec<UdpSocket>,
    // Looked up, never walked through: its order is of no consequence.
    ids: HashMap<Remote, PeerId>,
    peers: BTreeMap<PeerId, Peer>,
    next_id: u32,
    strangers: Strangers,
    buffer: BytesMut,
    backlog: VecDeque<(Remote, Bytes)>,
    backlog_bytes: usize,
    summaries: VecDeque<String>,
    malformed_log: LogLimit,
    refused_log: LogLimit,
    lost_log: LogLimit,
}

impl Udp {
    /// A transport over `sockets`, which must be non-blocking. Call it within a tokio runtime.
    ///
    /// # Errors
    /// When a socket cannot be watched.
    pub fn new(sockets: Vec<net::UdpSocket>) -> io::Result<Self> {
        let now = netcore::Time::ZERO;
        Ok(Self {
            sockets: sockets.into_iter().map(UdpSocket::from_std).collect::<io::Result<_>>()?,
            ids: HashMap::new(),
            peers: BTreeMap::new(),
            next_id: 0,
            strangers: Strangers::new(now),
            buffer: BytesMut::with_capacity(DATAGRAM),
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            summaries: VecDeque::new(),
            malformed_log: LogLimit::new(now),
            refused_log: LogLimit::new(now),
            lost_log: LogLimit::new(now),
        })
    }

    // Takes one datagram off a socket; `None` when none is there.
    fn receive(&mut self, socket: usize) -> io::Result<Option<SocketAddr>> {
        self.buffer.clear();
        self.buffer.reserve(DATAGRAM);
        loop {
            match self.sockets[socket].try_recv_buf_from(&mut self.buffer) {
                Ok((_, address)) => return Ok(Some(address)),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Ok(None),
                    // Some systems report here that a datagram sent earlier found a closed port.
                    io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted => {}
                    _ => return Err(error),
                },
            }
        }
    }

    // Hands the datagram in the buffer to the engine.
    fn take_in<E: Engine>(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox, remote: Remote) {
        let now = clock.now();
        let known = self.ids.get(&remote).copied();
        let admitted = match known.and_then(|id| self.peers.get_mut(&id)) {
            Some(peer) => peer.bucket.take(now, 1),
            None => self.strangers.admit(now, remote.1),
        };
        if !admitted {
            if let Some(held_back) = self.refused_log.admit(now) {
                warn!(address = %remote.1, held_back, "too many datagrams, one was dropped");
            }
            return;
        }
        let length = self.buffer.len();
        let fresh = &mut <E::Protocol as Protocol>::Decoder::default();
        let message = <E::Protocol as Protocol>::decode(fresh, &mut self.buffer, Framing::Datagram)
            .and_then(|message| message.ok_or(DecodeError::Incomplete));
        if let Err(why) = &message
            && let Some(held_back) = self.malformed_log.admit(now)
        {
            info!(address = %remote.1, length, %why, held_back, "malformed datagram");
        }
        if known.is_none() && message.as_ref().is_ok_and(|request| !<E::Protocol as Protocol>::admits(request)) {
            debug!(address = %remote.1, "a message from an address without a seat is ignored");
            return;
        }
        let peer = known.unwrap_or_else(|| self.connect(clock, engine, out, remote));
        match message {
            Ok(request) => engine.input(now, Input::Request { peer, request }, out),
            Err(why) => engine.input(now, Input::Malformed { peer, why }, out),
        }
    }

    fn connect<E: Engine>(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox, remote: Remote) -> PeerId {
        let now = clock.now();
        let peer = PeerId(self.next_id);
        // Strangers come at a limited rate, so this takes months to come round, and then skips who is still there.
        self.next_id = self.next_id.wrapping_add(1);
        while self.peers.contains_key(&PeerId(self.next_id)) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        self.ids.insert(remote, peer);
        self.peers.insert(peer, Peer { remote, bucket: TokenBucket::new(PEER_RATE, now) });
        let address = SocketAddr::new(remote.1.ip().to_canonical(), remote.1.port()).to_string();
        debug!(%peer, address, "connected");
        engine.input(now, Input::Connected { peer, role: Role::Player, link: Link::Datagram, address: &address }, out);
        peer
    }

    fn send(&mut self, clock: &Clock, remote: Remote, frame: Bytes) {
        // Behind a backlog everything queues, so that the order stays.
        if self.backlog.is_empty() {
            match self.sockets[remote.0].try_send_to(&frame, remote.1) {
                Ok(_) => return,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return self.lost(clock, remote, &error),
            }
        }
        self.backlog_bytes += frame.len();
        self.backlog.push_back((remote, frame));
        while self.backlog_bytes > MAX_BACKLOG {
            let Some((remote, frame)) = self.backlog.pop_front() else { break };
            self.backlog_bytes -= frame.len();
            self.lost(clock, remote, &io::ErrorKind::WouldBlock.into());
        }
    }

    // A datagram that could not be sent is lost like any other; the game goes on.
    fn lost(&mut self, clock: &Clock, remote: Remote, error: &io::Error) {
        if let Some(held_back) = self.lost_log.admit(clock.now()) {
            warn!(address = %remote.1, %error, held_back, "a datagram could not be sent");
        }
    }

    // Sends what waits until the system is full again.
    fn drain_backlog(&mut self, clock: &Clock) {
        while let Some((remote, frame)) = self.backlog.front() {
            let remote = *remote;
            match self.sockets[remote.0].try_send_to(frame, remote.1) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => self.lost(clock, remote, &error),
                Ok(_) => {}
            }
            if let Some((_, frame)) = self.backlog.pop_front() {
                self.backlog_bytes -= frame.len();
            }
        }
    }
}

impl<E: Engine> Transport<E> for Udp {
    async fn ready(&mut self) -> io::Result<()> {
        let blocked = self.backlog.front().map(|((socket, _), _)| *socket);
        poll_fn(|context| {
            for (index, socket) in self.sockets.iter().enumerate() {
                if let Poll::Ready(ready) = socket.poll_recv_ready(context) {
                    return Poll::Ready(ready);
                }
                if blocked == Some(index)
                    && let Poll::Ready(ready) = socket.poll_send_ready(context)
                {
                    return Poll::Ready(ready);
                }
            }
            Poll::Pending
        })
        .await
    }

    fn pump(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox) -> io::Result<()> {
        self.drain_backlog(clock);
        for socket in 0..self.sockets.len() {
            for _ in 0..BATCH {
                if engine.outcome().is_some() {
                    return Ok(());
                }
                let Some(address) = self.receive(socket)? else { break };
                self.take_in(clock, engine, out, (socket, address));
                // At once: whoever waits for the answer to this datagram does not wait for the rest of the batch.
                Transport::<E>::deliver(self, clock, out);
            }
        }
        Ok(())
    }

    fn deliver(&mut self, clock: &Clock, out: &mut Outbox) {
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    if let Some(&Peer { remote, .. }) = self.peers.get(&peer) {
                        self.send(clock, remote, frame);
                    }
                }
                Output::Send { to: To::Everyone, frame } => {
                    let remotes: Vec<Remote> = self.peers.values().map(|peer| peer.remote).collect();
                    for remote in remotes {
                        self.send(clock, remote, frame.clone());
                    }
                }
                Output::Close { peer } => {
                    debug!(%peer, "closed");
                    if let Some(gone) = self.peers.remove(&peer) {
                        self.ids.remove(&gone.remote);
                    }
                }
                Output::Summary(text) => self.summaries.push_back(text),
            }
        }
    }

    async fn flush(&mut self) {
        let clock = Clock::start();
        let all = async {
            while let Some(((socket, _), _)) = self.backlog.front() {
                if self.sockets[*socket].writable().await.is_err() {
                    break;
                }
                self.drain_backlog(&clock);
            }
        };
        if timeout(FLUSH, all).await.is_err() {
            warn!(datagrams = self.backlog.len(), "the system did not take the last datagrams in time");
        }
    }

    fn take_summary(&mut self) -> Option<String> {
        self.summaries.pop_front()
    }
}
