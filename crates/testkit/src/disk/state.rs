//! Files, names and locks of a simulated disk, and the effects of its faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

pub(super) const DIRECTORY: u64 = 0;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) files: BTreeMap<u64, Content>,
    pub(super) names: BTreeMap<PathBuf, u64>,
    // A power cut keeps a random number of the first ones, and undoes the others.
    pub(super) unsynced_names: Vec<NameChange>,
    // Removed files, by their last names.
    pub(super) removed: BTreeMap<PathBuf, u64>,
    pub(super) next_inode: u64,
    // By inode: the locking opening, and its process.
    pub(super) locks: BTreeMap<u64, (u64, u64)>,
    pub(super) next_opening: u64,
    // The oldest process that is alive.
    pub(super) alive: u64,
    pub(super) next_process: u64,
    pub(super) now: Duration,
    pub(super) modified: BTreeMap<u64, Duration>,
    pub(super) fault: Option<Fault>,
    pub(super) struck: bool,
    pub(super) lies: bool,
    // A file that cannot be removed.
    pub(super) stubborn: Option<PathBuf>,
    // The current process, and those that were killed or died in an operation.
    pub(super) current: u64,
    pub(super) dead: BTreeSet<u64>,
    pub(super) syncs: u64,
    pub(super) latency: Option<(Latency, Pcg64)>,
    // The duration of the next call that takes time.
    pub(super) hang: Option<Duration>,
    pub(super) hangs: u64,
    // Calls that currently hang.
    pub(super) hung: u64,
}

#[derive(Debug)]
pub(super) struct NameChange {
    pub(super) path: PathBuf,
    pub(super) before: Option<u64>,
}

impl State {
    pub(super) fn new_inode(&mut self) -> u64 {
        self.next_inode += 1;
        self.next_inode
    }

    pub(super) fn cut_power(&mut self, rng: &mut impl Rng) {
        // Keeps changes in order, up to a random one.
        let kept = rng.random_range(0..=self.unsynced_names.len());
        for NameChange { path, before } in self.unsynced_names.split_off(kept).into_iter().rev() {
            match before {
                Some(inode) => self.names.insert(path, inode),
                None => self.names.remove(&path),
            };
        }
        self.unsynced_names.clear();
        remove_orphans(&mut self.names);
        for content in self.files.values_mut() {
            content.cut_power(rng);
        }
        let (names, removed) = (&self.names, &self.removed);
        self.files.retain(|inode, _| names.values().chain(removed.values()).any(|named| named == inode));
    }

    // A power cut may undo the change.
    pub(super) fn name(&mut self, path: &Path, inode: Option<u64>) {
        let before = match inode {
            Some(inode) => self.names.insert(path.to_owned(), inode),
            None => self.names.remove(path).inspect(|&inode| {
                self.removed.insert(path.to_owned(), inode);
            }),
        };
        self.unsynced_names.push(NameChange { path: path.to_owned(), before });
    }

    pub(super) fn may_change_names(&mut self) -> io::Result<()> {
        match &mut self.fault {
            Some(Fault::FailingNames(0)) => {}
            Some(Fault::DeathInNames(0)) => {
                self.dead.insert(self.current);
            }
            Some(Fault::FailingNames(left) | Fault::DeathInNames(left)) => {
                *left -= 1;
                return Ok(());
            }
            _ => return Ok(()),
        }
        self.struck = true;
        Err(io::Error::other("names cannot be changed"))
    }

    // The number of stored bytes of a write of this length, and its result. `grows` counts bytes beyond the current
    // end.
    pub(super) fn allowed(&mut self, length: usize, grows: usize) -> (usize, io::Result<()>) {
        let (wanted, left, kind) = match &mut self.fault {
            Some(Fault::Full(left)) => (grows, left, io::ErrorKind::StorageFull),
            Some(Fault::FailingWrites(left) | Fault::DeathInWrite(left)) => (length, left, io::ErrorKind::Other),
            _ => return (length, Ok(())),
        };
        let room = usize::try_from(*left).unwrap_or(usize::MAX);
        *left = left.saturating_sub(wanted as u64);
        if room >= wanted {
            return (length, Ok(()));
        }
        self.struck = true;
        if matches!(self.fault, Some(Fault::DeathInWrite(_))) {
            self.dead.insert(self.current);
        }
        (length - (wanted - room), Err(kind.into()))
    }

    // The offset at which the write is stored; `None` if it is lost.
    pub(super) fn misplaced(&mut self, at: usize) -> Option<usize> {
        match &mut self.fault {
            Some(Fault::LostWrite(0)) => {
                (self.fault, self.struck) = (None, true);
                None
            }
            Some(Fault::MisdirectedWrite(0)) => {
                (self.fault, self.struck) = (None, true);
                Some(at + 512)
            }
            Some(Fault::LostWrite(left) | Fault::MisdirectedWrite(left)) => {
                *left -= 1;
                Some(at)
            }
            _ => Some(at),
        }
    }
}

pub(super) fn remove_orphans(names: &mut BTreeMap<PathBuf, u64>) {
    loop {
        let orphans: Vec<PathBuf> = names.keys().filter(|path| !has_parent(names, path)).cloned().collect();
        if orphans.is_empty() {
            return;
        }
        for path in orphans {
            names.remove(&path);
        }
    }
}

pub(super) fn has_parent(names: &BTreeMap<PathBuf, u64>, path: &Path) -> bool {
    let parent = path.parent().unwrap_or(Path::new(""));
    parent.parent().is_none() || names.get(parent) == Some(&DIRECTORY)
}

// The content of a simulated file, and what a power cut may leave of it.

/// Bytes of an atomic write.
const SECTOR: usize = 512;

type Sector = [u8; SECTOR];

#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) written: Vec<u8>,
    /// The content that certainly survives a power cut.
    pub(super) synced: Vec<u8>,
    // Versions of each sector since the last sync; a power cut may leave any of them.
    unsynced: BTreeMap<usize, Vec<Sector>>,
    // Since the last sync.
    lengths: Vec<usize>,
    // Sectors whose sync failed: the system considers them clean.
    forgotten: BTreeMap<usize, Vec<Sector>>,
}

impl Content {
    pub(super) fn synced(bytes: Vec<u8>) -> Self {
        Self { written: bytes.clone(), synced: bytes, ..Self::default() }
    }

    /// Forgotten sectors keep their content on the disk.
    pub(super) fn settle(&mut self) {
        self.synced.resize(self.written.len(), 0);
        for sector in std::mem::take(&mut self.unsynced).into_keys() {
            put(&mut self.synced, sector, &get(&self.written, sector));
            self.forgotten.remove(&sector);
        }
        self.lengths.clear();
    }

    /// The system reports a failed sync once, and then considers the data clean.
    pub(super) fn fail_to_settle(&mut self) {
        let lost = std::mem::take(&mut self.unsynced);
        self.forgotten.extend(lost);
    }

    pub(super) fn cut_power(&mut self, rng: &mut impl Rng) {
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.extend([self.written.len(), self.synced.len()]);
        let mut length = lengths[rng.random_range(0..lengths.len())];
        let most = lengths.iter().copied().max().unwrap_or(0).max(self.synced.len());
        if rng.random_range(0..4) == 0 && most > self.synced.len() {
            length = rng.random_range(self.synced.len()..=most);
        }
        // Loses most sectors, about half, or few.
        let survives = [5, 50, 95][rng.random_range(0..3)];
        let mut left = std::mem::take(&mut self.synced);
        left.resize(most, 0);
        for (&sector, versions) in self.forgotten.iter().chain(&self.unsynced) {
            // The first version is the content before the writes.
            if rng.random_range(0..100) < survives {
                let newest = rng.random_range(0..4) > 0;
                let version = if newest { versions.len() - 1 } else { rng.random_range(0..versions.len()) };
                put(&mut left, sector, &versions[version]);
            } else if rng.random_range(0..8) == 0 {
                let torn = rng.random_range(0..SECTOR);
                let mut mixed = versions[0];
                mixed[..torn].copy_from_slice(&versions[versions.len() - 1][..torn]);
                put(&mut left, sector, &mixed);
            }
        }
        left.truncate(length);
        *self = Self::synced(left);
    }

    pub(super) fn change(&mut self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let end = offset + bytes.len();
        let sectors = offset / SECTOR..=(end - 1) / SECTOR;
        self.remember_synced(sectors.clone());
        if self.written.len() < end {
            self.written.resize(end, 0);
            self.lengths.push(end);
        }
        self.written[offset..end].copy_from_slice(bytes);
        self.remember(sectors);
    }

    pub(super) fn truncate(&mut self, length: usize) {
        let before = self.written.len();
        if length == before {
            return;
        }
        let sectors = length.min(before) / SECTOR..length.max(before).div_ceil(SECTOR);
        self.remember_synced(sectors.clone());
        self.written.resize(length, 0);
        self.lengths.push(length);
        self.remember(sectors);
    }

    pub(super) fn rot(&mut self, offset: usize, bit: u32) {
        for bytes in [&mut self.written, &mut self.synced] {
            if let Some(byte) = bytes.get_mut(offset) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    fn remember_synced(&mut self, sectors: impl Iterator<Item = usize>) {
        for sector in sectors {
            let before = get(&self.synced, sector);
            self.unsynced.entry(sector).or_insert_with(|| vec![before]);
        }
    }

    fn remember(&mut self, sectors: impl Iterator<Item = usize>) {
        for sector in sectors {
            let now = get(&self.written, sector);
            self.unsynced.entry(sector).or_default().push(now);
        }
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Only this many more bytes fit on the disk; the rest of a write fails. Existing content can be overwritten.
    Full(u64),
    /// Writes fail after this many bytes; the last one is partial.
    FailingWrites(u64),
    /// Syncs of files fail after this many. Their data may be lost even if a later sync succeeds.
    FailingSyncs(u64),
    /// Changes of names and syncs of directories fail after this many.
    FailingNames(u64),
    /// Writes do not return while this fault is set.
    StalledWrites,
    /// The server dies within the write that exceeds this many bytes; see
    /// [`SimulatedDisk::is_dead`](super::SimulatedDisk::is_dead).
    DeathInWrite(u64),
    /// The server dies in a sync after this many others; the flag determines whether that sync completes.
    DeathInSync(u64, bool),
    /// The server dies before it changes a name, after this many changes.
    DeathInNames(u64),
    /// The write after this many others is reported as done, but is lost.
    LostWrite(u64),
    /// The write after this many others goes one sector too far.
    MisdirectedWrite(u64),
}

/// How long calls take in a simulated thread. Elsewhere they take no time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    pub busy_percent: u32,
    pub usual: RangeInclusive<Duration>,
    pub slow_per_10_000: u32,
    pub slow: RangeInclusive<Duration>,
}

impl Latency {
    pub const NONE: Self = Self {
        busy_percent: 0,
        usual: Duration::ZERO..=Duration::ZERO,
        slow_per_10_000: 0,
        slow: Duration::ZERO..=Duration::ZERO,
    };
    pub const CALM: Self =
        Self { busy_percent: 30, usual: Duration::from_micros(20)..=Duration::from_millis(2), ..Self::NONE };
    /// A shared disk, on which some calls take seconds.
    pub const ROUGH: Self = Self {
        busy_percent: 60,
        usual: Duration::from_micros(50)..=Duration::from_millis(15),
        slow_per_10_000: 40,
        slow: Duration::from_millis(100)..=Duration::from_secs(3),
    };
}
