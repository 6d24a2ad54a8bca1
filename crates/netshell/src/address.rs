use std::net::SocketAddr;

/// An IPv4 address is shown as such, even if it arrived on an IPv6 socket.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
