//! A simulated disk that tears, loses, reorders and misdirects unsynced writes, fills up, fails and lies.

mod calls;
mod state;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use self::state::{Content, DIRECTORY, NameChange, State, remove_orphans};
use crate::machine::draw;

pub use self::state::{Fault, Latency};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// Keeps all written data, because the system keeps running.
    Kill,
    /// Sectors and names changed since the last sync may or may not be kept.
    PowerCut,
}

/// Clones share the disk and belong to the same process.
#[derive(Debug, Clone, Default)]
pub struct SimulatedDisk {
    state: Arc<Mutex<State>>,
    process: u64,
}

impl SimulatedDisk {
    pub fn new() -> Self {
        Self::default()
    }

    #[must_use]
    pub fn other_process(&self) -> Self {
        let mut state = self.lock();
        state.next_process = state.next_process.max(state.alive) + 1;
        Self { state: Arc::clone(&self.state), process: state.next_process }
    }

    /// Puts a file on disk, with its directories.
    pub fn put(&self, path: impl AsRef<Path>, bytes: Vec<u8>) {
        let mut state = self.lock();
        let inode = state.new_inode();
        state.files.insert(inode, Content::synced(bytes));
        let mut directory = path.as_ref().parent();
        while let Some(path) = directory.filter(|path| path.parent().is_some()) {
            state.names.insert(path.to_owned(), DIRECTORY);
            directory = path.parent();
        }
        state.names.insert(path.as_ref().to_owned(), inode);
    }

    pub fn written(&self, path: impl AsRef<Path>) -> Vec<u8> {
        self.with_content(path.as_ref(), |content| content.written.clone())
    }

    /// The content that certainly survives a power cut.
    pub fn synced(&self, path: impl AsRef<Path>) -> Vec<u8> {
        self.with_content(path.as_ref(), |content| content.synced.clone())
    }

    fn with_content<T: Default>(&self, path: &Path, read: impl FnOnce(&Content) -> T) -> T {
        let state = self.lock();
        state.names.get(path).and_then(|inode| state.files.get(inode)).map(read).unwrap_or_default()
    }

    /// A disk with only the content that certainly survives a power cut.
    #[must_use]
    pub fn certain(&self) -> Self {
        let state = self.lock();
        let mut names = state.names.clone();
        for NameChange { path, before } in state.unsynced_names.iter().rev() {
            match before {
                Some(inode) => names.insert(path.clone(), *inode),
                None => names.remove(path),
            };
        }
        remove_orphans(&mut names);
        let files = state.files.iter().map(|(&inode, content)| (inode, Content::synced(content.synced.clone())));
        let files = files.collect();
        let copy = State { files, names, removed: state.removed.clone(), ..State::default() };
        Self { state: Arc::new(Mutex::new(copy)), process: 0 }
    }

    /// A copy that also has the wanted removed files, unless another file has the name.
    #[must_use]
    pub fn with_removed(&self, is_wanted: impl Fn(&Path) -> bool) -> Self {
        let state = self.lock();
        let mut names = state.removed.clone();
        names.retain(|path, _| is_wanted(path));
        names.extend(state.names.iter().map(|(path, inode)| (path.clone(), *inode)));
        let files = state.files.iter().map(|(&inode, content)| (inode, Content::synced(content.written.clone())));
        let files = files.collect();
        Self { state: Arc::new(Mutex::new(State { files, names, ..State::default() })), process: 0 }
    }

    pub fn files(&self) -> Vec<PathBuf> {
        self.snapshot().into_keys().collect()
    }

    pub fn has_had(&self, path: impl AsRef<Path>) -> bool {
        let state = self.lock();
        state.names.contains_key(path.as_ref()) || state.removed.contains_key(path.as_ref())
    }

    pub fn syncs(&self) -> u64 {
        self.lock().syncs
    }

    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut state = self.lock();
        (state.fault, state.struck) = (fault, false);
    }

    fn stall(&self) {
        loop {
            let mut state = self.lock();
            if state.fault != Some(Fault::StalledWrites) {
                return;
            }
            state.struck = true;
            drop(state);
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether the last fault has occurred.
    pub fn has_struck(&self) -> bool {
        self.lock().struck
    }

    /// Whether syncs report success without doing anything.
    pub fn set_lies(&self, lies: bool) {
        self.lock().lies = lies;
    }

    pub fn set_stubborn(&self, path: &Path) {
        self.lock().stubborn = Some(path.to_owned());
    }

    pub fn set_time(&self, now: Duration) {
        self.lock().now = now;
    }

    pub fn rot(&self, path: impl AsRef<Path>, limit: usize, rng: &mut impl Rng) {
        let mut state = self.lock();
        let Some(&inode) = state.names.get(path.as_ref()) else { return };
        let Some(content) = state.files.get_mut(&inode) else { return };
        let length = content.written.len().min(limit);
        if length > 0 {
            content.rot(rng.random_range(0..length), rng.random_range(0..8));
        }
    }

    /// Whether this process was killed or died in an operation. Its later writes are lost.
    pub fn is_dead(&self) -> bool {
        self.lock().dead.contains(&self.process)
    }

    pub fn kill(&self) {
        let mut state = self.lock();
        state.dead.insert(self.process);
        state.locks.retain(|_, (_, process)| *process != self.process);
    }

    /// Sets how long calls take, and cancels a pending hang.
    pub fn set_latency(&self, latency: Latency, seed: u64) {
        let mut state = self.lock();
        state.latency = Some((latency, Pcg64::seed_from_u64(seed)));
        state.hang = None;
    }

    /// Sets the duration of the next call that takes time.
    pub fn hang(&self, duration: Duration) {
        self.lock().hang = Some(duration);
    }

    pub fn hangs(&self) -> u64 {
        self.lock().hangs
    }

    /// Copies atomically.
    pub fn copy(&self, from: &Path, to: impl AsRef<Path>) {
        self.put(to, self.written(from));
    }

    pub fn has_fault(&self) -> bool {
        self.lock().fault.is_some()
    }

    pub fn is_hanging(&self) -> bool {
        let state = self.lock();
        state.hang.is_some() || state.hung > 0
    }

    pub fn retain_names(&self, is_kept: impl Fn(&Path) -> bool) {
        self.lock().names.retain(|path, inode| *inode == DIRECTORY || is_kept(path));
    }

    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let state = self.lock();
        let content = |inode| state.files.get(inode).map(|content| content.written.clone());
        state.names.iter().filter_map(|(path, inode)| Some((path.clone(), content(inode)?))).collect()
    }

    // The time before and after the effect of a call, and whether it hangs.
    fn takes(&self) -> (Duration, Duration, bool) {
        let state = &mut *self.lock();
        let Some((latency, rng)) = &mut state.latency else { return Default::default() };
        let hang = state.hang.take();
        if hang.is_none() && rng.random_range(0..100) >= latency.busy_percent {
            return Default::default();
        }
        let slow = rng.random_range(0..10_000) < latency.slow_per_10_000;
        let all = hang.unwrap_or_else(|| draw(rng, if slow { &latency.slow } else { &latency.usual }));
        let before = match rng.random_range(0..3) {
            0 => Duration::ZERO,
            1 => all,
            _ => draw(rng, &(Duration::ZERO..=all)),
        };
        state.hangs += u64::from(hang.is_some());
        state.hung += u64::from(hang.is_some() || slow);
        (before, all.saturating_sub(before), hang.is_some() || slow)
    }

    /// Crashes all processes, closes all files and removes the fault of the disk. Then `self` belongs to a new process.
    pub fn crash(&mut self, how: Crash, rng: &mut impl Rng) {
        let mut state = self.lock();
        state.dead.clear();
        state.fault = None;
        state.alive = state.alive.max(state.next_process) + 1;
        state.locks.clear();
        if how == Crash::PowerCut {
            state.cut_power(rng);
        }
        let process = state.alive;
        drop(state);
        self.process = process;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn living(&self) -> io::Result<MutexGuard<'_, State>> {
        let mut state = self.lock();
        if state.dead.contains(&self.process) || self.process < state.alive {
            return Err(io::Error::other("the process is dead"));
        }
        state.current = self.process;
        Ok(state)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use journal_core::{Disk as _, SharedFile};
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    const FILE: &str = "/games/one";

    fn on_disk() -> (SimulatedDisk, SharedFile) {
        let disk = SimulatedDisk::new();
        disk.create_directory(Path::new("/games")).unwrap();
        disk.sync_directory(Path::new("/")).unwrap();
        let file = disk.create(Path::new(FILE)).unwrap();
        disk.sync_directory(Path::new("/games")).unwrap();
        (disk, file)
    }

    fn again(disk: &SimulatedDisk) -> SharedFile {
        disk.open(Path::new(FILE), true).unwrap()
    }

    fn rng(seed: u64) -> Pcg64 {
        Pcg64::seed_from_u64(seed)
    }

    #[test]
    fn synced_data_survives_and_unsynced_data_may_be_lost_in_any_order() {
        let (mut lost, mut whole, mut holes) = (0, 0, 0);
        for seed in 0..200 {
            let (mut disk, file) = on_disk();
            file.write_at(0, &[1; 2_000]).unwrap();
            file.sync().unwrap();
            file.write_at(1_000, &[2; 3_000]).unwrap();
            let written = disk.written(FILE);
            disk.crash(Crash::Kill, &mut rng(seed));
            assert_eq!(disk.written(FILE), written);
            disk.crash(Crash::PowerCut, &mut rng(seed));
            let left = disk.written(FILE);
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
    fn a_lying_disk_loses_data_that_it_reported_as_synced() {
        let (disk, file) = on_disk();
        disk.set_lies(true);
        file.write_at(0, &[1; 5_000]).unwrap();
        file.sync().unwrap();
        assert!(disk.synced(FILE).is_empty());
        let left = (0..20).map(|seed| {
            let (mut disk, file) = on_disk();
            disk.set_lies(true);
            file.write_at(0, &[1; 5_000]).unwrap();
            file.sync().unwrap();
            disk.crash(Crash::PowerCut, &mut rng(seed));
            disk.written(FILE) == [1; 5_000]
        });
        assert!(left.filter(|&left| !left).count() > 5);
    }

    #[test]
    fn a_full_disk_writes_what_fits_and_allows_overwriting() {
        let (disk, file) = on_disk();
        disk.set_fault(Some(Fault::Full(10)));
        let full = file.write_at(0, &[1; 20]).unwrap_err();
        assert_eq!((full.kind(), disk.written(FILE)), (io::ErrorKind::StorageFull, vec![1; 10]));
        file.write_at(2, &[2; 3]).unwrap();
        assert_eq!(disk.written(FILE), [1, 1, 2, 2, 2, 1, 1, 1, 1, 1]);
        disk.set_fault(Some(Fault::FailingWrites(4)));
        file.write_at(10, &[3; 3]).unwrap();
        assert!(file.write_at(13, &[4; 3]).is_err() && file.write_at(14, &[4]).is_err());
        assert_eq!(disk.written(FILE)[10..], [3, 3, 3, 4]);
    }

    #[test]
    fn data_of_a_failed_sync_is_not_on_the_disk_after_the_next_sync() {
        let mut lost = 0;
        for seed in 0..50 {
            let (mut disk, file) = on_disk();
            file.write_at(0, &[1; 512]).unwrap();
            disk.set_fault(Some(Fault::FailingSyncs(0)));
            assert!(file.sync().is_err());
            disk.set_fault(None);
            file.write_at(512, &[2; 512]).unwrap();
            file.sync().unwrap();
            disk.crash(Crash::PowerCut, &mut rng(seed));
            let left = disk.written(FILE);
            assert!(left.len() == 1_024 && left[512..] == [2; 512]);
            lost += u32::from(left[..512] != [1; 512]);
        }
        assert!(lost > 10);
    }

    #[test]
    fn dead_process_writes_nothing() {
        let (mut disk, file) = on_disk();
        disk.set_fault(Some(Fault::DeathInWrite(5)));
        file.write_at(0, &[1; 3]).unwrap();
        assert!(file.write_at(3, &[2; 5]).is_err() && disk.is_dead());
        assert!(file.write_at(0, &[9; 3]).is_err() && file.sync().is_err() && file.truncate(0).is_err());
        disk.crash(Crash::Kill, &mut rng(1));
        assert!(!disk.is_dead());
        assert_eq!(disk.written(FILE), [1, 1, 1, 2, 2]);
        assert!(file.sync().is_err(), "it was opened by a process that is dead");
        let file = again(&disk);
        disk.set_fault(Some(Fault::DeathInSync(1, true)));
        file.sync().unwrap();
        file.write_at(5, &[3]).unwrap();
        assert!(file.sync().is_err() && disk.is_dead());
        disk.crash(Crash::PowerCut, &mut rng(1));
        assert_eq!(disk.written(FILE), [1, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn names_survive_a_power_cut_after_a_sync_of_their_directory() {
        let (mut kept, mut lost) = (0, 0);
        for seed in 0..40 {
            let (mut disk, file) = on_disk();
            file.sync().unwrap();
            disk.create(Path::new("/games/two")).unwrap().sync().unwrap();
            disk.rename(Path::new(FILE), Path::new("/games/three")).unwrap();
            disk.crash(Crash::Kill, &mut rng(seed));
            assert_eq!(disk.certain().files(), [PathBuf::from(FILE)]);
            disk.crash(Crash::PowerCut, &mut rng(seed));
            let names = disk.files();
            let (one, three) = (names.contains(&FILE.into()), names.contains(&"/games/three".into()));
            assert!(one || three, "a renamed file has one of its names: {names:?}");
            *(if names.contains(&"/games/two".into()) { &mut kept } else { &mut lost }) += 1;
        }
        assert!(kept > 5 && lost > 5, "{kept} {lost}");
    }

    #[test]
    fn lock_is_exclusive_and_ends_with_its_file_or_process() {
        let (mut disk, file) = on_disk();
        assert!(file.try_lock().unwrap() && file.try_lock().unwrap());
        let other = disk.other_process().open(Path::new(FILE), true).unwrap();
        assert!(other.is_locked().unwrap() && !other.try_lock().unwrap() && !file.is_locked().unwrap());
        drop(file);
        assert!(other.try_lock().unwrap());
        disk.crash(Crash::Kill, &mut rng(1));
        assert!(again(&disk).try_lock().unwrap());
    }
}
