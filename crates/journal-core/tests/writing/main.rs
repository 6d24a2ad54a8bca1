//! Writing, damaging and resuming journals.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod adder;
mod bench;
mod damaged;
mod facts;
mod replaying;
mod retention;
mod segments;
#[cfg(target_os = "linux")]
mod spools;
mod trouble;

use std::{io::Cursor, panic::AssertUnwindSafe, path::Path};

use bytes::{Bytes, BytesMut};
use journal_core::{
    Arrival, Divergence, Entry, Excerpt, Head, HeadError, Note, ReadError, Reader, Replay, Resumable, ResumeError,
    SegmentState, SyncPolicy, digest,
};
use netcore::{DisconnectReason, Hold as _, Input, Link, Outbox, PeerId, Time};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, SimulatedDisk};

use self::{
    adder::Adder,
    bench::{ANN, Bench, MAX},
};

const RECORDS: usize = 1_536;
const JOURNAL: &str = "/games/made.journal";

fn reader(bytes: &[u8]) -> Reader<Cursor<Vec<u8>>> {
    Reader::new(Cursor::new(bytes.to_vec()), bytes.len() as u64).unwrap()
}

fn on_disk(bytes: &[u8]) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    disk.put(JOURNAL, bytes.to_vec());
    disk
}

fn entries(bytes: &[u8]) -> Vec<Entry> {
    bench::entries(&on_disk(bytes), Path::new(JOURNAL))
}

fn arrivals(bytes: &[u8]) -> Vec<Arrival> {
    bench::arrivals(&on_disk(bytes), Path::new(JOURNAL))
}

fn resume(bytes: &[u8]) -> Result<Resumable<Adder>, ResumeError> {
    Resumable::open(&on_disk(bytes), Path::new(JOURNAL))
}

/// Ann has connected and sent `abc`, and a second has passed.
fn played() -> Bench {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.send(b"abc");
    bench.input(Input::Elapsed);
    bench.settle();
    bench
}

#[test]
fn arrivals_are_read_in_order_with_whole_microseconds() {
    let bench = played();
    let bytes = bench.bytes();
    let found = arrivals(&bytes);
    let said: Vec<&Input<'_, Bytes>> = found.iter().map(|arrival| &arrival.input).collect();
    assert!(matches!(said[0], Input::Connected { peer: ANN, address, .. } if address == "10.0.0.1:5"));
    let bytes_of = |what: &Input<'_, Bytes>| {
        if let Input::Message { message: bytes, .. } = what { bytes.to_vec() } else { vec![] }
    };
    assert_eq!(said[1..4].iter().map(|what| bytes_of(what)).collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    assert_eq!(said[4..], [&Input::Elapsed]);
    assert_eq!(found[0].time, Time::from_nanos(1_001_000), "rounded up, so that no deadline is missed");
    let reader = reader(&bytes);
    assert_eq!((reader.head().game.as_str(), reader.head().begun, reader.state()), ("adder", 99, SegmentState::Open));
}

#[test]
fn incomplete_messages_and_unknown_peers_are_not_recorded() {
    let mut bench = Bench::new(SyncPolicy::Interval).joined();
    let before = bench.bytes().len();
    bench.receive(ANN, &mut BytesMut::new());
    bench.receive(PeerId(5), &mut BytesMut::from(&b"z"[..]));
    bench.settle();
    assert_eq!(bench.bytes().len(), before);
}

#[test]
fn mark_with_the_digest_of_the_state_follows_256_arrivals() {
    let mut bench = Bench::new(SyncPolicy::Interval).joined();
    bench.send(&[b'-'; 254]);
    bench.settle();
    let marks =
        |bench: &Bench| bench.entries().iter().filter(|entry| matches!(entry, Entry::Note(Note::Mark(_)))).count();
    assert_eq!(marks(&bench), 0);
    bench.send(b"a");
    bench.settle();
    let Some(Entry::Note(Note::Mark(mark))) = bench.entries().pop() else { panic!("a mark") };
    assert_eq!((mark.arrivals, mark.digest), (256, digest(bench.room.room())));
    bench.send(&[b'-'; 255]);
    bench.settle();
    assert_eq!(marks(&bench), 1);
}

#[test]
fn malformed_message_is_recorded_as_its_error() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.send(b"a!bc");
    bench.settle();
    let bytes = bench.bytes();
    let found = arrivals(&bytes);
    let why = netcore::DecodeError::invalid("a shout", 0);
    assert_eq!(found[2].input, Input::Malformed { peer: ANN, why });
    assert_eq!(found.len(), 3);
    assert_eq!(digest(resume(&bytes).unwrap().room()), digest(bench.room.room()));
}

#[test]
fn outputs_wait_until_their_input_is_written_or_synced() {
    for (sync, syncs) in [(SyncPolicy::Interval, 0), (SyncPolicy::Always, 1)] {
        let mut bench = Bench::new(sync);
        bench.connect();
        assert!(!bench.may_send());
        let before = bench.disk.syncs();
        bench.hold.flush();
        bench.send(b"ab");
        assert!(bench.scribe.write());
        assert!(bench.may_send(), "later records are written with it");
        assert_eq!(bench.disk.syncs() - before, syncs, "one for all of it");
    }
}

#[test]
fn peers_closed_in_the_last_second_receive_their_last_messages_again() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect_as(ANN, Link::Datagram);
    bench.send(b"q");
    bench.settle();
    let resumable = resume(&bench.bytes()).unwrap();
    let [farewell] = &resumable.farewells[..] else { panic!("{:?}", resumable.farewells) };
    assert_eq!(farewell.peer.address, "10.0.0.1:5");
    assert_eq!(farewell.frames, ["bye", "7"]);
    assert!(resumable.peers.is_empty());
    // A second later, the messages are no longer needed.
    bench.now = bench.now.plus(std::time::Duration::from_secs(2));
    bench.input(Input::Elapsed);
    bench.settle();
    assert!(resume(&bench.bytes()).unwrap().farewells.is_empty());
}

#[test]
fn the_size_of_each_record_is_reported() {
    let mut bench = played();
    assert!(bench.out.take_recorded() > 0);
    let before = bench.bytes().len();
    bench.send(b"abc");
    bench.input(Input::Refresh { peer: ANN });
    bench.receive(PeerId(5), &mut BytesMut::from(&b"z"[..]));
    bench.input(Input::Disconnected { peer: ANN, why: DisconnectReason::Left });
    bench.settle();
    let grown = bench.bytes().len() - before;
    assert_eq!(bench.out.take_recorded() as usize, grown);
    assert_eq!(bench.out.take_recorded(), 0, "only once");
}

#[test]
fn the_record_of_a_message_adds_ten_bytes_and_a_large_slot() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    // More peers than slots that fit into the head of a record.
    for peer in 0..=70 {
        bench.connect_as(PeerId(peer), Link::Stream);
    }
    bench.settle();
    for (peer, slot) in [(0, 0), (70, 1)] {
        let before = bench.bytes().len();
        bench.now = bench.now.plus(std::time::Duration::from_secs(8));
        bench.receive(PeerId(peer), &mut BytesMut::from(&b"a"[..]));
        bench.settle();
        // The length, the checksum, the head, the slot and the message. A nuggets key has five bytes, so its record has
        // 15; so has that of a robots action of two bytes with a slot of three bytes.
        assert_eq!(bench.bytes().len() - before, 1 + 4 + 5 + slot + 1);
    }
}

#[test]
fn peers_keep_their_slots_when_a_match_is_resumed_from_a_snapshot() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    let connect = |bench: &mut Bench, peer| bench.connect_as(PeerId(peer), Link::Stream);
    connect(&mut bench, 0);
    connect(&mut bench, 1);
    connect(&mut bench, 2);
    let why = DisconnectReason::Broken;
    bench.input(Input::Disconnected { peer: PeerId(2), why });
    bench.input(Input::Disconnected { peer: PeerId(0), why });
    let snapshots = |bench: &Bench| {
        let is_snapshot = |entry: &Entry| matches!(entry, Entry::Note(Note::Snapshot(_)));
        bench.entries().iter().filter(|entry| is_snapshot(entry)).count()
    };
    let mut bytes = BytesMut::new();
    while bench.bytes().len() < 140 << 10 {
        for _ in 0..1_000 {
            bytes.extend_from_slice(b"a");
            bench.receive(PeerId(1), &mut bytes);
        }
        bench.settle();
    }
    assert_eq!(snapshots(&bench), 1);
    connect(&mut bench, 3);
    connect(&mut bench, 4);
    bench.settle();
    let mut disk = bench.disk.clone();
    let journal = bench.journal.clone();
    for seed in 0..3 {
        disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(seed));
        let resumable = Resumable::<Adder>::open(&disk, &journal).unwrap();
        let (peers, next) = (resumable.peers.clone(), resumable.next_peer);
        assert!(!peers.is_empty());
        drop(resumable);
        let mut bench = Bench::resume(&disk, &journal, SyncPolicy::Interval, MAX).unwrap();
        for peer in peers {
            bench.input(Input::Disconnected { peer: peer.peer, why: DisconnectReason::Interrupted });
        }
        connect(&mut bench, next.0);
        bench.settle();
    }
    let ends = bench::entries(&disk, &journal).into_iter().rev();
    let gone = ends.filter(|entry| matches!(entry, Entry::Arrival(Arrival { input: Input::Disconnected { .. }, .. })));
    assert_eq!(gone.count(), 2 + 3 + 1 + 1, "each of the peers");
}

#[test]
fn a_match_is_resumed_after_a_long_silence() {
    let mut bench = played();
    for millis in [20_000, 60_000, 86_500_000] {
        bench.now = Time::from_millis(millis);
        bench.send(b"a");
    }
    bench.settle();
    let resumable = resume(&bench.bytes()).unwrap();
    let last = bench.arrivals().pop().unwrap().time;
    assert_eq!((digest(resumable.room()), resumable.time), (digest(bench.room.room()), last));
}
