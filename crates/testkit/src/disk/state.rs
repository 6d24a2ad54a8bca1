//! Files, names and locks of a simulated disk, and the effects of its faults.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use super::{
    content::Content,
    faults::{Fault, Latency},
};

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
