//! Matches on disk.
//!
//! A room is a deterministic state machine, so a match is what it was set up with and what arrived at it, in order. A [`Journalled`] room
//! writes that into a file before anybody is told what follows from it. From the file the match can be replayed ([`Replay`]), and
//! gone on with after its server was killed ([`Resumable`]).
//!
//! - [`Writing`] begins a journal and says how it is written; a [`Scribe`] writes any number of them with two threads.
//! - [`JournalHold`] is what a host holds outputs back with until they may leave; [`SyncPolicy`] says what that waits for.
//! - [`Reader`] reads a journal record by record ([`Entry`]), without knowing the game.
//! - [`Excerpt`] writes a part of a match into a journal of its own.
//! - [`Disk`] is where the bytes go: a file, or a pretend disk that tears and forgets.
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
pub use record::{Arrival, Mark, Note, Peer, Snapshot, What};
pub use replay::{Divergence, Replay};
pub use resume::{Farewell, Resumable, ResumeError, find};
pub use room::{JournalEnd, JournalHold, Journalled};
pub use scribe::{SYNC_INTERVAL, Scribe, SyncPolicy};
