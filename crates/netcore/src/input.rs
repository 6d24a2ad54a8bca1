//! The inputs of a server.

use alloc::borrow::Cow;
use serde::{Deserialize, Serialize};

use crate::{DecodeError, DisconnectReason, Link, PeerId, Role};

/// An input of a server: everything that can wake it.
///
/// `M` is a message: decoded for an [`Engine`](crate::Engine), the bytes of exactly one message for a
/// [`Room`](crate::Room), and owned bytes in a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input<'a, M> {
    /// A peer connected. Its messages follow.
    Connected {
        /// A number that was never used before.
        peer: PeerId,
        /// Its permissions.
        role: Role,
        /// The kind of its connection.
        link: Link,
        /// Its address as `1.2.3.4:5` or `[::1]:5`.
        address: Cow<'a, str>,
    },
    /// A message from a peer.
    Message {
        /// Its sender.
        peer: PeerId,
        /// The message.
        message: M,
    },
    /// Bytes that are not a message. On a stream, the peer sends no further input.
    Malformed {
        /// Their sender.
        peer: PeerId,
        /// The error.
        why: DecodeError,
    },
    /// The peer may have lost its state, because it reconnected or the server was resumed. The engine must send the
    /// full state that the peer may see.
    Refresh {
        /// The peer.
        peer: PeerId,
    },
    /// A peer disconnected. If it [`Left`](DisconnectReason::Left), the engine can still send to it, and must close it.
    Disconnected {
        /// The peer.
        peer: PeerId,
        /// The reason.
        why: DisconnectReason,
    },
    /// The deadline of [`Engine::deadline`](crate::Engine::deadline) has passed.
    Elapsed,
    /// The server shuts down. [`Leave`] determines whether players are notified.
    Stop(Leave),
}

/// How a server shuts down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leave {
    /// The game is over, and all players are notified.
    Over,
    /// The server will be resumed with the same state: players are not notified, and peers not closed.
    Resumable,
}

impl<'a, M> Input<'a, M> {
    /// The peer concerned, if any.
    pub const fn peer(&self) -> Option<PeerId> {
        match self {
            Self::Connected { peer, .. }
            | Self::Message { peer, .. }
            | Self::Malformed { peer, .. }
            | Self::Refresh { peer }
            | Self::Disconnected { peer, .. } => Some(*peer),
            Self::Elapsed | Self::Stop(_) => None,
        }
    }

    /// The same input with another message.
    pub fn map<N>(self, message: impl FnOnce(M) -> N) -> Input<'a, N> {
        match self {
            Self::Connected { peer, role, link, address } => Input::Connected { peer, role, link, address },
            Self::Message { peer, message: whole } => Input::Message { peer, message: message(whole) },
            Self::Malformed { peer, why } => Input::Malformed { peer, why },
            Self::Refresh { peer } => Input::Refresh { peer },
            Self::Disconnected { peer, why } => Input::Disconnected { peer, why },
            Self::Elapsed => Input::Elapsed,
            Self::Stop(leave) => Input::Stop(leave),
        }
    }
}

impl<M: AsRef<[u8]>> Input<'_, M> {
    /// The same input with a borrowed message, for a room.
    pub fn borrowed(&self) -> Input<'_, &[u8]> {
        match self {
            Self::Connected { peer, role, link, address } => {
                Input::Connected { peer: *peer, role: *role, link: *link, address: Cow::Borrowed(address) }
            }
            Self::Message { peer, message } => Input::Message { peer: *peer, message: message.as_ref() },
            Self::Malformed { peer, why } => Input::Malformed { peer: *peer, why: why.clone() },
            Self::Refresh { peer } => Input::Refresh { peer: *peer },
            Self::Disconnected { peer, why } => Input::Disconnected { peer: *peer, why: *why },
            Self::Elapsed => Input::Elapsed,
            Self::Stop(leave) => Input::Stop(*leave),
        }
    }
}
