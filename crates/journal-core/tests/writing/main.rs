//! Writing, reading and resuming journals.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod bench;
mod retention;
mod segments;
mod trouble;

use std::{io::Cursor, panic::AssertUnwindSafe, path::Path};

use bytes::Bytes;
use journal_core::{
    Arrival, Entry, Excerpt, HeadError, Note, ReadError, Reader, Replay, Resumable, ResumeError, State, SyncPolicy,
};
use netcore::{Gone, Hold as _, Input, Link, Outbox, PeerId, Room as _, Time};
use testkit::{adder::Adder, disk::SimulatedDisk, recording};

use self::bench::{Bench, MAX, begun, connect, content, on, total};

const ANN: PeerId = PeerId(0);
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
    recording::entries(&on_disk(bytes), Path::new(JOURNAL))
}

fn arrivals(bytes: &[u8]) -> Vec<Arrival> {
    recording::arrivals(&on_disk(bytes), Path::new(JOURNAL))
}

fn resume(bytes: &[u8]) -> Result<Resumable<Adder>, ResumeError> {
    Resumable::open(&on_disk(bytes), Path::new(JOURNAL))
}

/// A match that is written completely: Ann has connected and sent `abc`, and a second has passed.
fn played() -> Bench {
    let mut bench = begun(SyncPolicy::Interval);
    bench.say(0, b"abc");
    bench.input(Input::Elapsed);
    bench.settle();
    bench
}

#[test]
fn arrivals_are_read_in_order_with_whole_microseconds() {
    let bench = played();
    let bytes = content(&bench);
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
    let mut bench = begun(SyncPolicy::Interval);
    bench.settle();
    let before = content(&bench).len();
    bench.say(0, b"");
    bench.say(5, b"z");
    bench.say(0, b"---");
    assert_eq!(total(&bench), 7);
    bench.settle();
    assert_eq!(content(&bench).len(), before);
}

#[test]
fn of_a_malformed_message_only_the_error_is_recorded() {
    let mut bench = begun(SyncPolicy::Interval);
    bench.say(0, b"a!bc");
    bench.settle();
    let bytes = content(&bench);
    let found = arrivals(&bytes);
    let why = netcore::DecodeError::invalid("a shout", 0);
    assert_eq!(found[2].input, Input::Malformed { peer: ANN, why });
    assert_eq!(found.len(), 3);
    assert_eq!(resume(&bytes).unwrap().room().digest(), bench.room.digest());
}

#[test]
fn a_malformed_message_that_was_recorded_with_its_bytes_is_replayed() {
    let mut bench = begun(SyncPolicy::Interval);
    bench.settle();
    let head = reader(&content(&bench)).head().clone();
    let mut excerpt = Excerpt::new(&head);
    let mut all = arrivals(&content(&bench));
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
        let mut bench = begun(sync);
        assert!(!bench.may_leave());
        let before = bench.disk.syncs();
        bench.hold.flush();
        bench.say(0, b"ab");
        assert!(bench.scribe.write());
        assert!(bench.may_leave(), "later records are written with it");
        assert_eq!(bench.disk.syncs() - before, syncs, "one for all of it");
    }
}

#[test]
fn an_incomplete_last_record_is_removed_and_nothing_else_is_lost() {
    // Written, but not yet known to be on disk.
    let mut bench = begun(SyncPolicy::Interval);
    bench.say(0, b"abc");
    bench.hold.flush();
    assert!(bench.scribe.write());
    let bytes = content(&bench);
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
fn damaged_missing_doubled_and_swapped_records_are_rejected_with_their_offset() {
    let mut bench = played();
    bench.say(0, b"defg");
    bench.close();
    let bytes = content(&bench);
    let mut reader = reader(&bytes);
    assert_eq!(reader.state(), State::Closed);
    // Where the records begin, and the end.
    let mut places = vec![];
    while let Some(_entry) = {
        places.push(usize::try_from(reader.offset()).unwrap());
        reader.next().unwrap()
    } {}
    let damaged = |bytes: &[u8]| match resume(bytes) {
        Err(ResumeError::Read(ReadError::Damaged { offset, .. })) => usize::try_from(offset).unwrap(),
        other => panic!("{other:?}"),
    };
    for record in places.windows(2) {
        for at in record[0]..record[1] {
            let mut changed = bytes.clone();
            changed[at] ^= 0x41;
            assert_eq!(damaged(&changed), record[0], "byte {at}");
        }
    }
    let [a, b, c] = places[1..4] else { panic!("records") };
    let (one, two) = (&bytes[a..b], &bytes[b..c]);
    for (middle, offset) in [(vec![two], a), (vec![one, one, two], b), (vec![two, one], a)] {
        assert_eq!(damaged(&[&bytes[..a], &middle.concat(), &bytes[c..]].concat()), offset, "{middle:?}");
    }
}

#[test]
fn other_games_and_other_rules_are_rejected_by_name() {
    let bytes = content(&played());
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
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| bench.say(0, b"x")));
    assert!(done.is_err());
    // The room did not wait for the disk.
    bench.close();
    assert_eq!(entries(&content(&bench)).last(), Some(&Entry::Note(Note::Broken)));
    let last = bench.arrivals().pop().unwrap();
    assert_eq!(last.input, Input::Message { peer: ANN, message: "x".into() });
    assert!(matches!(resume(&content(&bench)), Err(ResumeError::Broken)));
}

#[test]
fn peers_closed_in_the_last_second_receive_their_last_messages_again() {
    let mut bench = on(SimulatedDisk::new(), SyncPolicy::Interval, MAX);
    connect(&mut bench, Link::Datagram);
    bench.say(0, b"q");
    bench.settle();
    let resumable = resume(&content(&bench)).unwrap();
    let [farewell] = &resumable.farewells[..] else { panic!("{:?}", resumable.farewells) };
    assert_eq!(farewell.peer.address, "10.0.0.1:5");
    assert_eq!(farewell.frames, ["bye", "7"]);
    assert!(resumable.peers.is_empty());
    // A second later nobody waits for them any more.
    bench.now = bench.now.plus(std::time::Duration::from_secs(2));
    bench.input(Input::Elapsed);
    bench.settle();
    assert!(resume(&content(&bench)).unwrap().farewells.is_empty());
}

#[test]
fn the_size_of_each_record_is_reported() {
    let mut bench = played();
    assert!(bench.out.take_recorded() > 0);
    let before = content(&bench).len();
    bench.say(0, b"abc");
    bench.input(Input::Refresh { peer: ANN });
    bench.say(5, b"z");
    bench.input(Input::Disconnected { peer: ANN, why: Gone::Left });
    bench.settle();
    let grown = content(&bench).len() - before;
    assert_eq!(bench.out.take_recorded() as usize, grown);
    assert_eq!(bench.out.take_recorded(), 0, "only once");
}

#[test]
fn a_short_message_has_a_short_record() {
    let mut bench = begun(SyncPolicy::Interval);
    bench.settle();
    let before = content(&bench).len();
    bench.now = bench.now.plus(std::time::Duration::from_secs(8));
    bench.say(0, b"a");
    bench.settle();
    // The length, the checksum, the head, the digest byte and the message.
    assert_eq!(content(&bench).len() - before, 1 + 4 + 5 + 1 + 1);
}

#[test]
fn a_match_is_resumed_after_a_long_silence() {
    let mut bench = played();
    for millis in [20_000, 60_000] {
        bench.now = Time::from_millis(millis);
        bench.say(0, b"a");
    }
    bench.settle();
    let resumable = resume(&content(&bench)).unwrap();
    assert_eq!(resumable.room().digest(), bench.room.digest());
}
