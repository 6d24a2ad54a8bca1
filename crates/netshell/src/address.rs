use std::net::SocketAddr;

/// Converts an IPv4-mapped IPv6 address, which IPv6 sockets report for IPv4 peers, to IPv4.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
