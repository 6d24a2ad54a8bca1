//! Keeps records safe in memory that outlives the server, until they are in the journal.
//!
//! A file in `/dev/shm` lives in memory and outlives the process that wrote it, until the machine is switched off.
//! Writing a record there takes one system call that never waits for a disk, so with
//! [`SyncPolicy::Interval`](crate::SyncPolicy) no outputs have to be held back: the journal can be written some
//! milliseconds later. Opening a journal that no server writes first copies the missing records from its spool.
//!
//! Where there is no such directory, or no space in it, outputs wait until the journal is written.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    sync::Once,
    time::Duration,
};

use tracing::debug;

use crate::{
    Disk,
    layout::{State, Status},
};

/// A directory in memory.
const DIRECTORY: &str = "/dev/shm";
/// Old spools are removed once per process.
static SWEPT: Once = Once::new();
const PREFIX: &str = "arcade-journal-";
/// Size of the header. It contains the id of the journal, the offset at which the records continue it, and the length
/// of its path, in 8 bytes each; then the path.
const HEADER: u64 = 4_096;
const HEADER_BYTES: usize = 4_096;
const FIELDS: usize = 24;
/// A spool of this size is restarted once all of it is in the journal.
const LARGE: u64 = 64 << 10;
/// Written instead of the offset when the journal was given up.
const CUT: u64 = u64::MAX;
/// Minimal age of a spool without a journal before it is removed, as the journal may only have been moved.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Limit on the size of a spool that is read, far above what a server leaves.
const MOST: u64 = 256 << 20;

/// A random number that identifies a journal.
pub(crate) fn new_id() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The spool of a journal.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    path: PathBuf,
    header: Vec<u8>,
    // The offset in the journal of its first record.
    base: u64,
    length: u64,
    // There was no space for the latest records.
    full: bool,
}

impl Spool {
    /// A spool for the journal at `journal` with this id, whose next record is at `base`; `None` if the system has no
    /// memory for it.
    pub(crate) fn create(id: u64, journal: &Path, base: u64) -> Option<Self> {
        SWEPT.call_once(sweep);
        let path = path_of(id);
        let created = Self::create_at(id, path, journal, base);
        created.inspect_err(|error| debug!(%error, "no spool in memory: outputs wait for the journal")).ok()
    }

    fn create_at(id: u64, path: PathBuf, journal: &Path, base: u64) -> io::Result<Self> {
        let name = fs::canonicalize(journal)?.into_os_string().into_encoded_bytes();
        let mut header = vec![0; HEADER_BYTES];
        header[..8].copy_from_slice(&id.to_le_bytes());
        header[16..FIELDS].copy_from_slice(&(name.len() as u64).to_le_bytes());
        let place = header.get_mut(FIELDS..FIELDS + name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
        place.copy_from_slice(&name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // Prevents others from removing it.
        file.try_lock().map_err(io::Error::from)?;
        let mut spool = Self { file, path, header, base, length: 0, full: false };
        spool.begin(base)?;
        Ok(spool)
    }

    /// Whether it has all records that were added.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.full
    }

    /// Appends records.
    pub(crate) fn append(&mut self, records: &[u8]) {
        if self.full {
            return;
        }
        match self.file.write_at(HEADER + self.length, records) {
            Ok(()) => self.length += records.len() as u64,
            Err(error) => {
                debug!(%error, "no space left for the spool: outputs wait for the journal");
                self.full = true;
            }
        }
    }

    /// Reports that everything up to `end` is in the journal, so that a large spool can be restarted. Returns whether
    /// more can be added.
    pub(crate) fn written(&mut self, end: u64) -> bool {
        if end < self.base + self.length {
            return true;
        }
        if self.length > LARGE && !self.full && self.begin(end).is_err() {
            self.full = true;
        }
        !self.full
    }

    /// Deletes the spool, when it is not needed any more.
    pub(crate) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Records that the journal was given up, in case that the file does not say so. Returns whether that succeeded.
    pub(crate) fn cut(&mut self) -> bool {
        self.header[8..16].copy_from_slice(&CUT.to_le_bytes());
        self.file.write_at(0, &self.header).is_ok()
    }

    // In this order, so that records are never found at an offset to which they do not belong.
    fn begin(&mut self, base: u64) -> io::Result<()> {
        self.file.set_len(HEADER)?;
        self.length = 0;
        self.base = base;
        self.header[8..16].copy_from_slice(&base.to_le_bytes());
        self.file.write_at(0, &self.header)
    }
}

/// Appends the records that the spool of a journal has and the journal has not. The caller has locked the journal, so
/// no server writes it.
pub(crate) fn recover(id: u64, status: Status, journal: &File) -> io::Result<()> {
    let path = path_of(id);
    let mut spool = match File::open(&path) {
        Ok(spool) => spool,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut header = [0; FIELDS];
    let found = spool.metadata()?.len().saturating_sub(HEADER);
    if spool.read_exact(&mut header).is_err() || number(&header, 0) != id || found > MOST {
        return Ok(());
    }
    let (base, length) = (number(&header, 8), journal.metadata()?.len());
    if base == CUT {
        let status = Status { sequence: status.sequence + 1, state: State::Cut, end: length, ..status };
        journal.write_at(status.offset(), &status.to_bytes())?;
        journal.sync()?;
    } else if base <= length && base + found > length {
        let mut records = vec![];
        spool.seek(SeekFrom::Start(HEADER))?;
        spool.take(found).read_to_end(&mut records)?;
        journal.write_at(base, &records)?;
        journal.sync()?;
    }
    fs::remove_file(path)
}

fn path_of(id: u64) -> PathBuf {
    Path::new(DIRECTORY).join(format!("{PREFIX}{id:016x}"))
}

fn number(header: &[u8; FIELDS], at: usize) -> u64 {
    header[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

// Removes the spools of killed servers whose journals are gone.
fn sweep() {
    let Ok(entries) = fs::read_dir(DIRECTORY) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if ours {
            let _ = sweep_one(&entry.path());
        }
    }
}

fn sweep_one(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    if file.metadata()?.modified()?.elapsed().is_ok_and(|age| age < KEPT) {
        return Ok(());
    }
    let mut header = vec![0; HEADER_BYTES];
    if file.try_lock().is_err() || file.read_exact(&mut header).is_err() {
        return Ok(());
    }
    let Some(fields) = header.first_chunk::<FIELDS>() else { return Ok(()) };
    let length = usize::try_from(number(fields, 16)).unwrap_or(usize::MAX);
    let name = header.get(FIELDS..FIELDS.saturating_add(length)).and_then(|name| std::str::from_utf8(name).ok());
    match name {
        Some(name) if !name.is_empty() && !Path::new(name).exists() => fs::remove_file(path),
        _ => Ok(()),
    }
}
