//! The nuggets server and its client.

/// What the command line accepts and refuses, and in which words.
mod arguments;
/// The client, against the real server.
mod client;
/// Floods from strangers and from players, and what is left for the others.
mod floods;
/// Whole games, one after the other, and what is printed at the end.
mod games;
/// Datagrams that nobody should send.
mod hostile;
/// Journals: where they are, what they hold up to, and which a server goes on with.
mod journals;
/// Servers that are killed in the middle of a game.
mod kills;
/// What the log holds, and in which form.
mod logs;
/// The map checker.
mod maps;
/// The same messages over the pretend network and over a real one.
mod mirror;
/// The announcement, and who can join where.
mod start;
/// Signals, ports in use, and other ends.
mod stop;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    process::Command,
};

use testkit::{peer::Peer, process::Process};

use crate::programs::program;

/// One row of ten spots: a run to each side collects all gold.
const CORRIDOR: &str = "+----------+\n|..........|\n+----------+\n";
/// A room with places for everybody.
pub(crate) const HALL: &str = "\
+------------+
|............|
|............|
|............|
|............|
|............|
+------------+
";

/// A nuggets server that runs.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

impl Server {
    /// Starts a server with these arguments on every address of the machine.
    fn everywhere(arguments: &[&str]) -> Self {
        let process = Process::start(server().args(arguments));
        let port = process.port();
        Self { process, port }
    }

    /// Starts a server with these arguments that is open to this machine only.
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

/// Starts a server at a port that was free a moment ago; none if somebody else has it by now.
fn start_at(port: u16) -> Option<Process> {
    let process = Process::start(server().args(["--bind", "127.0.0.1", "--port", &port.to_string()]));
    let free = process.wait_stderr("either end", |stderr| {
        if stderr.contains("Hosting") { Some(true) } else { stderr.contains("in use").then_some(false) }
    });
    free.then_some(process)
}

/// A command that runs the server.
fn server() -> Command {
    program("nuggets-server")
}

/// Whether this machine speaks IPv6 to itself.
fn has_ipv6() -> bool {
    let there = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    if !there {
        eprintln!("this machine has no ::1, so IPv6 is not tested");
    }
    there
}

/// A further address of this machine, which to a server is another host.
fn other_host(last: u8) -> Option<IpAddr> {
    let ip = IpAddr::from([127, 0, 0, last]);
    let there = UdpSocket::bind((ip, 0)).is_ok();
    if !there {
        eprintln!("this machine has no {ip}, so several hosts are not tested");
    }
    there.then_some(ip)
}

/// The row and the column of the `@` in a display.
fn own_place(display: &str) -> (usize, usize) {
    let found = display.lines().enumerate().find_map(|(row, line)| Some((row, line.find('@')?)));
    found.unwrap_or_else(|| panic!("nobody stands in\n{display}"))
}
