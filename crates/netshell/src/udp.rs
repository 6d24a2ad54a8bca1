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
use tokio::time::{Instant, timeout, timeout_at};
use tracing::{debug, info, warn};

use crate::{
    Clock, Transport,
    limits::LogLimit,
    peers::{Delivery, Peers, Taken, plain},
    port::Port,
};

/// Datagrams taken in from one socket before signals and deadlines are looked at again.
const BATCH: usize = 64;
/// Larger than any datagram, so that none is cut unnoticed.
const DATAGRAM: usize = 1 << 16;
/// How long what the system could not take waits at most for the next attempt: the system does not tell of all room.
const RETRY: Duration = Duration::from_millis(5);
/// How long the last datagrams may take to go out at the end.
const FLUSH: Duration = Duration::from_secs(1);

/// A port, by its place in the list, and an address at its other end.
type Remote = (usize, SocketAddr);

/// A transport over one or several UDP sockets. See [`Peers`] for who becomes a peer and when.
#[derive(Debug)]
pub struct Udp {
    ports: Vec<Port>,
    peers: Peers<Remote>,
    // When to look at the ports although none is ready.
    wake: Option<Instant>,
    // The newest time that it was told.
    now: Time,
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
            ports: sockets.into_iter().map(|socket| Port::new(now, socket)).collect::<io::Result<_>>()?,
            peers: Peers::new(now),
            wake: None,
            now,
            buffer: BytesMut::with_capacity(DATAGRAM),
            summaries: VecDeque::new(),
            malformed_log: LogLimit::new(now),
            refused_log: LogLimit::new(now),
        })
    }

    // Sees to it that what waits for time to pass is looked at.
    fn set_wake(&mut self, clock: &Clock) {
        let retry = self.ports.iter().any(|port| !port.is_drained()).then(|| clock.now().plus(RETRY));
        let resume = self.ports.iter().filter_map(Port::resume).min();
        let wake = retry.into_iter().chain(resume).min().map(|time| clock.instant(time));
        self.wake = self.wake.into_iter().chain(wake).min();
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

    fn carry_out(&mut self, clock: &Clock, out: &mut Outbox) {
        let now = clock.now();
        let Self { ports, peers, summaries, .. } = self;
        peers.deliver(out, |delivery| match delivery {
            Delivery::Send { to: (index, to), heard, frame } => ports[index].send(now, (to, heard), frame),
            Delivery::Summary(text) => summaries.push_back(text),
        });
        self.now = now;
    }
}

fn first_ready(ports: &[Port], poll: impl FnMut(&Port) -> Poll<io::Result<()>>) -> Poll<io::Result<()>> {
    ports.iter().map(poll).find(Poll::is_ready).unwrap_or(Poll::Pending)
}

impl<E: Engine> Transport<E> for Udp {
    async fn ready(&mut self) -> io::Result<()> {
        let ready = poll_fn(|context| first_ready(&self.ports, |port| port.poll_ready(context)));
        match self.wake {
            Some(wake) => timeout_at(wake, ready).await.unwrap_or(Ok(())),
            None => ready.await,
        }
    }

    fn pump(&mut self, clock: &Clock, engine: &mut E, out: &mut Outbox) -> io::Result<()> {
        self.wake = None;
        for index in 0..self.ports.len() {
            self.ports[index].drain(clock.now());
            for _ in 0..BATCH {
                if engine.outcome().is_some() {
                    return Ok(());
                }
                self.buffer.clear();
                self.buffer.reserve(DATAGRAM);
                let now = clock.now();
                let Some(address) = self.ports[index].receive(now, &mut self.buffer)? else { break };
                self.take_in(now, engine, out, (index, address));
                // At once: whoever waits for the answer to this datagram does not wait for the rest of the batch.
                self.carry_out(clock, out);
            }
        }
        self.set_wake(clock);
        Ok(())
    }

    fn deliver(&mut self, clock: &Clock, out: &mut Outbox) {
        if !out.is_empty() {
            self.carry_out(clock, out);
            self.set_wake(clock);
        }
    }

    async fn flush(&mut self) {
        let Self { ports, now, .. } = self;
        let all = async {
            while ports.iter().any(|port| !port.is_drained()) {
                let room = poll_fn(|context| first_ready(ports, |port| port.poll_room(context)));
                // Without a word from the system it is tried all the same.
                let _ = timeout(RETRY, room).await;
                for port in &mut *ports {
                    port.drain(*now);
                }
            }
        };
        if timeout(FLUSH, all).await.is_err() {
            let datagrams = self.ports.iter().map(Port::waiting).sum::<usize>();
            warn!(datagrams, "the system did not take the last datagrams in time");
        }
    }

    fn take_summary(&mut self) -> Option<String> {
        self.summaries.pop_front()
    }
}
