use std::net::SocketAddr;

/// Converts an IPv4-mapped IPv6 address to IPv4: IPv6 sockets report such addresses for IPv4 peers.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
