//! Backups: one file with all data that a hub needs to continue. Rooms keep running: a journal is append-only, so its
//! copy is a snapshot of the match. The last entry describes the rest, to detect truncation and changes.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use super::data::{CONTROL, LOCK, RESULTS};

/// The last entry, which describes the rest.
pub(crate) const MANIFEST: &str = "backup.json";
/// Bytes at the front of a journal that state its length on disk. They are read before the length of the file, so that
/// they never exceed what was copied.
const FRONT: u64 = 1_536;
/// Useful only on this machine.
const LEFT_OUT: [&str; 3] = [LOCK, CONTROL, MANIFEST];
/// Of nested directories.
pub(crate) const MAX_DEPTH: usize = 4;
/// Attempts to find the newest file of a journal.
const ATTEMPTS: u32 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) files: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) version: String,
    pub(crate) account: Account,
    /// Of the names, lengths and contents of all entries before it, in hexadecimal.
    pub(crate) sha256: String,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    account: Account,
    digest: Sha256,
}

impl Tally {
    pub(crate) fn begin(&mut self, name: &Path, length: u64) {
        self.account.files += 1;
        self.account.bytes += length;
        self.digest.update(name.as_os_str().as_encoded_bytes());
        self.digest.update([0]);
        self.digest.update(length.to_be_bytes());
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    pub(crate) fn manifest(self) -> Manifest {
        let sha256 = format!("{:x}", self.digest.finalize());
        Manifest { version: env!("CARGO_PKG_VERSION").to_owned(), account: self.account, sha256 }
    }
}

/// `results` is an earlier copy of the database, if that is a file. Journals are copied last, so the backup contains
/// those of all rooms and results.
pub(crate) fn back_up(data: &Path, results: Option<&Path>, out: impl Write) -> anyhow::Result<Account> {
    let cannot = "the backup cannot be written";
    let mut packer = Packer { tar: Builder::new(out), tally: Tally::default() };
    if let Some(results) = results {
        packer.copy(results, Path::new(RESULTS)).context(cannot)?;
    }
    let mut names: Vec<PathBuf> = entries(data)?;
    names.sort_by_key(|name| (name.as_os_str() == "journals", name.clone()));
    for name in names {
        // The database cannot be copied while it is written.
        let is_database = name.to_string_lossy().starts_with(RESULTS);
        if !is_database && !LEFT_OUT.iter().any(|left_out| name.as_os_str() == *left_out) {
            packer.add(data, &name, MAX_DEPTH)?;
        }
    }
    packer.finish().context(cannot)
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let read = || fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name().into())).collect();
    let names: io::Result<Vec<PathBuf>> = read();
    names.with_context(|| format!("cannot read '{}'", directory.display()))
}

struct Packer<W: Write> {
    tar: Builder<W>,
    tally: Tally,
}

impl<W: Write> Packer<W> {
    fn add(&mut self, data: &Path, name: &Path, depth: usize) -> anyhow::Result<()> {
        let path = data.join(name);
        let kind = match path.symlink_metadata() {
            Ok(kind) => kind,
            // The room was closed meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        };
        // A temporary file.
        if name.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            return Ok(());
        }
        if kind.is_dir() && depth > 0 {
            let mut inside = entries(&path)?;
            inside.retain(|entry| entry.extension().is_none_or(|extension| extension != journal_core::EXTENSION));
            inside.sort();
            inside.into_iter().try_for_each(|entry| self.add(data, &name.join(entry), depth - 1))?;
            let journals = journal_core::list(&path).with_context(|| format!("cannot read '{}'", path.display()))?;
            return journals.iter().try_for_each(|journal| self.add_journal(journal, name));
        }
        if !kind.is_file() {
            return Ok(());
        }
        match self.copy(&path, name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            copied => copied.with_context(|| format!("cannot copy '{}'", path.display())),
        }
    }

    // A journal may continue in a new file meanwhile. Only the newest file grows; it is copied first, so the older ones
    // are complete.
    fn add_journal(&mut self, journal: &Path, directory: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot copy '{}'", journal.display());
        let name = |path: &Path| directory.join(path.file_name().unwrap_or_default());
        for _ in 0..ATTEMPTS {
            let files = journal_core::files(journal).with_context(cannot)?;
            let Some((newest, older)) = files.split_first() else { return Ok(()) };
            let opened = match Opened::new(newest) {
                // The journal was removed, or only this file, because newer ones suffice.
                Err(error) if error.kind() == ErrorKind::NotFound && !journal_core::exists(journal) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened.with_context(cannot)?,
            };
            // `opened` has read the front of the file before this check.
            if journal_core::files(journal).with_context(cannot)?.first() != Some(newest) {
                continue;
            }
            self.append(opened, &name(newest)).with_context(cannot)?;
            for path in older {
                match self.copy(path, &name(path)) {
                    // The oldest files are removed when there are too many.
                    Err(error) if error.kind() == ErrorKind::NotFound => break,
                    copied => copied.with_context(cannot)?,
                }
            }
            return Ok(());
        }
        anyhow::bail!("cannot copy '{}': it was continued in new files during each attempt", journal.display());
    }

    fn copy(&mut self, path: &Path, name: &Path) -> io::Result<()> {
        self.append(Opened::new(path)?, name)
    }

    fn append(&mut self, Opened { file, front }: Opened, name: &Path) -> io::Result<()> {
        let about = file.metadata()?;
        let length = about.len().max(front.len() as u64);
        let modified = about.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.tally.begin(name, length);
        // Pads a file that has become shorter; the hub shortens none.
        let content = (&front[..]).chain(file).chain(io::repeat(0)).take(length);
        let content = Tallied { content, tally: &mut self.tally };
        self.tar.append_data(&mut header(length, modified), name, content)
    }

    fn finish(mut self) -> anyhow::Result<Account> {
        let manifest = self.tally.manifest();
        let text = serde_json::to_vec(&manifest)?;
        self.tar.append_data(&mut header(text.len() as u64, 0), MANIFEST, text.as_slice())?;
        self.tar.into_inner()?.flush()?;
        Ok(manifest.account)
    }
}

fn header(length: u64, modified: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_size(length);
    header.set_mtime(modified);
    header
}

struct Tallied<'a, R> {
    content: R,
    tally: &'a mut Tally,
}

impl<R: Read> Read for Tallied<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.tally.add(&buffer[..length]);
        Ok(length)
    }
}

struct Opened {
    file: File,
    front: Vec<u8>,
}

impl Opened {
    fn new(path: &Path) -> io::Result<Self> {
        let (mut file, mut front) = (File::open(path)?, vec![]);
        (&mut file).take(FRONT).read_to_end(&mut front)?;
        Ok(Self { file, front })
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
    use netcore::{DisconnectReason, EngineRoom, Hold as _, Input, Link, Outbox, PeerId, Role, Room as _, Time};
    use testkit::TempDir;

    use super::*;

    #[test]
    fn backup_contains_all_data_of_a_hub() {
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
        let account = back_up(&data, Some(&copy), File::create(&file).unwrap()).unwrap();
        assert_eq!(account, Account { files: 4, bytes: 5_007 });
        let out = directory.path().join("out");
        tar::Archive::new(File::open(&file).unwrap()).unpack(&out).unwrap();
        let manifest: Manifest = serde_json::from_slice(&fs::read(out.join(MANIFEST)).unwrap()).unwrap();
        assert_eq!(manifest.account, account);
        assert_eq!(fs::read(out.join("journals/a.journal")).unwrap(), long);
        assert_eq!(fs::read(out.join("rooms/next")).unwrap(), b"4");
        assert_eq!(fs::read(out.join("results.db")).unwrap(), b"whole");
        assert!(!out.join("results.db-wal").exists() && !out.join("lock").exists() && !out.join(".tmp123").exists());
    }

    /// A match with small segments: a watcher connects and disconnects until `stop` is set.
    fn busy_match(journals: &Path, stop: &AtomicBool) {
        let (disk, scribe) = (Arc::new(SystemDisk), Scribe::start().unwrap());
        let writing = Writing { disk, scribe, sync: SyncPolicy::Interval, max: 16 << 10, copy: None };
        let engine = mastermind::Server::new(mastermind::Config::new(4, false, 7)).unwrap();
        let head = Head::new(&engine, "0.0.0", vec![], 0);
        let (_, (mut room, mut hold, end)) = writing.create(journals, EngineRoom::new(engine), head).unwrap();
        let (mut now, mut out) = (Time::ZERO, Outbox::new());
        for number in 0.. {
            let peer = PeerId(number);
            now = now.plus(Duration::from_millis(1));
            let connected = Input::Connected { peer, role: Role::Watcher, link: Link::Stream, address: "a".into() };
            room.input(now, connected, &mut out);
            room.input(now, Input::Disconnected { peer, why: DisconnectReason::Left }, &mut out);
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

    struct Stop<'a>(&'a AtomicBool);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn journal_that_grows_during_a_backup_is_complete() {
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
                if back_up(&data, None, File::create(&file).unwrap()).is_err() {
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
                if !wrong.is_empty() || segments > 200 || std::time::Instant::now() > until {
                    break;
                }
            }
            assert!(wrong.is_empty() && segments > 20, "{wrong:?} {segments}");
        });
    }

    fn check(path: &Path) -> Result<usize, journal_core::ReadError> {
        let journal = journal_core::open(path)?;
        let mut reader = journal.reader()?;
        while reader.next()?.is_some() {}
        Ok(journal.segments())
    }
}
