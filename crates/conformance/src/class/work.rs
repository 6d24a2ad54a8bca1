//! The work directories for students' programs.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// The directory of all work directories.
#[derive(Debug)]
pub(super) struct Work(PathBuf);

impl Work {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Removes the directories of earlier runs. A directory that cannot be removed stays. It does no harm, since names
    /// are used only once.
    pub(super) fn sweep(&self) {
        let _ = remove(&self.0);
    }

    /// Creates a directory with an unused name that no program can predict.
    ///
    /// # Errors
    /// If the system does not allow it.
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        let created = fs::create_dir_all(&self.0).and_then(|()| {
            // A program of another student may have changed the directory.
            grant_access(&self.0)?;
            tempfile::Builder::new().prefix("").rand_bytes(16).tempdir_in(&self.0)
        });
        Ok(created.with_context(|| format!("cannot create a directory in {}", self.0.display()))?.keep())
    }
}

/// Removes a directory with its contents, even if modes of directories forbid that. Links are removed and not followed.
///
/// # Errors
/// If anything could not be removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_dir() => return fs::remove_file(path),
        Ok(_) => {}
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // An entry that cannot be changed or read here causes an error when it cannot be removed.
        let _ = grant_access(&folder);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        // The type is that of the entry itself, so a link to a directory is not a directory.
        folders.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    fs::remove_dir_all(path)
}

/// Lets the owner of a directory list and change it. All programs that could replace it by a link in the meantime run
/// as the same user, so they gain no access.
#[cfg(unix)]
fn grant_access(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    if fs::symlink_metadata(folder)?.permissions().mode() & 0o700 == 0o700 {
        return Ok(());
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn grant_access(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn removal_does_not_follow_links() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (work, outside) = (Work::new(folder.path().join("work")), folder.path().join("outside"));
        let (first, second) = (work.folder().unwrap(), work.folder().unwrap());
        assert_ne!(first, second);
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "stays").unwrap();
        fs::set_permissions(&outside, fs::Permissions::from_mode(0o500)).unwrap();
        symlink(&outside, first.join("link")).unwrap();
        symlink(&outside, folder.path().join("work/another")).unwrap();
        fs::create_dir_all(first.join("closed/inner")).unwrap();
        fs::set_permissions(first.join("closed/inner"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(first.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
        work.sweep();
        assert!(!folder.path().join("work").exists());
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "stays");
        assert_eq!(fs::metadata(&outside).unwrap().permissions().mode() & 0o777, 0o500);
        // A link that replaces the directory is removed too.
        symlink(&outside, folder.path().join("work")).unwrap();
        work.sweep();
        assert!(outside.exists() && fs::symlink_metadata(folder.path().join("work")).is_err());
    }
}
