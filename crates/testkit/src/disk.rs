//! A pretend disk that tears, loses and reorders what was not synced, fills up, fails and lies.

use std::{
    collections::BTreeMap,
    io::{self, Cursor},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use journal::Disk;
use rand::{Rng, RngExt};

/// What a disk writes at once, in bytes.
const SECTOR: usize = 512;

/// How a server ends that nobody has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed. The system goes on: all that was written stays.
    Kill,
    /// The machine loses its power. What was written since the last sync survives or not, sector by sector.
    PowerCut,
}

/// What goes wrong with a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The file cannot have more bytes than this: the rest of a write is refused.
    Full(u64),
    /// Writes fail once so many bytes were written from now on; what fits of the last one is there.
    FailingWrites(u64),
    /// Syncs fail after so many of them, and what was to be synced may be lost even if a later one succeeds.
    FailingSyncs(u64),
    /// The server ends at the first write that goes beyond so many bytes from now on, and in the middle of it; see
    /// [`PretendDisk::is_dead`].
    DeathInWrite(u64),
    /// The server ends at a sync, after so many others: with it done or not.
    DeathInSync(u64, bool),
}

/// A disk with one file, whose clones are the same disk.
#[derive(Debug, Clone, Default)]
pub struct PretendDisk(Arc<Mutex<State>>);

type Sector = [u8; SECTOR];

#[derive(Debug, Default)]
struct State {
    // What whoever opens the file finds.
    written: Vec<u8>,
    // What a power cut leaves for certain.
    synced: Vec<u8>,
    // What sectors were in turns since the last sync: a power cut may leave any of it.
    unsynced: BTreeMap<usize, Vec<Sector>>,
    // The lengths that the file had since the last sync.
    lengths: Vec<usize>,
    // The system believes that these are on the disk, because it has forgotten that a sync failed.
    forgotten: BTreeMap<usize, Vec<Sector>>,
    fault: Option<Fault>,
    lies: bool,
    dead: bool,
    work: Work,
}

/// What a disk was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Writes.
    pub writes: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Syncs that were said to be done.
    pub syncs: u64,
}

impl PretendDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// What lies in the file, to be read.
    pub fn reader(&self) -> (Cursor<Vec<u8>>, u64) {
        let bytes = self.written();
        let length = bytes.len() as u64;
        (Cursor::new(bytes), length)
    }

    /// What lies in the file.
    pub fn written(&self) -> Vec<u8> {
        self.lock().written.clone()
    }

    /// What no power cut takes away.
    pub fn synced(&self) -> Vec<u8> {
        self.lock().synced.clone()
    }

    /// Puts another file in the place of this one, on the disk for certain.
    pub fn replace(&self, bytes: Vec<u8>) {
        let mut state = self.lock();
        *state = State { written: bytes.clone(), synced: bytes, work: state.work, ..State::default() };
    }

    /// What it was asked for so far.
    pub fn work(&self) -> Work {
        self.lock().work
    }

    /// Lets something go wrong with it, or nothing any more.
    pub fn set_fault(&self, fault: Option<Fault>) {
        self.lock().fault = fault;
    }

    /// Whether it says that a sync is done and does nothing.
    pub fn set_lies(&self, lies: bool) {
        self.lock().lies = lies;
    }

    /// Whether the server has ended while it wrote or synced. Then nothing reaches the disk before [`PretendDisk::crash`].
    pub fn is_dead(&self) -> bool {
        self.lock().dead
    }

    /// Leaves what a crash leaves. The disk is sound afterwards.
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
    // What a sync leaves. What the system has forgotten stays as it is on the disk.
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
        // Whether most of it is lost, most of it there, or anything.
        let survives = [5, 50, 95][rng.random_range(0..3)];
        let mut left = std::mem::take(&mut self.synced);
        left.resize(most, 0);
        for (&sector, versions) in self.forgotten.iter().chain(&self.unsynced) {
            // The first of them is what was there before.
            if rng.random_range(0..100) < survives {
                let newest = rng.random_range(0..4) > 0;
                let version = if newest { versions.len() - 1 } else { rng.random_range(0..versions.len()) };
                put(&mut left, sector, &versions[version]);
            } else if rng.random_range(0..8) == 0 {
                // Torn in the middle.
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

    // How many bytes of a write are carried out, and what becomes of the rest.
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

// Does not make the file longer.
fn put(file: &mut [u8], sector: usize, bytes: &Sector) {
    let rest = file.get_mut(sector * SECTOR..).unwrap_or_default();
    let length = rest.len().min(SECTOR);
    rest[..length].copy_from_slice(&bytes[..length]);
}

impl Disk for PretendDisk {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if state.dead {
            return Err(io::ErrorKind::Other.into());
        }
        let at = usize::try_from(offset).expect("a pretend disk is small");
        assert!(at <= state.written.len(), "a write at {offset} leaves a hole behind {}", state.written.len());
        let (length, done) = state.allowed(offset, bytes.len());
        state.work.writes += 1;
        state.work.bytes += length as u64;
        state.change(at, &bytes[..length]);
        done
    }

    fn rewrite(&self, from: u64, to: u64) -> io::Result<()> {
        let place = |offset| usize::try_from(offset).expect("a pretend disk is small");
        let bytes = self.written()[place(from)..place(to)].to_vec();
        self.write_at(from, &bytes)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let mut state = self.lock();
        if state.dead {
            return Err(io::ErrorKind::Other.into());
        }
        let (before, length) = (state.written.len(), usize::try_from(length).expect("a pretend disk is small"));
        if length == before {
            return Ok(());
        }
        // The sectors that are cut off, or begin to be there, are others than before.
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
                // The system tells it once, and takes what was to be synced for clean.
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn rng(seed: u64) -> Pcg64 {
        Pcg64::seed_from_u64(seed)
    }

    #[test]
    fn what_is_synced_stays_and_what_is_not_may_go_in_any_order() {
        let (mut lost, mut whole, mut holes) = (0, 0, 0);
        for seed in 0..200 {
            let disk = PretendDisk::new();
            disk.write_at(0, &[1; 2_000]).unwrap();
            disk.sync().unwrap();
            disk.write_at(1_000, &[2; 3_000]).unwrap();
            let written = disk.written();
            disk.crash(Crash::Kill, &mut rng(seed));
            assert_eq!(disk.written(), written);
            disk.crash(Crash::PowerCut, &mut rng(seed));
            let left = disk.written();
            assert!(left.len() >= 2_000 && left[..1_000] == [1; 1_000]);
            let new: usize = left[1_000..].iter().map(|&byte| usize::from(byte == 2)).sum();
            lost += u32::from(new == 0);
            whole += u32::from(left == written);
            holes +=
                u32::from(left.windows(2).any(|pair| pair == [1, 2]) && left.windows(2).any(|pair| pair == [2, 1]));
        }
        assert!(lost > 5 && whole > 5 && holes > 5, "{lost} {whole} {holes}");
    }

    #[test]
    fn a_disk_that_lies_forgets_what_it_said_was_there() {
        let disk = PretendDisk::new();
        disk.set_lies(true);
        disk.write_at(0, &[1; 5_000]).unwrap();
        disk.sync().unwrap();
        assert!(disk.synced().is_empty());
        let left = (0..20).map(|seed| {
            let disk = PretendDisk::new();
            disk.set_lies(true);
            disk.write_at(0, &[1; 5_000]).unwrap();
            disk.sync().unwrap();
            disk.crash(Crash::PowerCut, &mut rng(seed));
            disk.written() == [1; 5_000]
        });
        assert!(left.filter(|&left| !left).count() > 5);
    }

    #[test]
    fn a_full_disk_takes_what_fits_and_lets_what_is_there_be_changed() {
        let disk = PretendDisk::new();
        disk.set_fault(Some(Fault::Full(10)));
        let full = disk.write_at(0, &[1; 20]).unwrap_err();
        assert_eq!((full.kind(), disk.written()), (io::ErrorKind::StorageFull, vec![1; 10]));
        disk.write_at(2, &[2; 3]).unwrap();
        assert_eq!(disk.written(), [1, 1, 2, 2, 2, 1, 1, 1, 1, 1]);
        disk.set_fault(Some(Fault::FailingWrites(4)));
        disk.write_at(10, &[3; 3]).unwrap();
        assert!(disk.write_at(13, &[4; 3]).is_err() && disk.write_at(14, &[4]).is_err());
        assert_eq!(disk.written()[10..], [3, 3, 3, 4]);
    }

    #[test]
    fn what_a_failed_sync_was_about_is_not_on_the_disk_after_the_next() {
        let mut lost = 0;
        for seed in 0..50 {
            let disk = PretendDisk::new();
            disk.write_at(0, &[1; 512]).unwrap();
            disk.set_fault(Some(Fault::FailingSyncs(0)));
            assert!(disk.sync().is_err());
            disk.set_fault(None);
            disk.write_at(512, &[2; 512]).unwrap();
            disk.sync().unwrap();
            disk.crash(Crash::PowerCut, &mut rng(seed));
            let left = disk.written();
            assert!(left.len() == 1_024 && left[512..] == [2; 512]);
            lost += u32::from(left[..512] != [1; 512]);
        }
        assert!(lost > 10);
    }

    #[test]
    fn nothing_comes_behind_the_death_of_the_server() {
        let disk = PretendDisk::new();
        disk.set_fault(Some(Fault::DeathInWrite(5)));
        disk.write_at(0, &[1; 3]).unwrap();
        assert!(disk.write_at(3, &[2; 5]).is_err() && disk.is_dead());
        assert!(disk.write_at(0, &[9; 3]).is_err() && disk.sync().is_err() && disk.truncate(0).is_err());
        disk.crash(Crash::Kill, &mut rng(1));
        assert!(!disk.is_dead());
        assert_eq!(disk.written(), [1, 1, 1, 2, 2]);
        disk.set_fault(Some(Fault::DeathInSync(1, true)));
        disk.sync().unwrap();
        disk.write_at(5, &[3]).unwrap();
        assert!(disk.sync().is_err() && disk.is_dead());
        disk.crash(Crash::PowerCut, &mut rng(1));
        assert_eq!(disk.written(), [1, 1, 1, 2, 2, 3]);
    }
}
