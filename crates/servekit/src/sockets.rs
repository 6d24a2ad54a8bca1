use std::{
    io,
    net::{IpAddr, SocketAddr, TcpListener, UdpSocket},
    thread,
    time::Duration,
};

use netcore::Rate;
use netshell::{BindError, ConnectionBudget, Host, Limits, Tcp, Udp, bind_tcp, bind_udp};
use tracing::warn;

/// The pause between two attempts to bind a port that is in use.
const RETRY: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Udp,
    /// With the rate at which bytes are read from each connection.
    Tcp(Rate),
}

#[derive(Debug)]
pub enum Sockets {
    Udp(Vec<UdpSocket>),
    Tcp(Vec<TcpListener>, Rate),
}

impl Sockets {
    /// Opens a socket for each address, or for all addresses of the machine if there are none, at one port.
    pub fn bind(wire: Wire, addresses: &[IpAddr], port: u16) -> Result<Self, BindError> {
        Ok(match wire {
            Wire::Udp => Self::Udp(bind_udp(addresses, port)?),
            Wire::Tcp(rate) => Self::Tcp(bind_tcp(addresses, port)?, rate),
        })
    }

    /// As [`Sockets::bind`], but waits until the port is free: the players of a resumed match know the old port.
    pub(crate) fn bind_again(wire: Wire, addresses: &[IpAddr], port: u16) -> Result<Self, BindError> {
        let mut told = false;
        loop {
            match Self::bind(wire, addresses, port) {
                Err(error) if error.source.kind() == io::ErrorKind::AddrInUse && port != 0 => {
                    if !told {
                        warn!(
                            "port {port} is in use by another program; waiting until it is free, --port selects another"
                        );
                        told = true;
                    }
                    thread::sleep(RETRY);
                }
                done => return done,
            }
        }
    }

    pub fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        match self {
            Self::Udp(sockets) => sockets.iter().map(UdpSocket::local_addr).collect(),
            Self::Tcp(listeners, _) => listeners.iter().map(TcpListener::local_addr).collect(),
        }
    }

    /// Adds these sockets to `host`, which may use all connections that `open_files` permits.
    pub fn add_to(self, host: Host, open_files: Option<u64>) -> io::Result<Host> {
        self.add_to_within(host, &Limits::of(open_files).into())
    }

    /// Adds these sockets to `host`, whose connections count in the shared `budget`. UDP has no connections.
    pub fn add_to_within(self, host: Host, budget: &ConnectionBudget) -> io::Result<Host> {
        Ok(match self {
            Self::Udp(sockets) => host.with_transport(Udp::new(sockets)?),
            Self::Tcp(listeners, rate) => host.with_transport(Tcp::new(listeners, rate, budget.clone())?),
        })
    }
}
