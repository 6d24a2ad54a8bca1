//! Reads a journal file at several positions at once.

use std::{
    fs::{File, TryLockError},
    io::{self, Read},
    path::Path,
    sync::Arc,
};

use anyhow::{Context, anyhow};
use cmdkit::file_name;
use journal::{Head, ReadError, Reader};

/// Bytes read at a time.
const CHUNK: usize = 1 << 16;

/// A position in a file. A clone starts at the same position and moves independently.
#[derive(Debug)]
pub(crate) struct Source {
    file: Arc<File>,
    // The file offset after the buffer.
    at: u64,
    buffer: Vec<u8>,
    taken: usize,
}

impl Source {
    fn new(file: File) -> Self {
        Self { file: Arc::new(file), at: 0, buffer: vec![], taken: 0 }
    }
}

impl Clone for Source {
    fn clone(&self) -> Self {
        let ahead = (self.buffer.len() - self.taken) as u64;
        Self { file: Arc::clone(&self.file), at: self.at - ahead, buffer: vec![], taken: 0 }
    }
}

impl Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.buffer.len() {
            self.buffer.resize(CHUNK, 0);
            self.taken = 0;
            let read = read_at(&self.file, &mut self.buffer, self.at);
            self.buffer.truncate(*read.as_ref().unwrap_or(&0));
            self.at += read? as u64;
        }
        let count = (&self.buffer[self.taken..]).read(out)?;
        self.taken += count;
        Ok(count)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, at)
}

/// A journal whose front has been read.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Its records.
    pub reader: Reader<Source>,
    /// Length of the file in bytes.
    pub length: u64,
    /// Whether a server is writing it now.
    pub in_use: bool,
}

/// Opens a journal.
///
/// # Errors
/// When it cannot be read or is not a journal.
pub(crate) fn open(path: &Path) -> anyhow::Result<Opened> {
    let name = || file_name(path);
    // This also completes the journal of a killed server.
    let (file, _) = journal::open(path).with_context(|| format!("cannot open {}", name()))?;
    let file = file.into_inner();
    let about = file.metadata().with_context(|| format!("cannot read {}", name()))?;
    if about.is_dir() {
        return Err(anyhow!("{} is a directory; give one of the files that `journal list` shows for it", name()));
    }
    // A server that writes it holds a lock.
    let in_use = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    if !in_use {
        // A server that starts meanwhile must be able to resume it.
        let _ = file.unlock();
    }
    let length = about.len();
    let reader = Reader::new(Source::new(file), length).map_err(|error| damaged(path, error))?;
    Ok(Opened { reader, length, in_use })
}

/// The head of a journal, to find out its game.
pub(crate) fn head_of(path: &Path) -> anyhow::Result<Head> {
    Ok(open(path)?.reader.head().clone())
}

/// An error about a file, in one line.
pub(crate) fn damaged(path: &Path, error: ReadError) -> anyhow::Error {
    anyhow::Error::new(error).context(file_name(path))
}
