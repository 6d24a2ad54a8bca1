//! Sending datagrams without ever waiting for the system.

use std::{collections::VecDeque, io, net::SocketAddr};

use bytes::Bytes;
use netcore::Time;
use tokio::net::UdpSocket;
use tracing::warn;

use crate::{limits::LogLimit, peers::plain};

/// Bytes that wait for the system to take them; beyond that the oldest datagrams are lost, as datagrams may be.
const MAX_BACKLOG: usize = 8 << 20;

/// A socket, by its place in the list, and an address at its other end.
pub(crate) type Remote = (usize, SocketAddr);

/// What the system could not take yet, oldest first.
#[derive(Debug)]
pub(crate) struct Sender {
    backlog: VecDeque<(Remote, Bytes)>,
    bytes: usize,
    log: LogLimit,
}

impl Sender {
    /// Nothing waits.
    pub(crate) fn new(now: Time) -> Self {
        Self { backlog: VecDeque::new(), bytes: 0, log: LogLimit::new(now) }
    }

    /// The socket that has to take a datagram before any other can go out.
    pub(crate) fn blocked(&self) -> Option<usize> {
        self.backlog.front().map(|((socket, _), _)| *socket)
    }

    /// How many datagrams wait.
    pub(crate) fn waiting(&self) -> usize {
        self.backlog.len()
    }

    /// Sends a datagram now, or later behind those that wait.
    pub(crate) fn send(&mut self, now: Time, sockets: &[UdpSocket], remote: Remote, frame: Bytes) {
        // Behind a backlog everything queues, so that the order stays.
        if self.backlog.is_empty() {
            match sockets[remote.0].try_send_to(&frame, remote.1) {
                Ok(_) => return,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return self.lost(now, remote, &error),
            }
        }
        self.bytes += frame.len();
        self.backlog.push_back((remote, frame));
        while self.bytes > MAX_BACKLOG {
            let Some((remote, frame)) = self.backlog.pop_front() else { break };
            self.bytes -= frame.len();
            self.lost(now, remote, &io::ErrorKind::WouldBlock.into());
        }
    }

    /// Sends what waits until the system is full again.
    pub(crate) fn drain(&mut self, now: Time, sockets: &[UdpSocket]) {
        while let Some((remote, frame)) = self.backlog.front() {
            let remote = *remote;
            match sockets[remote.0].try_send_to(frame, remote.1) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => self.lost(now, remote, &error),
                Ok(_) => {}
            }
            if let Some((_, frame)) = self.backlog.pop_front() {
                self.bytes -= frame.len();
            }
        }
    }

    // A datagram that could not be sent is lost like any other; the game goes on.
    fn lost(&mut self, now: Time, remote: Remote, error: &io::Error) {
        if let Some(held_back) = self.log.admit(now) {
            warn!(address = %plain(remote.1), %error, held_back, "a datagram could not be sent");
        }
    }
}
