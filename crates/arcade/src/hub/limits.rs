//! What one host may take of the hub: connections, requests, sockets and rooms. A host is an IPv4 address or an IPv6 network of 64 bits.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use netcore::{HostId, Rate, Time, TokenBucket};

/// What the requests of one host may cost: see [`REQUEST`] and [`FILE`].
pub(crate) const REQUESTS: Rate = Rate { per_second: 1_000, burst: 20_000 };
/// The cost of a request, a page or a socket: 1,000 at once, then 50 a second.
pub(crate) const REQUEST: u32 = 20;
/// The cost of a file of the page, which is in memory. A page has some 60 of them, and a class that shares an address loads it at once.
pub(crate) const FILE: u32 = 1;
/// Connections of one host that carry requests. A browser opens six, and a class of forty may share an address. A connection that becomes
/// a socket counts as that.
pub(crate) const CONNECTIONS_PER_HOST: usize = 256;
/// Such connections of all hosts.
pub(crate) const MAX_CONNECTIONS: usize = 8_000;
/// Sockets at the same time, of all hosts.
pub(crate) const MAX_SOCKETS: usize = 10_000;
/// Hosts whose requests are counted. Above that, those that were quiet are forgotten, and then new ones share one limit.
pub(crate) const MAX_HOSTS: usize = 20_000;
/// Entries of an `X-Forwarded-For` header that are read, counted from the end.
const MAX_FORWARDED: usize = 16;

/// The limits that the operator can change.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) sockets_per_host: usize,
    pub(crate) rooms_per_host: usize,
    /// The reverse proxies that tell the addresses of their clients.
    pub(crate) proxies: Vec<IpAddr>,
}

/// The limits, and what hosts have taken.
#[derive(Debug)]
pub(crate) struct Limits {
    settings: Settings,
    start: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: BTreeMap<HostId, TokenBucket>,
    connections: Shares,
    sockets: Shares,
}

/// How many of something hosts have.
#[derive(Debug, Default)]
struct Shares {
    hosts: BTreeMap<HostId, usize>,
    all: usize,
}

impl Shares {
    // Whether a host may have one more.
    fn take(&mut self, host: HostId, of_host: usize, of_all: usize) -> bool {
        let own = self.hosts.get(&host).copied().unwrap_or_default();
        let free = self.all < of_all && own < of_host;
        if free {
            self.all += 1;
            self.hosts.insert(host, own + 1);
        }
        free
    }

    fn give_back(&mut self, host: HostId) {
        self.all = self.all.saturating_sub(1);
        if let Some(own) = self.hosts.get_mut(&host) {
            *own -= 1;
            if *own == 0 {
                self.hosts.remove(&host);
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Connection,
    Socket,
}

/// The place of a connection or a socket, given back when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    limits: Arc<Limits>,
    host: HostId,
    kind: Kind,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.limits.state();
        match self.kind {
            Kind::Connection => state.connections.give_back(self.host),
            Kind::Socket => state.sockets.give_back(self.host),
        }
    }
}

impl Limits {
    pub(crate) fn new(settings: Settings) -> Arc<Self> {
        Arc::new(Self { settings, start: Instant::now(), state: Mutex::default() })
    }

    /// How many rooms of one host may be open.
    pub(crate) const fn rooms_per_host(&self) -> usize {
        self.settings.rooms_per_host
    }

    /// Counts a request that costs [`REQUEST`] or [`FILE`]. Returns how long to wait if the host exceeds its rate.
    pub(crate) fn request(&self, host: HostId, cost: u32) -> Option<Duration> {
        let now = Time::ZERO.plus(self.start.elapsed());
        let mut state = self.state();
        let mut host = host;
        if state.requests.len() >= MAX_HOSTS && !state.requests.contains_key(&host) {
            state.requests.retain(|_, bucket| !bucket.is_full(now));
            if state.requests.len() >= MAX_HOSTS {
                host = HostId::Other;
            }
        }
        let bucket = state.requests.entry(host).or_insert_with(|| TokenBucket::new(REQUESTS, now));
        if bucket.take(now, cost) {
            None
        } else {
            Some(bucket.ready_at(now, cost).map_or(Duration::ZERO, |at| at.since(now)))
        }
    }

    /// A place for one more connection, if this peer may have one. A reverse proxy that the operator trusts has no share, because
    /// its connections carry the requests of others.
    pub(crate) fn connection(self: &Arc<Self>, peer: SocketAddr) -> Option<Place> {
        let of_host = if self.is_proxy(peer) { MAX_CONNECTIONS } else { CONNECTIONS_PER_HOST };
        let host = peer.into();
        let free = self.state().connections.take(host, of_host, MAX_CONNECTIONS);
        free.then(|| Place { limits: Arc::clone(self), host, kind: Kind::Connection })
    }

    /// A place for one more socket of a host, if it may have one.
    pub(crate) fn socket(self: &Arc<Self>, host: HostId) -> Option<Place> {
        let free = self.state().sockets.take(host, self.settings.sockets_per_host, MAX_SOCKETS);
        free.then(|| Place { limits: Arc::clone(self), host, kind: Kind::Socket })
    }

    /// Whether this is a reverse proxy that the operator trusts.
    pub(crate) fn is_proxy(&self, peer: SocketAddr) -> bool {
        self.settings.proxies.contains(&peer.ip().to_canonical())
    }

    /// Sockets at this time.
    pub(crate) fn sockets(&self) -> usize {
        self.state().sockets.all
    }

    /// The address of a client: the other end of its connection, or what a reverse proxy that the operator trusts says of it.
    ///
    /// The header is a list to which each proxy appends whom it has served, so the last address that is not that of a proxy counts.
    /// Anything before it could have been made up by the client.
    pub(crate) fn client(&self, peer: SocketAddr, forwarded: Option<&str>) -> SocketAddr {
        let mut client = peer;
        let mut entries = forwarded.unwrap_or_default().rsplit(',').take(MAX_FORWARDED);
        while self.is_proxy(client) {
            let Some(entry) = entries.next().map(str::trim) else { break };
            let bare = entry.trim_start_matches('[').trim_end_matches(']');
            let address = bare.parse().map(|ip: IpAddr| SocketAddr::new(ip, peer.port())).or_else(|_| entry.parse());
            let Ok(address) = address else { break };
            client = address;
        }
        client
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(proxies: &[&str]) -> Arc<Limits> {
        let proxies = proxies.iter().map(|proxy| proxy.parse().unwrap()).collect();
        Limits::new(Settings { sockets_per_host: 2, rooms_per_host: 1, proxies })
    }

    #[test]
    fn a_host_has_a_share_of_the_sockets() {
        let limits = limits(&[]);
        let [ann, bob] = ["10.0.0.1:1", "10.0.0.2:1"].map(HostId::of);
        let first = limits.socket(ann).unwrap();
        let _second = limits.socket(ann).unwrap();
        assert!(limits.socket(ann).is_none());
        assert!(limits.socket(bob).is_some(), "another host is not concerned");
        drop(first);
        assert!(limits.socket(ann).is_some());
        assert_eq!(limits.sockets(), 1);
    }

    #[test]
    fn a_host_has_a_share_of_the_connections_and_a_proxy_has_all() {
        let limits = limits(&["10.0.0.9"]);
        let [ann, bob, proxy] = ["10.0.0.1:1", "10.0.0.2:1", "10.0.0.9:1"].map(|peer| peer.parse().unwrap());
        let mut held: Vec<Place> = (0..CONNECTIONS_PER_HOST).map(|_| limits.connection(ann).unwrap()).collect();
        assert!(limits.connection(ann).is_none());
        held.push(limits.connection(bob).unwrap());
        held.extend(std::iter::from_fn(|| limits.connection(proxy)));
        assert_eq!(held.len(), MAX_CONNECTIONS);
        assert!(limits.connection(bob).is_none());
        held.truncate(CONNECTIONS_PER_HOST - 1);
        assert!(limits.connection(ann).is_some() && limits.connection(bob).is_some());
        assert_eq!(limits.sockets(), 0);
    }

    #[test]
    fn a_host_that_asks_too_often_waits() {
        let limits = limits(&[]);
        let ann = HostId::of("10.0.0.1:1");
        let asked = (0..2 * REQUESTS.burst).map(|_| limits.request(ann, REQUEST));
        let refused = asked.enumerate().find_map(|(number, wait)| wait.map(|wait| (number, wait)));
        assert!(refused.is_some_and(|(number, wait)| number >= 1_000 && wait <= Duration::from_secs(1)), "{refused:?}");
        assert_eq!(limits.request(HostId::of("10.0.0.2:1"), REQUEST), None);
    }

    #[test]
    fn a_class_behind_one_address_loads_the_page_at_once() {
        let limits = limits(&[]);
        let school = HostId::of("10.0.0.1:1");
        for pupil in 0..60 {
            // A page, its files, and what it asks for when it starts.
            let costs = [REQUEST; 4].into_iter().chain([FILE; 80]);
            for cost in costs {
                assert_eq!(limits.request(school, cost), None, "pupil {pupil}");
            }
        }
        let wait = (0..2 * REQUESTS.burst).find_map(|_| limits.request(school, FILE));
        assert!(wait.is_some(), "files have a limit, too");
    }

    #[test]
    fn only_a_trusted_proxy_says_who_its_client_is() {
        let peer: SocketAddr = "[::ffff:10.0.0.9]:5".parse().unwrap();
        let ip = |limits: &Limits, header| limits.client(peer, header).ip().to_string();
        assert_eq!(ip(&limits(&[]), Some("1.2.3.4")), "::ffff:10.0.0.9");
        let trusting = limits(&["10.0.0.9", "10.0.0.8"]);
        assert_eq!(ip(&trusting, Some("1.2.3.4")), "1.2.3.4");
        assert_eq!(ip(&trusting, Some("6.6.6.6, 1.2.3.4, 10.0.0.8")), "1.2.3.4");
        assert_eq!(ip(&trusting, Some("6.6.6.6,[2001:db8::1]")), "2001:db8::1");
        assert_eq!(ip(&trusting, Some("1.2.3.4:99")), "1.2.3.4");
        assert_eq!(ip(&trusting, Some("6.6.6.6, junk")), "::ffff:10.0.0.9");
        assert_eq!(ip(&trusting, None), "::ffff:10.0.0.9");
    }
}
