//! Records that are in memory only when a server is killed.

use std::path::Path;

use journal_core::{Disk as _, SyncPolicy};
use netcore::Hold as _;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, SimulatedDisk};

use crate::bench::{Bench, MAX, arrivals};

fn kill(disk: &mut SimulatedDisk) {
    disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(1));
}

/// Ann has connected and sent `abc`. Only the connection is in the file.
fn playing() -> Bench {
    let mut bench = Bench::on(SimulatedDisk::new(), SyncPolicy::Interval, MAX).joined();
    bench.say(b"abc");
    assert!(bench.may_leave(), "the spool has it");
    bench
}

#[test]
fn what_only_the_spool_has_is_found_by_readers_and_when_the_match_is_resumed() {
    let mut bench = playing();
    assert_eq!(bench.arrivals().len(), 4, "a reader beside the server finds it");
    let before = bench.bytes();
    kill(&mut bench.disk);
    assert_eq!(arrivals(&bench.disk, &bench.journal).len(), 4);
    assert_eq!(bench.bytes(), before, "reading changes nothing");
    let resumed = Bench::resume(&bench.disk, &bench.journal, SyncPolicy::Interval, MAX).unwrap();
    assert_eq!(resumed.sum(), 7 + 97 + 98 + 99);
}

#[test]
fn a_copy_has_no_spool_and_touches_none() {
    let mut bench = playing();
    let copy = Path::new("/copies/match.journal");
    bench.disk.put(copy, bench.bytes());
    let other = bench.disk.other_process();
    assert_eq!(arrivals(&other, copy).len(), 1, "only what was copied");
    // Another server plays on from the copy.
    let mut branch = Bench::resume(&other, copy, SyncPolicy::Interval, MAX).unwrap();
    branch.say(b"zzz");
    branch.settle();
    bench.say(b"d");
    assert!(bench.may_leave());
    kill(&mut bench.disk);
    let resumed = Bench::resume(&bench.disk, &bench.journal, SyncPolicy::Interval, MAX).unwrap();
    assert_eq!(resumed.sum(), 7 + 97 + 98 + 99 + 100, "the copy has changed nothing");
    let branch = Bench::resume(&bench.disk, copy, SyncPolicy::Interval, MAX).unwrap();
    assert_eq!(branch.sum(), 7 + 3 * 122);
}

#[test]
fn a_file_that_was_replaced_by_another_branch_does_not_get_the_records_of_the_spool() {
    let mut bench = playing();
    kill(&mut bench.disk);
    // The same journal as it was, with another continuation of the same length written over it.
    let old = bench.disk.open(&bench.journal, true).unwrap();
    let mut other = playing();
    other.settle();
    let mut branch = Bench::on(SimulatedDisk::new(), SyncPolicy::Interval, MAX);
    branch.connect_as(crate::bench::ANN, netcore::Link::Message);
    branch.settle();
    let bytes = branch.bytes();
    old.truncate(bytes.len() as u64).unwrap();
    old.write_at(0, &bytes).unwrap();
    assert_eq!(arrivals(&bench.disk, &bench.journal).len(), 1);
}

#[test]
fn a_spool_stays_small_while_the_server_adds_records_during_each_write() {
    let mut bench = playing();
    for round in 0..200 {
        for _ in 0..200 {
            bench.say(b"abcdefghij");
        }
        // Something comes during each write, so that there is never nothing in it.
        bench.hold.flush();
        assert!(bench.scribe.write());
        bench.say(b"k");
        assert!(bench.may_leave());
        assert!(bench.disk.memory_used() < 400 << 10, "round {round}: {} bytes", bench.disk.memory_used());
    }
    let sum = bench.sum();
    kill(&mut bench.disk);
    let resumed = Bench::resume(&bench.disk, &bench.journal, SyncPolicy::Interval, MAX).unwrap();
    assert_eq!(resumed.sum(), sum);
}

#[test]
fn a_spool_that_was_filled_while_the_disk_did_not_respond_is_emptied_when_it_has_written() {
    let mut bench = playing();
    while bench.disk.memory_used() < 600 << 10 {
        bench.say(b"abcdefghij");
        assert!(bench.may_leave());
    }
    bench.settle();
    assert!(bench.disk.memory_used() < 64 << 10, "{} bytes", bench.disk.memory_used());
}
