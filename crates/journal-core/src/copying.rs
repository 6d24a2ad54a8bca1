//! Copies of journals for takeovers by another machine, written while their matches continue.
//!
//! A copy is a state of its match and the records after it. Positions are those of the journal; its snapshots are
//! omitted, so positions may have gaps.

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
    layout::{self, SegmentPosition, SegmentState, Status},
    record, segment,
};

/// Methods must not block.
pub trait Copying: Debug + Send + Sync {
    /// Restarts the copy with an earlier state of the match, followed by the records from `position` on, except those
    /// already added. `head` describes the match.
    fn begin(&self, journal: u64, position: u64, head: Vec<u8>);

    fn add(&self, position: u64, records: &[u8]);

    /// Earlier records that were not added are not needed.
    fn skip(&self, position: u64);

    /// Whether the copy needs a new state, which is taken at the next arrival.
    fn wants_state(&self) -> bool;

    fn flush(&self);

    /// The position up to which the copy is safe, if outputs wait for it.
    fn reached(&self) -> Option<u64>;

    /// Why the copy makes no more progress, so that waiting outputs are never sent.
    fn failure(&self) -> Option<String>;

    fn wake(&self, context: &Context<'_>);

    /// Whether the backlog is so large that the room must stop receiving inputs.
    fn is_full(&self) -> bool;

    /// Abandons the copy: the journal was given up while its match continues.
    fn cut(&self);
}

#[derive(Debug, Error)]
pub enum CopyError {
    #[error("it cannot be written")]
    Io(#[from] io::Error),
    #[error("its beginning is damaged: {0}")]
    Head(String),
    #[error("its records are damaged")]
    Records,
}

#[derive(Debug)]
pub struct Copied {
    head: Vec<u8>,
    position: u64,
    bytes: Vec<u8>,
}

impl Copied {
    pub const fn new(position: u64, head: Vec<u8>) -> Self {
        Self { head, position, bytes: vec![] }
    }

    /// Takes the arguments of [`Copying::add`] in order. Skips records that the initial state includes.
    ///
    /// # Errors
    /// If `records` are not records.
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

    /// Writes the copy as a new journal whose name begins with `front`, and returns the name.
    ///
    /// # Errors
    /// If the copy is damaged, or cannot be written.
    pub fn write(&self, disk: &dyn Disk, directory: &Path, front: &str) -> Result<PathBuf, CopyError> {
        let head: Head = codec::decode_all(&self.head).map_err(CopyError::Head)?;
        let status = Status { sequence: 0, state: SegmentState::Open, synced: 0, end: 0 };
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

pub(crate) type MaybeCopying = Option<Arc<dyn Copying>>;
