use std::{
    collections::BTreeSet,
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr},
    ops::RangeInclusive,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use servekit::{Sockets, Wire};
use tracing::warn;

/// How long a restored room waits for its port, which the previous process may still hold.
const PATIENCE: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_millis(50);

/// Free ports that are requested before giving up.
const ATTEMPTS: u32 = 100;

#[derive(Debug)]
pub(crate) struct Ports {
    bind: Vec<IpAddr>,
    range: Option<RangeInclusive<u16>>,
    used: Arc<Mutex<BTreeSet<u16>>>,
}

/// Reserves the port until it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    pub(crate) port: u16,
    used: Arc<Mutex<BTreeSet<u16>>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock(&self.used).remove(&self.port);
    }
}

fn lock(used: &Mutex<BTreeSet<u16>>) -> MutexGuard<'_, BTreeSet<u16>> {
    used.lock().unwrap_or_else(PoisonError::into_inner)
}

fn exhausted(text: String) -> anyhow::Error {
    io::Error::new(ErrorKind::AddrInUse, text).into()
}

impl Ports {
    /// Without a range, rooms listen at any free ports.
    pub(crate) fn new(bind: Vec<IpAddr>, range: Option<RangeInclusive<u16>>) -> Self {
        Self { bind, range, used: Arc::default() }
    }

    pub(crate) fn are_here(&self) -> bool {
        !self.bind.is_empty() && self.bind.iter().all(IpAddr::is_loopback)
    }

    /// `before` is the port before a restart, or 0.
    pub(crate) fn open(&self, wire: Wire, before: u16) -> anyhow::Result<(Sockets, Lease)> {
        if before != 0 && self.range.as_ref().is_none_or(|range| range.contains(&before)) {
            match self.again(wire, before) {
                Ok(opened) => return Ok(opened),
                Err(error) => warn!("{error:#}; the room gets another port, and its native clients must join again"),
            }
        }
        let Some(range) = self.range.clone() else {
            // Each number belongs to one room, although UDP and TCP ports do not collide.
            for _ in 0..ATTEMPTS {
                let sockets = Sockets::bind(wire, &self.bind, 0)?;
                let port = sockets.addresses()?.first().map_or(0, std::net::SocketAddr::port);
                if let Some(lease) = self.take(port) {
                    return Ok((sockets, lease));
                }
            }
            return Err(exhausted("the system offers only ports of other rooms".into()));
        };
        for port in range.clone() {
            // Reserved first, so that no other room tries the same port.
            let Some(lease) = self.take(port) else { continue };
            match Sockets::bind(wire, &self.bind, port) {
                Ok(sockets) => return Ok((sockets, lease)),
                Err(error) if error.source.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(exhausted(format!(
            "all ports from {} to {} are in use; close a room, or restart the hub with a larger range in --ports",
            range.start(),
            range.end()
        )))
    }

    /// If `port` is 0, at any free port of the range.
    pub(super) fn open_at(&self, wire: Wire, port: u16) -> anyhow::Result<(Sockets, Lease)> {
        if port == 0 { self.open(wire, 0) } else { self.again(wire, port) }
    }

    /// For programs on this machine only, at any free port.
    pub(super) fn open_here(&self, wire: Wire) -> anyhow::Result<(Sockets, Lease)> {
        let here = Self { bind: vec![Ipv4Addr::LOCALHOST.into()], range: None, used: Arc::clone(&self.used) };
        here.open(wire, 0)
    }

    fn again(&self, wire: Wire, port: u16) -> anyhow::Result<(Sockets, Lease)> {
        let Some(lease) = self.take(port) else { bail!("another room has port {port}") };
        let until = Instant::now() + PATIENCE;
        loop {
            match Sockets::bind(wire, &self.bind, port) {
                Ok(sockets) => return Ok((sockets, lease)),
                Err(error) if error.source.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                    thread::sleep(RETRY);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn take(&self, port: u16) -> Option<Lease> {
        lock(&self.used).insert(port).then(|| Lease { port, used: Arc::clone(&self.used) })
    }
}

/// As in `2100-2199`.
pub(crate) fn port_range(typed: &str) -> Result<RangeInclusive<u16>, String> {
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u16>().ok())?;
    let range = typed.split_once('-').and_then(|(first, last)| Some(number(first)?..=number(last)?));
    range
        .filter(|range| *range.start() > 0 && !range.is_empty())
        .ok_or_else(|| "expected the first and the last port, as in 2100-2199".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn port_range_has_a_first_and_a_last_port() {
        assert_eq!(port_range("2100-2199"), Ok(2100..=2199));
        assert_eq!(port_range("7-7"), Ok(7..=7));
        for wrong in ["", "7", "-", "7-", "-7", "0-9", "9-8", "1-65536", "+1-2", "1-2-3"] {
            assert!(port_range(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn loopback_ports_are_local() {
        let are_here = |bind: &[&str]| Ports::new(bind.iter().map(|ip| ip.parse().unwrap()).collect(), None).are_here();
        assert!(are_here(&["127.0.0.1"]) && are_here(&["127.0.0.1", "::1"]));
        assert!(!are_here(&["0.0.0.0"]) && !are_here(&["127.0.0.1", "192.0.2.7"]) && !are_here(&[]));
    }

    #[test]
    fn rooms_get_ports_of_the_range_until_none_is_left() {
        // The socket occupies the only port of the range.
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        let ports = Ports::new(vec![Ipv4Addr::LOCALHOST.into()], Some(port..=port));
        let error = ports.open(Wire::Udp, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "all ports from {port} to {port} are in use; close a room, or restart the hub with a larger range \
                 in --ports"
            )
        );
        drop(taken);
        let ports = Ports::new(vec![Ipv4Addr::LOCALHOST.into()], Some(20_000..=32_000));
        let (_sockets, lease) = ports.open(Wire::Udp, 0).unwrap();
        let (_others, other) = ports.open(Wire::Tcp(netcore::Rate { per_second: 1, burst: 1 }), lease.port).unwrap();
        assert!((20_000..=32_000).contains(&lease.port) && (20_000..=32_000).contains(&other.port));
        assert_ne!(lease.port, other.port);
    }
}
