//! Reads the records that earlier versions kept in memory until they were in the journal.
//!
//! Each record went into a *spool* first: two files in `/dev/shm`, filled in turn, whose names contain the device and
//! inode number of the journal's file. After a crash they may contain records that the file lacks. Spools are no longer
//! written, and ignored if the status of the file has the mark ([`layout`](crate::layout)).
//!
//! Every user of the machine can create files in `/dev/shm` with such names. A file is a spool only if the owner of the
//! journal owns it and no other user can write it.

use std::{
    io,
    path::{Path, PathBuf},
};

use tracing::debug;

use crate::{
    disk::{DiskFile, SharedFile, read_exact_at},
    record::{self, MAX_BODY},
    sink::MAX_PENDING,
};

const DIRECTORY: &str = "/dev/shm";
const PREFIX: &str = "arcade-journal-";
/// In 8 bytes each: the id of the journal, the position of the first record, the checksum before it, and the length of
/// the path of the journal; then the path.
const HEADER: u64 = 4_096;
const FIELDS: usize = 24;
/// The longest file of earlier versions. After a write of the journal, they switched files above 64 KiB of records.
/// Until the next write was done, they added the records for that write and for the one after it. At most
/// [`MAX_PENDING`] bytes and a last record waited for a write.
const MAX_LENGTH: u64 = HEADER + (64 << 10) + 2 * (MAX_PENDING + MAX_BODY) as u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolName {
    pub device: u64,
    pub inode: u64,
    pub owner: u32,
}

impl SpoolName {
    fn paths(self) -> [PathBuf; 2] {
        let Self { device, inode, .. } = self;
        [0, 1].map(|which| Path::new(DIRECTORY).join(format!("{PREFIX}{device:x}-{inode:x}-{which}")))
    }
}

#[derive(Debug)]
pub(crate) struct Spooled {
    pub(crate) id: u64,
    pub(crate) base: u64,
    sum: u32,
    records: Vec<u8>,
}

impl Spooled {
    /// The position after the last record that the file may contain.
    pub(crate) const fn end(&self) -> u64 {
        self.base.saturating_add(self.records.len() as u64)
    }

    /// The bodies from `position` on, and the checksum before; `None` if no record begins there. Ends at an incomplete
    /// record.
    pub(crate) fn bodies_from(&self, position: u64) -> Option<(u32, impl Iterator<Item = &[u8]>)> {
        let (mut at, mut sum, mut rest) = (self.base, self.sum, &self.records[..]);
        while at < position {
            let record = next(&mut rest, &mut sum)?;
            at += record.1;
        }
        let before = sum;
        let bodies = std::iter::from_fn(move || next(&mut rest, &mut sum).map(|(body, _)| body));
        (at == position).then_some((before, bodies))
    }
}

// The body of the next record, and the length of the record.
fn next<'a>(rest: &mut &'a [u8], sum: &mut u32) -> Option<(&'a [u8], u64)> {
    let (front, body) = record::lengths(rest)?;
    let all = rest.get(..front + body)?;
    if !record::check(&all[..front], &all[front..], sum) {
        return None;
    }
    *rest = &rest[front + body..];
    Some((&all[front..], all.len() as u64))
}

/// Reads the spool of a file, if any, which a server of an earlier version may be writing.
pub(crate) fn read(file: &dyn DiskFile) -> Vec<Spooled> {
    let Some(name) = file.spool() else { return vec![] };
    let mut found = vec![];
    for path in name.paths() {
        match open(&path, name.owner).and_then(|file| read_half(&*file)) {
            Ok(half) => found.extend(half),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => debug!(path = %path.display(), %error, "no spool"),
        }
    }
    found
}

/// Deletes the spool of a file whose records have all reached the journal.
pub(crate) fn remove(file: &dyn DiskFile) {
    let Some(name) = file.spool() else { return };
    for path in name.paths() {
        // Otherwise, root would remove files of other users.
        if open(&path, name.owner).is_ok() {
            let _ = std::fs::remove_file(path);
        }
    }
}

#[cfg(unix)]
fn open(path: &Path, owner: u32) -> io::Result<SharedFile> {
    use std::os::unix::fs::MetadataExt as _;

    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let about = file.metadata()?;
    let refused = if !about.is_file() {
        "it is not a regular file"
    } else if about.uid() != owner {
        "it belongs to another user"
    } else if about.mode() & 0o022 != 0 || about.nlink() > 1 {
        "other users can write it, or it has several hard links"
    } else if about.len() > MAX_LENGTH {
        "it is too long"
    } else {
        return Ok(std::sync::Arc::new(file));
    };
    Err(io::Error::other(refused))
}

#[cfg(not(unix))]
fn open(_: &Path, _: u32) -> io::Result<SharedFile> {
    Err(io::ErrorKind::NotFound.into())
}

// A server may refill the file meanwhile, so the header is read before and after the records.
fn read_half(file: &dyn DiskFile) -> io::Result<Option<Spooled>> {
    for _ in 0..8 {
        let Some(before) = fields(file)? else { return Ok(None) };
        let length = file.about()?.length.saturating_sub(HEADER).min(MAX_LENGTH);
        let mut records = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        match read_exact_at(file, HEADER, &mut records) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(error) => return Err(error),
        }
        if fields(file)? == Some(before) {
            let sum = u32::try_from(number(&before, 16)).unwrap_or_default();
            return Ok(Some(Spooled { id: number(&before, 0), base: number(&before, 8), sum, records }));
        }
    }
    Ok(None)
}

fn fields(file: &dyn DiskFile) -> io::Result<Option<[u8; FIELDS]>> {
    let mut fields = [0; FIELDS];
    match read_exact_at(file, 0, &mut fields) {
        Ok(()) => Ok(Some(fields)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn number(fields: &[u8; FIELDS], at: usize) -> u64 {
    fields[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
