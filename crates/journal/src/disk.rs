//! Storage of journals.

use std::{fs::File, io};

/// Bytes rewritten at a time.
#[cfg(unix)]
const PIECE: usize = 64 << 10;

/// A file, or a simulation of one. It belongs to one journal.
pub trait Disk: Send + Sync {
    /// Writes `bytes` at `offset`, which is at most the current length. Readers see them at once, but a power cut may
    /// lose them until [`sync`](Disk::sync) has returned.
    ///
    /// # Errors
    /// When not all of them could be written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes the bytes from `from` to `to` again, so that the next sync includes them. After a failed sync, the system
    /// may show data that is not on disk and will never be written back otherwise.
    ///
    /// # Errors
    /// When they could not be read or written.
    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        // Only needed where unsynced data can be mistaken for synced data.
        let _ = (from, to);
        Ok(())
    }

    /// Truncates the file to `length`.
    ///
    /// # Errors
    /// When that is not possible.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Returns when everything written before the call survives a power cut.
    ///
    /// # Errors
    /// When the fate of writes since the last sync is unknown.
    fn sync(&self) -> io::Result<()>;
}

impl Disk for File {
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

    #[cfg(unix)]
    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        let mut buffer = vec![0; PIECE];
        let mut at = from;
        while at < to {
            let length = usize::try_from(to - at).map_or(PIECE, |left| left.min(PIECE));
            let piece = &mut buffer[..length];
            std::os::unix::fs::FileExt::read_exact_at(self, piece, at)?;
            self.write_at(at, piece)?;
            at += length as u64;
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}
