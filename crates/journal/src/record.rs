//! What a journal is made of, and how each piece of it looks as bytes.
//!
//! A record is the length of its body, a checksum (u32, little-endian) and the body. The checksum is the CRC-32 of all lengths and
//! bodies from the first record to this one, so a record that is missing, doubled or out of place is noticed as well as a damaged
//! one. A body begins with its head, an integer:
//!
//! | bits | what |
//! |------|------|
//! | 0-2 | the kind: one of the constants below |
//! | 3-8 | the slot of the peer, up to 62; 63 says that the slot follows the head as an integer of its own |
//! | 9-  | microseconds since the record before |
//!
//! Arrivals go on with one byte of the digest that the room had afterwards, so that a replay notices at which arrival it
//! comes to another state. What follows depends on the kind. Integers have 1 to 9 bytes (see `codec.rs`); a key of nuggets is
//! 16 bytes in all, an action of robots at most that.
//!
//! Peers have numbers that are never given twice and grow. A slot is short because it is used again when its peer is gone;
//! `CONNECTED` says which peer has it from then on.

use bytes::Bytes;
use crc32fast::Hasher;
use netcore::{Gone, Leave, Link, Outcome, PeerId, Role, Time};
use serde::{Deserialize, Serialize};

use crate::codec;

/// Bytes of a body at most; a snapshot is the only one that comes near it.
pub(crate) const MAX_BODY: usize = 32 << 20;

pub(crate) const BYTES: u64 = 0;
pub(crate) const ELAPSED: u64 = 1;
pub(crate) const CONNECTED: u64 = 2;
pub(crate) const DISCONNECTED: u64 = 3;
pub(crate) const REFRESH: u64 = 4;
pub(crate) const STOP: u64 = 5;
/// Not an arrival: a [`Note`].
pub(crate) const NOTE: u64 = 6;

/// Says that the slot follows the head.
const FAR_SLOT: u64 = 63;
/// A longer time between two records would make the head longer than 5 bytes, so a [`Mark`] comes in between.
pub(crate) const LONGEST_GAP: u64 = 1 << 23;

/// Something that arrived at the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub time: Time,
    /// What.
    pub what: What,
    /// The lowest byte of the digest that the room had afterwards.
    pub check: u8,
}

/// What arrived; the same as [`RoomInput`](netcore::RoomInput), with the bytes that the room took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A peer was there.
    Connected(Peer),
    /// A message, well-formed or not.
    Bytes {
        /// Its sender.
        peer: PeerId,
        /// What the room took, or threw away.
        bytes: Bytes,
    },
    /// The peer had lost track.
    Refresh(PeerId),
    /// The peer was gone.
    Disconnected {
        /// Who.
        peer: PeerId,
        /// Why.
        why: Gone,
    },
    /// The room's deadline had come.
    Elapsed,
    /// The server was told to take leave.
    Stop(Leave),
}

impl What {
    /// Whom it is about.
    pub const fn peer(&self) -> Option<PeerId> {
        match self {
            Self::Connected(Peer { peer, .. })
            | Self::Bytes { peer, .. }
            | Self::Refresh(peer)
            | Self::Disconnected { peer, .. } => Some(*peer),
            Self::Elapsed | Self::Stop(_) => None,
        }
    }
}

/// A peer of the room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    /// Its number.
    pub peer: PeerId,
    /// What it may do.
    pub role: Role,
    /// How it is connected.
    pub link: Link,
    /// Its address as `1.2.3.4:5` or `[::1]:5`.
    pub address: String,
}

/// What stands between arrivals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    /// What the room had come to.
    Mark(Mark),
    /// The state of the room at some time before.
    Snapshot(Snapshot),
    /// The server was started again and went on from here.
    Resumed {
        /// When, in seconds since 1970 began (UTC).
        at: u64,
    },
    /// The server was stopped, and can be resumed here.
    Suspended {
        /// When, in seconds since 1970 began (UTC).
        at: u64,
    },
    /// The room had come to its end.
    Over(Outcome),
    /// The last arrival broke an invariant of the server, which ended there.
    Broken,
}

/// What a room had come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The room's time.
    pub time: Time,
    /// How many arrivals there were.
    pub arrivals: u64,
    /// The room's digest.
    pub digest: u64,
}

/// The state of a room after some arrival. It stands behind that arrival, but others may be in between: it is written while the
/// match goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// When it was taken.
    pub mark: Mark,
    /// Where the first record is that it does not know of.
    pub offset: u64,
    /// The checksum of the record before that.
    pub sum: u32,
    /// The number of the next peer.
    pub next_peer: PeerId,
    /// Who was there, and in which slot.
    pub peers: Vec<(u32, Peer)>,
    /// The state itself.
    pub(crate) state: Vec<u8>,
}

impl What {
    /// The kind of its record.
    pub(crate) const fn kind(&self) -> u64 {
        match self {
            Self::Connected(_) => CONNECTED,
            Self::Bytes { .. } => BYTES,
            Self::Refresh(_) => REFRESH,
            Self::Disconnected { .. } => DISCONNECTED,
            Self::Elapsed => ELAPSED,
            Self::Stop(_) => STOP,
        }
    }

    /// Appends what stands behind the head and the byte of the digest.
    pub(crate) fn put(&self, body: &mut Vec<u8>) {
        match self {
            Self::Bytes { bytes, .. } => body.extend_from_slice(bytes),
            Self::Connected(peer) => codec::encode(peer, body),
            Self::Disconnected { why, .. } => codec::encode(why, body),
            Self::Stop(leave) => codec::encode(leave, body),
            Self::Refresh(_) | Self::Elapsed => {}
        }
    }
}

/// A body's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) kind: u64,
    pub(crate) slot: u32,
    pub(crate) micros: u64,
}

impl Head {
    pub(crate) fn put(self, body: &mut Vec<u8>) {
        let slot = u64::from(self.slot).min(FAR_SLOT);
        codec::encode(&(self.micros << 9 | slot << 3 | self.kind), body);
        if slot == FAR_SLOT {
            codec::encode(&self.slot, body);
        }
    }

    /// Reads a head off the front of `body`.
    pub(crate) fn take(body: &mut &[u8]) -> Option<Self> {
        let head: u64 = take(body)?;
        let slot = match head >> 3 & FAR_SLOT {
            FAR_SLOT => take(body)?,
            slot => u32::try_from(slot).ok()?,
        };
        Some(Self { kind: head & 7, slot, micros: head >> 9 })
    }
}

/// Reads a value off the front of `body`.
pub(crate) fn take<T: serde::de::DeserializeOwned>(body: &mut &[u8]) -> Option<T> {
    let (value, length) = codec::decode(body)?;
    *body = body.get(length..)?;
    Some(value)
}

/// Appends a record with this body to `out`; `sum` is the checksum of the record before, and of this one afterwards.
pub(crate) fn put(body: &[u8], sum: &mut u32, out: &mut Vec<u8>) {
    let start = out.len();
    codec::encode(&(body.len() as u64), out);
    let mut hasher = Hasher::new_with_initial(*sum);
    hasher.update(&out[start..]);
    hasher.update(body);
    *sum = hasher.finalize();
    out.extend_from_slice(&sum.to_le_bytes());
    out.extend_from_slice(body);
}

/// The length of the front of a record, without its body, and that of the body; `None` if `front` is not the front of a record
/// that a journal can have. Nine bytes are enough to know.
pub(crate) fn lengths(front: &[u8]) -> Option<(usize, usize)> {
    let (length, prefix) = codec::decode::<u64>(front)?;
    let length = usize::try_from(length).ok().filter(|length| (1..=MAX_BODY).contains(length))?;
    Some((prefix + 4, length))
}

/// Whether a record is whole: `front` is all in front of its body. Moves `sum` on if it is.
pub(crate) fn check(front: &[u8], body: &[u8], sum: &mut u32) -> bool {
    let Some((length, stored)) = front.split_last_chunk::<4>() else { return false };
    let mut hasher = Hasher::new_with_initial(*sum);
    hasher.update(length);
    hasher.update(body);
    let found = hasher.finalize();
    let whole = found == u32::from_le_bytes(*stored);
    if whole {
        *sum = found;
    }
    whole
}
