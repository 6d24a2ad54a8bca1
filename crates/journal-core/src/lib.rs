//! Records matches on disk. `docs/journal.md` describes the format and the guarantees.
//!
//! The setup and the arrivals of a room determine its match. A [`Journalled`] room writes both into a file before the
//! resulting outputs are sent. From the file, a match can be replayed ([`Replay`]), or resumed after its server was
//! killed ([`Resumable`]).
//!
//! - Writing: [`Writing`] creates journals, a [`Scribe`] writes any number of them with two threads, and a
//!   [`JournalHold`] holds back outputs until the [`SyncPolicy`] allows a host to send them.
//! - Reading: [`open`] opens a [`Journal`], and a [`Reader`] returns its records, independent of the game.
//! - Seeking: a [`Cursor`] follows a journal with a replay, and [`Checkpoints`] move it to any position.
//! - Copies: [`Copying`] receives a growing copy of a journal, and [`Copied`] turns it into a journal.
//! - A [`Disk`] stores the bytes: this machine, or a simulated disk with faults.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod codec;
mod copying;
mod disk;
mod head;
mod journal;
mod layout;
mod peers;
mod reader;
mod record;
mod replay;
mod resume;
mod retention;
mod room;
mod scribe;
mod seek;
mod segment;
mod sink;
mod source;
mod spool;
mod sync;

pub use copying::{Copied, CopyError, Copying};
pub use disk::{About, Disk, DiskFile, SharedFile, SystemDisk};
pub use head::{Head, HeadError};
pub use journal::{MAX_SIZE, Parts, Writing};
pub use layout::SegmentState;
pub use reader::{Bookmark, Entry, ReadError, Reader};
pub use record::{Arrival, Fact, Facts, MAX_FACT, MAX_FACTS, Mark, Note, Peer, Snapshot};
pub use replay::{Divergence, Replay, digest, encode_state};
pub use resume::{LastFrames, Resumable, ResumeError};
pub use retention::{Pruned, Retention, RetentionClass, StoredJournal, Surplus, find, prune, surplus};
pub use room::{JournalEnd, JournalFacts, JournalHold, JournalWatch, Journalled};
pub use scribe::{Clock, Scribe, Step};
pub use seek::{CheckpointLimits, Checkpoints, Cursor, Excerpt, SeekError};
pub use segment::EXTENSION;
pub use sink::{SYNC_INTERVAL, SyncPolicy};
pub use source::{Journal, Source, open};
pub use spool::SpoolName;

/// Sorted by name. A journal has the name of its first segment, even if only later ones are left.
pub fn list(directory: &std::path::Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    segment::list(&SystemDisk, directory)
}

/// Newest first. Only the newest file grows, so copies in this order contain everything that the journal contained when
/// the first copy began.
pub fn files(journal: &std::path::Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    segment::files_of(&SystemDisk, journal).map(|mut files| {
        files.reverse();
        files
    })
}

/// Returns `true` even if only later segments are left.
pub fn exists(path: &std::path::Path) -> bool {
    path.is_file() || segment::exists(&SystemDisk, path)
}
