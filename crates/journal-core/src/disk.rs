//! Storage of journals.
//!
//! A [`Disk`] provides everything that durability depends on: files, directories and locks.
//! [`SystemDisk`](crate::SystemDisk) is that of this machine. A simulation implements the same traits with faults.

use std::{
    fmt::Debug,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use crate::SpoolName;

/// A file of a [`Disk`].
pub type SharedFile = Arc<dyn DiskFile>;

/// The files of a machine, or a simulation of them.
pub trait Disk: Debug + Send + Sync {
    /// Creates a file that only its owner can read. Its name survives a power cut after
    /// [`sync_directory`](Disk::sync_directory).
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the file exists, or the reason of the system.
    fn create(&self, path: &Path) -> io::Result<SharedFile>;

    /// Opens a file, for writing too if `write` is set.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) if the file does not exist, or the reason of the system.
    fn open(&self, path: &Path, write: bool) -> io::Result<SharedFile>;

    /// Renames a file within its directory. The file has at least one of the two names at any time.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a directory that only its owner can read. Its name survives a power cut after
    /// [`sync_directory`](Disk::sync_directory) of the one that contains it.
    ///
    /// # Errors
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if anything has this name, or the reason of the system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns when the names of all files in a directory survive a power cut.
    ///
    /// # Errors
    /// When their fate is unknown.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// The files in a directory, in the order of their names.
    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>>;

    /// Whether there is a file with this name.
    fn is_file(&self, path: &Path) -> bool;

    /// Whether there is a directory with this name.
    fn is_directory(&self, path: &Path) -> bool;

    /// Waits a moment before a lock is tried again, after `attempt` earlier attempts. Returns `false` if no further
    /// attempt should follow.
    fn wait_for_lock(&self, attempt: u32) -> bool;

    /// Called before a thread waits for another thread that works on the same journal. Returns whether the other thread
    /// was given time instead, as in a simulation whose threads take turns.
    fn give_way(&self) -> bool {
        false
    }
}

/// A file, or a simulation of one. Locks are held until the last handle of this opening is dropped.
pub trait DiskFile: Debug + Send + Sync {
    /// Reads at most `bytes.len()` bytes from `offset` on. Returns their number, 0 at the end of the file.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize>;

    /// Writes `bytes` at `offset`, which is at most the current length. Readers see them immediately, but a power cut
    /// may lose them until [`sync`](DiskFile::sync) has returned.
    ///
    /// # Errors
    /// When not all of them could be written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to `length`.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Returns when everything written before the call survives a power cut.
    ///
    /// # Errors
    /// When the fate of writes since the last sync is unknown.
    fn sync(&self) -> io::Result<()>;

    /// Facts about the file.
    fn about(&self) -> io::Result<About>;

    /// Takes the exclusive lock. Returns `false` if another opening holds a lock, shared or not.
    fn try_lock(&self) -> io::Result<bool>;

    /// Whether another opening holds the lock.
    fn is_locked(&self) -> io::Result<bool>;

    /// The place where earlier versions may have left records of this file. Only files of the system have such a place.
    fn spool(&self) -> Option<SpoolName> {
        None
    }
}

/// Facts about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct About {
    /// Its length in bytes.
    pub length: u64,
    /// The time of the last write.
    pub modified: SystemTime,
}

/// Creates a directory, with all directories above it that are missing. They survive a power cut.
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
            // Another process was faster, or a file has this name.
            return if disk.is_directory(path) { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) };
        }
        Err(error) => return Err(error),
    }
    match parent {
        Some(parent) => disk.sync_directory(parent),
        None => Ok(()),
    }
}

/// Writes the bytes from `from` to `to` again, so that the next sync includes them. After a failed sync, the system may
/// show data that is not on disk and will never be written back otherwise.
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

/// Reads exactly `bytes.len()` bytes; [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) if the file is shorter.
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
