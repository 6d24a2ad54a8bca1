use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use journal_core::{Disk as _, Journal, Retention, RetentionClass, StoredJournal, SyncPolicy, find, prune, surplus};
use netcore::EngineRoom;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, SimulatedDisk};

use crate::{
    adder::Adder,
    bench::{Bench, head, writing},
};

const GAMES: &str = "/games";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn spare(_: &StoredJournal) -> RetentionClass {
    RetentionClass::Removable(0)
}

/// Closed journals, written a day after one another, and the time a day after the last.
fn journals(disk: &SimulatedDisk, count: u32) -> (Vec<PathBuf>, SystemTime) {
    let begin = |day: u32| {
        disk.set_time(day * DAY);
        let mut head = head();
        head.begun = u64::from(day) * DAY.as_secs();
        let writing = writing(disk, SyncPolicy::Interval, 1 << 20);
        writing.create(Path::new(GAMES), EngineRoom::new(Adder::new(7)), head).unwrap().0
    };
    let paths = (1..=count).map(begin).collect();
    (paths, SystemTime::UNIX_EPOCH + (count + 1) * DAY)
}

fn left(disk: &SimulatedDisk) -> Vec<PathBuf> {
    find(disk, Path::new(GAMES)).unwrap().into_iter().map(|found| found.path).collect()
}

#[test]
fn each_limit_removes_what_was_written_first() {
    let limits = [
        (Retention::default(), 0),
        (Retention { age: Some(3 * DAY), ..Retention::default() }, 2),
        (Retention { age: Some(2 * DAY + Duration::from_secs(24 * 60 * 60 - 1)), ..Retention::default() }, 3),
        (Retention { count: Some(4), ..Retention::default() }, 1),
        (Retention { count: Some(4), age: Some(2 * DAY), ..Retention::default() }, 3),
        (Retention { count: Some(0), ..Retention::default() }, 5),
    ];
    for (retention, expected) in limits {
        let disk = SimulatedDisk::new();
        let (paths, now) = journals(&disk, 5);
        let would = surplus(&disk, Path::new(GAMES), &retention, now, spare).unwrap();
        assert_eq!(left(&disk), paths, "only looked at");
        let pruned = prune(&disk, Path::new(GAMES), &retention, now, spare).unwrap();
        let removed: Vec<_> = pruned.removed.iter().map(|removed| removed.path.clone()).collect();
        assert_eq!(removed, paths[..expected], "{retention:?}");
        assert_eq!(would.journals.into_iter().map(|found| found.path).collect::<Vec<_>>(), removed);
        assert!(pruned.removed.first().is_none_or(|oldest| oldest.age(now) == 5 * DAY && oldest.size > 1_536));
        assert_eq!(left(&disk), paths[expected..]);
    }
    let disk = SimulatedDisk::new();
    let (paths, now) = journals(&disk, 5);
    let each = find(&disk, Path::new(GAMES)).unwrap()[0].size;
    let retention = Retention { size: Some(3 * each + 1), ..Retention::default() };
    prune(&disk, Path::new(GAMES), &retention, now, spare).unwrap();
    assert_eq!(left(&disk), paths[2..]);
}

#[test]
fn needed_journals_are_kept_and_the_least_valuable_removed_first() {
    let disk = SimulatedDisk::new();
    let (paths, now) = journals(&disk, 5);
    let worth = |found: &StoredJournal| match paths.iter().position(|path| *path == found.path) {
        Some(0) => RetentionClass::Required,
        Some(1) => RetentionClass::Exempt,
        Some(3) => RetentionClass::Removable(0),
        _ => RetentionClass::Removable(1),
    };
    let retention = Retention { count: Some(2), ..Retention::default() };
    let pruned = prune(&disk, Path::new(GAMES), &retention, now, worth).unwrap();
    let removed: Vec<_> = pruned.removed.into_iter().map(|removed| removed.path).collect();
    assert_eq!(removed, [paths[3].clone(), paths[2].clone()]);
    let mut asked = vec![];
    let nothing = prune(&disk, Path::new(GAMES), &Retention::default(), now, |found| {
        asked.push(found.path.clone());
        RetentionClass::Exempt
    });
    assert!(nothing.unwrap().removed.is_empty());
    assert_eq!(asked, [&paths[4], &paths[1], &paths[0]].map(Clone::clone), "the newest first");
}

#[test]
fn a_journal_goes_with_all_of_its_files_and_one_in_use_stays() {
    let nothing = Retention { count: Some(0), ..Retention::default() };
    let mut bench = Bench::on(SimulatedDisk::new(), SyncPolicy::Interval, 64 << 10);
    bench.connect();
    while bench.disk.files().len() < 3 {
        bench.send(&[b'a'; 100]);
        bench.settle();
    }
    let name = bench.journal.clone();
    let segments = bench.disk.list(Path::new(GAMES)).unwrap();
    assert!(segments.len() > 2, "{segments:?}");
    let found = find(&bench.disk, Path::new(GAMES)).unwrap();
    let opened = Journal::open_on(&bench.disk, &name).unwrap();
    assert_eq!((found.len(), &found[0].path), (1, &name));
    assert_eq!((found[0].size, found[0].end), (opened.length(), Some(opened.end())));
    let other = bench.disk.other_process();
    let pruned = prune(&other, Path::new(GAMES), &nothing, SystemTime::UNIX_EPOCH, spare).unwrap();
    assert_eq!((pruned.in_use, pruned.removed.len()), (vec![name.clone()], 0));
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    // Left by a killed server, and files that do not belong to this journal.
    let disk = bench.disk;
    disk.put(format!("{}.new", name.with_extension("9.journal").display()), vec![1, 2]);
    disk.put("/games/notes.txt", vec![1]);
    disk.put("/games/other.journal", b"no journal".to_vec());
    let pruned = prune(&disk, Path::new(GAMES), &nothing, SystemTime::UNIX_EPOCH, spare).unwrap();
    assert_eq!(pruned.removed.len(), 1, "{pruned:?}");
    assert_eq!(disk.files(), ["/games/notes.txt", "/games/other.journal"].map(PathBuf::from));
}

#[test]
fn a_journal_that_cannot_be_removed_does_not_stop_the_removal_of_others() {
    let disk = SimulatedDisk::new();
    let (paths, now) = journals(&disk, 3);
    disk.set_stubborn(&paths[1]);
    let retention = Retention { count: Some(0), ..Retention::default() };
    let pruned = prune(&disk, Path::new(GAMES), &retention, now, spare).unwrap();
    assert_eq!(pruned.removed.len(), 2);
    assert_eq!(pruned.failed.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&paths[1]]);
    assert_eq!(left(&disk), paths[1..2]);
}
