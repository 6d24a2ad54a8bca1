//! Where a journal's bytes go.

use std::{fs::File, io};

/// Bytes that are written again at a time.
#[cfg(unix)]
const PIECE: usize = 64 << 10;

/// A file, or what a simulation puts in its place. One journal has it for itself.
pub trait Disk: Send + Sync {
    /// Puts `bytes` at `offset`, which is at most the length so far. Whoever looks at the file afterwards finds them, but a
    /// power cut may lose them until [`sync`](Disk::sync) has returned.
    ///
    /// # Errors
    /// When they could not be written, or not all of them.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes what stands from `from` up to `to` once more, so that the next sync is about it. An earlier sync may have failed, and
    /// then the system shows what the disk does not have, and will never write it by itself.
    ///
    /// # Errors
    /// When it could not be read or written.
    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        // A disk that keeps what it shows has nothing to do.
        let _ = (from, to);
        Ok(())
    }

    /// Cuts off what is behind `length`.
    ///
    /// # Errors
    /// When that is not possible.
    fn truncate(&self, length: u64) -> io::Result<()>;

    /// Returns once a power cut loses nothing of what was written before the call.
    ///
    /// # Errors
    /// When nothing is known about what was written since the last sync.
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
