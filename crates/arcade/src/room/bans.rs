//! Hosts that the operator has banned, and requests to the host of a room.

use std::{
    collections::{BTreeSet, VecDeque},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use cmdkit::{read_file, replace_file};
use netcore::{Framing, HostId, Link};
use netshell::{Warden, WardenRequest};

use super::roster::Roster;
use crate::games::Game;

pub(crate) const MAX_BANS: usize = 10_000;
/// In bytes.
const MAX_FILE: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Bans {
    path: PathBuf,
    hosts: Mutex<BTreeSet<HostId>>,
    // Held while the file is written. Rooms and requests meanwhile read `hosts`.
    writing: Mutex<()>,
}

impl Bans {
    /// A missing file contains no bans. A damaged one is an error, because it must not lift bans.
    pub(crate) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let hosts = match read_file(&path, MAX_FILE) {
            Ok(bytes) if bytes.len() <= MAX_FILE => read(&bytes).with_context(|| {
                format!("'{}' is damaged; repair it, or remove it to lift all bans", path.display())
            })?,
            Ok(_) => bail!("'{}' is larger than {MAX_FILE} bytes", path.display()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        };
        Ok(Self { path, hosts: Mutex::new(hosts), writing: Mutex::default() })
    }

    pub(crate) fn has(&self, host: HostId) -> bool {
        self.hosts().contains(&host)
    }

    pub(crate) fn list(&self) -> Vec<String> {
        self.hosts().iter().map(|&host| host_text(host)).collect()
    }

    /// Returns whether the host's state has changed.
    pub(crate) fn set(&self, host: HostId, banned: bool) -> anyhow::Result<bool> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut after = self.hosts().clone();
        if !(if banned { after.insert(host) } else { after.remove(&host) }) {
            return Ok(false);
        }
        if after.len() > MAX_BANS {
            bail!("at most {MAX_BANS} hosts can be banned; lift some bans with --remove");
        }
        let text: String = after.iter().map(|&host| host_text(host) + "\n").collect();
        replace_file(&self.path, text.as_bytes()).with_context(|| format!("cannot write '{}'", self.path.display()))?;
        *self.hosts() = after;
        Ok(true)
    }

    fn hosts(&self) -> MutexGuard<'_, BTreeSet<HostId>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(bytes: &[u8]) -> anyhow::Result<BTreeSet<HostId>> {
    let lines = std::str::from_utf8(bytes)?.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| host(line).map_err(anyhow::Error::msg)).collect()
}

/// Parses an IPv4 address, or an IPv6 address, which represents its 64-bit network.
pub(crate) fn host(typed: &str) -> Result<HostId, String> {
    let address = typed.strip_suffix("/64").unwrap_or(typed);
    let ip: IpAddr = address.parse().map_err(|_| {
        format!("invalid address '{}': expected an IP address, as in 192.0.2.7 or 2001:db8::7", typed.escape_debug())
    })?;
    Ok(SocketAddr::new(ip, 0).into())
}

pub(crate) fn host_text(host: HostId) -> String {
    match host {
        HostId::V4(octets) => Ipv4Addr::from(octets).to_string(),
        HostId::V6Network(network) => format!("{}/64", Ipv6Addr::from(u128::from(network) << 64)),
        HostId::Other => "unknown".into(),
    }
}

#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    requests: VecDeque<WardenRequest>,
    waker: Option<Waker>,
}

impl Requests {
    pub(crate) fn push(&self, request: WardenRequest) {
        let mut queue = self.queue();
        queue.requests.push_back(request);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) struct Guard {
    game: Game,
    bans: Arc<Bans>,
    requests: Arc<Requests>,
    roster: Arc<Roster>,
}

impl Guard {
    pub(super) const fn new(game: Game, bans: Arc<Bans>, requests: Arc<Requests>, roster: Arc<Roster>) -> Self {
        Self { game, bans, requests, roster }
    }
}

impl Warden for Guard {
    // Browsers' seats have pseudonyms; their transport checks the true host.
    fn admits(&mut self, address: SocketAddr) -> bool {
        !self.bans.has(address.into())
    }

    fn room_address(&mut self, link: Link, address: SocketAddr) -> SocketAddr {
        self.roster.room_address(link, address)
    }

    fn farewell(&self, why: &str, framing: Framing) -> Option<Bytes> {
        self.game.farewell(why, framing)
    }

    fn poll_request(&mut self, context: &mut Context<'_>) -> Poll<WardenRequest> {
        let mut queue = self.requests.queue();
        if let Some(request) = queue.requests.pop_front() {
            return Poll::Ready(request);
        }
        queue.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn bans_are_stored_and_a_damaged_file_lifts_none() {
        let directory = testkit::TempDir::new();
        let path = directory.path().join("bans");
        let bans = Bans::open(path.clone()).unwrap();
        assert!(bans.set(host("192.0.2.7").unwrap(), true).unwrap());
        assert!(!bans.set(host("::ffff:192.0.2.7").unwrap(), true).unwrap(), "the same host");
        assert!(bans.set(host("2001:db8::7").unwrap(), true).unwrap());
        let again = Bans::open(path.clone()).unwrap();
        assert_eq!(again.list(), ["192.0.2.7", "2001:db8::/64"]);
        assert!(again.has(HostId::of("[2001:db8::8]:1")) && !again.has(HostId::of("192.0.2.8:1")));
        assert!(again.set(host("2001:db8::/64").unwrap(), false).unwrap());
        assert_eq!(Bans::open(path.clone()).unwrap().list(), ["192.0.2.7"]);
        fs::write(&path, "nonsense").unwrap();
        let error = format!("{:#}", Bans::open(path).unwrap_err());
        assert!(error.contains("is damaged") && error.contains("invalid address 'nonsense'"), "{error}");
    }
}
