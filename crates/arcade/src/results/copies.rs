use std::{fs, path::Path};

use anyhow::Context as _;
use store::{StoreError, unix_now};
use tempfile::TempPath;
use tracing::{info, warn};

use super::Results;

/// Names of copies. A backup excludes names that begin with a dot.
const FRONT: &str = ".results-";
const BACK: &str = ".db";

impl Results {
    /// The file is removed when the returned path is dropped. `None` if the database is a server, which has its own
    /// tools.
    pub(crate) async fn copy(&self, directory: &Path) -> anyhow::Result<Option<TempPath>> {
        let path = TempPath::try_from_path(directory.join(format!("{FRONT}{}{BACK}", unix_now())))?;
        match self.store.backup(&path).await {
            Ok(()) => Ok(Some(path)),
            Err(StoreError::NotAFile) => Ok(None),
            Err(error) => Err(error).context("cannot copy the results"),
        }
    }
}

/// Removes the copies of a hub that was killed during a backup. No other hub uses the directory.
pub(super) fn remove_remains(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        // SQLite may have left another file beside a copy.
        let is_copy = name.to_str().is_some_and(|name| name.starts_with(FRONT) && name.contains(BACK));
        if !is_copy {
            continue;
        }
        let path = entry.path();
        match fs::remove_file(&path) {
            Ok(()) => info!(copy = %path.display(), "removed a copy that a backup left behind"),
            Err(error) => warn!(copy = %path.display(), %error, "cannot remove a copy that a backup left behind"),
        }
    }
}

#[cfg(test)]
mod tests {
    use testkit::TempDir;

    use super::*;

    #[test]
    fn only_remains_of_backups_are_removed() {
        let directory = TempDir::new();
        for name in [".results-17.db", ".results-17.db-journal", ".results", "results.db", "results-17.db"] {
            fs::write(directory.path().join(name), b"x").unwrap();
        }
        remove_remains(directory.path());
        let mut left: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".results", "results-17.db", "results.db"]);
    }
}
