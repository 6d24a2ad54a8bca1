//! Files that are replaced as a whole.
//!
//! The new content is written to a temporary file in the same directory, synced, and renamed over the old file
//! (`tempfile`). Temporary files are locked while they are written, so that those of killed processes can be recognised
//! and removed.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::Context;
use tempfile::{Builder, NamedTempFile};

use crate::{file_name, read_file};

/// Followed by random letters and digits.
const PREFIX: &str = ".saving-";
/// The number of these.
const RANDOM: usize = 8;
/// The mode of a new file, less the umask.
const PUBLIC: u32 = 0o666;
const PRIVATE: u32 = 0o600;
/// For links to a file that does not exist yet; Linux has the same limit for existing files.
const MAX_LINKS: usize = 40;

/// Creates or replaces a file atomically: a reader finds all of the old content or all of the new, even after a crash
/// of the program or the machine.
///
/// Keeps a symbolic link, and replaces or creates its target. Writes directly to a device or a pipe. Keeps the
/// permissions of an existing file; does not replace a read-only one.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (path, permissions, directory) = match target(path)? {
        Target::Device(path) => {
            let mut device = OpenOptions::new().write(true).open(path)?;
            return device.write_all(bytes).and_then(|()| device.flush());
        }
        Target::File { path, permissions, directory } => (path, permissions, directory),
    };
    sweep_once(&directory);
    let mut file = new_file(&directory, PUBLIC)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    sync_directory(&directory);
    Ok(())
}

/// Makes a rename durable, where the system can sync directories.
fn sync_directory(directory: &Path) {
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

/// A file that appears under its name when it is complete. Until then its content is in a temporary file, which is
/// removed when this value is dropped. Only its owner can read it, and it replaces no existing file.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl NewFile {
    /// Fails with [`ErrorKind::AlreadyExists`] if the path exists.
    pub fn create(path: &Path) -> io::Result<Self> {
        if path.symlink_metadata().is_ok() {
            return Err(ErrorKind::AlreadyExists.into());
        }
        let file = new_file(directory_of(path).ok_or(ErrorKind::IsADirectory)?, PRIVATE)?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file) })
    }

    /// Fails with [`ErrorKind::AlreadyExists`] if the path exists.
    pub fn finish(self) -> io::Result<()> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(&self.path)?;
        if let Some(directory) = directory_of(&self.path) {
            sync_directory(directory);
        }
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Checks whether [`replace_file`] could start, before a long computation. Does not change the file.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    match target(path)? {
        Target::Device(path) => OpenOptions::new().write(true).open(path).map(drop),
        Target::File { directory, .. } => new_file(&directory, PUBLIC)?.close(),
    }
}

enum Target {
    /// Written to directly.
    Device(PathBuf),
    /// A file, its permissions if it exists, and its directory.
    File { path: PathBuf, permissions: Option<Permissions>, directory: PathBuf },
}

fn target(path: &Path) -> io::Result<Target> {
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => follow_links(path)?,
        real => real?,
    };
    let old = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        old => Some(old?),
    };
    match &old {
        Some(old) if old.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        Some(old) if !old.is_file() => return Ok(Target::Device(path)),
        Some(old) if old.permissions().readonly() => {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it is read-only"));
        }
        _ => {}
    }
    let directory = directory_of(&path).ok_or(ErrorKind::IsADirectory)?.to_owned();
    Ok(Target::File { path, permissions: old.map(|old| old.permissions()), directory })
}

/// Follows links to a target that does not exist. Returns other paths unchanged.
fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

fn directory_of(path: &Path) -> Option<&Path> {
    path.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent })
}

/// A temporary file with this mode, less the umask, which is locked until it is closed.
fn new_file(directory: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    loop {
        let file = builder.tempfile_in(directory)?;
        // Another process may have swept the file between its creation and its lock. Not every system can lock.
        let swept = matches!(file.as_file().try_lock(), Err(TryLockError::WouldBlock)) || !file.path().exists();
        if !swept {
            return Ok(file);
        }
    }
}

/// Removes the temporary files of killed processes. Once per process, because the directory may be large and saves
/// frequent.
fn sweep_once(directory: &Path) {
    static SWEPT: OnceLock<()> = OnceLock::new();
    SWEPT.get_or_init(|| sweep(directory));
}

fn sweep(directory: &Path) {
    let Ok(files) = fs::read_dir(directory) else { return };
    for file in files.flatten().filter(|file| is_temporary(&file.file_name())) {
        // A running process holds the lock of its file.
        let Ok(open) = OpenOptions::new().write(true).open(file.path()) else { continue };
        if open.try_lock().is_ok() {
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Whether a name has the form that [`new_file`] creates.
fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Returns `None` if there is no such file. `what` names the content in errors, as in `the table`.
///
/// `parse` receives at most `most + 1` bytes, so it can detect a file that is too large.
pub fn load_file<T, E>(
    what: &str,
    path: &Path,
    most: usize,
    parse: impl FnOnce(&[u8]) -> Result<T, E>,
) -> anyhow::Result<Option<T>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    let name = file_name(path);
    let bytes = match read_file(path, most) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        bytes => bytes.with_context(|| format!("cannot read {what} {name}"))?,
    };
    parse(&bytes).map(Some).with_context(|| format!("{what} {name} is damaged"))
}

pub fn save_file(what: &str, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // Formatted, not wrapped: a broken pipe would otherwise end the program with success.
    replace_file(path, bytes).map_err(|error| anyhow::anyhow!("cannot write {what} to {}: {error}", file_name(path)))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::read_file;

    fn names(directory: &TempDir) -> Vec<String> {
        let files = fs::read_dir(directory.path()).unwrap();
        let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn file_is_replaced_without_temporary_files() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("table");
        for content in ["one", "", "two"] {
            replace_file(&path, content.as_bytes()).unwrap();
            assert_eq!(read_file(&path, 100).unwrap(), content.as_bytes());
        }
        assert_eq!(names(&directory), ["table"]);
        assert_eq!(read_file(&path, 1).unwrap(), b"tw");
    }

    #[test]
    fn irreplaceable_file_is_reported_and_kept() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("table");
        assert_eq!(replace_file(directory.path(), b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(replace_file(Path::new("/"), b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(replace_file(&directory.path().join("no/table"), b"x").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(check_replaceable(&directory.path().join("no/table")).unwrap_err().kind(), ErrorKind::NotFound);
        check_replaceable(&path).unwrap();
        assert!(!path.exists());
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(replace_file(&path, b"new").unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(check_replaceable(&path).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!((fs::read(&path).unwrap(), names(&directory)), (b"old".to_vec(), vec!["table".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_are_preserved() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = TempDir::new().unwrap();
        let (path, link) = (directory.path().join("table"), directory.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        symlink("table", &link).unwrap();
        replace_file(&link, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        replace_file(Path::new("/dev/null"), b"new").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn dangling_link_stays_a_link() {
        use std::os::unix::fs::symlink;
        let directory = TempDir::new().unwrap();
        fs::create_dir(directory.path().join("kept")).unwrap();
        let (first, second) = (directory.path().join("first"), directory.path().join("second"));
        symlink("second", &first).unwrap();
        symlink("kept/table", &second).unwrap();
        check_replaceable(&first).unwrap();
        replace_file(&first, b"new").unwrap();
        for link in [&first, &second] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "{}", link.display());
        }
        assert_eq!(fs::read(directory.path().join("kept/table")).unwrap(), b"new");
        let nowhere = directory.path().join("nowhere");
        symlink("no/table", &nowhere).unwrap();
        assert_eq!(replace_file(&nowhere, b"x").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
    }

    #[test]
    fn only_unlocked_temporary_files_are_removed() {
        let directory = TempDir::new().unwrap();
        let file = |name: &str| File::create(directory.path().join(name)).unwrap();
        let held = file(".saving-heldheld");
        held.try_lock().unwrap();
        let others = [".saving-", ".saving-short", ".saving-toolong99", ".saving-a.b-c.d7", "saving-abcdefgh"];
        for name in others.iter().chain(&[".saving-abcdefgh", ".saving-01234567"]) {
            file(name);
        }
        sweep(directory.path());
        let mut left = [&[".saving-heldheld"], &others[..]].concat();
        left.sort_unstable();
        assert_eq!(names(&directory), left);
        drop(held);
        sweep(directory.path());
        assert_eq!(names(&directory).len(), left.len() - 1);
    }

    #[test]
    fn locked_temporary_file_is_not_removed() {
        let directory = TempDir::new().unwrap();
        let file = new_file(directory.path(), PUBLIC).unwrap();
        sweep(directory.path());
        assert!(file.path().exists());
        // As if the process were killed: the file remains and its lock is released.
        let (open, path) = file.keep().unwrap();
        drop(open);
        sweep(directory.path());
        assert!(!path.exists());
    }

    #[test]
    fn new_file_appears_when_complete_and_replaces_no_file() {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join("new");
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"content").unwrap();
        assert!(names(&directory).iter().all(|name| is_temporary(OsStr::new(name))), "{:?}", names(&directory));
        file.finish().unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(&directory)), (b"content".to_vec(), vec!["new".to_owned()]));
        assert_eq!(NewFile::create(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
        let other = directory.path().join("other");
        let file = NewFile::create(&other).unwrap();
        fs::write(&other, "somebody else's").unwrap();
        assert_eq!(file.finish().unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&other).unwrap(), b"somebody else's");
        drop(NewFile::create(&directory.path().join("dropped")).unwrap());
        assert_eq!(names(&directory), ["new", "other"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = TempDir::new().unwrap();
        let mode = |name: &str| fs::metadata(directory.path().join(name)).unwrap().permissions().mode();
        File::create(directory.path().join("usual")).unwrap();
        replace_file(&directory.path().join("saved"), b"x").unwrap();
        assert_eq!(mode("saved"), mode("usual"));
    }
}
