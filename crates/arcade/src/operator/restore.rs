//! Unpacks a backup into a directory inside the data directory and checks it there. Only then is the previous data
//! moved aside.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, BufReader, Read, Write as _},
    os::unix::{ffi::OsStringExt as _, fs::OpenOptionsExt as _},
    path::{Component, Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, bail};
use cmdkit::Named;
use store::{Store, Totals, unix_now};
use tar::{Archive, Entry, EntryType};

use super::{
    backup::{MANIFEST, MAX_DEPTH, Manifest, Tally},
    data::{CONTROL, LOCK, RESULTS, lock, prepare},
};
use crate::{
    hub::{
        files::{RoomFiles, make_private},
        secret::Secret,
    },
    room::bans::Bans,
};

const MAX_FILES: u64 = 1_000_000;
/// In bytes.
const MAX_NAME: u64 = 4_096;
/// In bytes.
const MAX_MANIFEST: u64 = 64 << 10;
/// Prefixes of the directories for unpacked files and for previous data.
const UNPACKED: &str = ".restore-";
const REPLACED: &str = ".replaced-";
/// In new file systems. A directory with no other entry counts as empty.
const OF_SYSTEM: &str = "lost+found";

#[derive(Debug, PartialEq, Eq)]
struct RestoredData {
    rooms: usize,
    journals: usize,
    bans: usize,
    // `None` if the results are in PostgreSQL.
    results: Option<Totals>,
}

/// Requires `replace` if the directory is not empty. If a hub runs there, or the backup is incomplete, this fails and
/// the directory is unchanged.
pub(crate) fn restore(data: &Path, file: &Path, replace: bool) -> anyhow::Result<ExitCode> {
    let cannot_open = || format!("cannot open the backup '{}'", file.display());
    // As the caller: the owner of the data directory may not be allowed to read the file.
    let opened = Named::new(file).with_context(cannot_open)?.read("").with_context(cannot_open)?;
    if opened.metadata()?.is_dir() {
        bail!("'{}' is a directory; give the file that `arcade backup` wrote", file.display());
    }
    prepare(data)?;
    let _lock = lock(data, "end it with `arcade drain` before you replace its data")?;
    let before = entries(data)?;
    if !before.is_empty() && !replace {
        bail!(
            "'{}' already contains data; choose an empty directory with --data, or move the data aside with --replace",
            data.display()
        );
    }
    let unpacked = tempfile::Builder::new().prefix(UNPACKED).tempdir_in(data).with_context(|| cannot_write(data))?;
    let manifest = unpack(BufReader::new(opened), unpacked.path())
        .with_context(|| format!("'{}' is not restored, and '{}' is unchanged", file.display(), data.display()))?;
    let found = check(unpacked.path()).with_context(|| {
        format!("the content of '{}' is unusable, and '{}' is unchanged", file.display(), data.display())
    })?;
    let aside = data.join(format!("{REPLACED}{}", unix_now()));
    exchange(data, &before, &aside, unpacked.path()).with_context(|| cannot_write(data))?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "'{}' has {} (backup of arcade {}).",
        data.display(),
        found.text(),
        cmdkit::printable(&manifest.version)
    )?;
    if found.results.is_none() {
        writeln!(out, "The results are not in the backup: they were in PostgreSQL. Start the hub with --database.")?;
    }
    if !before.is_empty() {
        writeln!(out, "The previous data is in '{}'; remove it when you no longer need it.", aside.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot_write(data: &Path) -> String {
    format!("cannot write to '{}'", data.display())
}

impl RestoredData {
    fn text(&self) -> String {
        let count = |number: u64, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
        let mut parts = vec![
            count(self.rooms as u64, "room", "rooms"),
            count(self.journals as u64, "journal", "journals"),
            count(self.bans as u64, "banned host", "banned hosts"),
        ];
        if let Some(Totals { matches, names, .. }) = self.results {
            parts.push(count(matches, "match", "matches"));
            parts.push(count(names, "name", "names"));
        }
        parts.join(", ")
    }
}

/// Omits files of a running hub, the remains of earlier restores, and `lost+found`.
fn entries(data: &Path) -> anyhow::Result<Vec<OsString>> {
    let mut names = vec![];
    for entry in fs::read_dir(data).with_context(|| format!("cannot read '{}'", data.display()))? {
        let name = entry?.file_name();
        let is_left = [UNPACKED, REPLACED].iter().any(|front| name.as_encoded_bytes().starts_with(front.as_bytes()));
        if ![LOCK, CONTROL, OF_SYSTEM].iter().any(|known| name == **known) && !is_left {
            names.push(name);
        }
    }
    Ok(names)
}

/// Fails unless the backup is complete and unmodified.
fn unpack(file: impl Read, directory: &Path) -> anyhow::Result<Manifest> {
    let damaged = "it is damaged, or not a backup of arcade";
    let mut archive = Archive::new(file);
    let (mut tally, mut files, mut long, mut manifest) = (Tally::default(), 0, None, None);
    // Raw, so that unknown entries are rejected, and each length is checked here.
    for entry in archive.entries().context(damaged)?.raw(true) {
        // Errors of the library may contain arbitrary bytes of the file.
        let mut entry = entry.map_err(|_| anyhow::Error::msg(damaged))?;
        if manifest.is_some() {
            bail!("{damaged}: unexpected data after its end");
        }
        match entry.header().entry_type() {
            EntryType::GNULongName if long.is_none() => long = Some(bounded(&mut entry, MAX_NAME)?),
            EntryType::Regular => {
                let mut name = long.take().unwrap_or_else(|| entry.path_bytes().into_owned());
                while name.pop_if(|byte| *byte == 0).is_some() {}
                let name = PathBuf::from(OsString::from_vec(name));
                files += 1;
                if files > MAX_FILES || !is_inside(&name) {
                    bail!("{damaged}: an entry is called '{}'", name.display());
                }
                if name == Path::new(MANIFEST) {
                    let text = bounded(&mut entry, MAX_MANIFEST)?;
                    let read = serde_json::from_slice::<Manifest>(&text);
                    manifest = Some(read.map_err(|_| anyhow::Error::msg(damaged))?);
                } else {
                    write(&mut entry, &directory.join(&name), &name, &mut tally)?;
                }
            }
            _ => bail!("{damaged}: it has an entry that is not a file"),
        }
    }
    let manifest = manifest.context("it is truncated, or not a backup of arcade: its end is missing")?;
    let Manifest { account, sha256, .. } = tally.manifest();
    if (&manifest.account, &manifest.sha256) != (&account, &sha256) {
        bail!("it was changed or damaged since it was written");
    }
    Ok(manifest)
}

fn bounded(entry: &mut Entry<'_, impl Read>, most: u64) -> anyhow::Result<Vec<u8>> {
    if entry.size() > most {
        bail!("it is damaged, or not a backup of arcade: an entry is longer than {most} bytes");
    }
    let mut bytes = vec![];
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

// Excludes paths outside the directory, and files that the hub creates itself.
fn is_inside(name: &Path) -> bool {
    let parts: Vec<_> = name.components().collect();
    let plain =
        parts.iter().all(|part| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b".")));
    let own = [LOCK, CONTROL].iter().any(|own| name == Path::new(own));
    plain && !own && (1..=MAX_DEPTH + 1).contains(&parts.len())
}

fn write(entry: &mut Entry<'_, impl Read>, path: &Path, name: &Path, tally: &mut Tally) -> anyhow::Result<()> {
    let cannot = || format!("cannot write '{}'", path.display());
    if let Some(directory) = path.parent() {
        make_private(directory)?;
    }
    // Rejects repeated names.
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).with_context(cannot)?;
    let length = entry.size();
    tally.begin(name, length);
    let (mut left, mut buffer) = (length, vec![0; 64 << 10]);
    while left > 0 {
        let read = entry.read(&mut buffer)?;
        if read == 0 {
            bail!("it is truncated within '{}'", name.display());
        }
        tally.add(&buffer[..read]);
        file.write_all(&buffer[..read]).with_context(cannot)?;
        left = left.saturating_sub(read as u64);
    }
    file.sync_all().with_context(cannot)
}

/// As a hub does when it starts.
fn check(directory: &Path) -> anyhow::Result<RestoredData> {
    if !directory.join("secret").is_file() {
        bail!("the secret of the hub is missing");
    }
    Secret::open(directory)?;
    let (_, rooms) = RoomFiles::open(directory.join("rooms"))?;
    let bans = Bans::open(directory.join("bans"))?.list().len();
    let journals = directory.join("journals");
    make_private(&journals)?;
    let journals = journal_core::list(&journals).context("its journals cannot be listed")?.len();
    let results = directory.join(RESULTS);
    let results = if results.exists() { Some(check_results(&results)?) } else { None };
    Ok(RestoredData { rooms: rooms.len(), journals, bans, results })
}

fn check_results(results: &Path) -> anyhow::Result<Totals> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let store = Store::file(results)?;
        store.prepare().await?;
        let totals = store.check().await?;
        // Merges the files of SQLite beside the database.
        store.close().await;
        Ok(totals)
    })
}

fn exchange(data: &Path, before: &[OsString], aside: &Path, unpacked: &Path) -> anyhow::Result<()> {
    if !before.is_empty() {
        make_private(aside)?;
    }
    for name in before {
        fs::rename(data.join(name), aside.join(name))?;
    }
    for entry in fs::read_dir(unpacked)? {
        let entry = entry?;
        fs::rename(entry.path(), data.join(entry.file_name()))?;
    }
    File::open(data)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use testkit::TempDir;

    use super::*;
    use crate::operator::backup::back_up;

    fn backup(directory: &TempDir) -> Vec<u8> {
        let data = directory.path().join("data");
        Secret::open({
            make_private(&data).unwrap();
            &data
        })
        .unwrap();
        let (files, _) = RoomFiles::open(data.join("rooms")).unwrap();
        files.name("nuggets").unwrap();
        let deep = data.join("journals/old").join("n".repeat(120));
        make_private(&deep).unwrap();
        fs::write(deep.join("a long name"), [7; 3_000]).unwrap();
        let mut bytes = vec![];
        back_up(&data, None, &mut bytes).unwrap();
        bytes
    }

    fn fails(bytes: &[u8]) -> String {
        let directory = TempDir::new();
        let data = directory.path().join("data");
        let file = directory.path().join("file");
        fs::write(&file, bytes).unwrap();
        let error = format!("{:#}", restore(&data, &file, false).unwrap_err());
        assert_eq!(entries(&data).unwrap(), [] as [&str; 0], "{error}");
        assert!(error.contains("is unchanged"), "{error}");
        error
    }

    #[test]
    fn incomplete_backup_changes_nothing() {
        let directory = TempDir::new();
        let whole = backup(&directory);
        // Cuts at each boundary of entries, and within each entry.
        for cut in (0..whole.len() - 1_024).step_by(256) {
            let error = fails(&whole[..cut]);
            assert!(["truncated", "damaged"].iter().any(|word| error.contains(word)), "{cut}: {error}");
        }
        let at = whole.windows(9).position(|window| window == [7; 9]).unwrap();
        let mut changed = whole.clone();
        changed[at] = 8;
        assert!(fails(&changed).contains("was changed or damaged"));
        assert!(fails(b"This is a letter. ".repeat(100).as_slice()).contains("not a backup of arcade"));
    }

    #[test]
    fn entries_outside_the_directory_are_rejected() {
        for (name, kind) in [
            ("../secret", EntryType::Regular),
            ("/tmp/secret", EntryType::Regular),
            ("lock", EntryType::Regular),
            (".restore-x", EntryType::Regular),
            ("a/b/c/d/e/f", EntryType::Regular),
            ("link", EntryType::Symlink),
            ("directory", EntryType::Directory),
        ] {
            let mut tar = tar::Builder::new(vec![]);
            let mut header = tar::Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(kind);
            header.set_size(0);
            header.set_cksum();
            tar.append(&header, io::empty()).unwrap();
            let error = fails(&tar.into_inner().unwrap());
            assert!(error.contains("not a backup of arcade"), "{name}: {error}");
        }
    }

    #[test]
    fn restored_files_are_private_and_previous_data_is_moved_aside() {
        let directory = TempDir::new();
        let (file, data) = (directory.path().join("file"), directory.path().join("new"));
        fs::write(&file, backup(&directory)).unwrap();
        restore(&data, &file, false).unwrap();
        let deep = data.join("journals/old").join("n".repeat(120)).join("a long name");
        assert_eq!(fs::read(&deep).unwrap(), [7; 3_000]);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!(
            [&deep, &data.join("secret"), &data, &data.join("rooms")].map(|path| mode(path)),
            [0o600, 0o600, 0o700, 0o700]
        );
        fs::write(data.join("bans"), "192.0.2.7\n").unwrap();
        let error = format!("{:#}", restore(&data, &file, false).unwrap_err());
        assert!(error.contains("--replace") && data.join("bans").exists(), "{error}");
        restore(&data, &file, true).unwrap();
        assert!(!data.join("bans").exists());
        let names = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let aside: Vec<_> = names.filter(|name| name.starts_with(REPLACED)).collect();
        assert_eq!(fs::read_to_string(data.join(&aside[0]).join("bans")).unwrap(), "192.0.2.7\n");
        // Data that was moved aside is not in the next backup.
        let mut bytes = vec![];
        back_up(&data, None, &mut bytes).unwrap();
        assert!(!bytes.windows(9).any(|window| window == b".replaced"));
        let held = lock(&data, "").unwrap();
        assert!(format!("{:#}", restore(&data, &file, true).unwrap_err()).contains("arcade drain"));
        drop(held);
    }
}
