//! A simulated disk that tears, loses, reorders and misdirects unsynced writes, fills up, fails and lies.

mod calls;
mod content;
mod faults;
mod state;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use self::{
    content::Content,
    state::{DIRECTORY, NameChange, State, remove_orphans},
};
use crate::draw::draw;

pub use self::faults::{Fault, Latency};

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
