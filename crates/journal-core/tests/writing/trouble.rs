//! Disks that are full, fail, or do not respond.

use journal_core::{State, SyncPolicy};
use netcore::{Hold as _, Link};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, Fault, SimulatedDisk};

use crate::bench::{Bench, MAX, begun, connect, on, total};

fn state(bench: &Bench) -> State {
    journal_core::Journal::open_on(&bench.disk, &bench.journal).unwrap().reader().unwrap().state()
}

/// A room whose records are safe in memory at once.
fn spooled() -> Bench {
    let mut bench = on(SimulatedDisk::new(), SyncPolicy::Interval, MAX);
    connect(&mut bench, Link::Stream);
    bench.settle();
    bench
}

#[test]
fn a_disk_on_which_nothing_can_be_marked_ends_the_room_with_the_reason() {
    let mut bench = spooled();
    bench.disk.set_fault(Some(Fault::FailingWrites(0)));
    bench.say(0, b"a");
    bench.hold.flush();
    while bench.scribe.write() {
        bench.say(0, b"b");
        assert!(!bench.may_leave());
    }
    let why = bench.hold.lost().unwrap();
    assert!(why.contains("cannot be written to") && why.contains("--resume"), "{why}");
    assert!(!bench.may_leave() && bench.end.finish(std::time::Duration::ZERO));
    // What was sent is in the spool. The disk works again when the server is started again.
    bench.disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
    let resumed = Bench::resume(bench.disk.clone(), &bench.journal, (SyncPolicy::Interval, MAX)).unwrap();
    assert_eq!(total(&resumed), 7 + 97, "the first message was safe, and its answer left");
}

#[test]
fn a_mark_that_fails_at_first_is_tried_again() {
    let mut bench = spooled();
    bench.disk.set_fault(Some(Fault::FailingWrites(0)));
    bench.say(0, b"a");
    bench.hold.flush();
    assert!(bench.scribe.write());
    bench.say(0, b"b");
    assert!(!bench.may_leave());
    bench.disk.set_fault(None);
    assert!(bench.scribe.write());
    assert!(bench.may_leave() && !bench.end.is_open());
    assert_eq!(state(&bench), State::Cut);
    assert!(bench.disk.files().iter().all(|path| !path.starts_with("/memory")), "its spool is gone");
}

#[test]
fn a_cut_over_a_partial_record_that_cannot_be_removed_is_no_damage() {
    let mut bench = begun(SyncPolicy::Interval);
    bench.settle();
    bench.say(0, b"a");
    bench.hold.flush();
    bench.disk.set_fault(Some(Fault::FailingWrites(5)));
    // The retry finds a disk that writes, and cannot truncate.
    assert!(bench.scribe.write());
    bench.disk.set_fault(Some(Fault::FailingNames(0)));
    assert!(bench.scribe.write());
    bench.disk.set_fault(None);
    assert_eq!((state(&bench), bench.arrivals().len()), (State::Cut, 1));
}

#[test]
fn a_room_is_given_no_more_than_what_may_wait_for_the_disk() {
    let mut bench = spooled();
    // The disk does not respond: nothing is written.
    let mut bytes = 0_u64;
    while !bench.hold.is_full() {
        bench.say(0, b"a");
        bytes += 1;
        assert!(bytes < 1 << 24, "it is never full");
    }
    assert!(bench.may_leave(), "the spool has all of it");
    bench.settle();
    assert!(!bench.hold.is_full());
    assert_eq!(total(&bench), 7 + 97 * bytes);
    // And a reader finds it.
    assert!(journal_core::Journal::open_on(&bench.disk, &bench.journal).unwrap().head().is_ok());
}
