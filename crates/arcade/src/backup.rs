//! Backups: everything in the data directory that a hub needs to go on, in one file.
//!
//! Rooms keep running. Journals are append-only, so the copy of one is a snapshot of its match, as after a power cut.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read, Write as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use anyhow::Context as _;
use cmdkit::NewFile;
use serde::Serialize;
use tar::{Builder, EntryType, Header};

use crate::hosting::RESULTS;

/// The front of a journal, which says how much of it is known to be on disk. It is read before the length, so that it never
/// promises more than was copied.
const FRONT: u64 = 1_536;
/// What is not needed elsewhere, or only means something on this machine.
const LEFT_OUT: [&str; 2] = ["lock", "control"];
/// Directories in directories that are copied.
const MAX_DEPTH: usize = 4;

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Account {
    files: u64,
    bytes: u64,
}

/// Writes a backup of the data directory into a new file. `results` is a copy of the database of results, if that is a file of the
/// hub; it was made before, and journals are copied last. So the journals of all rooms and of all results are in it.
///
/// # Errors
/// When something is at `file`, or the data cannot be read, or the backup not written.
pub(crate) fn back_up(data: &Path, results: Option<&Path>, file: &Path) -> anyhow::Result<Account> {
    let cannot = || format!("cannot write the backup '{}'", file.display());
    let mut account = Account { files: 0, bytes: 0 };
    let mut tar = Builder::new(NewFile::create(file).with_context(cannot)?);
    if let Some(results) = results {
        account.bytes += copy(&mut tar, results, Path::new(RESULTS)).with_context(cannot)?;
        account.files += 1;
    }
    let mut names: Vec<PathBuf> = entries(data)?;
    // "journals" come last.
    names.sort_by_key(|name| (name.as_os_str() == "journals", name.clone()));
    for name in names {
        // The database, and what it keeps beside it, cannot be copied while it is written.
        let is_database = name.to_string_lossy().starts_with(RESULTS);
        if !is_database && !LEFT_OUT.iter().any(|left_out| name.as_os_str() == *left_out) {
            add(&mut tar, data, &name, MAX_DEPTH, &mut account)?;
        }
    }
    let mut file = tar.into_inner().with_context(cannot)?;
    file.flush().and_then(|()| file.finish()).with_context(cannot)?;
    Ok(account)
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = || fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name().into())).collect();
    let names: std::io::Result<Vec<PathBuf>> = read();
    names.with_context(|| format!("cannot read '{}'", directory.display()))
}

fn add(
    tar: &mut Builder<NewFile>,
    data: &Path,
    name: &Path,
    depth: usize,
    account: &mut Account,
) -> anyhow::Result<()> {
    let path = data.join(name);
    let kind = match path.symlink_metadata() {
        Ok(kind) => kind,
        // A room was closed meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    };
    if kind.is_dir() && depth > 0 {
        let mut inside = entries(&path)?;
        inside.sort();
        return inside.into_iter().try_for_each(|entry| add(tar, data, &name.join(entry), depth - 1, account));
    }
    // The backup itself may be written here, under a name that begins with a dot.
    let hidden = name.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    if !kind.is_file() || hidden {
        return Ok(());
    }
    let length = match copy(tar, &path, name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        length => length.with_context(|| format!("cannot copy '{}'", path.display()))?,
    };
    account.files += 1;
    account.bytes += length;
    Ok(())
}

fn copy(tar: &mut Builder<NewFile>, path: &Path, name: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let mut front = vec![];
    (&mut file).take(FRONT).read_to_end(&mut front)?;
    let about = file.metadata()?;
    let length = about.len().max(front.len() as u64);
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(length);
    let modified = about.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    header.set_mtime(modified);
    // A file that has become shorter meanwhile is filled up; no file of a hub does.
    let content = front.chain(file).chain(std::io::repeat(0)).take(length);
    tar.append_data(&mut header, name, content)?;
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::TempDir;

    #[test]
    fn a_backup_holds_what_a_hub_needs_and_replaces_nothing() {
        let directory = TempDir::new();
        let data = directory.path().join("data");
        fs::create_dir_all(data.join("rooms")).unwrap();
        fs::create_dir_all(data.join("journals")).unwrap();
        let long = vec![7; 5_000];
        for (name, content) in [
            ("secret", &b"s"[..]),
            ("lock", b""),
            ("rooms/next", b"4"),
            ("journals/a.journal", &long),
            (".tmp123", b"half"),
            ("results.db", b"torn"),
            ("results.db-wal", b"torn"),
        ] {
            fs::write(data.join(name), content).unwrap();
        }
        let file = directory.path().join("backup.tar");
        let copy = directory.path().join("copy");
        fs::write(&copy, b"whole").unwrap();
        assert_eq!(back_up(&data, Some(&copy), &file).unwrap(), Account { files: 4, bytes: 5_007 });
        let error = back_up(&data, None, &file).unwrap_err();
        assert!(format!("{error:#}").contains("exists"), "{error:#}");
        let out = directory.path().join("out");
        tar::Archive::new(File::open(&file).unwrap()).unpack(&out).unwrap();
        assert_eq!(fs::read(out.join("journals/a.journal")).unwrap(), long);
        assert_eq!(fs::read(out.join("rooms/next")).unwrap(), b"4");
        assert_eq!(fs::read(out.join("results.db")).unwrap(), b"whole");
        assert!(!out.join("results.db-wal").exists() && !out.join("lock").exists() && !out.join(".tmp123").exists());
    }
}
