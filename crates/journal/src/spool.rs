//! Memory of the system in which records are safe from the end of the server before they are in the journal.
//!
//! A file in `/dev/shm` lives in memory and outlives the process that wrote it, until the machine is switched off. Writing a record there
//! costs one system call that never waits for a disk, so with [`SyncPolicy::Interval`](crate::SyncPolicy) nothing has to be held
//! back: the thread that writes the journal may come some milliseconds later. Whoever opens a journal that no server writes first
//! copies what its spool has and it has not.
//!
//! Where there is no such directory, or no room in it, outputs wait for the journal itself.

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

/// A directory that lives in memory.
const DIRECTORY: &str = "/dev/shm";
/// Once a run is enough.
static SWEPT: Once = Once::new();
const PREFIX: &str = "arcade-journal-";
/// The identity of the journal, the offset at which the records continue it, and the length of its path, each in 8 bytes; then
/// the path.
const HEADER: u64 = 4_096;
const HEADER_BYTES: usize = 4_096;
const FIELDS: usize = 24;
/// A spool of that many bytes begins anew once all of it is in the journal.
const LARGE: u64 = 64 << 10;
/// In the place of the offset: the match went on without its journal.
const CUT: u64 = u64::MAX;
/// A spool whose journal is gone is kept that long: the journal may only have been moved.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes of a spool that is read again: far more than a server leaves behind.
const MOST: u64 = 256 << 20;

/// A number that no other journal has.
pub(crate) fn new_id() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The spool of one journal.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    path: PathBuf,
    header: Vec<u8>,
    // Where in the journal its first record stands.
    base: u64,
    length: u64,
    // There was no room for the newest records.
    full: bool,
}

impl Spool {
    /// A spool for the journal with this identity at `journal`, whose next record stands at `base`; none if the system has no memory
    /// for it.
    pub(crate) fn create(id: u64, journal: &Path, base: u64) -> Option<Self> {
        SWEPT.call_once(sweep);
        let path = path_of(id);
        let created = Self::create_at(id, path, journal, base);
        created
            .inspect_err(|error| debug!(%error, "no memory outlives this process: answers wait for the journal"))
            .ok()
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
        // So that nobody sweeps it away.
        file.try_lock().map_err(io::Error::from)?;
        let mut spool = Self { file, path, header, base, length: 0, full: false };
        spool.begin(base)?;
        Ok(spool)
    }

    /// Whether all that was added is safe here.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.full
    }

    /// Adds records behind those that it has.
    pub(crate) fn append(&mut self, records: &[u8]) {
        if self.full {
            return;
        }
        match self.file.write_at(HEADER + self.length, records) {
            Ok(()) => self.length += records.len() as u64,
            Err(error) => {
                debug!(%error, "no room in the memory that outlives this process: answers wait for the journal");
                self.full = true;
            }
        }
    }

    /// Everything up to `end` is in the journal: the memory is free again if it is much. Whether more can be added.
    pub(crate) fn written(&mut self, end: u64) -> bool {
        if end < self.base + self.length {
            return true;
        }
        if self.length > LARGE && !self.full && self.begin(end).is_err() {
            self.full = true;
        }
        !self.full
    }

    /// Nothing needs it any more.
    pub(crate) fn remove(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// The match goes on without its journal, and the file may not know it yet.
    /// Whether it will be found out.
    pub(crate) fn cut(&mut self) -> bool {
        self.header[8..16].copy_from_slice(&CUT.to_le_bytes());
        self.file.write_at(0, &self.header).is_ok()
    }

    // In this order: nothing that was added for one offset is ever found at another.
    fn begin(&mut self, base: u64) -> io::Result<()> {
        self.file.set_len(HEADER)?;
        self.length = 0;
        self.base = base;
        self.header[8..16].copy_from_slice(&base.to_le_bytes());
        self.file.write_at(0, &self.header)
    }
}

/// Copies what the spool of a journal has, and the journal has not, to its end. The caller has locked the journal, so no
/// server writes it.
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

// Removes the spools of servers that were killed, if their journals are gone.
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
