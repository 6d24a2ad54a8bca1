//! Records matches on disk.
//!
//! A room is a deterministic state machine, so its setup and its arrivals in order determine a match. A [`Journalled`]
//! room writes these into a file before the resulting outputs are sent. From that file a match can be replayed
//! ([`Replay`]), or resumed after its server was killed ([`Resumable`]).
//!
//! - [`Writing`] creates journals and holds their options. A [`Scribe`] writes any number of them with two threads.
//! - [`JournalHold`] makes a host hold outputs back until they may be sent, as the [`SyncPolicy`] requires.
//! - [`Reader`] reads a journal record by record ([`Entry`]), independent of the game.
//! - [`Cursor`] is a replay that follows a journal, and [`Checkpoints`] move it to any position.
//! - [`Excerpt`] writes a part of a match into a new journal.
//! - [`open`] opens a [`Journal`] for reading, and [`list`] finds those in a directory.
//! - [`prune`] removes journals that exceed limits on their age, number and size.
//! - [`Copying`] receives a copy of a journal as it grows, and [`Copied`] turns the copy into a journal.
//! - [`Disk`] stores the bytes: files of this machine, or a simulated disk with faults.
//!
//! `docs/journal.md` describes the format and the guarantees.

mod codec;
mod copying;
mod disk;
mod excerpt;
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
mod sync_policy;
mod system_disk;

pub use copying::{Copied, CopyError, Copying};
pub use disk::{About, Disk, DiskFile, SharedFile};
pub use excerpt::Excerpt;
pub use head::{Head, HeadError};
pub use journal::{MAX_SIZE, Parts, Writing};
pub use layout::State;
pub use reader::{Bookmark, Entry, ReadError, Reader};
pub use record::{Arrival, Fact, Facts, MAX_FACT, MAX_FACTS, Mark, Note, Peer, Snapshot};
pub use replay::{Divergence, Replay, digest, encode_state};
pub use resume::{LastFrames, Resumable, ResumeError};
pub use retention::{Found, Pruned, Retention, Surplus, Worth, find, prune, surplus};
pub use room::{JournalEnd, JournalFacts, JournalHold, JournalWatch, Journalled};
pub use scribe::{Clock, Scribe, Step};
pub use seek::{CheckpointLimits, Checkpoints, Cursor, SeekError};
pub use segment::EXTENSION;
pub use source::{Journal, Source, open};
pub use spool::SpoolName;
pub use sync_policy::{SYNC_INTERVAL, SyncPolicy};
pub use system_disk::SystemDisk;

/// The journals in a directory, in the order of their names. A journal has the name of its first segment, even if only
/// later ones are left.
pub fn list(directory: &std::path::Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    segment::list(&SystemDisk, directory)
}

/// The files of the journal with this name, the newest first. While a server writes it, only the newest file grows.
/// Copying the files in this order therefore copies everything that the journal contained when the copy of the newest
/// file began.
pub fn files(journal: &std::path::Path) -> std::io::Result<Vec<std::path::PathBuf>> {
    segment::files_of(&SystemDisk, journal).map(|mut files| {
        files.reverse();
        files
    })
}

/// Whether there is a journal with this name, or a remainder of it.
pub fn exists(path: &std::path::Path) -> bool {
    path.is_file() || segment::exists(&SystemDisk, path)
}
