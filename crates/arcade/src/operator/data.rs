//! What lies where in the directory of the hub, and who holds it.

use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

use anyhow::{Context as _, bail};

/// The file of the database.
pub(crate) const RESULTS: &str = "results.db";
/// The file that is locked while a hub runs.
pub(crate) const LOCK: &str = "lock";
/// The socket for the commands of the host.
#[cfg(unix)]
pub(crate) const CONTROL: &str = "control";

/// Locks a data directory until the file is dropped, or the process ends. Fails when a hub runs there; `advice` says what to do then. Two
/// hubs with the same data would write the same rooms.
pub(crate) fn lock(data: &Path, advice: &str) -> anyhow::Result<File> {
    let path = data.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .with_context(|| format!("cannot write '{}'", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another arcade runs with the data in '{}'; {advice}", data.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock '{}'", path.display())),
    }
}
