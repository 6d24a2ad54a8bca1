//! The other end of a connection.

use core::{fmt, net::SocketAddr};
use serde::{Deserialize, Serialize};

/// A peer of a room, from its connection until it is closed. Rooms never reuse a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PeerId(pub u64);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

/// The permissions of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Role {
    /// Speaks the game's protocol and may take a seat.
    Player,
    /// Only watches. Assigned by the shell; messages cannot request it.
    Watcher,
}

/// The kind of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// Datagrams may be lost, duplicated, reordered or forged, and disconnections are not reported.
    Datagram,
    /// An ordered stream of bytes without message boundaries.
    Stream,
    /// Whole messages in order from an address that cannot be forged: a WebSocket.
    Message,
}

impl Link {
    /// How messages are delimited on this link.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Datagram | Self::Message => Framing::Whole,
            Self::Stream => Framing::Stream,
        }
    }
}

/// Why a peer is disconnected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DisconnectReason {
    /// It closed its end in an orderly way.
    Left,
    /// The connection broke, or its port refuses datagrams.
    Broken,
    /// Its queue exceeded the limit because it did not read.
    Lagging,
    /// The connection did not survive a restart of the killed server. The client may reconnect.
    Interrupted,
}

/// How messages are delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The buffer is exactly one message. Missing and trailing bytes are errors.
    Whole,
    /// The buffer is the start of a stream, cut anywhere.
    Stream,
}

/// The unit among which limited resources are divided, a machine or a household: an IPv4 address, or an IPv6 network of
/// 64 bits.
///
/// ```
/// use netcore::HostId;
///
/// let host = |text: &str| HostId::of(text);
/// assert_eq!(host("10.0.0.1:5"), host("[::ffff:10.0.0.1]:7"));
/// assert_eq!(host("[2001:db8::1]:5"), host("[2001:db8::2]:5"));
/// assert_ne!(host("10.0.0.1:5"), host("10.0.0.2:5"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum HostId {
    /// An IPv4 address, even if written as an IPv6 address.
    V4([u8; 4]),
    /// The upper 64 bits of an IPv6 address.
    V6Network(u64),
    /// Any other address. All of these are one host.
    Other,
}

impl HostId {
    /// The host of an address, in the format of [`Input::Connected`](crate::Input::Connected).
    pub fn of(address: &str) -> Self {
        address.parse().map_or(Self::Other, |address: SocketAddr| address.into())
    }
}

impl From<SocketAddr> for HostId {
    fn from(address: SocketAddr) -> Self {
        match address.ip().to_canonical() {
            core::net::IpAddr::V4(ip) => Self::V4(ip.octets()),
            core::net::IpAddr::V6(ip) => Self::V6Network(u64::try_from(ip.to_bits() >> 64).unwrap_or_default()),
        }
    }
}
