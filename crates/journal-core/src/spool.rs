//! Keeps records safe in memory that outlives the server, until they are in the journal.
//!
//! A file in `/dev/shm` lives in memory and outlives the process that wrote it, until the machine is switched off.
//! Writing a record there takes one system call that never waits for a disk, so with
//! [`SyncPolicy::Interval`](crate::SyncPolicy) no outputs have to be held back: the journal can be written some
//! milliseconds later. Whoever reads a journal adds the records of its spool.
//!
//! A spool belongs to one file: its name has the device and the number of that file, which a copy does not share. It
//! consists of at most two files that are filled in turn, so that one can be emptied while records are added to the other.
//!
//! Where there is no such directory, or no space in it, outputs wait until the journal is written.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Once},
    time::{Duration, SystemTime},
};

use netcore::probe::{self, Planted};
use tracing::debug;

use crate::{
    disk::{Disk, Identity, SharedFile, read_exact_at},
    record,
};

/// Old spools are removed once per process.
static SWEPT: Once = Once::new();
const PREFIX: &str = "arcade-journal-";
/// Size of the header. It contains, in 8 bytes each, the id of the journal, the position in it of the first record, the
/// checksum before that, and the length of the path of the journal; then the path.
const HEADER: u64 = 4_096;
const HEADER_BYTES: usize = 4_096;
const FIELDS: usize = 32;
/// When a file is this large, the other one is filled.
const LARGE: u64 = 64 << 10;
/// Minimal age of a spool without a journal before it is removed, as the journal may only have been moved.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The spool of the file that is being written.
#[derive(Debug)]
pub(crate) struct Spool {
    disk: Arc<dyn Disk>,
    // The one that is filled.
    current: Half,
    // Most journals never need it.
    other: Option<Half>,
    // There was no space for the latest records.
    full: bool,
}

/// A file of a spool.
#[derive(Debug)]
struct Half {
    file: SharedFile,
    path: PathBuf,
    // The path of the other one.
    sibling: PathBuf,
    header: Vec<u8>,
    // The position in the journal of its first record.
    base: u64,
    length: u64,
}

impl Spool {
    /// A spool for the file at `journal` of the journal with this id. Its next record is at this position, after this
    /// checksum. `None` if the system has no memory for it.
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        (id, journal): (u64, &Path),
        file: &SharedFile,
        (base, sum): (u64, u32),
    ) -> Option<Self> {
        let directory = disk.memory()?;
        SWEPT.call_once(|| sweep(&**disk, &directory));
        let created = || {
            let identity = file.about()?.identity;
            // Those of an earlier run. The caller has locked the journal and has all records.
            remove(&**disk, identity);
            let [path, sibling] = [0, 1].map(|which| path_of(&directory, identity, which));
            let mut current = Half::create(&**disk, path, sibling, header(id, &disk.canonical(journal)?)?)?;
            current.begin(base, sum)?;
            io::Result::Ok(Self { disk: Arc::clone(disk), current, other: None, full: false })
        };
        created().inspect_err(|error| debug!(%error, "no spool in memory: outputs wait for the journal")).ok()
    }

    /// Whether it has all records that were added.
    pub(crate) const fn is_whole(&self) -> bool {
        !self.full
    }

    /// Appends records.
    pub(crate) fn append(&mut self, records: &[u8]) {
        if self.full || records.is_empty() {
            return;
        }
        match self.current.file.write_at(HEADER + self.current.length, records) {
            Ok(()) => self.current.length += records.len() as u64,
            Err(error) => {
                debug!(%error, "no space left for the spool: outputs wait for the journal");
                self.full = true;
            }
        }
    }

    /// Reports that everything before position `written` is in the journal, and the checksum after all that was added.
    /// Returns whether more can be added.
    pub(crate) fn written(&mut self, written: u64, sum: u32) -> bool {
        if self.full {
            return false;
        }
        let turned = self.take_turns(written, sum);
        if let Err(error) = turned {
            debug!(%error, "the spool cannot be continued: outputs wait for the journal");
            self.full = true;
        }
        !self.full
    }

    fn take_turns(&mut self, written: u64, sum: u32) -> io::Result<()> {
        if probe::has(Planted::SpoolNeverRestarted) {
            return Ok(());
        }
        self.empty_other(written)?;
        if self.current.length <= LARGE || self.other.as_ref().is_some_and(|other| other.length > 0) {
            return Ok(());
        }
        let mut next = if let Some(other) = self.other.take() {
            other
        } else {
            let Half { path, sibling, header, .. } = &self.current;
            Half::create(&*self.disk, sibling.clone(), path.clone(), header.clone())?
        };
        next.begin(self.current.end(), sum)?;
        probe::pass("spool: the other half is filled");
        self.other = Some(std::mem::replace(&mut self.current, next));
        // Nothing may come for a long time.
        self.empty_other(written)
    }

    // Empties the file that is not being filled, if all of it is in the journal.
    fn empty_other(&mut self, written: u64) -> io::Result<()> {
        match self.other.as_mut().filter(|other| other.length > 0 && other.end() <= written) {
            Some(other) => other.empty(),
            None => Ok(()),
        }
    }

    /// Deletes the spool, when it is not needed any more.
    pub(crate) fn remove(self) {
        for half in self.other.iter().chain([&self.current]) {
            let _ = self.disk.remove(&half.path);
        }
    }
}

// The header of a file, without what changes.
fn header(id: u64, journal: &Path) -> io::Result<Vec<u8>> {
    let name = journal.as_os_str().as_encoded_bytes();
    let mut header = vec![0; HEADER_BYTES];
    header[..8].copy_from_slice(&id.to_le_bytes());
    header[24..FIELDS].copy_from_slice(&(name.len() as u64).to_le_bytes());
    let place = header.get_mut(FIELDS..FIELDS + name.len()).ok_or(io::ErrorKind::InvalidFilename)?;
    place.copy_from_slice(name);
    Ok(header)
}

impl Half {
    fn create(disk: &dyn Disk, path: PathBuf, sibling: PathBuf, header: Vec<u8>) -> io::Result<Self> {
        let file = disk.create(&path)?;
        // Prevents others from removing it.
        if !file.try_lock()? {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        Ok(Self { file, path, sibling, header, base: 0, length: 0 })
    }

    const fn end(&self) -> u64 {
        self.base + self.length
    }

    fn empty(&mut self) -> io::Result<()> {
        self.length = 0;
        self.file.truncate(0)
    }

    // The records are gone before the header changes, so that they are never found where they do not belong.
    fn begin(&mut self, base: u64, sum: u32) -> io::Result<()> {
        self.empty()?;
        self.base = base;
        self.header[8..16].copy_from_slice(&base.to_le_bytes());
        self.header[16..24].copy_from_slice(&u64::from(sum).to_le_bytes());
        self.file.write_at(0, &self.header)
    }
}

/// The records of a file of a spool.
#[derive(Debug)]
pub(crate) struct Spooled {
    /// The id of the journal.
    pub(crate) id: u64,
    /// The position of the first record.
    pub(crate) base: u64,
    // The checksum before it.
    sum: u32,
    records: Vec<u8>,
}

impl Spooled {
    /// The position after the last record that may be in here.
    pub(crate) const fn end(&self) -> u64 {
        self.base + self.records.len() as u64
    }

    /// The bodies of the records from this position on, which is that of a record, and the checksum before it; `None` if
    /// that record is not in here. A record that was not written completely ends them.
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

// The next record of a spool: its body, and the length of all of it.
fn next<'a>(rest: &mut &'a [u8], sum: &mut u32) -> Option<(&'a [u8], u64)> {
    let (front, body) = record::lengths(rest)?;
    let all = rest.get(..front + body)?;
    if !record::check(&all[..front], &all[front..], sum) {
        return None;
    }
    *rest = &rest[front + body..];
    Some((&all[front..], all.len() as u64))
}

/// Reads the spool of the file with this identity, if there is one. It may be that of a server that runs.
pub(crate) fn read(disk: &dyn Disk, identity: Identity) -> io::Result<Vec<Spooled>> {
    let Some(directory) = disk.memory() else { return Ok(vec![]) };
    let mut found = vec![];
    for which in 0..2 {
        let file = match disk.open(&path_of(&directory, identity, which), false) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        found.extend(read_half(&file)?);
    }
    Ok(found)
}

// A server may empty the file and fill it again meanwhile, so the header is read before and after the records.
fn read_half(file: &SharedFile) -> io::Result<Option<Spooled>> {
    for _ in 0..8 {
        let Some(before) = fields(file)? else { return Ok(None) };
        let length = file.about()?.length.saturating_sub(HEADER);
        let mut records = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        match read_exact_at(&**file, HEADER, &mut records) {
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

fn fields(file: &SharedFile) -> io::Result<Option<[u8; FIELDS]>> {
    let mut fields = [0; FIELDS];
    match read_exact_at(&**file, 0, &mut fields) {
        Ok(()) => Ok(Some(fields)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Deletes the spool of the file with this identity, after all of its records have reached the journal.
pub(crate) fn remove(disk: &dyn Disk, identity: Identity) {
    if let Some(directory) = disk.memory() {
        for which in 0..2 {
            let _ = disk.remove(&path_of(&directory, identity, which));
        }
    }
}

fn path_of(directory: &Path, Identity { device, inode }: Identity, which: u32) -> PathBuf {
    directory.join(format!("{PREFIX}{device:x}-{inode:x}-{which}"))
}

fn number(fields: &[u8; FIELDS], at: usize) -> u64 {
    fields[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

// Removes the spools of killed servers whose journals are gone.
fn sweep(disk: &dyn Disk, directory: &Path) {
    let Ok(paths) = disk.list(directory) else { return };
    for path in paths {
        let ours = path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(PREFIX));
        if ours {
            let _ = sweep_one(disk, &path);
        }
    }
}

fn sweep_one(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let file = disk.open(path, false)?;
    let age = SystemTime::now().duration_since(file.about()?.modified);
    if age.is_ok_and(|age| age < KEPT) || !file.try_lock()? {
        return Ok(());
    }
    let mut header = vec![0; HEADER_BYTES];
    if read_exact_at(&*file, 0, &mut header).is_err() {
        // It is empty.
        return disk.remove(path);
    }
    let Some(fields) = header.first_chunk::<FIELDS>() else { return Ok(()) };
    let length = usize::try_from(number(fields, 24)).unwrap_or(usize::MAX);
    let name = header.get(FIELDS..FIELDS.saturating_add(length)).and_then(|name| String::from_utf8(name.to_vec()).ok());
    match name.map(OsString::from) {
        Some(name) if !name.is_empty() && disk.open(Path::new(&name), false).is_err() => disk.remove(path),
        _ => Ok(()),
    }
}
