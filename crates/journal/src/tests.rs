//! Tests of writing, reading and resuming journals.

use std::{io::Cursor, panic::AssertUnwindSafe};

use bytes::BytesMut;
use netcore::{Gone, Leave, Link, Outbox, PeerId, Role, Room, RoomInput, Time};
use netshell::Hold as _;

use crate::{
    Arrival, ArrivalKind, Disk as _, Divergence, Entry, Excerpt, Head, HeadError, Note, ReadError, Reader, Replay,
    Resumable, ResumeError, State, SyncPolicy,
    layout::RECORDS,
    testing::{ANN, Adder, Bench, MemoryDisk, writing},
};

const MAX: u64 = 1 << 20;

fn reader(bytes: &[u8]) -> Reader<Cursor<Vec<u8>>> {
    Reader::new(Cursor::new(bytes.to_vec()), bytes.len() as u64).unwrap()
}

fn entries(bytes: &[u8]) -> Vec<Entry> {
    let mut reader = reader(bytes);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

fn arrivals(bytes: &[u8]) -> Vec<Arrival> {
    let all = entries(bytes).into_iter();
    all.filter_map(|entry| if let Entry::Arrival(arrival) = entry { Some(arrival) } else { None }).collect()
}

fn resume(bytes: &[u8]) -> Result<Resumable<Adder>, ResumeError> {
    Resumable::read(Cursor::new(bytes.to_vec()), bytes.len() as u64)
}

/// A match that is written completely: Ann has connected and sent `abc`, and a second has passed.
fn played() -> Bench {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    bench.say(b"abc");
    bench.input(RoomInput::Elapsed);
    bench.settle();
    bench
}

#[test]
fn arrivals_are_read_in_order_with_whole_microseconds() {
    let bench = played();
    let bytes = bench.disk.bytes();
    let found = arrivals(&bytes);
    let said: Vec<&ArrivalKind> = found.iter().map(|arrival| &arrival.kind).collect();
    assert!(matches!(said[0], ArrivalKind::Connected(peer) if peer.peer == ANN && peer.address == "10.0.0.1:5"));
    let bytes_of =
        |what: &ArrivalKind| if let ArrivalKind::Bytes { bytes, .. } = what { bytes.to_vec() } else { vec![] };
    assert_eq!(said[1..4].iter().map(|what| bytes_of(what)).collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    assert_eq!(said[4..], [&ArrivalKind::Elapsed]);
    assert_eq!(found[0].time, Time::from_nanos(1_001_000), "rounded up, so that no deadline is missed");
    let reader = reader(&bytes);
    assert_eq!((reader.head().game.as_str(), reader.head().begun, reader.state()), ("adder", 99, State::Open));
}

#[test]
fn inputs_without_effect_are_not_recorded() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    bench.settle();
    let before = bench.disk.bytes().len();
    bench.input(RoomInput::Bytes { peer: ANN, bytes: &mut BytesMut::new() });
    bench.input(RoomInput::Bytes { peer: PeerId(5), bytes: &mut BytesMut::from(&b"z"[..]) });
    bench.settle();
    assert_eq!(bench.disk.bytes().len(), before);
}

#[test]
fn outputs_wait_until_their_input_is_written_or_synced() {
    for (sync, syncs) in [(SyncPolicy::Interval, 0), (SyncPolicy::Always, 1)] {
        let mut bench = Bench::new(sync, MAX);
        bench.connect();
        assert!(!bench.may_leave());
        let before = bench.disk.lock().syncs;
        bench.hold.flush();
        bench.say(b"ab");
        assert!(bench.scribe.write());
        assert!(bench.may_leave(), "later records are written with it");
        assert_eq!(bench.disk.lock().syncs - before, syncs, "one for all of it");
    }
}

#[test]
fn a_match_is_resumed_with_its_state_and_its_peers() {
    let bench = played();
    let bytes = bench.disk.bytes();
    let resumable = resume(&bytes).unwrap();
    assert_eq!(resumable.room().digest(), bench.room.digest());
    assert_eq!((resumable.next_peer.0, resumable.torn), (1, 0));
    assert_eq!(resumable.peers.iter().map(|peer| (peer.peer, peer.link)).collect::<Vec<_>>(), [(ANN, Link::Stream)]);
    let (disk, writing) = (MemoryDisk::default(), writing(SyncPolicy::Interval, MAX));
    disk.write_at(0, &bytes).unwrap();
    let parts = resumable.resume(&writing, disk.clone(), "disk".into()).unwrap();
    let mut again = Bench::of(disk, writing.scribe.clone(), parts);
    again.now = bench.now;
    again.input(RoomInput::Disconnected { peer: ANN, why: Gone::Interrupted });
    again.settle();
    let found = entries(&again.disk.bytes());
    assert!(found.iter().any(|entry| matches!(entry, Entry::Note(Note::Resumed { .. }))));
    assert_eq!(arrivals(&again.disk.bytes()).len(), 6);
    let twice = resume(&again.disk.bytes()).unwrap();
    assert_eq!((twice.room().digest(), twice.peers.len(), twice.next_peer.0), (again.room.digest(), 0, 1));
}

#[test]
fn an_incomplete_last_record_is_removed_and_nothing_else_is_lost() {
    // Written, but not yet known to be on disk.
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    bench.say(b"abc");
    bench.hold.flush();
    assert!(bench.scribe.write());
    let bytes = bench.disk.bytes();
    let whole = arrivals(&bytes).len();
    for length in usize::try_from(RECORDS).unwrap()..bytes.len() {
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
                assert!(arrivals_begin(&bytes) > length as u64, "{length}");
            }
            Err(error) => panic!("{length}: {error}"),
        }
    }
}

fn arrivals_begin(bytes: &[u8]) -> u64 {
    reader(bytes).offset()
}

#[test]
fn a_damaged_record_is_rejected_with_its_offset_if_it_was_on_disk() {
    let mut bench = played();
    bench.say(b"d");
    bench.end.close();
    while bench.scribe.write() {}
    let bytes = bench.disk.bytes();
    let mut reader = reader(&bytes);
    assert_eq!(reader.state(), State::Closed);
    let mut places = vec![];
    while let Some(_entry) = {
        places.push(reader.offset());
        reader.next().unwrap()
    } {}
    for (index, &place) in places[..places.len() - 1].iter().enumerate() {
        for at in place..places[index + 1] {
            let mut damaged = bytes.clone();
            damaged[usize::try_from(at).unwrap()] ^= 0x41;
            match resume(&damaged) {
                Err(ResumeError::Read(ReadError::Damaged { offset, .. })) => assert_eq!(offset, place, "byte {at}"),
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
    let bytes = bench.disk.bytes();
    let mut reader = reader(&bytes);
    let mut places = vec![];
    while let Some(_entry) = {
        places.push(usize::try_from(reader.offset()).unwrap());
        reader.next().unwrap()
    } {}
    let [a, b, c] = places[1..4] else { panic!("records") };
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
    let bytes = played().disk.bytes();
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
fn a_full_disk_leaves_a_valid_journal_that_is_marked_as_cut() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    bench.settle();
    let length = bench.disk.bytes().len();
    // Space for one and a half records.
    bench.disk.lock().full_at = Some(length + 18);
    bench.say(b"a");
    bench.settle();
    bench.say(b"b");
    bench.settle();
    assert!(bench.may_leave() && !bench.end.is_open(), "the match continues");
    bench.say(b"c");
    assert!(bench.may_leave());
    let bytes = bench.disk.bytes();
    let reader = reader(&bytes);
    assert_eq!(reader.state(), State::Cut);
    assert_eq!(arrivals(&bytes).len(), 2, "no partial record is left");
    assert!(matches!(resume(&bytes), Err(ResumeError::Cut)));
}

#[test]
fn a_disk_that_fails_to_sync_cuts_the_journal() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        let mut bench = Bench::new(sync, MAX);
        bench.connect();
        bench.settle();
        bench.disk.lock().sync_fails = true;
        bench.say(b"a");
        bench.settle();
        assert!(bench.may_leave() && !bench.end.is_open(), "{sync:?}");
        assert_eq!(reader(&bench.disk.bytes()).state(), State::Cut);
    }
}

#[test]
fn a_disk_that_does_not_respond_is_given_up_with_the_hold() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    assert!(!bench.may_leave());
    bench.hold.give_up();
    assert!(bench.may_leave());
    bench.say(b"a");
    assert!(bench.may_leave(), "for good");
    // It responds after all.
    bench.settle();
    assert_eq!(reader(&bench.disk.bytes()).state(), State::Cut);
}

#[test]
fn the_size_limit_ends_the_journal_and_not_the_match() {
    let mut bench = Bench::new(SyncPolicy::Interval, 1_700);
    bench.connect();
    for _ in 0..100 {
        bench.say(b"a");
        bench.settle();
        assert!(bench.may_leave());
    }
    let bytes = bench.disk.bytes();
    assert!(bytes.len() <= 1_700 && arrivals(&bytes).len() > 2);
    assert_eq!(reader(&bytes).state(), State::Cut);
    assert_eq!(bench.room.room().engine().sum, 7 + 100 * 97);
}

#[test]
fn at_the_size_limit_outputs_wait_until_the_journal_is_marked_as_cut() {
    let mut bench = Bench::new(SyncPolicy::Interval, 1_700);
    bench.connect();
    while bench.end.is_open() {
        bench.settle();
        bench.say(b"a");
    }
    assert!(!bench.may_leave(), "after a crash the journal would be resumed from");
    bench.settle();
    assert!(bench.may_leave());
    assert_eq!(reader(&bench.disk.bytes()).state(), State::Cut);
}

#[test]
fn a_full_journal_on_a_disk_that_does_not_respond_is_given_up() {
    let mut bench = Bench::new(SyncPolicy::Interval, 1_700);
    bench.connect();
    while bench.end.is_open() {
        bench.settle();
        bench.say(b"a");
    }
    bench.hold.give_up();
    assert!(bench.may_leave());
}

#[test]
fn after_a_panic_the_journal_ends_with_the_input_that_caused_it() {
    let mut bench = played();
    let panicked = std::panic::catch_unwind(AssertUnwindSafe(|| {
        // The test bench has no threads, so another thread does the writing.
        let scribe = bench.scribe.clone();
        let writer = std::thread::spawn(move || {
            while !scribe.write() {
                std::thread::yield_now();
            }
        });
        let done = std::panic::catch_unwind(AssertUnwindSafe(|| bench.say(b"x")));
        writer.join().unwrap();
        assert!(done.is_err());
    }));
    assert!(panicked.is_ok());
    let bytes = bench.disk.bytes();
    assert_eq!(entries(&bytes).last(), Some(&Entry::Note(Note::Broken)));
    let last = arrivals(&bytes).pop().unwrap();
    assert_eq!(last.kind, ArrivalKind::Bytes { peer: ANN, bytes: "x".into() });
}

#[test]
fn a_suspended_server_is_resumed_from_before_the_stop() {
    let mut bench = played();
    bench.input(RoomInput::Stop(Leave::Resumable));
    bench.end.close();
    while bench.scribe.write() {}
    let bytes = bench.disk.bytes();
    assert!(matches!(entries(&bytes).last(), Some(Entry::Note(Note::Suspended { .. }))));
    let resumable = resume(&bytes).unwrap();
    assert_eq!((resumable.room().outcome(), resumable.peers.len()), (None, 1));
    let mut over = played();
    over.input(RoomInput::Stop(Leave::Over));
    over.settle();
    assert!(matches!(resume(&over.disk.bytes()), Err(ResumeError::Over("it was stopped"))));
}

#[test]
fn arrivals_before_a_snapshot_are_not_replayed() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    for _ in 0..12_000 {
        bench.say(b"a");
        if bench.room.room().engine().sum.is_multiple_of(1_000) {
            bench.settle();
        }
    }
    bench.settle();
    let bytes = bench.disk.bytes();
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
    let mut all = arrivals(&bench.disk.bytes());
    let ArrivalKind::Bytes { bytes, .. } = &mut all[2].kind else { panic!("a message") };
    *bytes = "z".into();
    let head = reader(&bench.disk.bytes()).head().clone();
    let mut replay = Replay::<Adder>::start(&head).unwrap();
    let mut out = Outbox::new();
    let diverges = all.iter().find_map(|arrival| replay.apply(arrival, &mut out).err());
    assert!(matches!(diverges, Some(Divergence { arrival: 3, .. })), "{diverges:?}");
}

#[test]
fn an_excerpt_is_a_journal_from_the_beginning_or_from_a_state() {
    let bench = played();
    let bytes = bench.disk.bytes();
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
    let (mut bench, role) = (Bench::new(SyncPolicy::Interval, MAX), Role::Player);
    bench.input(RoomInput::Connected { peer: ANN, role, link: Link::Datagram, address: "10.0.0.1:5" });
    bench.say(b"q");
    bench.settle();
    let resumable = resume(&bench.disk.bytes()).unwrap();
    let [farewell] = &resumable.farewells[..] else { panic!("{:?}", resumable.farewells) };
    assert_eq!(farewell.peer.address, "10.0.0.1:5");
    assert_eq!(farewell.frames, ["bye", "7"]);
    assert!(resumable.peers.is_empty());
    // A second later nobody waits for them any more.
    bench.now = bench.now.plus(std::time::Duration::from_secs(2));
    bench.input(RoomInput::Elapsed);
    bench.settle();
    assert!(resume(&bench.disk.bytes()).unwrap().farewells.is_empty());
}

#[test]
fn a_short_message_has_a_short_record() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    bench.connect();
    bench.settle();
    let before = bench.disk.bytes().len();
    bench.now = bench.now.plus(std::time::Duration::from_secs(8));
    bench.say(b"a");
    bench.settle();
    // The length, the checksum, the head, the digest byte and the message.
    assert_eq!(bench.disk.bytes().len() - before, 1 + 4 + 5 + 1 + 1);
}

#[test]
fn peers_keep_their_slots_when_a_match_is_resumed_from_a_snapshot() {
    let mut bench = Bench::new(SyncPolicy::Interval, MAX);
    let connect = |bench: &mut Bench, peer| {
        let (role, link) = (Role::Player, Link::Stream);
        bench.input(RoomInput::Connected { peer: PeerId(peer), role, link, address: "10.0.0.1:5" });
    };
    connect(&mut bench, 0);
    connect(&mut bench, 1);
    connect(&mut bench, 2);
    // The first slot is free, and so is the last.
    let why = Gone::Broken;
    bench.input(RoomInput::Disconnected { peer: PeerId(2), why });
    bench.input(RoomInput::Disconnected { peer: PeerId(0), why });
    let snapshots = |bench: &Bench| {
        let is_snapshot = |entry: &Entry| matches!(entry, Entry::Note(Note::Snapshot(_)));
        entries(&bench.disk.bytes()).iter().filter(|entry| is_snapshot(entry)).count()
    };
    let mut bytes = BytesMut::new();
    while bench.disk.bytes().len() < 140 << 10 {
        for _ in 0..1_000 {
            bytes.extend_from_slice(b"a");
            bench.input(RoomInput::Bytes { peer: PeerId(1), bytes: &mut bytes });
        }
        bench.settle();
    }
    assert_eq!(snapshots(&bench), 1);
    connect(&mut bench, 3);
    connect(&mut bench, 4);
    bench.settle();
    let disk = bench.disk.clone();
    // Killed repeatedly; each time all peers are disconnected.
    for _ in 0..3 {
        let resumable = resume(&disk.bytes()).unwrap();
        let (peers, next, writing) = (resumable.peers.clone(), resumable.next_peer, writing(SyncPolicy::Interval, MAX));
        assert!(!peers.is_empty());
        let now = resumable.time;
        let parts = resumable.resume(&writing, disk.clone(), "disk".into()).unwrap();
        let mut bench = Bench { now, ..Bench::of(disk.clone(), writing.scribe, parts) };
        for peer in peers {
            bench.input(RoomInput::Disconnected { peer: peer.peer, why: Gone::Interrupted });
        }
        connect(&mut bench, next.0);
        bench.settle();
    }
    let ends = entries(&disk.bytes()).into_iter().rev();
    let gone =
        ends.filter(|entry| matches!(entry, Entry::Arrival(Arrival { kind: ArrivalKind::Disconnected { .. }, .. })));
    assert_eq!(gone.count(), 2 + 3 + 1 + 1, "each of the peers");
}

#[test]
fn a_match_is_resumed_after_a_long_silence() {
    let mut bench = played();
    for millis in [20_000, 60_000] {
        bench.now = Time::from_millis(millis);
        bench.say(b"a");
    }
    bench.settle();
    let resumable = resume(&bench.disk.bytes()).unwrap();
    assert_eq!(resumable.room().digest(), bench.room.digest());
}
