//! Copies of journals that are written while their matches go on, so that another machine can continue them.
//!
//! A copy begins with a state of its match, and records follow it. Positions are those of the journal. A journal has snapshots in it
//! that a copy does not have, so positions of a copy may leave some out.

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
    layout::{self, Place, State, Status},
    record, segment,
};

/// Takes the copy of a journal. Nothing here may wait.
pub trait Copying: Debug + Send + Sync {
    /// The copy begins anew with this state of the match, which is that of an earlier moment: records from `position` on follow it,
    /// and those that were added already are not added again. `head` describes the match.
    fn begin(&self, journal: u64, position: u64, head: Vec<u8>);

    /// Records that were added at `position`.
    fn add(&self, position: u64, records: &[u8]);

    /// The journal goes on at `position`; what is before that and was not added is not needed.
    fn skip(&self, position: u64);

    /// Whether the copy can be continued only with a new state. It is taken at the next arrival.
    fn wants_state(&self) -> bool;

    /// The host is about to wait.
    fn flush(&self);

    /// The position up to which the copy is safe, if outputs wait for that.
    fn reached(&self) -> Option<u64>;

    /// Why it will reach no further position though outputs wait for that, if that is so. They are never sent.
    fn lost(&self) -> Option<String>;

    /// Wakes the task when [`reached`](Self::reached) has changed.
    fn wake(&self, context: &Context<'_>);

    /// Whether so much waits that the room must not be given any more inputs.
    fn is_full(&self) -> bool;

    /// The journal was given up while its match goes on: there is no copy any more.
    fn cut(&self);
}

/// Why a copy cannot become a journal.
#[derive(Debug, Error)]
pub enum CopyError {
    /// The system could not write it.
    #[error("it cannot be written")]
    Io(#[from] io::Error),
    /// Its beginning is none.
    #[error("its beginning is damaged: {0}")]
    Head(String),
    /// Its records are none.
    #[error("its records are damaged")]
    Records,
}

/// The records of a copy, put together again.
#[derive(Debug)]
pub struct Copied {
    head: Vec<u8>,
    // Of the next record that is wanted.
    position: u64,
    bytes: Vec<u8>,
}

impl Copied {
    /// A copy that begins with what [`Copying::begin`] was given.
    pub const fn new(position: u64, head: Vec<u8>) -> Self {
        Self { head, position, bytes: vec![] }
    }

    /// Adds what [`Copying::add`] was given, in the same order. Records that the beginning includes are left out.
    ///
    /// # Errors
    /// When these are no records.
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

    /// Writes it as a new journal in a directory, with a name that begins with `front`. Returns its name.
    ///
    /// # Errors
    /// When it is damaged, or cannot be written.
    pub fn write(&self, disk: &dyn Disk, directory: &Path, front: &str) -> Result<PathBuf, CopyError> {
        let head: Head = codec::decode_all(&self.head).map_err(CopyError::Head)?;
        let status = Status { sequence: 0, state: State::Open, synced: 0, end: 0 };
        let (mut bytes, mut sum) = (layout::front(Place::FIRST, status), 0);
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
