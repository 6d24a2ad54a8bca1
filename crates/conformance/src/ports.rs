use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    ops::Range,
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use self::claim::Claim;

use anyhow::bail;
use socket2::{Domain, Socket, Type};

/// Below the ephemeral range, so that no other socket takes one before the program listens.
const PORTS: Range<u16> = 20_000..30_000;

/// Without a claim, other testers would consider a port free until the program listens on it.
#[cfg(target_os = "linux")]
mod claim {
    use std::{
        collections::VecDeque,
        io,
        os::{
            linux::net::SocketAddrExt as _,
            unix::net::{SocketAddr, UnixDatagram},
        },
        sync::{Mutex, PoisonError},
    };

    /// A program listens long before this number of others have been started.
    const CLAIMS: usize = 100;

    /// Ends with the process at the latest.
    pub(super) struct Claim(#[expect(dead_code, reason = "reserves the port")] UnixDatagram);

    impl Claim {
        /// Fails while this or another tester claims the port.
        pub(super) fn of(port: u16) -> io::Result<Self> {
            let name = SocketAddr::from_abstract_name(format!("arcade-conformance-{port}"))?;
            UnixDatagram::bind_addr(&name).map(Self)
        }

        /// Claims the port until many others have been claimed.
        pub(super) fn keep(self) {
            static KEPT: Mutex<VecDeque<Claim>> = Mutex::new(VecDeque::new());
            let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_back(self);
            if kept.len() > CLAIMS {
                kept.pop_front();
            }
        }
    }
}

/// Other systems have no socket names that vanish with the process. Simultaneous testers only start at different ports.
#[cfg(not(target_os = "linux"))]
mod claim {
    pub(super) struct Claim;

    impl Claim {
        pub(super) fn of(_: u16) -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn keep(self) {}
    }
}

/// Returns a free port that this process has not returned recently.
pub(crate) fn free_tcp_port() -> anyhow::Result<u16> {
    free_port(|port| bind(port).map(drop))
}

// Binds without listening: a process that is being started has a copy of the socket until it executes its program.
// Connections are then refused, instead of accepted and never read.
fn bind(port: u16) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    // On Windows this would share the port.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
    Ok(socket)
}

/// Listens on both families, so that a program cannot bind the port on either.
pub(crate) fn take_tcp_port() -> io::Result<(TcpListener, u16)> {
    let held =
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?;
    let port = held.local_addr()?.port();
    Ok((held, port))
}

pub(crate) fn free_udp_port() -> anyhow::Result<u16> {
    free_port(|port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).map(drop))
}

fn free_port(bind: impl Fn(u16) -> io::Result<()>) -> anyhow::Result<u16> {
    static HANDED_OUT: AtomicU32 = AtomicU32::new(0);
    // Simultaneous testers start far apart, though their process ids are close.
    let start = process::id().wrapping_mul(7919);
    let ports = u32::from(PORTS.end - PORTS.start);
    for _ in 0..ports {
        let offset = start.wrapping_add(HANDED_OUT.fetch_add(1, Ordering::Relaxed)) % ports;
        let port = PORTS.start + u16::try_from(offset)?;
        let Ok(claim) = Claim::of(port) else { continue };
        if bind(port).is_ok() {
            claim.keep();
            return Ok(port);
        }
    }
    bail!("no free port from {} to {}", PORTS.start, PORTS.end - 1)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::net::TcpStream;

    use super::*;

    #[test]
    #[cfg(unix)]
    fn port_check_accepts_no_connection_and_does_not_block_listeners() {
        let port = free_tcp_port().unwrap();
        let copy = bind(port).unwrap();
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
        let program = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert!(bind(port).is_err(), "a port in use");
        drop((program, copy));
    }

    #[test]
    fn ports_in_use_are_skipped_and_ports_are_not_reused_immediately() {
        let held: Vec<_> =
            (0..20).map(|_| TcpListener::bind(("127.0.0.1", free_tcp_port().unwrap())).unwrap()).collect();
        for _ in 0..50 {
            let port = free_tcp_port().unwrap();
            assert!(PORTS.contains(&port));
            assert!(held.iter().all(|listener| listener.local_addr().unwrap().port() != port));
        }
        let (one, other) = (free_udp_port().unwrap(), free_udp_port().unwrap());
        assert_ne!(one, other);
        let claimed = Claim::of(one).map(drop);
        assert!(claimed.is_err() || cfg!(not(target_os = "linux")), "another tester would use the port {one}");
        let every_second = free_port(|port| if port % 2 == 0 { Ok(()) } else { Err(io::ErrorKind::AddrInUse.into()) });
        assert_eq!(every_second.unwrap() % 2, 0);
        let none = free_port(|_| Err(io::ErrorKind::AddrInUse.into()));
        assert_eq!(none.unwrap_err().to_string(), "no free port from 20000 to 29999");
    }
}
