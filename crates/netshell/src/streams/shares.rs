//! Limits on the number of connections, in all and per host.

use std::{collections::BTreeMap, net::SocketAddr};

use netcore::HostId;

/// The most connections at a time if the system permits that many; more are rejected.
pub const MAX_CONNECTIONS: usize = 8_192;
/// File descriptors reserved for listeners, timers, the runtime and files; at most half of all.
const RESERVED: usize = 32;

/// The limits on connections.
///
/// A host (an IPv4 address, or an IPv6 network of 64 bits) may open another connection only while more are free than it
/// has. So a single host gets half of all, ten greedy hosts a bit less than a tenth each, and there is always space for
/// another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
}

impl Limits {
    /// The limits for this process, where `open_files` is the system's limit on file descriptors, if any.
    pub fn of(open_files: Option<u64>) -> Self {
        let files = open_files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        Self { connections: MAX_CONNECTIONS.min(files - RESERVED.min(files / 2)).max(2) }
    }
}

/// Why a connection is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The limit on all connections is reached.
    All(usize),
    /// The host has used up its present share, which is this many.
    Host(usize),
}

/// Counts connections per host.
#[derive(Debug)]
pub(super) struct Shares {
    limits: Limits,
    all: usize,
    hosts: BTreeMap<HostId, usize>,
}

impl Shares {
    /// Without connections.
    pub(super) const fn new(limits: Limits) -> Self {
        Self { limits, all: 0, hosts: BTreeMap::new() }
    }

    /// Counts a new connection.
    ///
    /// # Errors
    /// [`Full`] when a limit is reached.
    pub(super) fn enter(&mut self, address: SocketAddr) -> Result<(), Full> {
        let free = self.limits.connections.saturating_sub(self.all);
        if free == 0 {
            return Err(Full::All(self.limits.connections));
        }
        let host = HostId::from(address);
        if let Some(&count) = self.hosts.get(&host)
            && count >= free
        {
            return Err(Full::Host(count));
        }
        self.all += 1;
        *self.hosts.entry(host).or_default() += 1;
        Ok(())
    }

    /// Counts a closed connection.
    pub(super) fn leave(&mut self, address: SocketAddr) {
        let host = HostId::from(address);
        if let Some(count) = self.hosts.get_mut(&host) {
            self.all -= 1;
            *count -= 1;
            if *count == 0 {
                self.hosts.remove(&host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn limits_depend_on_the_limit_of_the_system() {
        for (files, connections) in
            [(None, 8_192), (Some(1 << 20), 8_192), (Some(256), 224), (Some(24), 12), (Some(1), 2)]
        {
            assert_eq!(Limits::of(files), Limits { connections }, "{files:?} files");
        }
    }

    #[test]
    fn greedy_hosts_leave_space_for_another_host() {
        let mut shares = Shares::new(Limits { connections: 224 });
        for host in 1..=7 {
            let from = format!("10.0.0.{host}:1");
            assert_eq!(shares.enter(address(&from)), Ok(()), "host {host} is admitted");
            while shares.enter(address(&from)).is_ok() {}
        }
        assert!(shares.all < 224);
        assert_eq!(shares.hosts[&HostId::V4([10, 0, 0, 1])], 112, "the first alone had half");
    }

    #[test]
    fn closing_frees_a_share_and_all_notations_of_an_address_are_one_host() {
        let mut shares = Shares::new(Limits { connections: 6 });
        for _ in 0..3 {
            assert_eq!(shares.enter(address("10.0.0.1:1")), Ok(()));
        }
        assert_eq!(shares.enter(address("[::ffff:10.0.0.1]:9")), Err(Full::Host(3)));
        for host in ["[2001:db8::1]:1", "10.0.0.2:1", "10.0.0.3:1"] {
            assert_eq!(shares.enter(address(host)), Ok(()));
        }
        assert_eq!(shares.enter(address("10.0.0.4:1")), Err(Full::All(6)));
        shares.leave(address("[2001:db8::2]:7"));
        assert_eq!(shares.enter(address("10.0.0.4:1")), Ok(()));
    }
}
