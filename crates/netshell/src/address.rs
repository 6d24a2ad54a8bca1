//! The form in which addresses are shown.

use std::net::SocketAddr;

/// An address as it is shown to people and rooms: an IPv4 address as such, even if it arrived on an IPv6 socket.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
