mod arguments;
mod client;
/// Floods of messages, and their effect on clients of other hosts.
mod follow;
mod games;
/// Their location, their guarantees, and which one is resumed.
mod journals;
/// The start-up output, addresses, and seeds.
mod server;
/// Signals, ports in use, and other ways to end.
mod terminal;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    process::Command,
};

use testkit::{peer::Peer, process::Process};

use crate::programs::program;

/// One row of ten spots: a run to each side collects all gold.
const CORRIDOR: &str = "+----------+\n|..........|\n+----------+\n";
pub(crate) const HALL: &str = "\
+------------+
|............|
|............|
|............|
|............|
|............|
+------------+
";

pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

impl Server {
    /// On all addresses of the machine.
    fn everywhere(arguments: &[&str]) -> Self {
        let process = Process::start(server().args(arguments));
        let port = process.port();
        Self { process, port }
    }

    /// On the loopback address only.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::everywhere(&[&["--bind", "127.0.0.1"], arguments].concat())
    }

    fn v4(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn v6(&self) -> SocketAddr {
        (Ipv6Addr::LOCALHOST, self.port).into()
    }

    fn peer(&self) -> Peer {
        Peer::new(self.v4())
    }
}

fn server() -> Command {
    program("nuggets-server")
}

fn has_ipv6() -> bool {
    let there = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    if !there {
        eprintln!("this machine has no ::1, so IPv6 is not tested");
    }
    there
}

/// An address that a server treats as another host.
fn other_host(last: u8) -> Option<IpAddr> {
    let ip = IpAddr::from([127, 0, 0, last]);
    let there = UdpSocket::bind((ip, 0)).is_ok();
    if !there {
        eprintln!("this machine has no {ip}, so several hosts are not tested");
    }
    there.then_some(ip)
}

/// Collects all gold in the corridor. Returns the server's QUIT message.
fn run_to_both_ends(peer: &Peer) -> String {
    for key in ["KEY H", "KEY L", "KEY H", "KEY L"] {
        peer.send(key);
    }
    peer.expect("QUIT ")
}
