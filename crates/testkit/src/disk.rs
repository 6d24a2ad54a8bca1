//! A simulated disk that tears, loses and reorders unsynced writes, fills up, fails and lies.

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io::{self, Cursor},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journal::Disk;
use rand::{Rng, RngExt};

/// Size of an atomic write in bytes.
const SECTOR: usize = 512;

/// How a server crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed. The system keeps running, so everything written is kept.
    Kill,
    /// The machine loses power. Each sector written since the last sync may or may not be kept.
    PowerCut,
}

/// A fault of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The file is limited to this many bytes: the rest of a write fails.
    Full(u64),
    /// Writes fail after this many bytes; the last write is done in part.
    FailingWrites(u64),
    /// Syncs fail after this many, and the data of a failed sync may be lost even if a later sync succeeds.
    FailingSyncs(u64),
    /// The server dies in the middle of the write that exceeds this many bytes; see [`SimulatedDisk::is_dead`].
    DeathInWrite(u64),
    /// The server dies in a sync after this many others; the flag says whether that sync is completed.
    DeathInSync(u64, bool),
}

/// A disk with one file. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

type Sector = [u8; SECTOR];

#[derive(Debug, Default)]
struct State {
    // The content that a reader sees.
    written: Vec<u8>,
    // The content that survives a power cut for certain.
    synced: Vec<u8>,
    // The contents that each sector had since the last sync: a power cut may leave any of them.
    unsynced: BTreeMap<usize, Vec<Sector>>,
    // The lengths of the file since the last sync.
    lengths: Vec<usize>,
    // Sectors whose sync failed: the system forgot that and considers them clean.
    forgotten: BTreeMap<usize, Vec<Sector>>,
    fault: Option<Fault>,
    lies: bool,
    dead: bool,
    work: Work,
}

/// Counts of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Number of writes.
    pub writes: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Successful syncs.
    pub syncs: u64,
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// A reader of the file, and its length.
    pub fn reader(&self) -> (Cursor<Vec<u8>>, u64) {
        let bytes = self.written();
        let length = bytes.len() as u64;
        (Cursor::new(bytes), length)
    }

    /// The content of the file.
    pub fn written(&self) -> Vec<u8> {
        self.lock().written.clone()
    }

    /// The content that survives a power cut for certain.
    pub fn synced(&self) -> Vec<u8> {
        self.lock().synced.clone()
    }

    /// Replaces the file by another one that is synced.
    pub fn replace(&self, bytes: Vec<u8>) {
        let mut state = self.lock();
        *state = State { written: bytes.clone(), synced: bytes, work: state.work, ..State::default() };
    }

    /// Counts of the operations so far.
    pub fn work(&self) -> Work {
        self.lock().work
    }

    /// Sets or removes the fault.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.lock().fault = fault;
    }

    /// Sets whether syncs report success without doing anything.
    pub fn set_lies(&self, lies: bool) {
        self.lock().lies = lies;
    }

    /// Whether the server died in a write or sync. Nothing reaches the disk until [`SimulatedDisk::crash`].
    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Applies the effects of a crash. The disk has no fault afterwards.
    pub fn crash(&self, how: Crash, rng: &mut impl Rng) {
        let mut state = self.lock();
        (state.dead, state.fault) = (false, None);
        if how == Crash::PowerCut {
            state.cut_power(rng);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    // Applies a sync. Forgotten sectors stay as they are on the disk.
    fn settle(&mut self) {
        self.synced.resize(self.written.len(), 0);
        for sector in std::mem::take(&mut self.unsynced).into_keys() {
            put(&mut self.synced, sector, &get(&self.written, sector));
            self.forgotten.remove(&sector);
        }
        self.lengths.clear();
    }

    fn cut_power(&mut self, rng: &mut impl Rng) {
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.extend([self.written.len(), self.synced.len()]);
        let mut length = lengths[rng.random_range(0..lengths.len())];
        let most = lengths.iter().copied().max().unwrap_or(0).max(self.synced.len());
        if rng.random_range(0..4) == 0 && most > self.synced.len() {
            length = rng.random_range(self.synced.len()..=most);
        }
        // Whether most is lost, most is kept, or anything in between.
        let survives = [5, 50, 95][rng.random_range(0..3)];
        let mut left = std::mem::take(&mut self.synced);
        left.resize(most, 0);
        for (&sector, versions) in self.forgotten.iter().chain(&self.unsynced) {
            // The first one is the content before the writes.
            if rng.random_range(0..100) < survives {
                let newest = rng.random_range(0..4) > 0;
                let version = if newest { versions.len() - 1 } else { rng.random_range(0..versions.len()) };
                put(&mut left, sector, &versions[version]);
            } else if rng.random_range(0..8) == 0 {
                // A torn sector.
                let torn = rng.random_range(0..SECTOR);
                let mut mixed = versions[0];
                mixed[..torn].copy_from_slice(&versions[versions.len() - 1][..torn]);
                put(&mut left, sector, &mixed);
            }
        }
        left.truncate(length);
        (self.unsynced, self.forgotten) = (BTreeMap::new(), BTreeMap::new());
        self.written = left;
        self.synced = self.written.clone();
    }

    fn change(&mut self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        let sectors = offset / SECTOR..=(end - 1) / SECTOR;
        for sector in sectors.clone() {
            let before = get(&self.synced, sector);
            self.unsynced.entry(sector).or_insert_with(|| vec![before]);
        }
        if self.written.len() < end {
            self.written.resize(end, 0);
            self.lengths.push(end);
        }
        self.written[offset..end].copy_from_slice(bytes);
        self.remember(sectors);
    }

    fn remember(&mut self, sectors: impl Iterator<Item = usize>) {
        for sector in sectors {
            let now = get(&self.written, sector);
            self.unsynced.entry(sector).or_default().push(now);
        }
    }

    // How many bytes of a write are done, and the result of the write.
    fn allowed(&mut self, offset: u64, length: usize) -> (usize, io::Result<()>) {
        let wanted = length as u64;
        let (room, refused) = match &mut self.fault {
            Some(Fault::Full(most)) => (most.saturating_sub(offset), io::ErrorKind::StorageFull),
            Some(Fault::FailingWrites(left) | Fault::DeathInWrite(left)) => {
                let room = *left;
                *left = left.saturating_sub(wanted);
                (room, io::ErrorKind::Other)
            }
            _ => return (length, Ok(())),
        };
        if room >= wanted {
            return (length, Ok(()));
        }
        self.dead |= matches!(self.fault, Some(Fault::DeathInWrite(_)));
        (usize::try_from(room).unwrap_or(length), Err(refused.into()))
    }
}

fn get(file: &[u8], sector: usize) -> Sector {
    let mut bytes = [0; SECTOR];
    let rest = file.get(sector * SECTOR..).unwrap_or_default();
    let length = rest.len().min(SECTOR);
    bytes[..length].copy_from_slice(&rest[..length]);
    bytes
}

// Does not extend the file.
fn put(file: &mut [u8], sector: usize, bytes: &Sector) {
    let rest = file.get_mut(sector * SECTOR..).unwrap_or_default();
    let length = rest.len().min(SECTOR);
    rest[..length].copy_from_slice(&bytes[..length]);
}

impl Disk for SimulatedDisk {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if state.dead {
            return Err(io::ErrorKind::Other.into());
        }
        let at = usize::try_from(offset).expect("a simulated disk is small");
        assert!(at <= state.written.len(), "a write at {offset} leaves a hole after {}", state.written.len());
        let (length, done) = state.allowed(offset, bytes.len());
        state.work.writes += 1;
        state.work.bytes += length as u64;
        state.change(at, &bytes[..length]);
        done
    }

    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        let place = |offset| usize::try_from(offset).expect("a simulated disk is small");
        let bytes = self.written()[place(from)..place(to)].to_vec();
        self.write_at(from, &bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut state = self.lock();
        if state.dead {
            return Err(io::ErrorKind::Other.into());
        }
        let (before, length) = (state.written.len(), usize::try_from(length).expect("a simulated disk is small"));
        if length == before {
            return Ok(());
        }
        // The sectors that are removed or added change.
        let sectors = length.min(before) / SECTOR..length.max(before).div_ceil(SECTOR);
        for sector in sectors.clone() {
            let before = get(&state.synced, sector);
            state.unsynced.entry(sector).or_insert_with(|| vec![before]);
        }
        state.written.resize(length, 0);
        state.lengths.push(length);
        state.remember(sectors);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.lock();
        let failed = || Err(io::ErrorKind::Other.into());
        if state.dead {
            return failed();
        }
        match &mut state.fault {
            Some(Fault::FailingSyncs(0)) => {
                // The system reports the failure once, and then considers the data clean.
                let lost = std::mem::take(&mut state.unsynced);
                state.forgotten.extend(lost);
                return failed();
            }
            Some(Fault::DeathInSync(0, done)) => {
                let done = *done;
                state.dead = true;
                if done && !state.lies {
                    state.settle();
                }
                return failed();
            }
            Some(Fault::FailingSyncs(left) | Fault::DeathInSync(left, _)) => *left -= 1,
            _ => {}
        }
        state.work.syncs += 1;
        if !state.lies {
            state.settle();
        }
        Ok(())
    }
}
