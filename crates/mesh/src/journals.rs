//! Journals of matches, so that another node can go on with them.

use bytes::Bytes;

use crate::{
    Answer, MeshError, Name,
    log::{Append, Appended, Bounds, Fence, Sequence},
};

/// Most bytes of a segment; the next piece must begin a new one.
pub const MAX_SEGMENT: u64 = 16 << 20;
/// Most pieces of a segment.
pub const MAX_PIECES: u32 = 100_000;
/// Segments of a journal that are kept, the newest ones.
pub const MAX_SEGMENTS: usize = 8;
/// How long a journal is kept to which nobody appends, in seconds: a week.
pub const JOURNALS_AGE_SECONDS: u64 = 7 * 24 * 60 * 60;

pub(crate) const BOUNDS: Bounds = Bounds {
    name: "journals",
    records: MAX_PIECES,
    bytes: MAX_SEGMENT,
    anchors: MAX_SEGMENTS,
    age_seconds: JOURNALS_AGE_SECONDS,
};

/// A piece of a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Whether it begins a segment.
    pub is_start: bool,
    /// The content.
    pub body: Bytes,
}

/// The journals of matches.
///
/// A journal is a chain of segments, and each begins with a state of the match. Its owner appends pieces under the fence of
/// its claim, one after another: each names the one before it. What is stored survives the loss of the node,
/// and of any minority of the brokers.
///
/// To take a match over, first [`open`](Self::open) its journal and then [`read`](Self::read) it. After that the former
/// owner appends nothing, so what was read is all that anybody was told.
pub trait Journals: Send + Sync {
    /// Raises the fence. From now on every append under an older one is refused. The answer is where to append, or the greater
    /// fence under which somebody else has opened it.
    fn open<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<Appended, MeshError>>;

    /// Appends a piece; an anchor begins a segment. An attempt that is repeated, since its answer was lost, is stored once.
    fn append<'a>(&'a self, journal: &'a Name, piece: &'a Append) -> Answer<'a, Result<Appended, MeshError>>;

    /// All pieces that are kept, from the start of a segment on, without gaps.
    fn read<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Vec<Piece>, MeshError>>;

    /// Removes a journal whose match is over and told; its fence stays for a week. The answer is `false` if somebody has opened it under a greater fence.
    fn remove<'a>(&'a self, journal: &'a Name, fence: Fence) -> Answer<'a, Result<bool, MeshError>>;

    /// Removes the pieces before this one, which begins a segment that is complete.
    fn trim<'a>(&'a self, journal: &'a Name, before: Sequence) -> Answer<'a, Result<(), MeshError>>;

    /// The names of journals with more than one record, in any order.
    fn names(&self) -> Answer<'_, Result<Vec<Name>, MeshError>>;

    /// The fence under which a journal was written or opened last.
    fn fence<'a>(&'a self, journal: &'a Name) -> Answer<'a, Result<Option<Fence>, MeshError>>;
}
