//! A simulated disk that tears, loses, reorders and misdirects unsynced writes, fills up, fails and lies.
//!
//! It has files, directories, locks, and memory that outlives a process but not the machine.

mod content;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use journal::{About, Disk, DiskFile, Identity, SharedFile};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use self::content::Content;
use crate::{machine, net::draw};

/// The directory in memory that outlives a process.
const MEMORY: &str = "/memory";

/// How a server crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    /// The process is killed. The system keeps running, so everything written is kept.
    Kill,
    /// The machine loses power. Each sector written since the last sync may or may not be kept, and so may each new name.
    PowerCut,
}

/// A fault of a disk. It does not affect files in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Only this many bytes more fit on the disk: the rest of a write fails. What is there can be overwritten.
    Full(u64),
    /// Writes fail after this many bytes; the last write is done in part.
    FailingWrites(u64),
    /// Syncs of files fail after this many, and the data of a failed sync may be lost even if a later sync succeeds.
    FailingSyncs(u64),
    /// Truncating, creating, renaming, removing and syncing a directory fail after this many of them.
    FailingNames(u64),
    /// The server dies in the middle of the write that exceeds this many bytes; see [`SimulatedDisk::is_dead`].
    DeathInWrite(u64),
    /// The server dies in a sync after this many others; the flag says whether that sync is completed.
    DeathInSync(u64, bool),
    /// The server dies before it changes a name, after this many others.
    DeathInNames(u64),
    /// The disk reports the write after this many others as done, and does nothing.
    LostWrite(u64),
    /// The disk does the write after this many others at another place, a sector later.
    MisdirectedWrite(u64),
}

/// How long the calls of a disk take in a thread of a simulated machine. Elsewhere they take no time, and neither do those
/// for files in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Percentage of calls that take any time.
    pub busy_percent: u32,
    /// How long most of these take.
    pub usual: RangeInclusive<Duration>,
    /// Calls per ten thousand that take longer.
    pub slow_per_10_000: u32,
    /// How long these take.
    pub slow: RangeInclusive<Duration>,
}

impl Latency {
    /// No call takes time.
    pub const NONE: Self = Self {
        busy_percent: 0,
        usual: Duration::ZERO..=Duration::ZERO,
        slow_per_10_000: 0,
        slow: Duration::ZERO..=Duration::ZERO,
    };
    /// A fast disk.
    pub const CALM: Self =
        Self { busy_percent: 30, usual: Duration::from_micros(20)..=Duration::from_millis(2), ..Self::NONE };
    /// A disk that others use too: some calls take seconds.
    pub const ROUGH: Self = Self {
        busy_percent: 60,
        usual: Duration::from_micros(50)..=Duration::from_millis(15),
        slow_per_10_000: 40,
        slow: Duration::from_millis(100)..=Duration::from_secs(3),
    };
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

/// A disk. Clones share it and belong to the same process.
#[derive(Clone, Default)]
pub struct SimulatedDisk {
    machine: Arc<Mutex<Machine>>,
    process: u64,
}

#[derive(Default)]
struct Machine {
    files: BTreeMap<u64, Content>,
    names: BTreeMap<PathBuf, u64>,
    // Changes of names that a power cut may undo from any of them on.
    unsynced_names: Vec<NameChange>,
    // Removed files, by their last names.
    removed: BTreeMap<PathBuf, u64>,
    next_inode: u64,
    // The opening that holds the lock of a file, and its process.
    locks: BTreeMap<u64, (u64, u64)>,
    next_opening: u64,
    // The oldest process that is still alive.
    alive: u64,
    next_process: u64,
    now: Duration,
    modified: BTreeMap<u64, Duration>,
    fault: Option<Fault>,
    // Whether the fault happened.
    struck: bool,
    lies: bool,
    has_no_memory: bool,
    // The process that works on the disk now, and those that were killed or died in an operation.
    current: u64,
    dead: BTreeSet<u64>,
    work: Work,
    latency: Option<(Latency, Pcg64)>,
    // How long the next call takes that takes any time.
    hang: Option<Duration>,
    hangs: u64,
    // Calls that hang now.
    hung: u64,
}

/// What is left of the time that a call takes.
struct Rest {
    after: Duration,
    hangs: bool,
    disk: SimulatedDisk,
}

impl Drop for Rest {
    fn drop(&mut self) {
        machine::sleep(self.after);
        if self.hangs {
            self.disk.lock().hung -= 1;
        }
    }
}

/// A name before and after a change.
struct NameChange {
    path: PathBuf,
    before: Option<u64>,
}

/// An open file.
struct SimulatedFile {
    disk: SimulatedDisk,
    inode: u64,
    opening: u64,
    in_memory: bool,
}

impl fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedDisk").field("files", &self.lock().names).finish_non_exhaustive()
    }
}

impl fmt::Debug for SimulatedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimulatedFile").field("inode", &self.inode).finish_non_exhaustive()
    }
}

impl SimulatedDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same disk for another process.
    #[must_use]
    pub fn other_process(&self) -> Self {
        let mut machine = self.lock();
        machine.next_process = machine.next_process.max(machine.alive) + 1;
        Self { machine: Arc::clone(&self.machine), process: machine.next_process }
    }

    /// Creates or replaces a file that is on disk, with all of its names.
    pub fn put(&self, path: impl AsRef<Path>, bytes: Vec<u8>) {
        let mut machine = self.lock();
        let inode = machine.new_inode();
        machine.files.insert(inode, Content::synced(bytes));
        machine.names.insert(path.as_ref().to_owned(), inode);
    }

    /// The content of a file as a reader sees it.
    pub fn written(&self, path: impl AsRef<Path>) -> Vec<u8> {
        self.look(path.as_ref(), |content| content.written.clone())
    }

    /// The content of a file that survives a power cut for certain.
    pub fn synced(&self, path: impl AsRef<Path>) -> Vec<u8> {
        self.look(path.as_ref(), |content| content.synced.clone())
    }

    fn look<T: Default>(&self, path: &Path, look: impl FnOnce(&Content) -> T) -> T {
        let machine = self.lock();
        machine.names.get(path).and_then(|inode| machine.files.get(inode)).map(look).unwrap_or_default()
    }

    /// Another disk with what survives a power cut for certain.
    #[must_use]
    pub fn certain(&self) -> Self {
        let machine = self.lock();
        let mut names = machine.names.clone();
        for NameChange { path, before } in machine.unsynced_names.iter().rev() {
            match before {
                Some(inode) => names.insert(path.clone(), *inode),
                None => names.remove(path),
            };
        }
        names.retain(|path, _| !path.starts_with(MEMORY));
        let files = machine.files.iter().map(|(&inode, content)| (inode, Content::synced(content.synced.clone())));
        let files = files.collect();
        let copy = Machine { files, names, removed: machine.removed.clone(), ..Machine::default() };
        Self { machine: Arc::new(Mutex::new(copy)), process: 0 }
    }

    /// Another disk that has some of the removed files too, if no other file has the name.
    #[must_use]
    pub fn with_removed(&self, is_wanted: impl Fn(&Path) -> bool) -> Self {
        let machine = self.lock();
        let mut names = machine.removed.clone();
        names.retain(|path, _| is_wanted(path));
        names.extend(machine.names.iter().map(|(path, inode)| (path.clone(), *inode)));
        let files = machine.files.iter().map(|(&inode, content)| (inode, Content::synced(content.written.clone())));
        let files = files.collect();
        Self { machine: Arc::new(Mutex::new(Machine { files, names, ..Machine::default() })), process: 0 }
    }

    /// The names of all files.
    pub fn files(&self) -> Vec<PathBuf> {
        self.lock().names.keys().cloned().collect()
    }

    /// Whether there is or was a file with this name.
    pub fn has_had(&self, path: impl AsRef<Path>) -> bool {
        let machine = self.lock();
        machine.names.contains_key(path.as_ref()) || machine.removed.contains_key(path.as_ref())
    }

    /// The number of bytes in memory that outlives the process.
    pub fn memory_used(&self) -> usize {
        let machine = self.lock();
        let in_memory = machine.names.iter().filter(|(path, _)| path.starts_with(MEMORY));
        in_memory.filter_map(|(_, inode)| machine.files.get(inode)).map(|content| content.written.len()).sum()
    }

    /// The files in memory that outlives the process, and their lengths.
    pub fn memory_files(&self) -> Vec<(PathBuf, usize)> {
        let machine = self.lock();
        let in_memory = machine.names.iter().filter(|(path, _)| path.starts_with(MEMORY));
        in_memory.filter_map(|(path, inode)| Some((path.clone(), machine.files.get(inode)?.written.len()))).collect()
    }

    /// Counts of the operations so far, without those in memory.
    pub fn work(&self) -> Work {
        self.lock().work
    }

    /// Sets or removes the fault.
    pub fn set_fault(&self, fault: Option<Fault>) {
        let mut machine = self.lock();
        (machine.fault, machine.struck) = (fault, false);
    }

    /// Whether the fault that was set last has happened.
    pub fn has_struck(&self) -> bool {
        self.lock().struck
    }

    /// Sets whether syncs report success without doing anything.
    pub fn set_lies(&self, lies: bool) {
        self.lock().lies = lies;
    }

    /// Sets whether there is memory that outlives a process.
    pub fn set_memory(&self, memory: bool) {
        self.lock().has_no_memory = !memory;
    }

    /// Sets the time of writes from now on.
    pub fn set_time(&self, now: Duration) {
        self.lock().now = now;
    }

    /// Flips a random bit of a file, below `limit`.
    pub fn rot(&self, path: impl AsRef<Path>, limit: usize, rng: &mut impl Rng) {
        let mut machine = self.lock();
        let Some(&inode) = machine.names.get(path.as_ref()) else { return };
        let Some(content) = machine.files.get_mut(&inode) else { return };
        let length = content.written.len().min(limit);
        if length > 0 {
            content.rot(rng.random_range(0..length), rng.random_range(0..8));
        }
    }

    /// Whether this process was killed or died in an operation. Nothing of it reaches the disk any more.
    pub fn is_dead(&self) -> bool {
        self.lock().dead.contains(&self.process)
    }

    /// Kills this process. What it has opened is closed.
    pub fn kill(&self) {
        let mut machine = self.lock();
        machine.dead.insert(self.process);
        machine.locks.retain(|_, (_, process)| *process != self.process);
    }

    /// Sets how long calls take from now on. A hang that has not begun does not come.
    pub fn set_latency(&self, latency: Latency, seed: u64) {
        let mut machine = self.lock();
        machine.latency = Some((latency, Pcg64::seed_from_u64(seed)));
        machine.hang = None;
    }

    /// Lets the next call that takes any time take this long.
    pub fn hang(&self, duration: Duration) {
        self.lock().hang = Some(duration);
    }

    /// How many calls have hung.
    pub fn hangs(&self) -> u64 {
        self.lock().hangs
    }

    /// Copies a file to another name, in one moment.
    pub fn copy(&self, from: &Path, to: impl AsRef<Path>) {
        self.put(to, self.written(from));
    }

    /// Whether it has a fault that was set.
    pub fn has_fault(&self) -> bool {
        self.lock().fault.is_some()
    }

    /// Whether a call hangs, or is going to.
    pub fn is_hanging(&self) -> bool {
        let machine = self.lock();
        machine.hang.is_some() || machine.hung > 0
    }

    /// Removes the names of all files that `is_kept` does not name.
    pub fn forget_others(&self, is_kept: impl Fn(&Path) -> bool) {
        self.lock().names.retain(|path, _| is_kept(path));
    }

    /// What every process sees: the names of all files and their content.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let machine = self.lock();
        let content = |inode| machine.files.get(inode).map(|content| content.written.clone()).unwrap_or_default();
        machine.names.iter().map(|(path, inode)| (path.clone(), content(inode))).collect()
    }

    // How long a call takes before and after what it does, and whether it hangs.
    fn takes(&self) -> (Duration, Duration, bool) {
        let machine = &mut *self.lock();
        let Some((latency, rng)) = &mut machine.latency else { return Default::default() };
        let hang = machine.hang.take();
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
        machine.hangs += u64::from(hang.is_some());
        machine.hung += u64::from(hang.is_some() || slow);
        (before, all.saturating_sub(before), hang.is_some() || slow)
    }

    // Called at the beginning of a call that takes time; the rest of it passes when the result is dropped.
    fn take_time(&self, in_memory: bool) -> Option<Rest> {
        if in_memory || !machine::is_thread() {
            return None;
        }
        let (before, after, hangs) = self.takes();
        machine::sleep(before);
        Some(Rest { after, hangs, disk: self.clone() })
    }

    /// Applies the effects of a crash of all processes. The disk has no fault afterwards, and what the processes have opened
    /// is closed: `self` belongs to a new process.
    pub fn crash(&mut self, how: Crash, rng: &mut impl Rng) {
        let mut machine = self.lock();
        machine.dead.clear();
        machine.fault = None;
        machine.alive = machine.alive.max(machine.next_process) + 1;
        machine.locks.clear();
        if how == Crash::PowerCut {
            machine.cut_power(rng);
        }
        let process = machine.alive;
        drop(machine);
        self.process = process;
    }

    fn lock(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // Whether the process still runs.
    fn living(&self) -> io::Result<MutexGuard<'_, Machine>> {
        let mut machine = self.lock();
        if machine.dead.contains(&self.process) || self.process < machine.alive {
            return Err(io::Error::other("the process is dead"));
        }
        machine.current = self.process;
        Ok(machine)
    }

    fn opened(&self, machine: &mut Machine, path: &Path, inode: u64) -> SharedFile {
        machine.next_opening += 1;
        let (disk, opening) = (self.clone(), machine.next_opening);
        Arc::new(SimulatedFile { disk, inode, opening, in_memory: path.starts_with(MEMORY) })
    }
}

impl Machine {
    fn new_inode(&mut self) -> u64 {
        self.next_inode += 1;
        self.next_inode
    }

    fn cut_power(&mut self, rng: &mut impl Rng) {
        self.names.retain(|path, _| !path.starts_with(MEMORY));
        // Changes are kept in order, up to any of them.
        let kept = rng.random_range(0..=self.unsynced_names.len());
        for NameChange { path, before } in self.unsynced_names.split_off(kept).into_iter().rev() {
            match before {
                Some(inode) => self.names.insert(path, inode),
                None => self.names.remove(&path),
            };
        }
        self.unsynced_names.clear();
        for content in self.files.values_mut() {
            content.cut_power(rng);
        }
        let (names, removed) = (&self.names, &self.removed);
        self.files.retain(|inode, _| names.values().chain(removed.values()).any(|named| named == inode));
    }

    // Changes a name, which a power cut may undo.
    fn name(&mut self, path: &Path, inode: Option<u64>) {
        let before = match inode {
            Some(inode) => self.names.insert(path.to_owned(), inode),
            None => self.names.remove(path).inspect(|&inode| {
                self.removed.insert(path.to_owned(), inode);
            }),
        };
        if !path.starts_with(MEMORY) {
            self.unsynced_names.push(NameChange { path: path.to_owned(), before });
        }
    }

    // Before a change of names.
    fn may_change_names(&mut self, path: &Path) -> io::Result<()> {
        if path.starts_with(MEMORY) {
            return Ok(());
        }
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

    // How many bytes of a write at the present end are done, and the result of the write.
    fn allowed(&mut self, length: usize, grows: usize) -> (usize, io::Result<()>) {
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

    // Where a disk that works wrongly does a write; `None` if it does nothing.
    fn misplaced(&mut self, at: usize) -> Option<usize> {
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

impl Disk for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        let _takes = self.take_time(path.starts_with(MEMORY));
        let mut machine = self.living()?;
        if machine.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        machine.may_change_names(path)?;
        let inode = machine.new_inode();
        machine.files.insert(inode, Content::default());
        machine.name(path, Some(inode));
        Ok(self.opened(&mut machine, path, inode))
    }

    fn open(&self, path: &Path, _write: bool) -> io::Result<SharedFile> {
        let mut machine = self.living()?;
        let inode = *machine.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.opened(&mut machine, path, inode))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _takes = self.take_time(to.starts_with(MEMORY));
        let mut machine = self.living()?;
        machine.may_change_names(to)?;
        let inode = *machine.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        machine.name(to, Some(inode));
        machine.name(from, None);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _takes = self.take_time(path.starts_with(MEMORY));
        let mut machine = self.living()?;
        if !machine.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        machine.may_change_names(path)?;
        machine.name(path, None);
        Ok(())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.living()?.may_change_names(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let _takes = self.take_time(path.starts_with(MEMORY));
        let mut machine = self.living()?;
        machine.may_change_names(path)?;
        if !machine.lies {
            machine.unsynced_names.retain(|change| change.path.parent() != Some(path));
        }
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let machine = self.living()?;
        Ok(machine.names.keys().filter(|path| path.parent() == Some(directory)).cloned().collect())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.lock().names.contains_key(path)
    }

    fn is_directory(&self, path: &Path) -> bool {
        self.lock().names.keys().any(|name| name.parent() == Some(path))
    }

    fn memory(&self) -> Option<PathBuf> {
        (!self.lock().has_no_memory).then(|| MEMORY.into())
    }

    fn wait_for_lock(&self, _attempt: u32) -> bool {
        false
    }

    fn give_way(&self) -> bool {
        machine::sleep(Duration::from_millis(1))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}

impl SimulatedFile {
    fn content<'a>(&self, machine: &'a mut Machine) -> io::Result<&'a mut Content> {
        machine.files.get_mut(&self.inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).expect("a simulated disk is small")
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut machine = self.disk.living()?;
        let rest = self.content(&mut machine)?.written.get(place(offset)..).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _takes = self.disk.take_time(self.in_memory);
        let mut machine = self.disk.living()?;
        let at = place(offset);
        let present = self.content(&mut machine)?.written.len();
        assert!(at <= present, "a write at {offset} leaves a hole after {present}");
        let now = machine.now;
        machine.modified.insert(self.inode, now);
        if self.in_memory {
            self.content(&mut machine)?.change(at, bytes);
            return Ok(());
        }
        let (length, done) = machine.allowed(bytes.len(), (at + bytes.len()).saturating_sub(present));
        machine.work.writes += 1;
        machine.work.bytes += length as u64;
        if let Some(at) = machine.misplaced(at) {
            self.content(&mut machine)?.change(at, &bytes[..length]);
        } else {
            // The length is not lost: the system knows it.
            let content = self.content(&mut machine)?;
            let longer = content.written.len().max(at + length);
            content.truncate(longer);
        }
        done
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let _takes = self.disk.take_time(self.in_memory);
        let mut machine = self.disk.living()?;
        if !self.in_memory {
            machine.may_change_names(Path::new("/"))?;
        }
        self.content(&mut machine)?.truncate(place(length));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let _takes = self.disk.take_time(self.in_memory);
        let mut machine = self.disk.living()?;
        let failed = || Err(io::Error::other("the sync failed"));
        match machine.fault {
            Some(Fault::FailingSyncs(0)) => {
                machine.struck = true;
                self.content(&mut machine)?.fail_to_settle();
                return failed();
            }
            Some(Fault::DeathInSync(0, done)) => {
                let current = machine.current;
                machine.dead.insert(current);
                machine.struck = true;
                if done && !machine.lies {
                    self.content(&mut machine)?.settle();
                }
                return failed();
            }
            _ => {}
        }
        if let Some(Fault::FailingSyncs(left) | Fault::DeathInSync(left, _)) = &mut machine.fault {
            *left -= 1;
        }
        machine.work.syncs += 1;
        if !machine.lies {
            self.content(&mut machine)?.settle();
        }
        Ok(())
    }

    fn about(&self) -> io::Result<About> {
        let mut machine = self.disk.living()?;
        let since = machine.modified.get(&self.inode).copied().unwrap_or_default();
        let length = self.content(&mut machine)?.written.len() as u64;
        Ok(About { length, modified: UNIX_EPOCH + since, identity: Identity { device: 1, inode: self.inode } })
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut machine = self.disk.living()?;
        let process = self.disk.process;
        Ok(machine.locks.entry(self.inode).or_insert((self.opening, process)).0 == self.opening)
    }

    fn is_locked(&self) -> io::Result<bool> {
        let machine = self.disk.living()?;
        Ok(machine.locks.get(&self.inode).is_some_and(|&(opening, _)| opening != self.opening))
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let mut machine = self.disk.lock();
        if machine.locks.get(&self.inode).is_some_and(|&(opening, _)| opening == self.opening) {
            machine.locks.remove(&self.inode);
        }
    }
}
