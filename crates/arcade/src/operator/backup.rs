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

use super::data::RESULTS;

/// The front of a journal, which says how much of it is known to be on disk. It is read before the length, so that it never
/// promises more than was copied.
const FRONT: u64 = 1_536;
/// What is not needed elsewhere, or only means something on this machine.
const LEFT_OUT: [&str; 2] = ["lock", "control"];
/// Directories in directories that are copied.
const MAX_DEPTH: usize = 4;
/// How often the newest file of a journal is looked for.
const ATTEMPTS: u32 = 1_000;

/// What a backup holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Account {
    files: u64,
    bytes: u64,
}

impl Account {
    const fn count(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Writes a backup of the data directory into a new file. `results` is a copy of the database of results, if that is a file of the
/// hub; it was made before, and journals are copied last. So the journals of all rooms and of all results are in it.
/// Fails when something is at `file`, or the data cannot be read, or the backup not written.
pub(crate) fn back_up(data: &Path, results: Option<&Path>, file: &Path) -> anyhow::Result<Account> {
    let cannot = || format!("cannot write the backup '{}'", file.display());
    let mut account = Account { files: 0, bytes: 0 };
    let mut tar = Builder::new(NewFile::create(file).with_context(cannot)?);
    if let Some(results) = results {
        account.count(copy(&mut tar, results, Path::new(RESULTS)).with_context(cannot)?);
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
        inside.retain(|entry| entry.extension().is_none_or(|extension| extension != journal_core::EXTENSION));
        inside.sort();
        inside.into_iter().try_for_each(|entry| add(tar, data, &name.join(entry), depth - 1, account))?;
        let journals = journal_core::list(&path).with_context(|| format!("cannot read '{}'", path.display()))?;
        return journals.iter().try_for_each(|journal| add_journal(tar, journal, name, account));
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
    account.count(length);
    Ok(())
}

// A journal may be continued in another file while it is copied. Its newest file, which is the only one that grows, is copied
// first, so that the others are complete when they are.
fn add_journal(
    tar: &mut Builder<NewFile>,
    journal: &Path,
    directory: &Path,
    account: &mut Account,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot copy '{}'", journal.display());
    let name = |path: &Path| directory.join(path.file_name().unwrap_or_default());
    for _ in 0..ATTEMPTS {
        let files = journal_core::files(journal).with_context(cannot)?;
        let Some((newest, older)) = files.split_first() else { return Ok(()) };
        let opened = match Opened::new(newest) {
            // It was removed as a whole, or this file was because newer ones are enough.
            Err(error) if error.kind() == ErrorKind::NotFound && !journal_core::exists(journal) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened.with_context(cannot)?,
        };
        // What it says of its state was read before this.
        if journal_core::files(journal).with_context(cannot)?.first() != Some(newest) {
            continue;
        }
        account.count(opened.append(tar, &name(newest)).with_context(cannot)?);
        for path in older {
            match copy(tar, path, &name(path)) {
                // The oldest are removed when there are too many.
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                length => account.count(length.with_context(cannot)?),
            }
        }
        return Ok(());
    }
    anyhow::bail!("cannot copy '{}': it was continued in new files during each attempt", journal.display());
}

fn copy(tar: &mut Builder<NewFile>, path: &Path, name: &Path) -> std::io::Result<u64> {
    Opened::new(path)?.append(tar, name)
}

/// A file whose front was read.
struct Opened {
    file: File,
    front: Vec<u8>,
}

impl Opened {
    fn new(path: &Path) -> std::io::Result<Self> {
        let (mut file, mut front) = (File::open(path)?, vec![]);
        (&mut file).take(FRONT).read_to_end(&mut front)?;
        Ok(Self { file, front })
    }

    fn append(self, tar: &mut Builder<NewFile>, name: &Path) -> std::io::Result<u64> {
        let Self { file, front } = self;
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
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
        thread,
        time::Duration,
    };

    use journal_core::{Head, Scribe, SyncPolicy, SystemDisk, Writing};
    use netcore::{Gone, Hold as _, Hosted, Input, Link, Outbox, PeerId, Role, Room as _, Time};
    use testkit::TempDir;

    use super::*;

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

    /// Begins a journal of small segments, and a match in which somebody comes and leaves until it is told to stop.
    fn busy_match(journals: &Path, stop: &AtomicBool) {
        let (disk, scribe) = (Arc::new(SystemDisk), Scribe::start().unwrap());
        let writing = Writing { disk, scribe, sync: SyncPolicy::Interval, max: 16 << 10 };
        let engine = mastermind::Server::new(mastermind::Config::new(4, false, 7)).unwrap();
        let head = Head::new(&engine, "0.0.0", vec![], 0);
        let (_, (mut room, mut hold, end)) = writing.create(journals, Hosted::new(engine), head).unwrap();
        let (mut now, mut out) = (Time::ZERO, Outbox::new());
        for number in 0.. {
            let peer = PeerId(number);
            now = now.plus(Duration::from_millis(1));
            let connected = Input::Connected { peer, role: Role::Watcher, link: Link::Stream, address: "a".into() };
            room.input(now, connected, &mut out);
            room.input(now, Input::Disconnected { peer, why: Gone::Left }, &mut out);
            out.drain().for_each(drop);
            hold.position();
            hold.flush();
            if stop.load(Ordering::Relaxed) {
                break;
            }
            // Several segments in a millisecond.
            if number.is_multiple_of(1_000) {
                thread::sleep(Duration::from_millis(1));
            }
        }
        end.close();
        assert!(end.finish(Duration::from_secs(10)));
    }

    /// Ends the match, whatever happens.
    struct Stop<'a>(&'a AtomicBool);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_journal_in_a_backup_is_whole_although_it_is_continued_meanwhile() {
        let directory = TempDir::new();
        let (data, stop) = (directory.path().join("data"), AtomicBool::new(false));
        let journals = data.join("journals");
        thread::scope(|scope| {
            let _stop = Stop(&stop);
            scope.spawn(|| busy_match(&journals, &stop));
            let (mut segments, mut wrong) = (0, vec![]);
            while !journal_core::list(&journals)
                .is_ok_and(|found| found.iter().any(|path| check(path).is_ok_and(|segments| segments > 1)))
            {
                thread::sleep(Duration::from_millis(1));
            }
            let until = std::time::Instant::now() + Duration::from_mins(1);
            for number in 0.. {
                let (file, out) = (directory.path().join(number.to_string()), directory.path().join("out"));
                if back_up(&data, None, &file).is_err() {
                    continue;
                }
                tar::Archive::new(File::open(&file).unwrap()).unpack(&out).unwrap();
                fs::remove_file(file).unwrap();
                for path in journal_core::list(&out.join("journals")).unwrap_or_default() {
                    match check(&path) {
                        Ok(more) => segments += more,
                        Err(error) => wrong.push(error),
                    }
                }
                fs::remove_dir_all(out).unwrap();
                if !wrong.is_empty() || segments > 1_000 || std::time::Instant::now() > until {
                    break;
                }
            }
            assert!(wrong.is_empty() && segments > 20, "{wrong:?} {segments}");
        });
    }

    // Reads a journal to its end.
    fn check(path: &Path) -> Result<usize, journal_core::ReadError> {
        let journal = journal_core::open(path)?;
        let mut reader = journal.reader()?;
        while reader.next()?.is_some() {}
        Ok(journal.segments())
    }
}
