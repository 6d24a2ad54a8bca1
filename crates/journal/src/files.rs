//! Journals as files in a directory.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use crate::{Reader, State, spool};

/// The file name extension of journals.
pub const EXTENSION: &str = "journal";
/// Limit on the journals of one game created in the same second.
const IN_ONE_SECOND: u32 = 1_000;

/// Creates the file of a journal that starts at `begun`, and the directory if needed. Only the owner can read them,
/// because a journal contains the seed of the cards. The file is locked while it is open.
///
/// # Errors
/// When the directory or the file cannot be created.
pub fn create(directory: &Path, game: &str, begun: u64) -> io::Result<(PathBuf, File)> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // Seconds of UTC, in an order that sorts: 2026-11-22T06-37-51Z.
    let moment = UNIX_EPOCH + Duration::from_secs(begun);
    let moment = humantime::format_rfc3339_seconds(moment).to_string().replace(':', "-");
    for number in 0..IN_ONE_SECOND {
        let number = if number == 0 { String::new() } else { format!("-{number}") };
        let path = directory.join(format!("{game}-{moment}{number}.{EXTENSION}"));
        match options.open(&path) {
            Ok(file) => {
                file.try_lock().map_err(io::Error::from)?;
                sync_directory(directory);
                return Ok((path, file));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "too many journals were created in this second"))
}

/// Opens a journal to be resumed; `None` if a server is writing it.
///
/// # Errors
/// When it cannot be opened.
pub fn open_to_resume(path: &Path) -> io::Result<Option<File>> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Completes the journal of a killed server from its spool. The file must be locked.
pub(crate) fn recover(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    match Reader::new(file, length) {
        Ok(reader) if reader.state() == State::Open => spool::recover(reader.head().id, reader.status(), file),
        // The error is reported when it is read.
        _ => Ok(()),
    }
}

/// The journals in a directory, in the order of their names.
///
/// # Errors
/// When the directory cannot be read.
pub fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = vec![];
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) && path.is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

// Makes the new name survive a power cut.
fn sync_directory(directory: &Path) {
    if cfg!(unix) {
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
    }
}
