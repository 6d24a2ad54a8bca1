//! Storage of journals: everything that durability depends on. [`SystemDisk`](crate::SystemDisk) uses this machine; a
//! simulation adds faults.

use std::{
    fmt::Debug,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
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

const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Arc::new(options.open(path)?))
    }

    fn open(&self, path: &Path, write: bool) -> io::Result<SharedFile> {
        Ok(Arc::new(OpenOptions::new().read(true).write(write).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        #[cfg_attr(not(unix), allow(unused_mut, reason = "only the mode changes it"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        if cfg!(unix) {
            let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
            File::open(path)?.sync_all()?;
        }
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = vec![];
        let read = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        for entry in fs::read_dir(read)? {
            let entry = entry?;
            let (path, kind) = (directory.join(entry.file_name()), entry.file_type()?);
            if kind.is_file() || kind.is_symlink() && path.is_file() {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn is_directory(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn wait_for_lock(&self, attempt: u32) -> bool {
        thread::sleep(PAUSE);
        attempt < ATTEMPTS
    }
}

impl DiskFile for File {
    #[cfg(unix)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, bytes, offset)
    }

    #[cfg(unix)]
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = std::os::windows::fs::FileExt::seek_write(self, bytes, offset)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            offset += count as u64;
            bytes = &bytes[count..];
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn about(&self) -> io::Result<About> {
        let about = self.metadata()?;
        Ok(About { length: about.len(), modified: about.modified()? })
    }

    fn try_lock(&self) -> io::Result<bool> {
        match Self::try_lock(self) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn is_locked(&self) -> io::Result<bool> {
        // Shared, so that concurrent queries do not conflict.
        match self.try_lock_shared() {
            Ok(()) => self.unlock().map(|()| false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    #[cfg(unix)]
    fn spool(&self) -> Option<SpoolName> {
        use std::os::unix::fs::MetadataExt as _;

        let about = self.metadata().ok()?;
        Some(SpoolName { device: about.dev(), inode: about.ino(), owner: about.uid() })
    }
}
