use std::{
    cmp::Reverse,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use crate::{
    ReadError,
    disk::{About, Disk},
    resume,
    segment::{self, Segment},
    spool,
};

/// A limit of `None` does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    pub age: Option<Duration>,
    pub count: Option<usize>,
    /// In bytes.
    pub size: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetentionClass {
    /// The limits do not apply to it.
    Exempt,
    /// Counts towards the limits, but is never removed.
    Required,
    /// Removable: smaller numbers first, and among equal ones those with the oldest last write.
    Removable(u32),
}

#[derive(Debug, Clone)]
pub struct StoredJournal {
    pub path: PathBuf,
    pub size: u64,
    pub modified: SystemTime,
    /// The position after its last byte; `None` if its last segment is not readable.
    pub end: Option<u64>,
    // Oldest first.
    segments: Vec<PathBuf>,
    unfinished: Vec<PathBuf>,
    last: u32,
}

#[derive(Debug, Default)]
pub struct Surplus {
    pub journals: Vec<StoredJournal>,
    /// Journals that servers are writing.
    pub in_use: Vec<PathBuf>,
}

#[derive(Debug, Default)]
pub struct Pruned {
    pub removed: Vec<StoredJournal>,
    /// Journals that servers are writing.
    pub in_use: Vec<PathBuf>,
    pub failed: Vec<(PathBuf, io::Error)>,
}

impl StoredJournal {
    pub fn age(&self, now: SystemTime) -> Duration {
        now.duration_since(self.modified).unwrap_or_default()
    }

    pub fn is_of(&self, game: &str) -> bool {
        resume::is_of(&self.path, game)
    }

    // Removes the oldest segments first, so that an interruption leaves a readable journal. Returns `false` if a server
    // is writing it.
    fn remove(&self, disk: &dyn Disk) -> io::Result<bool> {
        let Some(last) = self.segments.last() else { return Ok(true) };
        let file = disk.open(last, true)?;
        if !file.try_lock()? {
            return Ok(false);
        }
        // A server may have continued it before it was locked.
        let next = segment::path_of(&self.path, self.last.saturating_add(1));
        if disk.open(&next, false).is_ok() {
            return Ok(false);
        }
        for path in self.unfinished.iter().chain(&self.segments) {
            let file = match disk.open(path, false) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file?,
            };
            disk.remove(path)?;
            // The open file reserves its inode number, which is part of the spool's name.
            spool::remove(&*file);
        }
        Ok(true)
    }
}

/// Sorted by name. Reads little more than the directory.
pub fn find(disk: &dyn Disk, directory: &Path) -> io::Result<Vec<StoredJournal>> {
    let mut files = BTreeMap::<PathBuf, BTreeMap<u32, (PathBuf, About)>>::new();
    let mut unfinished = BTreeMap::<PathBuf, Vec<PathBuf>>::new();
    for path in disk.list(directory)? {
        if let Some(segment) = segment::finished(&path) {
            if let Some((journal, _)) = segment::split_name(&segment) {
                unfinished.entry(journal).or_default().push(path);
            }
            continue;
        }
        let Some((name, number)) = segment::split_name(&path) else { continue };
        let file = match disk.open(&path, false) {
            // The file was just removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        let about = file.about()?;
        let of_chain = number == 1 || Segment::read(path.clone(), file).is_ok_and(|read| read.place.number == number);
        let (name, number) = if of_chain { (name, number) } else { (path.clone(), 1) };
        files.entry(name).or_default().insert(number, (path, about));
    }
    let mut found = vec![];
    for (path, segments) in files {
        let Some((&last, (last_path, _))) = segments.last_key_value() else { continue };
        let end = match disk.open(last_path, false).map_err(ReadError::from) {
            Ok(file) => Segment::read(last_path.clone(), file).ok().map(|read| read.positions.position(read.length)),
            Err(_) => None,
        };
        let abouts = || segments.values().map(|(_, about)| about);
        found.push(StoredJournal {
            size: abouts().map(|about| about.length).sum(),
            modified: abouts().map(|about| about.modified).max().unwrap_or(SystemTime::UNIX_EPOCH),
            end,
            unfinished: unfinished.remove(&path).unwrap_or_default(),
            path,
            last,
            segments: segments.into_values().map(|(path, _)| path).collect(),
        });
    }
    Ok(found)
}

/// Calls `worth` for each journal that no server is writing, most recently written first. Ignores files that are not
/// journals.
pub fn surplus(
    disk: &dyn Disk,
    directory: &Path,
    retention: &Retention,
    now: SystemTime,
    mut worth: impl FnMut(&StoredJournal) -> RetentionClass,
) -> io::Result<Surplus> {
    let mut found = find(disk, directory)?;
    found.sort_by(|one, two| (Reverse(one.modified), &one.path).cmp(&(Reverse(two.modified), &two.path)));
    let mut surplus = Surplus::default();
    let (mut spare, mut count, mut size) = (vec![], 0, 0_u64);
    for journal in found.into_iter().filter(|journal| journal.end.is_some()) {
        let last = journal.segments.last().map(|path| disk.open(path, false).and_then(|file| file.is_locked()));
        // If this fails, the removal tries the lock.
        if matches!(last, Some(Ok(true))) {
            surplus.in_use.push(journal.path);
            continue;
        }
        let worth = worth(&journal);
        if worth != RetentionClass::Exempt {
            count += 1;
            size += journal.size;
        }
        if let RetentionClass::Removable(order) = worth {
            spare.push((order, journal));
        }
    }
    spare.sort_by_key(|(order, journal)| (*order, journal.modified));
    let (old, young): (Vec<_>, Vec<_>) =
        spare.into_iter().partition(|(_, journal)| retention.age.is_some_and(|age| journal.age(now) > age));
    let mut go = |(_, journal): (u32, StoredJournal), count: &mut usize, size: &mut u64| {
        *count -= 1;
        *size -= journal.size;
        surplus.journals.push(journal);
    };
    for journal in old {
        go(journal, &mut count, &mut size);
    }
    for journal in young {
        if retention.count.is_none_or(|most| count <= most) && retention.size.is_none_or(|most| size <= most) {
            break;
        }
        go(journal, &mut count, &mut size);
    }
    Ok(surplus)
}

/// Removes the journals that [`surplus`] finds, with all their files and spools, even if one of them cannot be removed.
pub fn prune(
    disk: &dyn Disk,
    directory: &Path,
    retention: &Retention,
    now: SystemTime,
    worth: impl FnMut(&StoredJournal) -> RetentionClass,
) -> io::Result<Pruned> {
    let Surplus { journals, in_use } = surplus(disk, directory, retention, now, worth)?;
    let mut pruned = Pruned { in_use, ..Pruned::default() };
    for journal in journals {
        match journal.remove(disk) {
            Ok(true) => pruned.removed.push(journal),
            Ok(false) => pruned.in_use.push(journal.path),
            Err(error) => pruned.failed.push((journal.path, error)),
        }
    }
    Ok(pruned)
}
