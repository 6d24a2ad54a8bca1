//! Who is at the other end.

use core::fmt;

/// One peer of a server, from the moment it is connected until it is closed. No two peers have the same at one time, and
/// it is given again only when 2^32 others have been.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

/// What a peer may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Speaks the game's protocol and may take a seat.
    Player,
    /// Only looks on, and sees what its role may see; it is admitted by the shell, not by a message.
    Watcher,
}

/// How a peer is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Datagrams: messages may be lost, doubled or overtake each other, and nobody tells when the peer is gone.
    Datagram,
    /// A stream of text messages.
    TextStream,
    /// A stream of binary messages.
    BinaryStream,
    /// A browser.
    Web,
}

/// Why a peer is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gone {
    /// It closed its end in good order.
    Left,
    /// The connection broke, or its port refuses datagrams.
    Broken,
    /// It did not read what was sent to it.
    Lagging,
}

/// How messages are marked off from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// The buffer holds exactly one message; missing and trailing bytes are both wrong.
    Datagram,
    /// The buffer holds the front of a stream, cut anywhere.
    Stream,
}
