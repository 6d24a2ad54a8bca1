use std::{
    path::Path,
    sync::{Arc, Mutex},
    task::Context,
};

use journal_core::{
    Copied, Copying, Disk as _, Entry, Excerpt, Facts, Journal, MAX_FACT, Note, Parts, Resumable, SyncPolicy, Writing,
};
use netcore::{EngineRoom, Hold as _};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, SimulatedDisk};

use crate::{
    adder::Adder,
    bench::{Bench, head, writing},
};

/// Segments of 4 KiB.
const SMALL: u64 = 16 << 10;

fn facts(of: &[(&str, &str)]) -> Facts {
    of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn described(writing: &Writing, disk: &SimulatedDisk) -> Bench {
    let head = head().with_facts(&facts(&[("room", "adder-1")]));
    let (journal, parts): (_, Parts<Adder>) =
        writing.create(Path::new("/games"), EngineRoom::new(Adder::new(7)), head).unwrap();
    Bench::of(disk.clone(), journal, writing.scribe.clone(), parts).joined()
}

fn left(disk: &SimulatedDisk, journal: &Path) -> Facts {
    let mut reader = Journal::open_on(disk, journal).unwrap().reader().unwrap();
    let mut facts = reader.head().facts();
    while let Some(entry) = reader.next().unwrap() {
        if let Entry::Note(Note::Fact(fact)) = entry {
            fact.apply_to(&mut facts);
        }
    }
    facts
}

#[test]
fn outputs_wait_for_the_facts_recorded_before_them() {
    let disk = SimulatedDisk::new();
    let mut bench = described(&writing(&disk, SyncPolicy::Always, SMALL), &disk);
    assert!(bench.may_send());
    assert!(bench.end.facts().set("seat A", "Ann"));
    assert!(!bench.may_send());
    bench.settle();
    assert!(bench.may_send());
    let before = bench.bytes().len();
    assert!(bench.end.facts().set("seat A", "Ann") && bench.end.facts().set("seat B", ""));
    bench.settle();
    assert_eq!(bench.bytes().len(), before, "nothing is new");
    for (key, value) in [("seat A", "x".repeat(MAX_FACT)), ("seat\0", "x".into())] {
        assert!(!bench.end.facts().set(key, &value));
    }
}

#[test]
fn facts_outlive_the_segments_in_which_they_were_recorded_and_the_process() {
    let disk = SimulatedDisk::new();
    let mut bench = described(&writing(&disk, SyncPolicy::Interval, SMALL), &disk);
    let set = |bench: &Bench, key: &str, value: &str| assert!(bench.end.facts().set(key, value));
    set(&bench, "seat A", "Ann");
    set(&bench, "seat B", "Bob");
    let first = bench.journal.clone();
    let play = |bench: &mut Bench| {
        for _ in 0..10_000 {
            bench.send(b"a");
            bench.settle();
            if !disk.is_file(&first) {
                return;
            }
        }
        panic!("the first segment is kept");
    };
    play(&mut bench);
    assert_eq!(left(&disk, &first), facts(&[("room", "adder-1"), ("seat A", "Ann"), ("seat B", "Bob")]));
    set(&bench, "seat A", "");
    set(&bench, "seat B", "Bill");
    bench.settle();
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let disk = bench.disk.clone();
    let rest = facts(&[("room", "adder-1"), ("seat B", "Bill")]);
    assert_eq!(Resumable::<Adder>::open(&disk, &first).unwrap().facts, rest);
    let again = Bench::resume(&disk, &first, SyncPolicy::Interval, SMALL).unwrap();
    assert_eq!(again.end.facts().all(), rest);
    assert_eq!(left(&disk, &first), rest);
}

#[derive(Debug, Default)]
struct Memory {
    begun: Mutex<Option<(u64, Vec<u8>)>>,
    records: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl Copying for Memory {
    fn begin(&self, _: u64, position: u64, head: Vec<u8>) {
        *self.begun.lock().unwrap() = Some((position, head));
    }

    fn add(&self, position: u64, records: &[u8]) {
        self.records.lock().unwrap().push((position, records.to_vec()));
    }

    fn skip(&self, _: u64) {}

    fn wants_state(&self) -> bool {
        false
    }

    fn flush(&self) {}

    fn reached(&self) -> Option<u64> {
        None
    }

    fn failure(&self) -> Option<String> {
        None
    }

    fn wake(&self, _: &Context<'_>) {}

    fn is_full(&self) -> bool {
        false
    }

    fn cut(&self) {}
}

#[test]
fn a_copy_and_an_excerpt_have_the_facts_that_hold_where_they_begin() {
    let disk = SimulatedDisk::new();
    let copy = Arc::new(Memory::default());
    let mut bench = described(&writing(&disk, SyncPolicy::Interval, SMALL), &disk);
    assert!(bench.end.facts().set("seat A", "Ann"));
    bench.settle();
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let disk = bench.disk.clone();
    let resumable = Resumable::<Adder>::open(&disk, &bench.journal).unwrap();
    let copied = Writing { copy: Some(copy.clone()), ..writing(&disk, SyncPolicy::Interval, SMALL) };
    let (_, mut hold, end) = resumable.resume(&copied).unwrap();
    assert!(end.facts().set("seat B", "Bob"));
    hold.flush();
    while copied.scribe.write() || copied.scribe.keep() {}
    let all = facts(&[("room", "adder-1"), ("seat A", "Ann"), ("seat B", "Bob")]);
    let (position, head) = copy.begun.lock().unwrap().take().unwrap();
    let mut other = Copied::new(position, head);
    for (position, records) in &*copy.records.lock().unwrap() {
        other.add(*position, records).unwrap();
    }
    let elsewhere = SimulatedDisk::new();
    let journal = other.write(&elsewhere, Path::new("/games"), "adder").unwrap();
    assert_eq!(left(&elsewhere, &journal), all);

    let mut reader = Journal::open_on(&elsewhere, &journal).unwrap().reader().unwrap();
    let mut excerpt = Excerpt::new(reader.head());
    while let Some(entry) = reader.next().unwrap() {
        excerpt.push(&entry);
    }
    elsewhere.put("/games/part.journal", excerpt.into_bytes());
    assert_eq!(left(&elsewhere, Path::new("/games/part.journal")), all);
}
