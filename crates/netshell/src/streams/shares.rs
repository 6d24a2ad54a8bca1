//! How many connections there may be, and how many of them from one host.

use std::{collections::BTreeMap, net::SocketAddr};

use netcore::HostId;

/// Connections that are kept at a time if the system has room for that many; whoever comes then is turned away.
pub const MAX_CONNECTIONS: usize = 8_192;
/// Descriptors that are not for connections: listeners, timers, the runtime, files. Half of all where there are very few.
const RESERVED: usize = 32;

/// How many connections there may be.
///
/// A host, which is an IPv4 address or an IPv6 network of 64 bits, gets another one only while more are free than it has. So one
/// host alone gets half of all, ten hosts that take what they can get a bit less than a tenth each, and there is always
/// room for somebody from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// In all.
    pub connections: usize,
}

impl Limits {
    /// What this process can keep: `open_files` is how many descriptors the system lets it have, if it has a limit.
    pub fn of(open_files: Option<u64>) -> Self {
        let files = open_files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        Self { connections: MAX_CONNECTIONS.min(files - RESERVED.min(files / 2)).max(2) }
    }
}

/// Why a connection is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// There are as many as there may be.
    All(usize),
    /// The host has its share, which is so many just now.
    Host(usize),
}

/// Counts connections by host.
#[derive(Debug)]
pub(super) struct Shares {
    limits: Limits,
    all: usize,
    hosts: BTreeMap<HostId, usize>,
}

impl Shares {
    /// No connection yet.
    pub(super) const fn new(limits: Limits) -> Self {
        Self { limits, all: 0, hosts: BTreeMap::new() }
    }

    /// Counts a connection in.
    ///
    /// # Errors
    /// [`Full`] when there is no room for it.
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

    /// Counts a connection out.
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
    fn limits_follow_what_the_system_gives() {
        for (files, connections) in
            [(None, 8_192), (Some(1 << 20), 8_192), (Some(256), 224), (Some(24), 12), (Some(1), 2)]
        {
            assert_eq!(Limits::of(files), Limits { connections }, "{files:?} files");
        }
    }

    #[test]
    fn however_many_hosts_take_what_they_can_get_there_is_room_for_another() {
        let mut shares = Shares::new(Limits { connections: 224 });
        for host in 1..=7 {
            let from = format!("10.0.0.{host}:1");
            assert_eq!(shares.enter(address(&from)), Ok(()), "host {host} is let in");
            while shares.enter(address(&from)).is_ok() {}
        }
        assert!(shares.all < 224);
        assert_eq!(shares.hosts[&HostId::V4([10, 0, 0, 1])], 112, "the first alone had half");
    }

    #[test]
    fn whoever_leaves_makes_room_and_the_spellings_of_an_address_are_one_host() {
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
