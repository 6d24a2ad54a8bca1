use std::{
    fs::OpenOptions,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use sqlx::postgres::PgConnectOptions;

use crate::StoreError;

#[derive(Debug)]
pub(crate) enum DatabaseLocation {
    File(PathBuf),
    Server(Box<PgConnectOptions>),
}

/// Creates the file if needed, accessible only to its owner. Rejects a file that the owner cannot write.
pub(crate) fn make_writable(path: &Path) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, owner::MODE);
    match options.open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(StoreError::File { path: path.to_owned(), error }),
    }
    #[cfg(unix)]
    owner::check(path)?;
    Ok(())
}

#[cfg(unix)]
mod owner {
    use std::{
        ffi::OsString,
        fs::{self, Permissions},
        io::{self, ErrorKind},
        os::unix::fs::PermissionsExt as _,
        path::{Path, PathBuf},
    };

    use crate::StoreError;

    pub(super) const MODE: u32 = 0o600;
    const BESIDE: [&str; 2] = ["-wal", "-shm"];

    /// Rejects a database that its owner cannot write.
    ///
    /// SQLite creates the files beside the database with its mode. Files that were created while the database was
    /// read-only would prevent writes permanently, so their owner is granted access.
    pub(super) fn check(path: &Path) -> Result<(), StoreError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| StoreError::File { path, error }
        };
        let mode = mode_of(path).map_err(failed(path))?.unwrap_or(MODE);
        if mode & MODE != MODE {
            return Err(StoreError::ReadOnly { path: path.to_owned(), mode });
        }
        for suffix in BESIDE {
            let mut beside = OsString::from(path);
            beside.push(suffix);
            let beside = PathBuf::from(beside);
            match mode_of(&beside).map_err(failed(&beside))? {
                Some(mode) if mode & MODE != MODE => {
                    fs::set_permissions(&beside, Permissions::from_mode(mode | MODE)).map_err(failed(&beside))?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn mode_of(path: &Path) -> io::Result<Option<u32>> {
        match path.metadata() {
            Ok(about) => Ok(Some(about.permissions().mode() & 0o7777)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use testkit::TempDir;

    use super::{owner::mode_of, *};

    #[test]
    fn new_file_is_private_and_a_read_only_one_is_rejected() {
        let directory = TempDir::new();
        let path = directory.path().join("results.db");
        make_writable(&path).unwrap();
        assert_eq!(mode_of(&path).unwrap(), Some(0o600));
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&path, 0o444);
        let error = make_writable(&path).unwrap_err();
        assert!(error.to_string().contains("0444") && error.to_string().contains("chmod u+rw"), "{error}");
        // Files that were created meanwhile are repaired once the database is writable.
        set(&path, 0o644);
        let log = directory.path().join("results.db-wal");
        fs::write(&log, b"").unwrap();
        set(&log, 0o444);
        make_writable(&path).unwrap();
        assert_eq!((mode_of(&path).unwrap(), mode_of(&log).unwrap()), (Some(0o644), Some(0o644)));
        assert!(make_writable(&directory.path().join("none/results.db")).is_err());
    }
}
