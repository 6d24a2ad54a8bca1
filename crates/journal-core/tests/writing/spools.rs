//! Spools, and files of other users in their place. Killed servers of an earlier version wrote the files in
//! `tests/data`.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use journal_core::{
    Entry, HeadError, Journal, Replay, Resumable, ResumeError, Scribe, SyncPolicy, SystemDisk, Writing, prune,
};
use netcore::{EngineRoom, Outbox};
use tempfile::TempDir;

use crate::{adder::Adder, bench};

const MEMORY: &str = "/dev/shm";
const HEADER: usize = 4_096;

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// A journal on the disk of this machine, with a place for its spool.
struct Beside {
    journal: PathBuf,
    of: PathBuf,
    halves: [PathBuf; 2],
    directory: TempDir,
}

impl Drop for Beside {
    fn drop(&mut self) {
        for half in &self.halves {
            let _ = fs::remove_file(half).or_else(|_| fs::remove_dir(half));
        }
    }
}

impl Beside {
    /// The first file had a spool. `None` if spools are not possible on this machine.
    fn new(files: &[(&str, Vec<u8>)]) -> Option<Self> {
        if !Path::new(MEMORY).is_dir() {
            eprintln!("skipped: there is no {MEMORY}");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        let of = directory.path().join(files[0].0);
        let about = fs::metadata(&of).unwrap();
        let half =
            |which| Path::new(MEMORY).join(format!("arcade-journal-{:x}-{:x}-{which}", about.dev(), about.ino()));
        let halves = [half(0), half(1)];
        Some(Self { journal: directory.path().join(files[0].0), of, halves, directory })
    }

    /// Ann has connected and sent `abc`. The file contains the connection, and the spool all records.
    fn playing() -> Option<Self> {
        Self::new(&[("match.journal", data("beside.journal"))])
    }

    fn put(&self, which: usize, bytes: &[u8]) {
        fs::write(&self.halves[which], bytes).unwrap();
        fs::set_permissions(&self.halves[which], fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn arrivals(&self) -> usize {
        let mut reader = Journal::open_on(&SystemDisk, &self.journal).unwrap().reader().unwrap();
        let entries = std::iter::from_fn(|| reader.next().unwrap());
        entries.filter(|entry| matches!(entry, Entry::Arrival(_))).count()
    }

    fn replay(&self) -> u64 {
        let mut reader = Journal::open_on(&SystemDisk, &self.journal).unwrap().reader().unwrap();
        let mut replay = Replay::<Adder>::start(reader.head()).unwrap();
        while let Some(entry) = reader.next().unwrap() {
            if let Entry::Arrival(arrival) = entry {
                replay.apply(&arrival, &mut Outbox::new()).unwrap();
            }
        }
        replay.room().engine().sum
    }
}

const ABC: u64 = 7 + 97 + 98 + 99;

#[test]
fn records_that_only_a_spool_has_are_read() {
    let Some(beside) = Beside::playing() else { return };
    assert_eq!(beside.arrivals(), 1);
    beside.put(0, &data("beside.spool"));
    let before = fs::read(&beside.of).unwrap();
    assert_eq!(beside.arrivals(), 4);
    assert_eq!(fs::read(&beside.of).unwrap(), before, "reading changes nothing");
    assert_eq!(beside.replay(), ABC);
    let error = Resumable::<Adder>::open(&SystemDisk, &beside.journal).unwrap_err();
    assert!(matches!(error, ResumeError::Head(HeadError::Rules { found: 3, expected: 4, .. })), "{error}");
}

#[test]
fn both_files_of_a_spool_are_read_up_to_the_first_incomplete_record() {
    let Some(beside) = Beside::playing() else { return };
    let spool = data("beside.spool");
    let (header, records) = spool.split_at(HEADER);
    // A length of one byte, a checksum, and a body.
    let lengths = |at: usize| 5 + usize::from(records[at]);
    let second = lengths(0);
    let third = second + lengths(second);
    let field = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
    let sum = u32::from_le_bytes(records[second + 1..second + 5].try_into().unwrap());
    let mut later = header.to_vec();
    later[8..16].copy_from_slice(&(field(8) + third as u64).to_le_bytes());
    later[16..24].copy_from_slice(&u64::from(sum).to_le_bytes());
    later.extend_from_slice(&records[third..]);
    beside.put(0, &later);
    beside.put(1, &spool[..HEADER + third]);
    assert_eq!(beside.arrivals(), 4);
    beside.put(0, &later[..later.len() - 1]);
    assert_eq!(beside.arrivals(), 3, "the server was killed while it wrote the last record");
    assert_eq!(beside.replay(), ABC - 99);
}

#[test]
fn records_of_a_spool_are_read_if_its_server_was_killed_while_it_began_a_segment() {
    let (first, second) = (data("continued.journal"), data("continued.2.journal"));
    let Some(beside) = Beside::new(&[("match.journal", first), ("match.2.journal", second)]) else { return };
    assert_eq!(beside.arrivals(), 111);
    beside.put(0, &data("continued.spool"));
    assert_eq!(beside.arrivals(), 114);
    assert_eq!(beside.replay(), 10_980);
}

#[test]
fn copy_of_a_journal_does_not_use_the_spool_of_the_original() {
    let Some(beside) = Beside::playing() else { return };
    beside.put(0, &data("beside.spool"));
    let Some(mut copy) = Beside::playing() else { return };
    copy.journal = beside.directory.path().join("copy.journal");
    fs::copy(&beside.of, &copy.journal).unwrap();
    assert_eq!((copy.arrivals(), copy.replay()), (1, 7));
}

#[test]
fn spool_of_another_branch_of_the_match_is_not_used() {
    let Some(beside) = Beside::playing() else { return };
    let mut spool = data("beside.spool");
    // The checksum before the first record.
    spool[16] ^= 1;
    beside.put(0, &spool);
    assert_eq!(beside.arrivals(), 1);
    spool[16] ^= 1;
    // The id of the journal.
    spool[0] ^= 1;
    beside.put(0, &spool);
    assert_eq!((beside.arrivals(), beside.replay()), (1, 7));
}

#[test]
fn journal_of_this_version_has_no_spool() {
    let Some(beside) = Beside::playing() else { return };
    let scribe = Scribe::by_hand();
    let (disk, copy) = (Arc::new(SystemDisk), None);
    let writing = Writing { disk, scribe, sync: SyncPolicy::Interval, max: bench::MAX, copy };
    let (path, parts) = writing.create(beside.directory.path(), EngineRoom::new(Adder::new(7)), bench::head()).unwrap();
    drop(parts);
    let created = fs::read(&path).unwrap();
    let old = data("beside.journal");
    for (marked, expected) in [(true, 1), (false, 4)] {
        let mut bytes = old.clone();
        let fronts = if marked { &created } else { &old };
        bytes[512..541 + 4].copy_from_slice(&fronts[512..541 + 4]);
        bytes[1_024..1_053 + 4].copy_from_slice(&fronts[1_024..1_053 + 4]);
        let beside = Beside::new(&[("match.journal", bytes)]).unwrap();
        beside.put(0, &data("beside.spool"));
        assert_eq!(beside.arrivals(), expected, "{marked}");
    }
}

#[test]
fn pruning_removes_the_spool_of_a_journal() {
    let Some(beside) = Beside::playing() else { return };
    beside.put(0, &data("beside.spool"));
    let none = journal_core::Retention { count: Some(0), ..journal_core::Retention::default() };
    let now = std::time::SystemTime::now();
    let pruned =
        prune(&SystemDisk, beside.directory.path(), &none, now, |_| journal_core::RetentionClass::Removable(0))
            .unwrap();
    assert_eq!((pruned.removed.len(), beside.halves[0].exists()), (1, false));
}

type Obstacle = fn(&Path) -> io::Result<()>;

/// Obstacles that other users can put in the place of a spool, and files that its owner never creates.
const OBSTACLES: [(&str, Obstacle); 8] = [
    ("a directory", |path| fs::create_dir(path)),
    ("a pipe", |path| {
        assert!(Command::new("mkfifo").arg(path).status()?.success());
        Ok(())
    }),
    ("a sparse file of 64 TiB", |path| {
        fs::write(path, data("beside.spool"))?;
        fs::File::options().write(true).open(path)?.set_len(64 << 40)
    }),
    ("a link to a spool", |path| {
        let spool = path.with_extension("spool");
        fs::write(&spool, data("beside.spool"))?;
        symlink(&spool, path)
    }),
    ("another name of a spool", |path| {
        let spool = path.with_extension("spool");
        fs::write(&spool, data("beside.spool"))?;
        fs::hard_link(&spool, path)
    }),
    ("a file that everybody can write", |path| {
        fs::write(path, data("beside.spool"))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o666))
    }),
    ("a file that cannot be read", |path| {
        fs::write(path, data("beside.spool"))?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o0))?;
        if fs::read(path).is_ok() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }),
    ("a file of another user", |path| {
        fs::write(path, data("beside.spool"))?;
        chown(path, Some(65_534), None)
    }),
];

#[test]
fn foreign_file_with_the_name_of_a_spool_is_ignored() {
    for (what, put) in OBSTACLES {
        let Some(beside) = Beside::playing() else { return };
        let path = &beside.halves[0];
        match put(path) {
            Ok(()) => {
                assert_eq!(beside.arrivals(), 1, "{what}");
                assert!(path.symlink_metadata().is_ok(), "{what} is not ours to remove");
            }
            // Only root can change the owner of a file, and root can read every file.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => eprintln!("skipped: {what}"),
            Err(error) => panic!("{what}: {error}"),
        }
        let _ = fs::remove_file(path.with_extension("spool"));
    }
}
