//! Engines over UDP sockets.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io,
    net::{self, SocketAddr},
    task::Poll,
    time::Duration,
};

use bytes::BytesMut;
use netcore::{Engine, Outbox, Time};
use tokio::{net::UdpSocket, time::timeout};
use tracing::{debug, info, warn};

use crate::{
    Clock, Transport,
    limits::LogLimit,
    peers::{Delivery, Peers, Taken, plain},
    sender::{Remote, Sender},
};

/// Datagrams taken in from one socket before signals and deadlines are looked at again.
const BATCH: usize = 64;
/// Larger than any datagram, so that none is cut unnoticed.
const DATAGRAM: usize = 1 << 16;
/// How long the last datagrams may take to go out at the end.
const FLUSH: Duration = Duration::from_secs(1);

/// A transport over one or several UDP sockets. See [`Peers`] for who becomes a peer and when.
#[derive(Debug)]
pub struct Udp {
    sockets: Vec<UdpSocket>,
    peers: Peers<Remote>,
    sender: Sender,
    buffer: BytesMut,
    summaries: VecDeque<String>,
    malformed_log: LogLimit,
    refused_log: LogLimit,
}

impl Udp {
    /// A transport over `sockets`, which must be non-blocking. Call it within a tokio runtime.
    ///
    /// # Errors
    /// When a socket cannot be watched.
    pub fn new(sockets: Vec<net::UdpSocket>) -> io::Result<Self> {
        let now = Time::ZERO;
        Ok(Self {
            sockets: sockets.into_iter().map(UdpSocket::from_std).collect::<io::Result<_>>()?,
            peers: Peers::new(now),
            sender: Sender::new(now),
            buffer: BytesMut::with_capacity(DATAGRAM),
            summaries: VecDeque::new(),
            malformed_log: LogLimit::new(now),
            refused_log: LogLimit::new(now),
        })
    }

    // Takes one datagram off a socket into the buffer; `None` when none is there.
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
    fn take_in<E: Engine>(&mut self, now: Time, engine: &mut E, out: &mut Outbox, remote: Remote) {
        let length = self.buffer.len();
        let address = plain(remote.1);
        match self.peers.take_in(now, engine, out, (remote, address), &mut self.buffer) {
            Taken::Request => {}
            Taken::Ignored => debug!(%address, "a message from an address without a seat is ignored"),
            Taken::Malformed(why) => {
                if let Some(held_back) = self.malformed_log.admit(now) {
                    info!(%address, length, %why, held_back, "malformed datagram");
                }
            }
            Taken::Refused => {
                if let Some(held_back) = self.refused_log.admit(now) {
                    warn!(%address, held_back, "too many datagrams, one was dropped");
                }
            }
        }
    }
}

impl<E: Engine> Transport<E> for Udp {
    async fn ready(&mut self) -> io::Result<()> {
        let blocked = self.sender.blocked();
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
        self.sender.drain(clock.now(), &self.sockets);
        for socket in 0..self.sockets.len() {
            for _ in 0..BATCH {
                if engine.outcome().is_some() {
                    return Ok(());
                }
                let Some(address) = self.receive(socket)? else { break };
                self.take_in(clock.now(), engine, out, (socket, address));
                // At once: whoever waits for the answer to this datagram does not wait for the rest of the batch.
                Transport::<E>::deliver(self, clock, out);
            }
        }
        Ok(())
    }

    fn deliver(&mut self, clock: &Clock, out: &mut Outbox) {
        if out.is_empty() {
            return;
        }
        let now = clock.now();
        let Self { sockets, peers, sender, summaries, .. } = self;
        peers.deliver(out, |delivery| match delivery {
            Delivery::Send(remote, frame) => sender.send(now, sockets, remote, frame),
            Delivery::Summary(text) => summaries.push_back(text),
        });
    }

    async fn flush(&mut self) {
        let clock = Clock::start();
        let Self { sockets, sender, .. } = self;
        let all = async {
            while let Some(socket) = sender.blocked() {
                if sockets[socket].writable().await.is_err() {
                    break;
                }
                sender.drain(clock.now(), sockets);
            }
        };
        if timeout(FLUSH, all).await.is_err() {
            warn!(datagrams = self.sender.waiting(), "the system did not take the last datagrams in time");
        }
    }

    fn take_summary(&mut self) -> Option<String> {
        self.summaries.pop_front()
    }
}
