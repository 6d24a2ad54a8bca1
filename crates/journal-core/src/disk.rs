//! Storage of journals: everything that durability depends on. [`SystemDisk`](crate::SystemDisk) uses this machine; a
//! simulation adds faults.

use std::{
    fmt::Debug,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use crate::SpoolName;

pub type SharedFile = Arc<dyn DiskFile>;

pub trait Disk: Debug + Send + Sync {
    /// Creates a file that only its owner can read. The name survives a power cut after
    /// [`sync_directory`](Disk::sync_directory).
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), or an error of the system.
    fn create(&self, path: &Path) -> io::Result<SharedFile>;

    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound), or an error of the system.
    fn open(&self, path: &Path, write: bool) -> io::Result<SharedFile>;

    /// Renames a file within its directory. At any time it has at least one of the names.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory that only its owner can read. The name survives a power cut after
    /// [`sync_directory`](Disk::sync_directory) of its parent.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything has this name, or an error of the system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names of all files in the directory survive a power cut.
    ///
    /// # Errors
    /// After an error, it is unknown which names survive.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    fn is_file(&self, path: &Path) -> bool;

    fn is_directory(&self, path: &Path) -> bool;

    /// Waits before a lock is tried again, after `attempt` attempts. Returns `false` to give up.
    fn wait_for_lock(&self, attempt: u32) -> bool;

    /// Called before a thread waits for another one of the same journal. Returns `true` if the other thread has run
    /// instead, as in a simulation.
    fn give_way(&self) -> bool {
        false
    }
}

/// Locks are held until the last handle of this opening is dropped.
pub trait DiskFile: Debug + Send + Sync {
    /// Returns 0 at the end of the file.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// `offset` is at most the current length. Readers see the bytes immediately; they survive a power cut only after
    /// [`sync`](DiskFile::sync).
    ///
    /// # Errors
    /// If not all bytes were written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Returns when all earlier writes survive a power cut.
    ///
    /// # Errors
    /// After an error, it is unknown which writes since the last sync survive.
    fn sync(&self) -> io::Result<()>;

    fn about(&self) -> io::Result<About>;

    /// Returns `false` if another opening holds a lock, shared or not.
    fn try_lock(&self) -> io::Result<bool>;

    fn is_locked(&self) -> io::Result<bool>;

    /// Where earlier versions may have left records of this file.
    fn spool(&self) -> Option<SpoolName> {
        None
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    pub length: u64,
    pub modified: SystemTime,
}

/// Also creates missing parents. All survive a power cut.
pub(crate) fn create_directories(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || disk.is_directory(path) {
        return Ok(());
    }
    let parent = path.parent();
    if let Some(parent) = parent {
        create_directories(disk, parent)?;
    }
    match disk.create_directory(path) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            // Another process was faster, or it is a file.
            return if disk.is_directory(path) { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) };
        }
        Err(error) => return Err(error),
    }
    match parent {
        Some(parent) => disk.sync_directory(parent),
        None => Ok(()),
    }
}

/// Writes the bytes again for the next sync: after a failed sync, the system may consider data as written that never
/// reaches the disk.
pub(crate) fn rewrite(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    const PIECE: usize = 64 << 10;
    let mut buffer = vec![0; PIECE];
    let mut at = from;
    while at < to {
        let length = usize::try_from(to - at).map_or(PIECE, |left| left.min(PIECE));
        let piece = &mut buffer[..length];
        read_exact_at(file, at, piece)?;
        file.write_at(at, piece)?;
        at += length as u64;
    }
    Ok(())
}

/// [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file is shorter.
pub(crate) fn read_exact_at(file: &dyn DiskFile, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let count = file.read_at(offset, bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        offset += count as u64;
        bytes = &mut bytes[count..];
    }
    Ok(())
}
