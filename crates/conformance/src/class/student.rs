use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};
use walkdir::{DirEntry, WalkDir};

use crate::secret::hex;

/// In bytes. Larger submissions are not tested.
const MAX_BYTES: u64 = 256 << 20;
const MAX_FILES: usize = 20_000;
/// In bytes. Longer names are truncated in file names, which file systems limit to 255 bytes with the extension.
const MAX_STEM: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Student {
    pub(super) name: String,
    path: PathBuf,
}

impl Student {
    /// Lists all directories except hidden ones and `results`. Fails if there is none.
    pub(super) fn all(class: &Path, results: &Path) -> anyhow::Result<Vec<Self>> {
        let context = || format!("cannot read the directory of the class, {}", class.display());
        let results = fs::canonicalize(results).ok();
        let is_of_student =
            |path: &Path| path.is_dir() && (results.is_none() || fs::canonicalize(path).ok() != results);
        let mut students = Vec::new();
        for entry in fs::read_dir(class).with_context(context)? {
            let entry = entry.with_context(context)?;
            let name = entry.file_name().into_string();
            let Ok(name) = name else { bail!("a name in {} is not UTF-8: {name:?}", class.display()) };
            if !name.starts_with('.') && is_of_student(&entry.path()) {
                students.push(Self { name, path: entry.path() });
            }
        }
        students.sort_unstable();
        if students.is_empty() {
            bail!("found no student directories in {}", class.display());
        }
        Ok(students)
    }

    fn entries(&self) -> impl Iterator<Item = anyhow::Result<(DirEntry, PathBuf)>> {
        // The directory itself may be a link; links inside it are not followed.
        let top = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let entries = WalkDir::new(&top).min_depth(1).sort_by_file_name();
        entries.into_iter().map(move |entry| {
            let entry = entry.context("cannot read the submission")?;
            let inside = entry.path().strip_prefix(&top)?.to_owned();
            Ok((entry, inside))
        })
    }

    pub(super) fn fingerprint(&self) -> anyhow::Result<String> {
        self.fingerprint_within(MAX_FILES)
    }

    fn fingerprint_within(&self, max_files: usize) -> anyhow::Result<String> {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        for (count, entry) in self.entries().enumerate() {
            let (entry, inside) = entry?;
            let name = inside.as_os_str().as_encoded_bytes();
            hash.update(name.len().to_le_bytes());
            hash.update(name);
            let length = if entry.file_type().is_file() { entry.metadata()?.len() } else { 0 };
            bytes += length;
            if bytes > MAX_BYTES || count >= max_files {
                bail!(
                    "submission too large: expected at most {} MiB in {max_files} files, directories and links",
                    MAX_BYTES >> 20
                );
            }
            if entry.file_type().is_file() {
                hash.update(length.to_le_bytes());
                let mut file = File::open(entry.path()).with_context(|| format!("cannot read {}", inside.display()))?;
                io::copy(&mut file, &mut hash).with_context(|| format!("cannot read {}", inside.display()))?;
            } else if entry.path_is_symlink() {
                hash.update(fs::read_link(entry.path())?.as_os_str().as_encoded_bytes());
            }
        }
        Ok(hex(&hash.finalize()))
    }

    /// Skips pipes, sockets and devices.
    pub(super) fn copy(&self, to: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(to)?;
        for entry in self.entries() {
            let (entry, inside) = entry?;
            let (from, to) = (entry.path(), to.join(&inside));
            let kind = entry.file_type();
            let copied = if kind.is_dir() {
                fs::create_dir(&to)
            } else if kind.is_file() {
                fs::copy(from, &to).map(drop)
            } else if kind.is_symlink() {
                link(&fs::read_link(from)?, &to)
            } else {
                Ok(())
            };
            copied.with_context(|| format!("cannot copy {}", inside.display()))?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn link(target: &Path, to: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, to)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Truncates a long name and appends a hash of it. The stem is longer than any unchanged name, and so unique.
pub(super) fn file_stem(student: &str) -> Cow<'_, str> {
    if student.len() <= MAX_STEM {
        return student.into();
    }
    let hash = hex(&Sha256::digest(student)[..16]);
    let end = (0..=MAX_STEM).rev().find(|at| student.is_char_boundary(*at)).unwrap_or(0);
    format!("{}-{hash}", &student[..end]).into()
}

#[derive(Debug)]
pub(super) struct Work(PathBuf);

impl Work {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// Ignores errors: a leftover directory is harmless, since names are never reused.
    pub(super) fn sweep(&self) {
        let _ = remove(&self.0);
    }

    /// The random name prevents programs from predicting it.
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        let created = fs::create_dir_all(&self.0).and_then(|()| {
            // A program of another student may have changed the directory.
            grant_access(&self.0)?;
            tempfile::Builder::new().prefix("").rand_bytes(16).tempdir_in(&self.0)
        });
        Ok(created.with_context(|| format!("cannot create a directory in {}", self.0.display()))?.keep())
    }
}

/// Also removes directories whose modes forbid it. Follows no links.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
        Ok(metadata) if !metadata.is_dir() => return fs::remove_file(path),
        Ok(_) => {}
    }
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        // The removal below returns a resulting error.
        let _ = grant_access(&folder);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    fs::remove_dir_all(path)
}

/// A program that could replace the directory by a link runs as the same user, so it gains no access.
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

    fn class() -> (tempfile::TempDir, Student) {
        let class = tempfile::tempdir().unwrap();
        let anna = class.path().join("anna");
        fs::create_dir_all(anna.join("src")).unwrap();
        fs::create_dir(class.path().join(".git")).unwrap();
        fs::write(class.path().join("list.txt"), "anna").unwrap();
        fs::write(anna.join("src/dealer.c"), "int main;").unwrap();
        fs::create_dir(class.path().join("results")).unwrap();
        let mut students = Student::all(class.path(), &class.path().join("results")).unwrap();
        assert_eq!(students.len(), 1);
        (class, students.remove(0))
    }

    #[test]
    fn fingerprint_depends_on_names_and_contents() {
        let (class, anna) = class();
        let first = anna.fingerprint().unwrap();
        assert_eq!((first.len(), anna.fingerprint().unwrap()), (64, first.clone()));
        let file = class.path().join("anna/src/dealer.c");
        fs::write(&file, "int mail;").unwrap();
        let second = anna.fingerprint().unwrap();
        fs::rename(&file, class.path().join("anna/src/player.c")).unwrap();
        let third = anna.fingerprint().unwrap();
        assert!(first != second && second != third && first != third);
    }

    #[test]
    fn submission_is_copied_with_its_links() {
        let (class, anna) = class();
        #[cfg(unix)]
        std::os::unix::fs::symlink("/etc", class.path().join("anna/etc")).unwrap();
        let copy = class.path().join("copy");
        anna.copy(&copy).unwrap();
        assert_eq!(fs::read_to_string(copy.join("src/dealer.c")).unwrap(), "int main;");
        #[cfg(unix)]
        assert!(fs::symlink_metadata(copy.join("etc")).unwrap().is_symlink());
    }

    #[test]
    fn directories_and_links_count_as_files() {
        let (class, anna) = class();
        // The file and its directory are the other two entries.
        for number in 0..8 {
            fs::create_dir(class.path().join("anna").join(number.to_string())).unwrap();
        }
        assert!(anna.fingerprint_within(10).is_ok());
        fs::create_dir(class.path().join("anna/src/last")).unwrap();
        let error = anna.fingerprint_within(10).unwrap_err().to_string();
        assert!(error.ends_with("at most 256 MiB in 10 files, directories and links"), "{error}");
    }

    #[test]
    fn long_names_get_short_unique_files() {
        let long = format!("{}{}", "x".repeat(199), "ż".repeat(25));
        let stem = file_stem(&long);
        assert!(stem.starts_with(&"x".repeat(199)) && !stem.contains('ż'), "{stem}");
        assert!(stem.len() > MAX_STEM && stem.len() < 240, "{stem}");
        assert_ne!(stem, file_stem(&format!("{long}y")));
        assert_eq!(file_stem("Anna Żak"), "Anna Żak");
        assert_eq!(file_stem(&"x".repeat(MAX_STEM)), "x".repeat(MAX_STEM));
    }

    #[test]
    fn reports_class_without_students() {
        let empty = tempfile::tempdir().unwrap();
        assert!(
            Student::all(empty.path(), Path::new("x"))
                .unwrap_err()
                .to_string()
                .starts_with("found no student directories")
        );
        assert!(
            Student::all(&empty.path().join("x"), Path::new("x"))
                .unwrap_err()
                .to_string()
                .starts_with("cannot read the directory")
        );
    }

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
        symlink(&outside, folder.path().join("work")).unwrap();
        work.sweep();
        assert!(outside.exists() && fs::symlink_metadata(folder.path().join("work")).is_err());
    }
}
