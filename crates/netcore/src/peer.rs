//! Who is at the other end.

use core::{fmt, net::SocketAddr};
use serde::{Deserialize, Serialize};

/// One peer of a room, from the moment it is connected until it is closed. A room never gives a number twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PeerId(pub u64);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

/// What a peer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Speaks the game's protocol and may take a seat.
    Player,
    /// Only looks on, and sees what its role may see; it is admitted by the shell, not by a message.
    Watcher,
}

/// How a peer is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// Datagrams: messages may be lost, doubled or overtake each other, addresses may be forged, and nobody tells when
    /// the peer is gone.
    Datagram,
    /// A stream of bytes in order, cut anywhere.
    Stream,
    /// Whole messages in order, one a frame, from an address that cannot be forged: a WebSocket.
    Message,
}

impl Link {
    /// How messages are marked off from each other on this link.
    pub const fn framing(self) -> Framing {
        match self {
            Self::Datagram | Self::Message => Framing::Whole,
            Self::Stream => Framing::Stream,
        }
    }
}

/// Why a peer is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gone {
    /// It closed its end in good order.
    Left,
    /// The connection broke, or its port refuses datagrams.
    Broken,
    /// It did not read what was sent to it.
    Lagging,
    /// The server itself was away: it was killed and goes on, and its connections did not survive that. Whoever it was may
    /// come back over a new one.
    Interrupted,
}

/// How messages are marked off from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The buffer holds exactly one message; missing and trailing bytes are both wrong.
    Whole,
    /// The buffer holds the front of a stream, cut anywhere.
    Stream,
}

/// A machine or a household: an IPv4 address, or an IPv6 network of 64 bits. What is limited is shared out per host, so
/// that one cannot take what is there for all.
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
    /// An IPv4 address, or the IPv6 spelling of one.
    V4([u8; 4]),
    /// The upper 64 bits of an IPv6 address.
    V6Network(u64),
    /// An address that is not one of the internet's. All of them count as one host.
    Other,
}

impl HostId {
    /// The host of an address as [`Input::Connected`](crate::Input::Connected) spells it.
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
