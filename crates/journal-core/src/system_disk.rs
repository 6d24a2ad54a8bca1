use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use crate::disk::{About, Disk, DiskFile, SharedFile};

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
    fn spool(&self) -> Option<crate::SpoolName> {
        use std::os::unix::fs::MetadataExt as _;

        let about = self.metadata().ok()?;
        Some(crate::SpoolName { device: about.dev(), inode: about.ino(), owner: about.uid() })
    }
}
