//! Maps addresses to connections and schedules their datagrams, without a socket, for real and simulated networks.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    hash::Hash,
    net::{IpAddr, SocketAddr},
};

use bytes::BytesMut;
use netcore::{Admission, Rate, Time, TokenBucket};

use crate::{ConnectionId, fair_queue::FairQueue, quotas::AdmissionQuota};

/// Datagrams per second accepted from one peer, far more than humans and bots send. A datagram longer than `PIECE`
/// counts as several, because a journal may store its content.
pub const PEER_RATE: Rate = Rate { per_second: 20_000, burst: 20_000 };
/// Bytes of a datagram that count as one.
pub(crate) const PIECE: usize = 64;
/// Datagrams queued for one address; more are dropped. The system queues about as many for a whole socket.
pub(crate) const MAX_WAITING: usize = 1_024;
pub(crate) const MAX_WAITING_BYTES: usize = 64 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    Ready(ConnectionId),
    Queued,
    /// Its address has no connection.
    Unknown,
    /// Dropped because of the limits.
    Dropped,
}

#[derive(Debug)]
struct DatagramConnection<R> {
    remote: R,
    // Possible source addresses, after [`Datagrams::adopt`].
    alternatives: Vec<R>,
    bucket: TokenBucket,
    // Includes refused datagrams: a peer that sends too much is not silent.
    last_received: Time,
    waiting: VecDeque<BytesMut>,
    waiting_bytes: usize,
    paused: Time,
}

/// Connections by remote end `R`, each from its admission until the room closes it.
#[derive(Debug)]
pub(crate) struct Datagrams<R> {
    // Never iterated, so its order has no effect.
    ids: HashMap<R, ConnectionId>,
    connections: BTreeMap<ConnectionId, DatagramConnection<R>>,
    next_id: u64,
    quota: AdmissionQuota,
    pub(crate) fair: FairQueue,
}

/// Whether an address can belong to exactly one socket. Other source addresses are forged.
pub(crate) fn is_answerable(address: SocketAddr) -> bool {
    let one = match address.ip().to_canonical() {
        IpAddr::V4(ip) => !(ip.is_multicast() || ip.is_broadcast() || ip.is_unspecified()),
        IpAddr::V6(ip) => !(ip.is_multicast() || ip.is_unspecified()),
    };
    one && address.port() != 0
}

impl<R: Copy + Eq + Hash> Datagrams<R> {
    pub(crate) fn new(now: Time) -> Self {
        Self {
            ids: HashMap::new(),
            connections: BTreeMap::new(),
            next_id: 0,
            quota: AdmissionQuota::new(now),
            fair: FairQueue::default(),
        }
    }

    pub(crate) fn at(&self, remote: R) -> Option<ConnectionId> {
        self.ids.get(&remote).copied()
    }

    pub(crate) fn arrive(&mut self, now: Time, remote: R, datagram: &[u8]) -> Arrival {
        let Some(id) = self.at(remote) else { return Arrival::Unknown };
        let Some(connection) = self.connections.get_mut(&id) else { return Arrival::Dropped };
        connection.last_received = now;
        connection.remote = remote;
        if connection.paused > now {
            return Arrival::Dropped;
        }
        let pieces = u32::try_from(datagram.len().div_ceil(PIECE).max(1)).unwrap_or(u32::MAX);
        if !connection.bucket.take(now, pieces) {
            return Arrival::Dropped;
        }
        if self.fair.is_light(now, id) {
            return Arrival::Ready(id);
        }
        let bytes = connection.waiting_bytes + datagram.len();
        if connection.waiting.len() >= MAX_WAITING || bytes > MAX_WAITING_BYTES {
            return Arrival::Dropped;
        }
        connection.waiting.push_back(BytesMut::from(datagram));
        connection.waiting_bytes = bytes;
        self.fair.wait(id);
        Arrival::Queued
    }

    pub(crate) fn next_waiting(&mut self) -> Option<(ConnectionId, BytesMut)> {
        loop {
            let id = self.fair.next()?;
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            let Some(datagram) = connection.waiting.pop_front() else { continue };
            connection.waiting_bytes -= datagram.len();
            if !connection.waiting.is_empty() {
                self.fair.wait(id);
            }
            return Some((id, datagram));
        }
    }

    pub(crate) fn pause(&mut self, id: ConnectionId, until: Time) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.paused = until;
        }
    }

    /// `None` if the quota of the host is used up.
    pub(crate) fn admit(
        &mut self,
        now: Time,
        remote: R,
        address: SocketAddr,
        admission: Admission,
    ) -> Option<ConnectionId> {
        if !self.quota.admit(now, address, admission) {
            return None;
        }
        Some(self.open(now, remote, vec![]))
    }

    /// Opens a connection to a peer of an earlier run, which may send from any of `remotes`.
    pub(crate) fn adopt(&mut self, now: Time, mut remotes: Vec<R>) -> Option<ConnectionId> {
        remotes.retain(|remote| !self.ids.contains_key(remote));
        let remote = *remotes.first()?;
        Some(self.open(now, remote, remotes))
    }

    fn open(&mut self, now: Time, remote: R, alternatives: Vec<R>) -> ConnectionId {
        let id = ConnectionId(self.next_id);
        self.next_id += 1;
        self.ids.insert(remote, id);
        self.ids.extend(alternatives.iter().map(|&other| (other, id)));
        let bucket = TokenBucket::new(PEER_RATE, now);
        let waiting = VecDeque::new();
        let connection = DatagramConnection {
            remote,
            alternatives,
            bucket,
            last_received: now,
            waiting,
            waiting_bytes: 0,
            paused: Time::ZERO,
        };
        self.connections.insert(id, connection);
        self.fair.open(now, id);
        id
    }

    pub(crate) fn close(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.remove(&id) {
            self.ids.remove(&connection.remote);
            for other in connection.alternatives {
                self.ids.remove(&other);
            }
            self.fair.close(id);
        }
    }

    pub(crate) fn remote(&self, id: ConnectionId) -> Option<(R, Time)> {
        self.connections.get(&id).map(|&DatagramConnection { remote, last_received, .. }| (remote, last_received))
    }

    pub(crate) fn remotes(&self) -> impl Iterator<Item = (R, Time)> {
        self.connections.values().map(|&DatagramConnection { remote, last_received, .. }| (remote, last_received))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn datagrams(ports: &[u16]) -> (Datagrams<u16>, Vec<ConnectionId>) {
        let mut datagrams = Datagrams::new(Time::ZERO);
        let from = address("10.0.0.1:1");
        let admitted = ports.iter().map(|&port| datagrams.admit(Time::ZERO, port, from, Admission::Admitted).unwrap());
        let ids = admitted.collect();
        (datagrams, ids)
    }

    #[test]
    fn addresses_that_cannot_be_one_socket_are_not_answered() {
        for (text, answerable) in [
            ("10.0.0.1:5", true),
            ("[::1]:5", true),
            ("10.0.0.1:0", false),
            ("255.255.255.255:5", false),
            ("224.0.0.251:5", false),
            ("0.0.0.0:5", false),
            ("[ff02::1]:5", false),
            ("[::]:5", false),
            ("[::ffff:224.0.0.1]:5", false),
        ] {
            assert_eq!(is_answerable(address(text)), answerable, "{text}");
        }
    }

    #[test]
    fn waiting_datagrams_stay_in_order_and_within_their_bounds() {
        let (mut datagrams, ids) = datagrams(&[1]);
        datagrams.fair.charge(Time::ZERO, ids[0], Duration::from_millis(30));
        let number = |number: usize| u16::try_from(number).unwrap().to_be_bytes();
        for count in 0..2 * MAX_WAITING {
            let arrival = datagrams.arrive(Time::ZERO, 1, &number(count));
            let expected = if count < MAX_WAITING { Arrival::Queued } else { Arrival::Dropped };
            assert_eq!(arrival, expected, "{count}");
        }
        let order: Vec<BytesMut> =
            std::iter::from_fn(|| datagrams.next_waiting()).map(|(_, datagram)| datagram).collect();
        assert!(order.iter().map(|datagram| &datagram[..]).eq((0..MAX_WAITING).map(number)));
        let large = vec![0; MAX_WAITING_BYTES / 2];
        let arrivals: Vec<Arrival> = (0..3).map(|_| datagrams.arrive(Time::ZERO, 1, &large)).collect();
        assert_eq!(arrivals, [Arrival::Queued, Arrival::Queued, Arrival::Dropped]);
        datagrams.close(ids[0]);
        assert_eq!((datagrams.next_waiting(), datagrams.at(1)), (None, None));
    }

    #[test]
    fn a_paused_datagram_connection_is_refused_and_stays_active() {
        let (mut datagrams, ids) = datagrams(&[1, 2]);
        let at = Time::from_millis;
        datagrams.pause(ids[0], at(20));
        assert_eq!(datagrams.arrive(at(19), 1, b"KEY h"), Arrival::Dropped);
        assert_eq!(datagrams.remote(ids[0]), Some((1, at(19))));
        assert_eq!(datagrams.arrive(at(19), 2, b"KEY h"), Arrival::Ready(ids[1]));
        assert_eq!(datagrams.arrive(at(20), 1, b"KEY h"), Arrival::Ready(ids[0]));
    }

    #[test]
    fn a_closed_connection_is_readmitted_with_a_new_number() {
        let (mut datagrams, ids) = datagrams(&[1]);
        datagrams.close(ids[0]);
        assert_eq!(datagrams.arrive(Time::ZERO, 1, b"KEY h"), Arrival::Unknown);
        let from = address("10.0.0.1:1");
        assert_eq!(datagrams.admit(Time::ZERO, 1, from, Admission::Ignored), None);
        let again = datagrams.admit(Time::ZERO, 1, from, Admission::Answered).unwrap();
        assert!(again > ids[0]);
    }
}
