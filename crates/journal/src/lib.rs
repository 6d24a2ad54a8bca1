//! Records matches on disk.
//!
//! A room is a deterministic state machine, so its setup and its arrivals in order determine a match. A [`Journalled`]
//! room writes these into a file before the resulting outputs are sent. From that file a match can be replayed
//! ([`Replay`]), or resumed after its server was killed ([`Resumable`]).
//!
//! - [`Writing`] creates journals and holds their options. A [`Scribe`] writes any number of them with two threads.
//! - [`JournalHold`] makes a host hold outputs back until they may be sent, as the [`SyncPolicy`] requires.
//! - [`Reader`] reads a journal record by record ([`Entry`]), independent of the game.
//! - [`Excerpt`] writes a part of a match into a new journal.
//! - [`Disk`] stores the bytes: a file, or a simulated disk with faults.
//!
//! `docs/journal.md` describes the format and the guarantees.

mod codec;
mod disk;
mod excerpt;
mod files;
mod head;
mod journal;
mod layout;
mod peers;
mod reader;
mod record;
mod replay;
mod resume;
mod room;
mod scribe;
mod sink;
mod spool;
mod sync_policy;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use disk::Disk;
pub use excerpt::Excerpt;
pub use files::{EXTENSION, create, list, open_to_resume};
pub use head::{Head, HeadError};
pub use journal::{MAX_SIZE, Parts, Writing, open};
pub use layout::State;
pub use reader::{Entry, ReadError, Reader};
pub use record::{Arrival, ArrivalKind, Mark, Note, Peer, Snapshot};
pub use replay::{Divergence, Replay};
pub use resume::{Farewell, Resumable, ResumeError, find};
pub use room::{JournalEnd, JournalHold, JournalWatch, Journalled};
pub use scribe::Scribe;
pub use sync_policy::{SYNC_INTERVAL, SyncPolicy};
