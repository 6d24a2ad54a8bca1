//! Journals that let another node resume a match.

use bytes::Bytes;

use crate::{
    Answer, MeshError, Name,
    log::{Append, Appended, Bounds, Fence, Sequence},
};

/// The maximum size of a segment in bytes; the next piece must start a new one.
pub const MAX_SEGMENT: u64 = 16 << 20;
pub const MAX_PIECES: u32 = 100_000;
/// Segments retained per journal, newest first.
pub const MAX_SEGMENTS: usize = 8;
/// The lifetime of a journal without appends, in seconds: one week.
pub const JOURNALS_AGE_SECONDS: u64 = 7 * 24 * 60 * 60;

pub(crate) const BOUNDS: Bounds = Bounds {
    name: "journals",
    records: MAX_PIECES,
    bytes: MAX_SEGMENT,
    anchors: MAX_SEGMENTS,
    age_seconds: JOURNALS_AGE_SECONDS,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub is_start: bool,
    pub body: Bytes,
}

/// The journals of matches: chains of segments, each of which starts with a state of the match.
///
/// The owner appends pieces under the fence of its claim, and each piece names its predecessor. Stored pieces survive
/// the loss of the node and of any minority of the brokers.
///
/// To take a match over, first [`open`](Self::open) its journal, which excludes the former owner, and then
/// [`read`](Self::read) it: the pieces contain everything that was published.
pub trait Journals: Send + Sync {
    /// Rejects appends with an older fence from now on. Returns the position to append to, or the greater fence of a
    /// later owner.
    fn open<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<Appended, MeshError>>;

    /// An anchor starts a segment. A repeated attempt is stored once.
    fn append<'a>(&'a self, journal: &'a Name, piece: &'a Append) -> Answer<'a, Result<Appended, MeshError>>;

    /// All retained pieces without gaps, from the start of a segment.
    fn read<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Vec<Piece>, MeshError>>;

    /// Removes the journal of a published result; the fence remains for a week. Returns `false` if it was opened under
    /// a greater fence.
    fn remove<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<bool, MeshError>>;

    /// Removes the pieces before this start of a complete segment.
    fn trim<'a>(&'a self, journal: &'a Name, before: Sequence) -> Answer<'a, Result<(), MeshError>>;

    /// The journals with more than one record, in any order.
    fn names(&self) -> Answer<'_, Result<Vec<Name>, MeshError>>;

    fn fence<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Option<Fence>, MeshError>>;
}
