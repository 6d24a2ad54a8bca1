//! The number of connections, in all and per host.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use netcore::{Full, HostId, Shares};

/// The most connections at a time if the system permits that many; more are rejected.
pub const MAX_CONNECTIONS: usize = 8_192;
/// File descriptors reserved for listeners, timers, the runtime and files; at most half of all.
const RESERVED: usize = 32;

/// The limits on connections.
///
/// They are shared out over hosts and their networks as [`Shares`] does it: a host may open another connection only while more are free
/// than it has.
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

/// The connections that a process may have. Clones are the same budget, so that several transports, and whatever else accepts
/// connections, can share one: the files of a process are used up by all of them together.
///
/// ```
/// use netshell::{ConnectionBudget, Limits};
/// use netcore::{Full, HostId};
///
/// let budget = ConnectionBudget::from(Limits { connections: 4 });
/// let (room, page) = (budget.clone(), budget);
/// let host = HostId::of("10.0.0.1:5");
/// let _first = room.open(host)?;
/// let second = page.open(host)?;
/// assert_eq!(room.open(host).unwrap_err(), Full::Share(2));
/// drop(second);
/// assert!(room.open(host).is_ok());
/// # Ok::<(), Full>(())
/// ```
#[derive(Debug, Clone)]
pub struct ConnectionBudget(Arc<Mutex<Shares>>);

impl From<Limits> for ConnectionBudget {
    /// A budget of its own.
    fn from(limits: Limits) -> Self {
        Self(Arc::new(Mutex::new(Shares::new(limits.connections))))
    }
}

impl ConnectionBudget {
    /// Counts a new connection from a host until the permit is dropped.
    pub fn open(&self, host: HostId) -> Result<ConnectionPermit, Full> {
        self.shares().take(host)?;
        Ok(ConnectionPermit { budget: self.clone(), host: Some(host) })
    }

    /// Counts a connection that carries the requests of many hosts, as one of a trusted reverse proxy does. It has no share.
    pub fn open_unshared(&self) -> Result<ConnectionPermit, Full> {
        self.shares().take_unshared()?;
        Ok(ConnectionPermit { budget: self.clone(), host: None })
    }

    /// How many connections there are.
    pub fn count(&self) -> usize {
        self.shares().taken()
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection of a [`ConnectionBudget`], given back when dropped.
#[derive(Debug)]
pub struct ConnectionPermit {
    budget: ConnectionBudget,
    host: Option<HostId>,
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut shares = self.budget.shares();
        match self.host {
            Some(host) => shares.give_back(host),
            None => shares.give_back_unshared(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_depend_on_the_limit_of_the_system() {
        for (files, connections) in
            [(None, 8_192), (Some(1 << 20), 8_192), (Some(256), 224), (Some(24), 12), (Some(1), 2)]
        {
            assert_eq!(Limits::of(files), Limits { connections }, "{files:?} files");
        }
    }

    #[test]
    fn a_permit_that_is_dropped_frees_a_share_and_all_notations_of_an_address_are_one_host() {
        let budget = ConnectionBudget::from(Limits { connections: 6 });
        let open = |address: &str| budget.open(HostId::of(address));
        let _ours: Vec<_> = (0..3).map(|_| open("10.0.0.1:1").unwrap()).collect();
        assert_eq!(open("[::ffff:10.0.0.1]:9").unwrap_err(), Full::Share(3));
        let others = ["[2001:db8::1]:1", "10.0.0.2:1"].map(|host| open(host).unwrap());
        let proxy = budget.open_unshared().unwrap();
        assert_eq!((open("10.0.0.4:1").unwrap_err(), budget.count()), (Full::All(6), 6));
        drop((others, proxy));
        assert_eq!(budget.count(), 3);
        assert!(open("10.0.0.4:1").is_ok());
    }
}
