use std::{
    fs::{File, OpenOptions, TryLockError},
    path::Path,
};

use anyhow::{Context as _, bail};

use crate::hub::files::make_private;

pub(crate) const RESULTS: &str = "results.db";
/// Locked while a hub runs.
pub(crate) const LOCK: &str = "lock";
/// The socket for the operator's commands.
#[cfg(unix)]
pub(crate) const CONTROL: &str = "control";

/// A root process continues as the owner of the directory.
pub(crate) fn prepare(data: &Path) -> anyhow::Result<()> {
    #[cfg(unix)]
    cmdkit::become_owner(data)?;
    make_private(data)?;
    // If all users may create files there, another user may have created the directory meanwhile.
    #[cfg(unix)]
    cmdkit::become_owner(data)?;
    Ok(())
}

/// Locked until the file is dropped. Fails with `advice` if a hub runs there: two hubs would write the same rooms.
pub(crate) fn lock(data: &Path, advice: &str) -> anyhow::Result<File> {
    let path = data.join(LOCK);
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    // A symbolic link would create or lock a file elsewhere.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    let file = options.open(&path).with_context(|| format!("cannot write '{}'", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another hub runs with the data in '{}'; {advice}", data.display()),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("cannot lock '{}'", path.display())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use testkit::TempDir;

    use super::*;

    #[test]
    fn lock_follows_no_link() {
        let data = TempDir::new();
        let elsewhere = data.path().join("elsewhere");
        symlink(&elsewhere, data.path().join(LOCK)).unwrap();
        assert!(lock(data.path(), "").is_err());
        assert!(fs::symlink_metadata(elsewhere).is_err());
    }
}
