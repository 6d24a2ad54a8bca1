use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
    thread,
    time::Duration,
};

use journal_core::{Clock, Scribe, SegmentState, Step, SyncPolicy, Writing};
use netcore::{DisconnectReason, EngineRoom, Hold as _, Input, Link, PeerId, Role};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::{
    disk::{Crash, Fault, SimulatedDisk},
    eventually,
};

use crate::{
    adder::Adder,
    bench::{Bench, MAX, arrivals, head},
};

fn state(bench: &Bench) -> SegmentState {
    journal_core::Journal::open_on(&bench.disk, &bench.journal).unwrap().reader().unwrap().state()
}

fn joined() -> Bench {
    Bench::new(SyncPolicy::Interval).joined()
}

#[test]
fn a_disk_that_fails_to_sync_cuts_the_journal_once_that_is_marked() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        let mut bench = Bench::new(sync).joined();
        bench.disk.set_fault(Some(Fault::FailingSyncs(0)));
        bench.send(b"a");
        bench.hold.flush();
        // With the interval, the first sync is left to the other thread.
        assert!(bench.scribe.write() && (sync == SyncPolicy::Always || bench.scribe.keep()));
        assert!(sync == SyncPolicy::Always || bench.scribe.write());
        bench.send(b"b");
        assert!(bench.disk.has_struck() && !bench.may_send(), "before the mark is on disk");
        bench.disk.set_fault(None);
        bench.settle();
        assert!(bench.may_send() && !bench.end.is_open());
        assert_eq!(state(&bench), SegmentState::Cut);
    }
}

#[test]
fn no_output_is_sent_before_the_mark_of_a_cut_is_on_disk() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        let mut bench = Bench::new(sync).joined();
        let before = bench.arrivals().len();
        bench.disk.set_fault(Some(Fault::FailingWrites(0)));
        bench.send(b"a");
        assert!(!bench.may_send());
        bench.hold.flush();
        assert!(bench.scribe.write());
        bench.send(b"b");
        assert!(!bench.may_send() && bench.hold.failure().is_none(), "{sync:?}: the journal is neither whole nor cut");
        let mut disk = bench.disk.clone();
        disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
        let found = arrivals(&disk, &bench.journal).len();
        assert_eq!(found, before, "{sync:?}");
        Bench::resume(&disk, &bench.journal, sync, MAX).unwrap();
    }
}

#[test]
fn a_disk_on_which_nothing_can_be_marked_ends_the_room_with_the_reason() {
    let mut bench = joined();
    bench.disk.set_fault(Some(Fault::FailingWrites(0)));
    bench.send(b"a");
    bench.hold.flush();
    while bench.scribe.write() {
        bench.send(b"b");
        assert!(!bench.may_send());
    }
    let why = bench.hold.failure().unwrap();
    assert!(why.contains("neither written to") && why.contains("--resume"), "{why}");
    assert!(!bench.may_send() && bench.end.finish(Duration::ZERO));
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let resumed = Bench::resume(&bench.disk, &bench.journal, SyncPolicy::Interval, MAX).unwrap();
    assert_eq!(resumed.sum(), 7, "no answer to either message left");
}

#[test]
fn records_are_written_immediately_if_outputs_wait_for_them_and_later_otherwise() {
    let mut bench = joined();
    let step = |bench: &mut Bench| {
        bench.hold.flush();
        bench.scribe.write_step(Waker::noop())
    };
    assert_eq!(step(&mut bench), Step::Idle);
    bench.send(b"a");
    assert!(matches!(step(&mut bench), Step::Until(_)));
    assert!(!bench.may_send());
    assert_eq!(step(&mut bench), Step::Done);
    assert!(bench.may_send());
    assert!(matches!(step(&mut bench), Step::Until(_)));
    bench.send(b"b");
    assert!(matches!(step(&mut bench), Step::Until(_)), "outputs wait for none of these");
    assert!(bench.scribe.write() && bench.may_send());
    assert_eq!((step(&mut bench), bench.arrivals().len()), (Step::Idle, 3));
}

#[test]
fn a_room_is_given_no_more_than_what_may_wait_for_the_disk() {
    let mut bench = joined();
    let long = "a".repeat(1 << 14);
    // The disk does not respond, so all records stay in memory.
    let mut bytes = 0_u64;
    while !bench.hold.is_full() {
        // The records of connecting peers are the longest.
        let peer = PeerId(1);
        bench.input(Input::Connected { peer, role: Role::Watcher, link: Link::Stream, address: long.as_str().into() });
        bench.input(Input::Disconnected { peer, why: DisconnectReason::Left });
        bench.send(b"a");
        bytes += 1;
        assert!(bytes < 1 << 16, "it is never full");
    }
    assert!(!bench.may_send());
    bench.settle();
    assert!(bench.may_send() && !bench.hold.is_full());
    assert_eq!(bench.sum(), 7 + 97 * bytes);
    assert!(journal_core::Journal::open_on(&bench.disk, &bench.journal).unwrap().head().is_ok());
}

#[derive(Clone, Default)]
struct Seconds(Arc<AtomicU64>);

impl Clock for Seconds {
    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.load(Ordering::Acquire))
    }

    fn unix_seconds(&self) -> u64 {
        0
    }
}

#[test]
fn stalled_disk_stops_one_room_thread_and_is_reported_after_ten_seconds() {
    let clock = Seconds::default();
    let scribe = Scribe::start_with_clock(clock.clone()).unwrap();
    let create = |directory: &str| {
        let disk = SimulatedDisk::new();
        let (sync, disk_of) = (SyncPolicy::Interval, Arc::new(disk.clone()));
        let writing = Writing { disk: disk_of, scribe: scribe.clone(), sync, max: MAX, copy: None };
        let (journal, parts) = writing.create(Path::new(directory), EngineRoom::new(Adder::new(7)), head()).unwrap();
        Bench::of(disk, journal, scribe.clone(), parts).joined()
    };
    let (mut stalled, mut other) = (create("/stalled"), create("/other"));
    stalled.hold.position();
    stalled.hold.flush();
    assert!(stalled.may_send(), "the thread of the room writes");
    let watch = stalled.end.watch();
    let disk = stalled.disk.clone();
    disk.set_fault(Some(Fault::StalledWrites));
    stalled.send(b"a");
    let mut hold = stalled.hold.clone();
    hold.position();
    let room = thread::spawn(move || hold.flush());
    eventually("the write is stalled", || disk.has_struck());
    assert!(!watch.is_stalled());
    clock.0.store(10, Ordering::Release);
    // Now only the writing thread writes, and it also checks the stalled write.
    eventually("the stall is reported, and other rooms continue", || {
        other.send(b"b");
        other.hold.position();
        other.hold.flush();
        watch.is_stalled() && other.may_send()
    });
    disk.set_fault(None);
    room.join().unwrap();
    assert!(!watch.is_stalled() && stalled.may_send());
}
