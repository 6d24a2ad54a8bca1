//! The records of a journal and their encoding.
//!
//! A record is the length of its body, a checksum (u32, little-endian) and the body. The checksum is the CRC-32 of all
//! lengths and bodies up to this record, which also detects missing, duplicated and reordered records. A body begins
//! with its head, an integer:
//!
//! | bits | meaning |
//! |------|------|
//! | 0-2 | the kind: one of the constants below |
//! | 3-8 | the slot of the peer, up to 62; 63 means that the slot follows the head as a separate integer |
//! | 9-  | microseconds since the previous record |
//!
//! The rest depends on the kind. Up to version 2 of the layout, the lowest byte of the digest of the state after an
//! arrival precedes it. Integers take 1 to 9 bytes (see `codec.rs`); the record of a nuggets key or a robots action
//! takes at most 15. Unlike peer numbers, slots stay small because they are reused.

use std::collections::BTreeMap;

use bytes::Bytes;
use crc32fast::Hasher;
use netcore::{Input, Link, Outcome, PeerId, Role, Time};
use serde::{Deserialize, Serialize};

use crate::codec;

/// In bytes. Only snapshots come near it.
pub(crate) const MAX_BODY: usize = 32 << 20;
/// In bytes.
pub const MAX_FACT: usize = 4 << 10;
/// The maximum number of facts that hold at the same time.
pub const MAX_FACTS: usize = 8_192;
/// Marks a snapshot record that contains a [`Fact`] instead of a state.
const TIME_OF_FACTS: Time = Time::from_nanos(u64::MAX);

pub(crate) const MESSAGE: u64 = 0;
pub(crate) const ELAPSED: u64 = 1;
pub(crate) const CONNECTED: u64 = 2;
pub(crate) const DISCONNECTED: u64 = 3;
pub(crate) const REFRESH: u64 = 4;
pub(crate) const STOP: u64 = 5;
/// A [`Note`], not an arrival.
pub(crate) const NOTE: u64 = 6;
pub(crate) const MALFORMED: u64 = 7;

/// The slot follows the head.
const FAR_SLOT: u64 = 63;
/// A longer gap would need a head of more than 5 bytes, so a [`Mark`] is inserted.
pub(crate) const LONGEST_GAP: u64 = 1 << 23;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub time: Time,
    /// Earlier versions recorded malformed messages as messages.
    pub input: Input<'static, Bytes>,
    /// In earlier versions: the lowest byte of the digest of the state after the input.
    pub check: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peer {
    pub peer: PeerId,
    pub role: Role,
    pub link: Link,
    /// As `1.2.3.4:5` or `[::1]:5`.
    pub address: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Note {
    Mark(Mark),
    Snapshot(Snapshot),
    /// The match was resumed after a restart.
    Resumed {
        /// Seconds since the Unix epoch.
        at: u64,
    },
    /// Stopped by its server; it can be resumed.
    Suspended {
        at: u64,
    },
    Over(Outcome),
    /// The last arrival made the server panic.
    Broken,
    /// Encoded by `put_note`.
    #[serde(skip)]
    Fact(Fact),
}

/// Information that does not follow from the arrivals, such as the occupant of a seat. The host writes and reads facts;
/// this crate only stores them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    pub key: String,
    /// Empty if the fact no longer holds.
    pub value: String,
}

/// The current facts by key.
pub type Facts = BTreeMap<String, String>;

impl Fact {
    /// Whether it is short enough and has no zero byte, which separates facts in a [`Head`](crate::Head).
    pub(crate) fn is_valid(&self) -> bool {
        let Self { key, value } = self;
        key.len() + value.len() <= MAX_FACT && !key.contains('\0') && !value.contains('\0')
    }

    pub fn apply_to(self, facts: &mut Facts) {
        if self.value.is_empty() {
            facts.remove(&self.key);
        } else if facts.len() < MAX_FACTS || facts.contains_key(&self.key) {
            facts.insert(self.key, self.value);
        }
    }
}

/// The progress of a room, for a replay to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    pub time: Time,
    pub arrivals: u64,
    pub digest: u64,
}

/// The state of a room. It is encoded while the match continues, so later arrivals may precede it in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub mark: Mark,
    /// The first record after the state.
    pub offset: u64,
    /// The checksum of the record before `offset`.
    pub sum: u32,
    pub next_peer: PeerId,
    pub peers: Vec<(u32, Peer)>,
    pub(crate) state: Vec<u8>,
}

impl Snapshot {
    pub const fn size(&self) -> usize {
        self.state.len()
    }
}

impl Peer {
    pub(crate) fn of<M>(input: &Input<'_, M>) -> Option<Self> {
        match input {
            Input::Connected { peer, role, link, address } => {
                Some(Self { peer: *peer, role: *role, link: *link, address: address.to_string() })
            }
            _ => None,
        }
    }
}

/// Returns `false` if `body` would exceed `max` bytes.
///
/// A fact is written as a snapshot with the time [`TIME_OF_FACTS`]. Versions without facts resume only from earlier
/// snapshots, so they skip it and can still continue the journal.
pub(crate) fn put_note(note: &Note, body: &mut Vec<u8>, max: usize) -> bool {
    let Note::Fact(Fact { key, value }) = note else { return codec::encode_within(note, body, max) };
    let mut state = vec![];
    codec::encode(&(key, value), &mut state);
    let mark = Mark { time: TIME_OF_FACTS, arrivals: 0, digest: 0 };
    let (offset, sum, next_peer, peers) = (0, 0, PeerId(0), vec![]);
    codec::encode_within(&Note::Snapshot(Snapshot { mark, offset, sum, next_peer, peers, state }), body, max)
}

pub(crate) fn take_note(body: &[u8]) -> Option<Note> {
    match codec::decode_all(body).ok()? {
        Note::Snapshot(Snapshot { mark, state, .. }) if mark.time == TIME_OF_FACTS => {
            let (key, value) = codec::decode_all(&state).ok()?;
            Some(Note::Fact(Fact { key, value }))
        }
        note => Some(note),
    }
}

pub(crate) const fn kind_of<M>(input: &Input<'_, M>) -> u64 {
    match input {
        Input::Connected { .. } => CONNECTED,
        Input::Message { .. } => MESSAGE,
        Input::Malformed { .. } => MALFORMED,
        Input::Refresh { .. } => REFRESH,
        Input::Disconnected { .. } => DISCONNECTED,
        Input::Elapsed => ELAPSED,
        Input::Stop(_) => STOP,
    }
}

pub(crate) fn put_input(input: &Input<'_, impl AsRef<[u8]>>, body: &mut Vec<u8>) {
    match input {
        Input::Message { message, .. } => body.extend_from_slice(message.as_ref()),
        Input::Connected { peer, role, link, address } => codec::encode(&(peer, role, link, address), body),
        Input::Malformed { why, .. } => codec::encode(why, body),
        Input::Disconnected { why, .. } => codec::encode(why, body),
        Input::Stop(leave) => codec::encode(leave, body),
        Input::Refresh { .. } | Input::Elapsed => {}
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) kind: u64,
    pub(crate) slot: u32,
    pub(crate) micros: u64,
}

impl RecordHead {
    pub(crate) fn put(self, body: &mut Vec<u8>) {
        let slot = u64::from(self.slot).min(FAR_SLOT);
        codec::encode(&(self.micros << 9 | slot << 3 | self.kind), body);
        if slot == FAR_SLOT {
            codec::encode(&self.slot, body);
        }
    }

    pub(crate) fn take(body: &mut &[u8]) -> Option<Self> {
        let head: u64 = take(body)?;
        let slot = match head >> 3 & FAR_SLOT {
            FAR_SLOT => take(body)?,
            slot => u32::try_from(slot).ok()?,
        };
        Some(Self { kind: head & 7, slot, micros: head >> 9 })
    }
}

pub(crate) fn take<T: serde::de::DeserializeOwned>(body: &mut &[u8]) -> Option<T> {
    let (value, length) = codec::decode(body)?;
    *body = body.get(length..)?;
    Some(value)
}

/// Appends a record to `out` and updates the running checksum `sum`.
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

/// Appends `records` to `out` with recomputed checksums.
pub(crate) fn copy(records: &[u8], sum: &mut u32, out: &mut Vec<u8>) {
    let mut rest = records;
    while let Some((front, body)) = lengths(rest) {
        put(&rest[front..front + body], sum, out);
        rest = &rest[front + body..];
    }
}

/// The lengths of everything before the body, and of the body; `None` if the record is invalid. Nine bytes of `front`
/// are always enough.
pub(crate) fn lengths(front: &[u8]) -> Option<(usize, usize)> {
    let (length, prefix) = codec::decode::<u64>(front)?;
    let length = usize::try_from(length).ok().filter(|length| (1..=MAX_BODY).contains(length))?;
    Some((prefix + 4, length))
}

/// Whether these are complete records after one with the checksum `sum`.
pub(crate) fn are_whole(records: &[u8], mut sum: u32) -> bool {
    let mut rest = records;
    while let Some((front, body)) = lengths(rest) {
        let Some(record) = rest.get(..front + body) else { return false };
        if !check(&record[..front], &record[front..], &mut sum) {
            return false;
        }
        rest = &rest[front + body..];
    }
    rest.is_empty()
}

/// `front` is everything before the body. Updates `sum` if the record is valid.
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

/// Returns `false` if it is too long.
pub(crate) fn encode_note(body: &mut Vec<u8>, note: &Note) -> bool {
    body.clear();
    RecordHead { kind: NOTE, slot: 0, micros: 0 }.put(body);
    put_note(note, body, MAX_BODY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_without_facts_read_a_fact_as_a_snapshot_that_they_never_use() {
        let note = Note::Fact(Fact { key: "seat A".into(), value: "Ann".into() });
        let mut body = vec![];
        assert!(put_note(&note, &mut body, MAX_BODY));
        assert_eq!(take_note(&body), Some(note));
        let Ok(Note::Snapshot(snapshot)) = codec::decode_all(&body) else { panic!("{body:?}") };
        // Versions without facts use only snapshots from at least a second before the end of the journal.
        assert!(snapshot.mark.time.plus(std::time::Duration::from_secs(1)) > Time::from_nanos(u64::MAX - 1));
        assert_eq!((snapshot.offset, snapshot.peers.len()), (0, 0));
        assert!(body.len() < 40, "{} bytes", body.len());
    }
}
