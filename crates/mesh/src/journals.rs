//! Journals that let another node resume a match.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    Answer, Directory, ErrorKind, Key, MeshError, Name, Value, Written, fnv,
    log::{Append, Appended, Bounds, Fence, Sequence},
};

/// The maximum size of a segment in bytes; the next piece must start a new one.
pub const MAX_SEGMENT: u64 = 16 << 20;
pub const MAX_PIECES: u32 = 100_000;
/// Segments retained per journal, newest first.
pub const MAX_SEGMENTS: usize = 8;
/// The number of streams of a new arcade.
pub const DEFAULT_STREAMS: u32 = 16;
pub const MAX_STREAMS: u32 = 64;
/// The lifetime of a journal without appends, in seconds: one week.
pub const JOURNALS_AGE_SECONDS: u64 = 7 * 24 * 60 * 60;

pub(crate) const BOUNDS: Bounds = Bounds {
    name: "journals",
    records: MAX_PIECES,
    bytes: MAX_SEGMENT,
    anchors: MAX_SEGMENTS,
    age_seconds: JOURNALS_AGE_SECONDS,
};

/// The entry with the number of streams.
const STREAMS: &str = "journal-streams";

/// Which streams contain the journal of a room. It stays there until the room closes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Placement {
    /// The one stream that nodes of earlier versions use.
    #[default]
    Single,
    /// One of several streams, by a hash of the name of the room.
    Hashed,
}

/// The journals in each [`Placement`].
#[derive(Clone)]
pub struct JournalStreams {
    pub single: Arc<dyn Journals>,
    pub hashed: Arc<dyn Journals>,
}

impl JournalStreams {
    pub fn at(&self, placement: Placement) -> &Arc<dyn Journals> {
        match placement {
            Placement::Single => &self.single,
            Placement::Hashed => &self.hashed,
        }
    }
}

/// The index of the stream of a journal. Equal for all versions: other nodes must find the journal.
#[cfg_attr(not(feature = "nats"), allow(dead_code, reason = "only a broker has streams"))]
pub(crate) fn stream_of(journal: &Name, streams: usize) -> usize {
    let hash = fnv(journal.as_str().bytes());
    usize::try_from(hash % streams as u64).unwrap_or_default()
}

/// The number of streams of the arcade. The first node sets it to `wanted`, by default [`DEFAULT_STREAMS`].
///
/// # Errors
/// If the directory is unavailable, or the arcade has another number than `wanted`.
pub async fn agree_on_streams(directory: &dyn Directory, wanted: Option<u32>) -> Result<u32, MeshError> {
    let setup = |why: String, advice: &str| {
        MeshError::new(ErrorKind::Setup, "agree on the streams of copies", "the directory", why, advice)
    };
    let name = STREAMS.parse::<Name>().map_err(|error| setup(error.to_string(), "report this bug"))?;
    let key = Key::Lasting(name);
    let mut there = directory.entry(&key).await?;
    if there.is_none() {
        let number = wanted.unwrap_or(DEFAULT_STREAMS);
        match directory.write(&key, Some(&Value::Common(number.to_string())), None).await? {
            Written::Stored(_) => return Ok(number),
            Written::Conflict(entry) => there = entry,
        }
    }
    let number = there.and_then(|entry| match entry.value {
        Value::Common(text) => text.parse().ok().filter(|number| (1..=MAX_STREAMS).contains(number)),
        _ => None,
    });
    let number = number.ok_or_else(|| {
        setup("a later version of arcade wrote their number, or it is damaged".to_owned(), "upgrade this node")
    })?;
    match wanted.filter(|wanted| *wanted != number) {
        None => Ok(number),
        Some(wanted) => Err(setup(
            format!("this node has --journal-streams {wanted}, and the arcade was created with {number}"),
            "start the node without the option",
        )),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_of_a_journal_is_the_same_in_all_versions() {
        let streams =
            |count| ["nuggets-1", "nuggets-2", "robots-1"].map(|name| stream_of(&name.parse().unwrap(), count));
        assert_eq!((streams(1), streams(16)), ([0; 3], [15, 6, 9]));
        let mut counts = [0; 16];
        for number in 0..1_600 {
            counts[stream_of(&format!("nuggets-{number}").parse().unwrap(), 16)] += 1;
        }
        assert!(counts.iter().all(|count| (50..200).contains(count)), "{counts:?}");
    }
}
