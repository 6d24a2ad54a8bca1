//! The files of a SQLite database, and who may write them.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::StoreError;

/// What SQLite keeps beside a database: its log, and the index of that.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Makes the file if there is none, for its owner only, and sees to it that it can be written.
///
/// SQLite gives what it keeps beside the file the mode of the file. So what was made while the file could only be read would forbid
/// writing for ever.
pub(crate) fn make_writable(path: &Path) -> Result<(), StoreError> {
    let failed = |error| StoreError::File { path: path.to_owned(), error };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER);
    match options.open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(failed(error)),
    }
    #[cfg(unix)]
    {
        let mode = mode_of(path).map_err(failed)?.unwrap_or(OWNER);
        if mode & OWNER != OWNER {
            return Err(StoreError::ReadOnly { path: path.to_owned(), mode });
        }
        for beside in BESIDE.map(|suffix| with_suffix(path, suffix)) {
            make_owned(&beside).map_err(|error| StoreError::File { path: beside, error })?;
        }
    }
    Ok(())
}

/// What the owner of a database must be allowed to do with it.
#[cfg(unix)]
const OWNER: u32 = 0o600;

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(unix)]
fn mode_of(path: &Path) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt as _;

    match path.metadata() {
        Ok(about) => Ok(Some(about.permissions().mode() & 0o7777)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn make_owned(path: &Path) -> io::Result<()> {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    match mode_of(path)? {
        Some(mode) if mode & OWNER != OWNER => fs::set_permissions(path, fs::Permissions::from_mode(mode | OWNER)),
        _ => Ok(()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use testkit::TempDir;

    use super::*;

    #[test]
    fn a_new_file_is_its_owners_and_a_copy_that_can_only_be_read_is_refused() {
        let directory = TempDir::new();
        let path = directory.path().join("results.db");
        make_writable(&path).unwrap();
        assert_eq!(mode_of(&path).unwrap(), Some(0o600));
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&path, 0o444);
        let error = make_writable(&path).unwrap_err();
        assert!(error.to_string().contains("0444") && error.to_string().contains("chmod u+rw"), "{error}");
        // What was made beside it then is repaired once it can be written again.
        set(&path, 0o644);
        let log = with_suffix(&path, "-wal");
        fs::write(&log, b"").unwrap();
        set(&log, 0o444);
        make_writable(&path).unwrap();
        assert_eq!((mode_of(&path).unwrap(), mode_of(&log).unwrap()), (Some(0o644), Some(0o644)));
        assert!(make_writable(&directory.path().join("none/results.db")).is_err());
    }
}
