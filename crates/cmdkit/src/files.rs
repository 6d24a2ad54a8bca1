//! Files that are read within a bound and replaced as a whole.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, Permissions, TryLockError},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// How messages call a file: in quotes, on one line, whatever its name is made of.
pub fn file_name(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().escape_debug())
}

/// Reads a file, but no more than `most` bytes and one, by which the caller sees that it is too large.
///
/// # Errors
/// When it is not there or cannot be read.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    // No file of ours is anywhere near 2^64 bytes.
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Replaces what is in a file, or makes a new one: whoever reads it, and whenever the program or the machine stops, there is
/// all of the old or all of the new.
///
/// The new content is written beside the file, brought to the disk and renamed. A link stays a link and what it points to
/// is replaced, or made; what is no file but a device or a pipe is written to.
///
/// # Errors
/// When that cannot be done; the file is as it was then. A file that is read-only is left alone.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (path, old, folder) = match target(path)? {
        Target::Device(path) => {
            let mut device = OpenOptions::new().write(true).open(path)?;
            return device.write_all(bytes).and_then(|()| device.flush());
        }
        Target::File { path, permissions, folder } => (path, permissions, folder),
    };
    let folder = folder.as_path();
    sweep_once(folder);
    let (mut file, beside) = new_file(folder)?;
    let written = (|| {
        if let Some(permissions) = old {
            file.set_permissions(permissions)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    })();
    if let Err(error) = written {
        // What is in the way of this is in the way of nothing else.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    // So that the new name survives a power failure too. Not every system can do that to a folder.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Whether [`replace_file`] could begin: what a long work asks before it starts. Nothing is changed.
///
/// # Errors
/// What [`replace_file`] would meet: no such folder, no permission, a read-only file.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    match target(path)? {
        Target::Device(path) => OpenOptions::new().write(true).open(path).map(drop),
        Target::File { folder, .. } => {
            let (_, beside) = new_file(&folder)?;
            fs::remove_file(beside)
        }
    }
}

// What a path leads to.
enum Target {
    // Something that is written to as it is.
    Device(PathBuf),
    // A file, which has these permissions if it is there, and the folder that it is in.
    File { path: PathBuf, permissions: Option<Permissions>, folder: PathBuf },
}

fn target(path: &Path) -> io::Result<Target> {
    let path = match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => end_of_links(path)?,
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
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        Some(_) => PathBuf::from("."),
        None => return Err(ErrorKind::IsADirectory.into()),
    };
    Ok(Target::File { path, permissions: old.map(|old| old.permissions()), folder })
}

// Where a path leads to at which there is nothing: the end of the links, if it is one.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&path) else { return Ok(path) };
        // An absolute one replaces all of it.
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead to each other"))
}

/// Links that are followed to a file that is not there yet; as many as Linux follows to one that is.
const MAX_LINKS: usize = 40;

/// How the files are called that will be renamed; the process and a number follow.
const BESIDE: &str = ".saving-";

// Makes a file with a name that nobody has, and locks it for as long as it is open.
fn new_file(folder: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{BESIDE}{}-{number}", process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // Left by a process of the same number that was killed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => {
                let file = file?;
                // Whoever sweeps may have been quicker; then the name is gone, or will be. Not every system can lock.
                if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && path.exists() {
                    return Ok((file, path));
                }
            }
        }
    }
}

// Removes what processes have left that were killed while they saved. Once in the life of a process, for a folder that is
// saved to again and again may be large.
fn sweep_once(folder: &Path) {
    static SWEPT: OnceLock<()> = OnceLock::new();
    SWEPT.get_or_init(|| sweep(folder));
}

fn sweep(folder: &Path) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten().filter(|file| is_beside(&file.file_name())) {
        // One that can be locked is nobody's: whoever lives holds the lock.
        let Ok(open) = OpenOptions::new().write(true).open(file.path()) else { continue };
        if open.try_lock().is_ok() {
            let _ = fs::remove_file(file.path());
        }
    }
}

// Whether a file is called as `new_file` calls them, and not only in a similar way.
fn is_beside(name: &OsStr) -> bool {
    let is_number = |text: &str| text.parse::<u32>().is_ok_and(|number| number.to_string() == text);
    let numbers = name.to_str().and_then(|name| name.strip_prefix(BESIDE)).and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    // A folder that goes when the test does. What the other tests use stands on this crate's side of the dependencies.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("arcade-files-{}-{name}", process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> =
                fs::read_dir(&self.0).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_made_and_replaced_and_nothing_stays_beside_it() {
        let folder = Folder::new("replaced");
        let path = folder.0.join("table");
        for content in ["one", "", "two"] {
            replace_file(&path, content.as_bytes()).unwrap();
            assert_eq!(read_file(&path, 100).unwrap(), content.as_bytes());
        }
        assert_eq!(folder.names(), ["table"]);
        assert_eq!(read_file(&path, 1).unwrap(), b"tw");
    }

    #[test]
    fn what_cannot_be_replaced_is_said_and_left() {
        let folder = Folder::new("left");
        let path = folder.0.join("table");
        assert_eq!(replace_file(&folder.0, b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(replace_file(Path::new("/"), b"x").unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(replace_file(&folder.0.join("no/table"), b"x").unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(check_replaceable(&folder.0.join("no/table")).unwrap_err().kind(), ErrorKind::NotFound);
        check_replaceable(&path).unwrap();
        assert!(!path.exists());
        fs::write(&path, "old").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert_eq!(replace_file(&path, b"new").unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(check_replaceable(&path).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!((fs::read(&path).unwrap(), folder.names()), (b"old".to_vec(), vec!["table".to_owned()]));
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("links");
        let (path, link) = (folder.0.join("table"), folder.0.join("link"));
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
    fn a_link_to_what_is_not_there_yet_stays_a_link() {
        use std::os::unix::fs::symlink;
        let folder = Folder::new("dangling");
        fs::create_dir(folder.0.join("kept")).unwrap();
        let (first, second) = (folder.0.join("first"), folder.0.join("second"));
        symlink("second", &first).unwrap();
        symlink("kept/table", &second).unwrap();
        check_replaceable(&first).unwrap();
        replace_file(&first, b"new").unwrap();
        for link in [&first, &second] {
            assert!(fs::symlink_metadata(link).unwrap().is_symlink(), "{}", link.display());
        }
        assert_eq!(fs::read(folder.0.join("kept/table")).unwrap(), b"new");
        // A folder that is not there is no place for a file, however it is called.
        let nowhere = folder.0.join("nowhere");
        symlink("no/table", &nowhere).unwrap();
        assert_eq!(replace_file(&nowhere, b"x").unwrap_err().kind(), ErrorKind::NotFound);
        assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
    }

    #[test]
    fn what_the_dead_have_left_is_swept_and_nothing_else() {
        let folder = Folder::new("swept");
        let file = |name: &str| File::create(folder.0.join(name)).unwrap();
        let alive = file(".saving-7-0");
        alive.try_lock().unwrap();
        let others = [".saving-7", ".saving-7-x", ".saving-07-1", ".saving-+7-1", "saving-7-1"];
        for name in others.iter().chain(&[".saving-7-1", ".saving-4294967295-4294967295"]) {
            file(name);
        }
        sweep(&folder.0);
        let mut left = [&[".saving-7-0"], &others[..]].concat();
        left.sort_unstable();
        assert_eq!(folder.names(), left);
        drop(alive);
        sweep(&folder.0);
        assert_eq!(folder.names().len(), left.len() - 1);
    }

    #[test]
    fn what_is_being_written_is_locked() {
        let folder = Folder::new("locked");
        let (file, path) = new_file(&folder.0).unwrap();
        sweep(&folder.0);
        assert!(path.exists());
        drop(file);
        sweep(&folder.0);
        assert!(!path.exists());
    }

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(file_name(Path::new("a\nb")), "'a\\nb'");
    }
}
