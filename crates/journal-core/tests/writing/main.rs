//! Writing, reading and resuming journals.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod adder;
mod bench;
mod retention;
mod segments;
mod spools;
mod trouble;

use std::{io::Cursor, panic::AssertUnwindSafe, path::Path};

use bytes::{Bytes, BytesMut};
use journal_core::{
    Arrival, Divergence, Entry, Excerpt, Head, HeadError, Note, ReadError, Reader, Replay, Resumable, ResumeError,
    State, SyncPolicy,
};
use netcore::{Gone, Hold as _, Input, Link, Outbox, PeerId, Room, Time};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use testkit::disk::{Crash, SimulatedDisk};

use self::{
    adder::Adder,
    bench::{ANN, Bench, MAX},
};

/// The offset of the first record.
const RECORDS: usize = 1_536;
/// The name of a journal whose bytes a test has made.
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

/// A match that is written completely: Ann has connected and sent `abc`, and a second has passed.
fn played() -> Bench {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.say(b"abc");
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
    assert_eq!((reader.head().game.as_str(), reader.head().begun, reader.state()), ("adder", 99, State::Open));
}

#[test]
fn inputs_without_effect_are_not_recorded() {
    let mut bench = Bench::new(SyncPolicy::Interval).joined();
    let before = bench.bytes().len();
    bench.receive(ANN, &mut BytesMut::new());
    bench.receive(PeerId(5), &mut BytesMut::from(&b"z"[..]));
    bench.say(b"---");
    assert_eq!(bench.sum(), 7);
    bench.settle();
    assert_eq!(bench.bytes().len(), before);
}

#[test]
fn of_a_malformed_message_only_the_error_is_recorded() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.say(b"a!bc");
    bench.settle();
    let bytes = bench.bytes();
    let found = arrivals(&bytes);
    let why = netcore::DecodeError::invalid("a shout", 0);
    assert_eq!(found[2].input, Input::Malformed { peer: ANN, why });
    assert_eq!(found.len(), 3);
    assert_eq!(resume(&bytes).unwrap().room().digest(), bench.room.digest());
}

#[test]
fn a_malformed_message_that_was_recorded_with_its_bytes_is_replayed() {
    let bench = Bench::new(SyncPolicy::Interval).joined();
    let head = reader(&bench.bytes()).head().clone();
    let mut excerpt = Excerpt::new(&head);
    let mut all = arrivals(&bench.bytes());
    let message = Input::Message { peer: ANN, message: "!".into() };
    all.push(Arrival { input: message, ..all[0].clone() });
    for arrival in &all {
        excerpt.push(&Entry::Arrival(arrival.clone()));
    }
    assert_eq!(arrivals(&excerpt.into_bytes()), all);
    let (mut replay, mut out) = (Replay::<Adder>::start(&head).unwrap(), Outbox::new());
    for arrival in &all {
        replay.apply(arrival, &mut out).unwrap();
    }
    let more = Arrival { input: Input::Message { peer: ANN, message: "a".into() }, ..all[1].clone() };
    assert!(replay.apply(&more, &mut out).is_err(), "the stream is not listened to any more");
}

#[test]
fn outputs_wait_until_their_input_is_written_or_synced() {
    for (sync, syncs) in [(SyncPolicy::Interval, 0), (SyncPolicy::Always, 1)] {
        let mut bench = Bench::new(sync);
        bench.connect();
        assert!(!bench.may_leave());
        let before = bench.disk.syncs();
        bench.hold.flush();
        bench.say(b"ab");
        assert!(bench.scribe.write());
        assert!(bench.may_leave(), "later records are written with it");
        assert_eq!(bench.disk.syncs() - before, syncs, "one for all of it");
    }
}

#[test]
fn an_incomplete_last_record_is_removed_and_nothing_else_is_lost() {
    // Written, but not yet known to be on disk.
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.say(b"abc");
    bench.hold.flush();
    assert!(bench.scribe.write());
    let bytes = bench.bytes();
    let whole = arrivals(&bytes).len();
    for length in RECORDS..bytes.len() {
        let cut = &bytes[..length];
        match resume(cut) {
            Ok(resumable) => {
                let left = arrivals(cut).len();
                assert!(left < whole, "{length}");
                let state = resumable.room().engine().sum;
                assert!([7, 104, 202, 301].contains(&state), "{state} was never the sum");
            }
            Err(ResumeError::Read(ReadError::Empty | ReadError::Damaged { .. })) => {
                // The head was on disk before anything arrived.
                assert!(reader(&bytes).offset() > length as u64, "{length}");
            }
            Err(error) => panic!("{length}: {error}"),
        }
    }
}

/// The offsets of the records, and that of the end.
fn places(bytes: &[u8]) -> Vec<usize> {
    let mut reader = reader(bytes);
    let mut places = vec![usize::try_from(reader.offset()).unwrap()];
    while reader.next().unwrap().is_some() {
        places.push(usize::try_from(reader.offset()).unwrap());
    }
    places
}

#[test]
fn a_damaged_record_is_rejected_with_its_offset_if_it_was_on_disk() {
    let mut bench = played();
    bench.say(b"d");
    bench.end.close();
    while bench.scribe.write() {}
    let bytes = bench.bytes();
    assert_eq!(reader(&bytes).state(), State::Closed);
    for record in places(&bytes).windows(2) {
        for at in record[0]..record[1] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            match resume(&damaged) {
                Err(ResumeError::Read(ReadError::Damaged { offset, .. })) => {
                    assert_eq!(offset, record[0] as u64, "byte {at}");
                }
                other => panic!("byte {at}: {other:?}"),
            }
        }
    }
}

#[test]
fn missing_duplicated_and_swapped_records_are_detected() {
    let mut bench = played();
    bench.say(b"defg");
    bench.end.close();
    while bench.scribe.write() {}
    let bytes = bench.bytes();
    let [a, b, c] = places(&bytes)[1..4] else { panic!("records") };
    let (one, two) = (bytes[a..b].to_vec(), bytes[b..c].to_vec());
    let edited = |middle: &[&[u8]]| [&bytes[..a], &middle.concat(), &bytes[c..]].concat();
    for (what, bytes) in
        [("missing", edited(&[&two])), ("doubled", edited(&[&one, &one, &two])), ("swapped", edited(&[&two, &one]))]
    {
        assert!(matches!(resume(&bytes), Err(ResumeError::Read(ReadError::Damaged { .. }))), "{what}");
    }
}

#[test]
fn other_games_and_other_rules_are_rejected_by_name() {
    let bytes = played().bytes();
    let mut head = reader(&bytes).head().clone();
    head.rules = 4;
    let excerpt = Excerpt::new(&head).into_bytes();
    let error = resume(&excerpt).unwrap_err().to_string();
    assert!(error.contains("1.2.3") && error.contains("rules 4 of adder") && error.contains("rules 3"), "{error}");
    head.game = "chess".into();
    let error = Replay::<Adder>::start(&head).unwrap_err();
    assert_eq!(error, HeadError::Game { found: "chess".into(), expected: "adder" });
    for (bytes, expected) in
        [(&b""[..], "it is not a journal"), (b"#!/bin/sh", "it is not a journal"), (&bytes[..9], "nothing is lost")]
    {
        let error = resume(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn after_a_panic_the_journal_ends_with_the_input_that_caused_it() {
    let mut bench = played();
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| bench.say(b"x")));
    assert!(done.is_err());
    // The room did not wait for the disk.
    bench.end.close();
    while bench.scribe.write() {}
    assert_eq!(bench.entries().last(), Some(&Entry::Note(Note::Broken)));
    let last = bench.arrivals().pop().unwrap();
    assert_eq!(last.input, Input::Message { peer: ANN, message: "x".into() });
    assert!(matches!(resume(&bench.bytes()), Err(ResumeError::Broken)));
}

#[test]
fn arrivals_before_a_snapshot_are_not_replayed() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    for _ in 0..12_000 {
        bench.say(b"a");
        if bench.room.room().engine().sum.is_multiple_of(1_000) {
            bench.settle();
        }
    }
    bench.settle();
    let bytes = bench.bytes();
    let snapshots = entries(&bytes).iter().filter(|entry| matches!(entry, Entry::Note(Note::Snapshot(_)))).count();
    assert!(snapshots >= 1, "{snapshots}");
    // A restored room has not processed the arrivals before the snapshot.
    let resumable = resume(&bytes).unwrap();
    assert_eq!(resumable.room().digest(), bench.room.digest());
    let head: &Head = &resumable.head;
    let mut replay = Replay::<Adder>::start(head).unwrap();
    let mut out = Outbox::new();
    for entry in entries(&bytes) {
        match entry {
            Entry::Arrival(arrival) => drop(replay.apply(&arrival, &mut out).unwrap()),
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).unwrap(),
            Entry::Note(Note::Snapshot(snapshot)) => {
                let restored = Replay::<Adder>::restore(head, &snapshot).unwrap();
                assert_eq!(restored.room().digest(), snapshot.mark.digest);
            }
            Entry::Note(_) => {}
        }
    }
    assert_eq!(replay.room().digest(), bench.room.digest());
}

#[test]
fn a_replay_reports_the_arrival_at_which_it_diverges() {
    let bench = played();
    let mut all = arrivals(&bench.bytes());
    let Input::Message { message: bytes, .. } = &mut all[2].input else { panic!("a message") };
    *bytes = "z".into();
    let head = reader(&bench.bytes()).head().clone();
    let mut replay = Replay::<Adder>::start(&head).unwrap();
    let mut out = Outbox::new();
    let diverges = all.iter().find_map(|arrival| replay.apply(arrival, &mut out).err());
    assert!(matches!(diverges, Some(Divergence { arrival: 3, .. })), "{diverges:?}");
}

#[test]
fn an_excerpt_is_a_journal_from_the_beginning_or_from_a_state() {
    let bench = played();
    let bytes = bench.bytes();
    let mut head = reader(&bytes).head().clone();
    let all = arrivals(&bytes);
    let mut replay = Replay::<Adder>::start(&head).unwrap();
    let mut out = Outbox::new();
    for arrival in &all[..2] {
        replay.apply(arrival, &mut out).unwrap();
    }
    let mut whole = Excerpt::new(&head);
    for arrival in &all {
        whole.push(&Entry::Arrival(arrival.clone()));
    }
    head.base = Some(replay.snapshot());
    let mut part = Excerpt::new(&head);
    for arrival in &all[2..] {
        part.push(&Entry::Arrival(arrival.clone()));
    }
    for (bytes, count) in [(whole.into_bytes(), all.len()), (part.into_bytes(), all.len() - 2)] {
        assert_eq!(arrivals(&bytes).len(), count);
        let resumable = resume(&bytes).unwrap();
        assert_eq!(resumable.room().digest(), bench.room.digest());
        assert_eq!((resumable.peers.len(), resumable.time), (1, all.last().unwrap().time));
    }
}

#[test]
fn peers_closed_in_the_last_second_receive_their_last_messages_again() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect_as(ANN, Link::Datagram);
    bench.say(b"q");
    bench.settle();
    let resumable = resume(&bench.bytes()).unwrap();
    let [farewell] = &resumable.farewells[..] else { panic!("{:?}", resumable.farewells) };
    assert_eq!(farewell.peer.address, "10.0.0.1:5");
    assert_eq!(farewell.frames, ["bye", "7"]);
    assert!(resumable.peers.is_empty());
    // A second later nobody waits for them any more.
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
    bench.say(b"abc");
    bench.input(Input::Refresh { peer: ANN });
    bench.receive(PeerId(5), &mut BytesMut::from(&b"z"[..]));
    bench.input(Input::Disconnected { peer: ANN, why: Gone::Left });
    bench.settle();
    let grown = bench.bytes().len() - before;
    assert_eq!(bench.out.take_recorded() as usize, grown);
    assert_eq!(bench.out.take_recorded(), 0, "only once");
}

#[test]
fn a_short_message_has_a_short_record() {
    let mut bench = Bench::new(SyncPolicy::Interval).joined();
    let before = bench.bytes().len();
    bench.now = bench.now.plus(std::time::Duration::from_secs(8));
    bench.say(b"a");
    bench.settle();
    // The length, the checksum, the head, the digest byte and the message.
    assert_eq!(bench.bytes().len() - before, 1 + 4 + 5 + 1 + 1);
}

#[test]
fn peers_keep_their_slots_when_a_match_is_resumed_from_a_snapshot() {
    let mut bench = Bench::new(SyncPolicy::Interval);
    let connect = |bench: &mut Bench, peer| bench.connect_as(PeerId(peer), Link::Stream);
    connect(&mut bench, 0);
    connect(&mut bench, 1);
    connect(&mut bench, 2);
    // The first slot is free, and so is the last.
    let why = Gone::Broken;
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
    // Killed repeatedly; each time all peers are disconnected.
    for seed in 0..3 {
        disk.crash(Crash::Kill, &mut Pcg64::seed_from_u64(seed));
        let resumable = Resumable::<Adder>::open(&disk, &journal).unwrap();
        let (peers, next) = (resumable.peers.clone(), resumable.next_peer);
        assert!(!peers.is_empty());
        drop(resumable);
        let mut bench = Bench::resume(&disk, &journal, SyncPolicy::Interval, MAX).unwrap();
        for peer in peers {
            bench.input(Input::Disconnected { peer: peer.peer, why: Gone::Interrupted });
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
        bench.say(b"a");
    }
    bench.settle();
    let resumable = resume(&bench.bytes()).unwrap();
    let last = bench.arrivals().pop().unwrap().time;
    assert_eq!((resumable.room().digest(), resumable.time), (bench.room.digest(), last));
}
