use std::path::{Path, PathBuf};

use journal_core::{Disk as _, Entry, Journal, Note, Replay, SegmentState, SyncPolicy};
use netcore::{Hold as _, Outbox};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, Fault, SimulatedDisk};

use crate::{adder::Adder, bench::Bench};

/// Segments of 16 KiB.
const MAX: u64 = 64 << 10;

fn segments(disk: &SimulatedDisk) -> Vec<PathBuf> {
    disk.files().into_iter().filter(|path| path.starts_with("/games")).collect()
}

fn newest(bench: &Bench) -> usize {
    (1..10_000).take_while(|number| *number == 1 || bench.disk.has_had(path_of(bench, *number))).last().unwrap()
}

fn path_of(bench: &Bench, number: usize) -> PathBuf {
    bench.journal.with_extension(format!("{number}.journal"))
}

fn play(bench: &mut Bench, files: usize) {
    for _ in 0..10_000 {
        for _ in 0..100 {
            bench.send(b"a");
        }
        bench.settle();
        if newest(bench) >= files {
            return;
        }
    }
    panic!("{:?}", segments(&bench.disk));
}

fn begin(sync: SyncPolicy) -> Bench {
    Bench::on(SimulatedDisk::new(), sync, MAX).joined()
}

fn replay(disk: &SimulatedDisk, journal: &Path) -> (u64, SegmentState) {
    let mut reader = Journal::open_on(disk, journal).unwrap().reader().unwrap();
    let mut replay = Replay::<Adder>::start(reader.head()).unwrap();
    let mut out = Outbox::new();
    while let Some(entry) = reader.next().unwrap() {
        match entry {
            Entry::Arrival(arrival) => drop(replay.apply(&arrival, &mut out).unwrap()),
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).unwrap(),
            Entry::Note(_) => {}
        }
    }
    (replay.room().engine().sum, reader.state())
}

#[test]
fn reading_continues_at_a_bookmark_when_the_journal_has_grown() {
    let mut bench = begin(SyncPolicy::Interval);
    let open = |bench: &Bench| Journal::open_on(&bench.disk, &bench.journal).unwrap();
    let mut reader = open(&bench).reader().unwrap();
    let mut replay = Replay::<Adder>::start(reader.head()).unwrap();
    let mut out = Outbox::new();
    let mut entered = vec![];
    while newest(&bench) < 5 {
        while let Some(entry) = reader.next().unwrap() {
            match entry {
                Entry::Arrival(arrival) => drop(replay.apply(&arrival, &mut out).unwrap()),
                Entry::Note(Note::Mark(mark)) => replay.check(&mark).unwrap(),
                Entry::Note(_) => {}
            }
        }
        assert_eq!(replay.room().engine().sum, bench.sum());
        entered.push(reader.segment());
        let bookmark = reader.bookmark();
        (0..100).for_each(|_| bench.send(b"a"));
        bench.settle();
        reader = open(&bench).reader_at(&bookmark).unwrap().unwrap();
    }
    entered.dedup();
    assert_eq!(entered, [1, 2, 3, 4], "in each segment");
}

#[test]
fn long_journal_is_replayed_and_resumed_across_its_segments() {
    for sync in [SyncPolicy::Interval, SyncPolicy::Always] {
        let mut bench = begin(sync);
        play(&mut bench, 3);
        let names = segments(&bench.disk);
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.contains(&bench.journal) && names.contains(&path_of(&bench, 3)));
        assert_eq!(replay(&bench.disk, &bench.journal), (bench.sum(), SegmentState::Open));
        assert_eq!(journal_of_last(&bench), bench.sum(), "by the name of a segment");
        let sum = bench.sum();
        bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
        let mut again = Bench::resume(&bench.disk, &bench.journal, sync, MAX).unwrap();
        assert_eq!(again.sum(), sum);
        play(&mut again, 5);
        again.end.close();
        again.settle();
        assert_eq!(replay(&again.disk, &again.journal), (again.sum(), SegmentState::Closed));
    }
}

fn journal_of_last(bench: &Bench) -> u64 {
    replay(&bench.disk, &path_of(bench, newest(bench))).0
}

// The system reports a failed sync once, and never writes the affected data.
#[test]
fn failed_sync_cuts_a_journal_even_if_a_segment_is_about_to_begin() {
    for unsynced in 0..80 {
        let mut bench = begin(SyncPolicy::Interval);
        while bench.bytes().len() < 14 << 10 {
            bench.send(&[b'a'; 100]);
            bench.settle();
        }
        for _ in 0..=unsynced {
            bench.send(&[b'a'; 100]);
            bench.hold.flush();
            while bench.scribe.write() {}
        }
        bench.disk.set_fault(Some(Fault::FailingSyncs(0)));
        while !bench.disk.has_struck() && bench.scribe.keep() {}
        assert!(bench.disk.has_struck());
        bench.disk.set_fault(None);
        bench.settle();
        assert!(!bench.end.is_open(), "{unsynced} records");
    }
}

#[test]
fn journal_without_its_last_segment_is_rejected_and_one_with_a_damaged_first_segment_is_resumed() {
    let mut bench = begin(SyncPolicy::Interval);
    play(&mut bench, 3);
    bench.settle();
    let sum = bench.sum();
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let without = |number: usize| {
        let disk = SimulatedDisk::new();
        for path in segments(&bench.disk).into_iter().filter(|path| *path != path_of(&bench, number)) {
            disk.put(&path, bench.disk.written(&path));
        }
        disk
    };
    let error = Bench::resume(&without(3), &bench.journal, SyncPolicy::Interval, MAX).err().unwrap();
    assert!(error.to_string().contains("the segment that continues it is missing"), "{error}");
    let disk = without(1);
    disk.put(&bench.journal, b"nothing of a journal".to_vec());
    assert_eq!(Bench::resume(&disk, &bench.journal, SyncPolicy::Interval, MAX).unwrap().sum(), sum);
    assert!(Journal::open_on(&disk, &bench.journal).is_err(), "a reader says that it is damaged");
}

#[test]
fn damaged_record_is_not_copied_into_the_next_segment() {
    let mut bench = begin(SyncPolicy::Interval);
    let file = bench.disk.open(&bench.journal, true).unwrap();
    while bench.bytes().len() < 40 << 10 {
        for _ in 0..100 {
            bench.send(b"a");
        }
        bench.hold.flush();
        while bench.scribe.write() {}
        let at = bench.bytes().len() as u64 - 1;
        let mut byte = [0];
        assert_eq!(file.read_at(at, &mut byte).unwrap(), 1);
        file.write_at(at, &[byte[0] ^ 1]).unwrap();
        while bench.scribe.keep() {}
    }
    assert_eq!(segments(&bench.disk), [bench.journal.clone()], "it is not continued in another file");
}

#[test]
fn cut_journal_is_not_resumed_from_an_earlier_segment() {
    let mut bench = begin(SyncPolicy::Interval);
    play(&mut bench, 3);
    bench.disk.set_fault(Some(Fault::Full(0)));
    bench.send(b"a");
    bench.settle();
    assert!(!bench.end.is_open());
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let resumed = Bench::resume(&bench.disk, &bench.journal, SyncPolicy::Interval, MAX);
    assert!(matches!(resumed, Err(journal_core::ResumeError::Cut)));
}
