//! Replays, from the beginning and from a state.

use super::*;

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
