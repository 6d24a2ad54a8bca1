//! The layout of a segment, which is one file of a journal.
//!
//! ```text
//! offset  bytes
//!      0      8  MAGIC
//!      8      2  version of the layout, little-endian
//!     64     16  place in the journal
//!    512     33  status, first slot, and its mark
//!   1024     33  status, second slot, and its mark
//!   1536         records, concatenated
//! ```
//!
//! All bytes in between are zero. A journal is a chain of segments. The *position* of a record is its offset if the journal
//! were one file: a segment after the first has the same records as the end of the segment before it, at the same
//! positions, and then continues. Its place is its number (u32, from 1), the position of its first record after the head
//! (u64) and a checksum of these (u32). Files of version 1 have no place: each is the only segment, and its positions are
//! its offsets.
//!
//! A slot has a sequence number (u64), the [`SegmentState`] (u8), the offset up to which the
//! file is known to be on disk (u64), the end of the records (u64, 0 while the segment is open) and a checksum of these
//! (u32), all little-endian. The valid slot with the larger sequence number counts. The slots are written alternately
//! and are in different sectors, so that a power cut during a write leaves the other one intact.
//!
//! A *mark* follows each slot: a checksum (u32) of the slot without its checksum, and of [`DIRECT`]. It states that the
//! server that wrote this status keeps all records in the file. Servers without the mark kept the latest records in a
//! spool (`spool.rs`). They ignore the mark, and invalidate it when they write the slot.

use crc32fast::{Hasher, hash};

/// The first byte is not text; the last one reveals converted line endings.
pub(crate) const MAGIC: [u8; 8] = *b"\x8AARCADE\n";
/// Covers the record format too. Version 1 has no places, and records malformed messages as messages. Up to version 2,
/// an arrival has a byte of the digest of the state after it.
pub(crate) const VERSION: u16 = 3;
const OLDEST: u16 = 1;
pub(crate) const RECORDS: u64 = 1_536;
const RECORDS_AT: usize = 1_536;
const PLACE_FROM: usize = 64;
const PLACE: usize = 16;
const SLOTS: [usize; 2] = [512, 1_024];
const SLOT: usize = 29;
const MARKED_SLOT: usize = SLOT + 4;
/// Part of the checksum that makes up a mark.
const DIRECT: &[u8] = b"direct";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentState {
    /// Being written, or left by a killed server.
    Open,
    /// Closed by its server, thus complete.
    Closed,
    /// Given up while the match continued, because the disk was full or failed.
    Cut,
    /// Continued in the next segment.
    Continued,
}

impl SegmentState {
    const ALL: [Self; 4] = [Self::Open, Self::Closed, Self::Cut, Self::Continued];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentPosition {
    /// Counted from 1.
    pub(crate) number: u32,
    /// The position of the first record after the head; `None` in the first segment, whose positions are its offsets.
    pub(crate) position: Option<u64>,
}

impl SegmentPosition {
    pub(crate) const FIRST: Self = Self { number: 1, position: None };

    pub(crate) fn to_bytes(self) -> [u8; PLACE] {
        let mut place = [0; PLACE];
        place[..4].copy_from_slice(&self.number.to_le_bytes());
        place[4..12].copy_from_slice(&self.position.unwrap_or(0).to_le_bytes());
        let sum = hash(&place[..12]);
        place[12..].copy_from_slice(&sum.to_le_bytes());
        place
    }

    fn parse(place: &[u8]) -> Option<Self> {
        let (fields, sum) = place.split_last_chunk::<4>()?;
        let number = u32::from_le_bytes(*fields.first_chunk()?);
        let position = u64::from_le_bytes(*fields.get(4..)?.first_chunk()?);
        let place = Self { number, position: (number > 1).then_some(position) };
        (number > 0 && hash(fields) == u32::from_le_bytes(*sum)).then_some(place)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    pub(crate) sequence: u64,
    pub(crate) state: SegmentState,
    pub(crate) synced: u64,
    pub(crate) end: u64,
}

impl Status {
    pub(crate) const fn offset(&self) -> u64 {
        SLOTS[(self.sequence % 2) as usize] as u64
    }

    pub(crate) fn to_bytes(self) -> [u8; MARKED_SLOT] {
        let mut slot = [0; MARKED_SLOT];
        slot[..8].copy_from_slice(&self.sequence.to_le_bytes());
        slot[8] = self.state as u8;
        slot[9..17].copy_from_slice(&self.synced.to_le_bytes());
        slot[17..25].copy_from_slice(&self.end.to_le_bytes());
        let sum = hash(&slot[..25]);
        slot[25..SLOT].copy_from_slice(&sum.to_le_bytes());
        // Omits the checksum of the slot: the CRC of bytes and their CRC is constant, so all marks would be equal.
        let mut mark = Hasher::new();
        mark.update(&slot[..25]);
        mark.update(DIRECT);
        slot[SLOT..].copy_from_slice(&mark.finalize().to_le_bytes());
        slot
    }

    fn parse(slot: &[u8]) -> Option<Self> {
        let (fields, sum) = slot.split_last_chunk::<4>()?;
        let number = |at: usize| fields.get(at..)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        let state = *SegmentState::ALL.get(usize::from(*fields.get(8)?))?;
        let status = Self { sequence: number(0)?, state, synced: number(9)?, end: number(17)? };
        (hash(fields) == u32::from_le_bytes(*sum)).then_some(status)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontError {
    NotAJournal,
    Version(u16),
}

pub(crate) fn front(place: SegmentPosition, status: Status) -> Vec<u8> {
    let mut front = vec![0; RECORDS_AT];
    front[..8].copy_from_slice(&MAGIC);
    front[8..10].copy_from_slice(&VERSION.to_le_bytes());
    front[PLACE_FROM..PLACE_FROM + PLACE].copy_from_slice(&place.to_bytes());
    let at = SLOTS[(status.sequence % 2) as usize];
    front[at..at + MARKED_SLOT].copy_from_slice(&status.to_bytes());
    front
}

/// If both slots are damaged, the segment counts as open, with no part known to be on disk.
pub(crate) fn parse_front(front: &[u8]) -> Result<(u16, SegmentPosition, Status), FrontError> {
    let magic = front.get(..8).is_some_and(|bytes| bytes == MAGIC);
    let version = front.get(8..10).and_then(|bytes| bytes.first_chunk()).map(|bytes| u16::from_le_bytes(*bytes));
    let Some(version) = version.filter(|_| magic) else { return Err(FrontError::NotAJournal) };
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(FrontError::Version(version));
    }
    if front.len() < RECORDS_AT {
        return Err(FrontError::NotAJournal);
    }
    let place = match version {
        OLDEST => SegmentPosition::FIRST,
        _ => SegmentPosition::parse(&front[PLACE_FROM..PLACE_FROM + PLACE]).ok_or(FrontError::NotAJournal)?,
    };
    let slots = SLOTS.iter().filter_map(|&at| Status::parse(&front[at..at + SLOT]));
    let unknown = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
    Ok((version, place, slots.max_by_key(|status| status.sequence).unwrap_or(unknown)))
}

/// Whether the status has a valid mark.
pub(crate) fn is_direct(front: &[u8], status: Status) -> bool {
    let at = SLOTS[(status.sequence % 2) as usize];
    front.get(at..at + MARKED_SLOT) == Some(&status.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_valid_slot_counts() {
        let first = Status { sequence: 4, state: SegmentState::Open, synced: 1_536, end: 0 };
        let second = Status { sequence: 5, state: SegmentState::Closed, synced: 9_999, end: 9_999 };
        let place = SegmentPosition { number: 3, position: Some(70_000) };
        let mut bytes = front(place, first);
        assert_eq!(parse_front(&bytes), Ok((VERSION, place, first)));
        let at = usize::try_from(second.offset()).unwrap();
        bytes[at..at + MARKED_SLOT].copy_from_slice(&second.to_bytes());
        assert_eq!(parse_front(&bytes), Ok((VERSION, place, second)));
        for byte in at..at + SLOT {
            let mut torn = bytes.clone();
            torn[byte] ^= 0x10;
            assert_eq!(parse_front(&torn), Ok((VERSION, place, first)), "byte {byte}");
        }
    }

    #[test]
    fn mark_holds_only_for_the_status_that_it_was_written_with() {
        let status = Status { sequence: 4, state: SegmentState::Open, synced: 1_536, end: 0 };
        let mut bytes = front(SegmentPosition::FIRST, status);
        assert!(is_direct(&bytes, status));
        // A server of an earlier version writes only the slot.
        let later = Status { sequence: 6, synced: 2_000, ..status };
        bytes[512..512 + SLOT].copy_from_slice(&later.to_bytes()[..SLOT]);
        assert_eq!(parse_front(&bytes), Ok((VERSION, SegmentPosition::FIRST, later)));
        assert!(!is_direct(&bytes, later));
        assert!(!is_direct(&bytes[..100], later));
    }

    #[test]
    fn other_files_and_other_versions_are_distinguished() {
        let bytes = front(SegmentPosition::FIRST, Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 });
        assert_eq!(parse_front(&bytes[..RECORDS_AT - 1]), Err(FrontError::NotAJournal));
        assert_eq!(parse_front(b""), Err(FrontError::NotAJournal));
        let mut newer = bytes.clone();
        newer[8] = 7;
        assert_eq!(parse_front(&newer), Err(FrontError::Version(7)));
        assert_eq!(parse_front(&newer[..10]), Err(FrontError::Version(7)));
        let mut older = bytes.clone();
        older[8] = 1;
        older[PLACE_FROM..PLACE_FROM + PLACE].fill(0);
        assert_eq!(parse_front(&older).map(|(version, place, _)| (version, place)), Ok((1, SegmentPosition::FIRST)));
        let mut elsewhere = bytes.clone();
        elsewhere[PLACE_FROM] ^= 2;
        assert_eq!(parse_front(&elsewhere), Err(FrontError::NotAJournal), "its place is not known");
        let mut other = bytes;
        other[0] = b'P';
        assert_eq!(parse_front(&other), Err(FrontError::NotAJournal));
    }
}
