use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use journal_core::{About, Disk, DiskFile, SharedFile};

use super::{
    SimulatedDisk,
    state::{Content, DIRECTORY, Fault, State, has_parent},
};
use crate::machine;

pub(super) struct Rest {
    pub(super) after: Duration,
    pub(super) hangs: bool,
    pub(super) disk: SimulatedDisk,
}

impl Drop for Rest {
    fn drop(&mut self) {
        machine::sleep(self.after);
        if self.hangs {
            self.disk.lock().hung -= 1;
        }
    }
}

#[derive(Debug)]
pub(super) struct SimulatedFile {
    pub(super) disk: SimulatedDisk,
    pub(super) inode: u64,
    pub(super) opening: u64,
}

impl SimulatedDisk {
    // Called at the start of a call that takes time. The rest passes when the result is dropped.
    fn take_time(&self) -> Option<Rest> {
        if !machine::is_thread() {
            return None;
        }
        let (before, after, hangs) = self.takes();
        machine::sleep(before);
        Some(Rest { after, hangs, disk: self.clone() })
    }

    fn opened(&self, state: &mut State, inode: u64) -> SharedFile {
        state.next_opening += 1;
        let (disk, opening) = (self.clone(), state.next_opening);
        Arc::new(SimulatedFile { disk, inode, opening })
    }
}

impl Disk for SimulatedDisk {
    fn create(&self, path: &Path) -> io::Result<SharedFile> {
        let _takes = self.take_time();
        let mut state = self.living()?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !has_parent(&state.names, path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.may_change_names()?;
        let inode = state.new_inode();
        state.files.insert(inode, Content::default());
        state.name(path, Some(inode));
        Ok(self.opened(&mut state, inode))
    }

    fn open(&self, path: &Path, _write: bool) -> io::Result<SharedFile> {
        let mut state = self.living()?;
        let inode =
            state.names.get(path).copied().filter(|&inode| inode != DIRECTORY).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.opened(&mut state, inode))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _takes = self.take_time();
        let mut state = self.living()?;
        state.may_change_names()?;
        let inode = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        state.name(to, Some(inode));
        state.name(from, None);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let _takes = self.take_time();
        let mut state = self.living()?;
        if !state.names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if state.stubborn.as_deref() == Some(path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        state.may_change_names()?;
        state.name(path, None);
        Ok(())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let _takes = self.take_time();
        let mut state = self.living()?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if !has_parent(&state.names, path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        state.may_change_names()?;
        state.name(path, Some(DIRECTORY));
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        let _takes = self.take_time();
        let mut state = self.living()?;
        state.may_change_names()?;
        if !state.lies {
            state.unsynced_names.retain(|change| change.path.parent() != Some(path));
        }
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let state = self.living()?;
        let files = state.names.iter().filter(|&(path, &inode)| inode != DIRECTORY && path.parent() == Some(directory));
        Ok(files.map(|(path, _)| path.clone()).collect())
    }

    fn is_file(&self, path: &Path) -> bool {
        self.lock().names.get(path).is_some_and(|&inode| inode != DIRECTORY)
    }

    fn is_directory(&self, path: &Path) -> bool {
        has_parent(&self.lock().names, &path.join("any"))
    }

    fn wait_for_lock(&self, _attempt: u32) -> bool {
        false
    }

    fn give_way(&self) -> bool {
        machine::sleep(Duration::from_millis(1))
    }
}

impl SimulatedFile {
    fn content<'a>(&self, state: &'a mut State) -> io::Result<&'a mut Content> {
        state.files.get_mut(&self.inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).expect("a simulated disk is small")
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk.living()?;
        let rest = self.content(&mut state)?.written.get(place(offset)..).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _takes = self.disk.take_time();
        self.disk.stall();
        let mut state = self.disk.living()?;
        let at = place(offset);
        let present = self.content(&mut state)?.written.len();
        assert!(at <= present, "a write at {offset} leaves a hole after {present}");
        let now = state.now;
        state.modified.insert(self.inode, now);
        let (length, done) = state.allowed(bytes.len(), (at + bytes.len()).saturating_sub(present));
        if let Some(at) = state.misplaced(at) {
            self.content(&mut state)?.change(at, &bytes[..length]);
        } else {
            // The system keeps the length.
            let content = self.content(&mut state)?;
            let longer = content.written.len().max(at + length);
            content.truncate(longer);
        }
        done
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        let _takes = self.disk.take_time();
        let mut state = self.disk.living()?;
        state.may_change_names()?;
        self.content(&mut state)?.truncate(place(length));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let _takes = self.disk.take_time();
        let mut state = self.disk.living()?;
        let failed = || Err(io::Error::other("the sync failed"));
        match state.fault {
            Some(Fault::FailingSyncs(0)) => {
                state.struck = true;
                self.content(&mut state)?.fail_to_settle();
                return failed();
            }
            Some(Fault::DeathInSync(0, done)) => {
                let current = state.current;
                state.dead.insert(current);
                state.struck = true;
                if done && !state.lies {
                    self.content(&mut state)?.settle();
                }
                return failed();
            }
            _ => {}
        }
        if let Some(Fault::FailingSyncs(left) | Fault::DeathInSync(left, _)) = &mut state.fault {
            *left -= 1;
        }
        state.syncs += 1;
        if !state.lies {
            self.content(&mut state)?.settle();
        }
        Ok(())
    }

    fn about(&self) -> io::Result<About> {
        let mut state = self.disk.living()?;
        let since = state.modified.get(&self.inode).copied().unwrap_or_default();
        let length = self.content(&mut state)?.written.len() as u64;
        Ok(About { length, modified: UNIX_EPOCH + since })
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.disk.living()?;
        let process = self.disk.process;
        Ok(state.locks.entry(self.inode).or_insert((self.opening, process)).0 == self.opening)
    }

    fn is_locked(&self) -> io::Result<bool> {
        let state = self.disk.living()?;
        Ok(state.locks.get(&self.inode).is_some_and(|&(opening, _)| opening != self.opening))
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        let mut state = self.disk.lock();
        if state.locks.get(&self.inode).is_some_and(|&(opening, _)| opening == self.opening) {
            state.locks.remove(&self.inode);
        }
    }
}
