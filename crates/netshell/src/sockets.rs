//! Addresses and options of sockets, and the number of files that a process may have open.

use std::{
    error, fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket},
    time::Duration,
};

use socket2::{Domain, Protocol, Socket, Type};
use tracing::debug;

/// Requested size of a socket buffer in bytes; the system may grant less. Enough to broadcast one move to all players:
/// about thirty displays of the largest size.
const BUFFER: usize = 4 << 20;
/// The queue of connections to accept: enough if all players of a room join at the same time.
const WAITING: i32 = 1_024;
/// Attempts when the port chosen by the system is in use on the next address.
const ATTEMPTS: usize = 16;

/// The error for an address that cannot be bound.
#[derive(Debug)]
pub struct BindError {
    /// The address.
    pub address: SocketAddr,
    /// The error of the system.
    pub source: io::Error,
    option: Option<&'static str>,
}

impl BindError {
    /// Adds the name of the program option that selects another port.
    #[must_use]
    pub const fn naming(mut self, option: &'static str) -> Self {
        self.option = Some(option);
        self
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, source, option } = self;
        match source.kind() {
            io::ErrorKind::AddrInUse => {
                let with = option.map_or_else(String::new, |option| format!(" with {option}"));
                let (port, ip) = (address.port(), address.ip());
                write!(f, "port {port} is in use at {ip}; choose another{with}, or 0 for any free one")
            }
            io::ErrorKind::AddrNotAvailable => write!(f, "this machine has no address {}", address.ip()),
            io::ErrorKind::PermissionDenied => {
                write!(f, "port {} is reserved; choose one above 1023, or 0 for any free one", address.port())
            }
            _ => write!(f, "cannot listen on {address}"),
        }
    }
}

impl error::Error for BindError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Opens non-blocking UDP sockets on `addresses`, all with the same port; 0 selects any free one.
///
/// An empty list means every address of the machine: one socket for IPv6 and IPv4, or IPv4 only without IPv6. `::` is
/// both too, unless an IPv4 address is given as well.
pub fn bind_udp(addresses: &[IpAddr], port: u16) -> Result<Vec<UdpSocket>, BindError> {
    let sockets = bind(addresses, port, |address, dual_stack| {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        // A smaller buffer only loses datagrams under load.
        let _ = socket.set_recv_buffer_size(BUFFER);
        let _ = socket.set_send_buffer_size(BUFFER);
        report("receive", "net.core.rmem_max", socket.recv_buffer_size()?);
        report("send", "net.core.wmem_max", socket.send_buffer_size()?);
        attach(&socket, address, dual_stack)?;
        Ok(socket)
    })?;
    Ok(sockets.into_iter().map(UdpSocket::from).collect())
}

/// Like [`bind_udp`], opens non-blocking TCP listeners. The port of a stopped server can be reused immediately.
pub fn bind_tcp(addresses: &[IpAddr], port: u16) -> Result<Vec<TcpListener>, BindError> {
    let sockets = bind(addresses, port, |address, dual_stack| {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        // On Windows this would let two servers share a port.
        #[cfg(unix)]
        socket.set_reuse_address(true)?;
        attach(&socket, address, dual_stack)?;
        socket.listen(WAITING)?;
        Ok(socket)
    })?;
    Ok(sockets.into_iter().map(TcpListener::from).collect())
}

fn bind(
    addresses: &[IpAddr],
    port: u16,
    open: impl Fn(SocketAddr, bool) -> io::Result<Socket>,
) -> Result<Vec<Socket>, BindError> {
    let open = |address: SocketAddr, dual_stack| {
        open(address, dual_stack).map_err(|source| BindError { address, source, option: None })
    };
    if addresses.is_empty() {
        return match open(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port), true) {
            // A port in use is in use for IPv4 as well.
            Err(error) if error.source.kind() != io::ErrorKind::AddrInUse => {
                Ok(vec![open(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port), false)?])
            }
            opened => Ok(vec![opened?]),
        };
    }
    let mut attempts = ATTEMPTS;
    loop {
        attempts -= 1;
        let mut chosen = port;
        let opened: Result<Vec<Socket>, BindError> = addresses
            .iter()
            .map(|&ip| {
                let socket = open(SocketAddr::new(ip, chosen), is_dual_stack(ip, addresses))?;
                let address = socket.local_addr().ok().and_then(|address| address.as_socket());
                chosen = address.map_or(chosen, |address| address.port());
                Ok(socket)
            })
            .collect();
        match opened {
            Err(error) if port == 0 && attempts > 0 && error.source.kind() == io::ErrorKind::AddrInUse => {}
            opened => return opened,
        }
    }
}

fn is_dual_stack(ip: IpAddr, addresses: &[IpAddr]) -> bool {
    ip == Ipv6Addr::UNSPECIFIED && !addresses.iter().any(IpAddr::is_ipv4)
}

fn attach(socket: &Socket, address: SocketAddr, dual_stack: bool) -> io::Result<()> {
    if address.is_ipv6() {
        socket.set_only_v6(!dual_stack)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())
}

// Linux adds its own overhead and reports twice the size.
fn report(buffer: &str, setting: &str, granted: usize) {
    if granted < BUFFER {
        let hint = format!("more datagrams are lost under load; on Linux set {setting} to {BUFFER}");
        debug!(buffer, granted, wanted = BUFFER, hint, "the system grants a smaller socket buffer than requested");
    } else {
        debug!(buffer, granted, "socket buffer");
    }
}

/// How long a client may leave data unacknowledged until its connection is closed. Otherwise the system would
/// retransmit for some 15 minutes, during which keep-alive does not run and a vanished client keeps its seat. Also
/// applies to a client that accepts no data while its buffers are full.
pub const MAX_UNACKNOWLEDGED: Duration = Duration::from_secs(20);

use socket2::{SockRef, TcpKeepalive};

/// The idle time before a probe: a lobby may be silent for hours, and a machine that loses power does not close its
/// connections.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Makes a TCP connection send small messages immediately, and detect a vanished peer. A server uses [`tune_accepted`].
pub fn tune_stream<'a>(stream: impl Into<SockRef<'a>>) {
    let socket = stream.into();
    // Optional, so errors are ignored.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
}

/// As [`tune_stream`], for a server: closes the connection if data is unacknowledged for [`MAX_UNACKNOWLEDGED`].
///
/// Linux only; other systems have no such option, or one in other units.
pub fn tune_accepted<'a>(stream: impl Into<SockRef<'a>>) {
    let socket = stream.into();
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(MAX_UNACKNOWLEDGED));
    tune_stream(socket);
}

/// Converts an IPv4-mapped IPv6 address, which IPv6 sockets report for IPv4 peers, to IPv4.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Raises the soft limit on open files to the hard limit, and returns it if the system has one.
pub fn raise_open_files() -> Option<u64> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => limit.maximum,
            Err(_) => limit.current,
        }
    }
    #[cfg(not(unix))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_addresses_share_one_port() {
        let sockets = bind_udp(&[Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()], 0).unwrap();
        let ports: Vec<u16> = sockets.iter().map(|socket| socket.local_addr().unwrap().port()).collect();
        assert_eq!(ports[0], ports[1]);
        assert_ne!(ports[0], 0);
    }

    #[test]
    fn unspecified_ipv6_address_includes_ipv4_unless_that_is_given() {
        let (all, v4, v6) = (Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        assert!(is_dual_stack(all, &[all]) && is_dual_stack(all, &[v6, all]));
        assert!(!is_dual_stack(all, &[all, v4]) && !is_dual_stack(v6, &[v6]) && !is_dual_stack(v4, &[v4]));
    }

    #[test]
    fn a_port_in_use_is_reported_as_such() {
        let taken = bind_udp(&[Ipv4Addr::LOCALHOST.into()], 0).unwrap();
        let port = taken[0].local_addr().unwrap().port();
        let error = bind_udp(&[Ipv4Addr::LOCALHOST.into()], port).unwrap_err();
        assert!(error.to_string().starts_with(&format!("port {port} is in use at 127.0.0.1")), "{error}");
    }
}
