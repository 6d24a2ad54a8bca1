//! Copies of journals, which are written while their matches continue, so that another machine can take them over.
//!
//! A copy begins with a state of its match, and records follow it. Positions are those of the journal. A journal
//! contains snapshots that a copy does not have, so the positions of a copy may have gaps.

use std::{
    fmt::Debug,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    task::Context,
};

use thiserror::Error;

use crate::{
    Disk, Head, codec,
    layout::{self, SegmentPosition, State, Status},
    record, segment,
};

/// Receives the copy of a journal. Its methods must not block.
pub trait Copying: Debug + Send + Sync {
    /// Restarts the copy with this state of the match, which is that of an earlier moment. Records from `position` on
    /// follow the state, and records that were added already are not added again. `head` describes the match.
    fn begin(&self, journal: u64, position: u64, head: Vec<u8>);

    /// Adds the records at `position`.
    fn add(&self, position: u64, records: &[u8]);

    /// Continues the copy at `position`. Earlier records that were not added are not needed.
    fn skip(&self, position: u64);

    /// Whether the copy can be continued only with a new state. The state is taken at the next arrival.
    fn wants_state(&self) -> bool;

    /// Called when the host is about to wait.
    fn flush(&self);

    /// The position up to which the copy is safe, if outputs wait for the copy.
    fn reached(&self) -> Option<u64>;

    /// The reason why the copy will reach no further position although outputs wait for it; `None` if it may. In the
    /// first case these outputs are never sent.
    fn lost(&self) -> Option<String>;

    /// Wakes the task when [`reached`](Self::reached) has changed.
    fn wake(&self, context: &Context<'_>);

    /// Whether the backlog is so large that the room must not be given any more inputs.
    fn is_full(&self) -> bool;

    /// Ends the copy, because the journal was given up while its match continues.
    fn cut(&self);
}

/// Why a copy cannot become a journal.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The system could not write it.
    #[error("it cannot be written")]
    Io(#[from] io::Error),
    /// Its beginning is not valid.
    #[error("its beginning is damaged: {0}")]
    Head(String),
    /// Its records are not valid.
    #[error("its records are damaged")]
    Records,
}

/// The reassembled records of a copy.
#[derive(Debug)]
pub struct Copied {
    head: Vec<u8>,
    // The position of the next record to add.
    position: u64,
    bytes: Vec<u8>,
}

impl Copied {
    /// A copy that begins with these arguments of [`Copying::begin`].
    pub const fn new(position: u64, head: Vec<u8>) -> Self {
        Self { head, position, bytes: vec![] }
    }

    /// Adds the arguments of [`Copying::add`], in the same order. Records that the beginning includes are skipped.
    ///
    /// # Errors
    /// When these are not records.
    pub fn add(&mut self, position: u64, records: &[u8]) -> Result<(), CopyError> {
        let (mut at, mut rest) = (position, records);
        while !rest.is_empty() {
            let (front, body) = record::lengths(rest).ok_or(CopyError::Records)?;
            let whole = rest.get(..front + body).ok_or(CopyError::Records)?;
            rest = &rest[whole.len()..];
            if at >= self.position {
                self.bytes.extend_from_slice(whole);
                self.position = at + whole.len() as u64;
            }
            at += whole.len() as u64;
        }
        Ok(())
    }

    /// Writes the copy as a new journal in a directory, with a name that begins with `front`. Returns its name.
    ///
    /// # Errors
    /// When the copy is damaged, or cannot be written.
    pub fn write(&self, disk: &dyn Disk, directory: &Path, front: &str) -> Result<PathBuf, CopyError> {
        let head: Head = codec::decode_all(&self.head).map_err(CopyError::Head)?;
        let status = Status { sequence: 0, state: State::Open, synced: 0, end: 0 };
        let (mut bytes, mut sum) = (layout::front(SegmentPosition::FIRST, status), 0);
        record::put(&self.head, &mut sum, &mut bytes);
        record::copy(&self.bytes, &mut sum, &mut bytes);
        let (path, file) = segment::create(disk, directory, front, head.begun)?;
        let written = file.write_at(0, &bytes).and_then(|()| file.sync()).and_then(|()| {
            let status = Status { sequence: 1, synced: bytes.len() as u64, ..status };
            file.write_at(status.offset(), &status.to_bytes())
        });
        if let Err(error) = written {
            let _ = disk.remove(&path);
            return Err(error.into());
        }
        Ok(path)
    }
}

/// The copy of a journal, if there is one.
pub(crate) type MaybeCopying = Option<Arc<dyn Copying>>;
