use netcore::Recorded as _;

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
        bench.send(b"a");
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
    assert_eq!(digest(resumable.room()), digest(bench.room.room()));
    let head: &Head = &resumable.head;
    let mut replay = Replay::<Adder>::start(head).unwrap();
    let mut out = Outbox::new();
    for entry in entries(&bytes) {
        match entry {
            Entry::Arrival(arrival) => drop(replay.apply(&arrival, &mut out).unwrap()),
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).unwrap(),
            Entry::Note(Note::Snapshot(snapshot)) => {
                let restored = Replay::<Adder>::restore(head, &snapshot).unwrap();
                assert_eq!(digest(restored.room()), snapshot.mark.digest);
            }
            Entry::Note(_) => {}
        }
    }
    assert_eq!(digest(replay.room()), digest(bench.room.room()));
}

#[test]
fn a_replay_reports_the_marks_between_which_it_diverges() {
    let mut bench = Bench::new(SyncPolicy::Interval).joined();
    bench.send(&[b'a'; 600]);
    bench.settle();
    let head = reader(&bench.bytes()).head().clone();
    let diverges = |head: &Head| {
        let (mut replay, mut out) = (Replay::<Adder>::start(head).unwrap(), Outbox::new());
        bench.entries().into_iter().find_map(|entry| match entry {
            Entry::Arrival(mut arrival) => {
                if let Input::Message { message, .. } = &mut arrival.input
                    && replay.arrivals() == 300
                {
                    *message = "z".into();
                }
                replay.apply(&arrival, &mut out).err()
            }
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).err(),
            Entry::Note(_) => None,
        })
    };
    assert_eq!(diverges(&head), Some(Divergence { same: 256, arrival: 512, what: "the states differ" }));
    let mut earlier = head;
    earlier.rules = Adder::OLDEST_RULES;
    assert_eq!(diverges(&earlier), None, "digests of earlier rules are not compared");
}

#[test]
fn a_snapshot_with_another_digest_is_rejected_unless_its_rules_are_earlier() {
    let bench = played();
    let head = reader(&bench.bytes()).head().clone();
    let mut replay = Replay::<Adder>::start(&head).unwrap();
    for arrival in arrivals(&bench.bytes()) {
        replay.apply(&arrival, &mut Outbox::new()).unwrap();
    }
    let mut snapshot = replay.snapshot();
    assert!(Replay::<Adder>::restore(&head, &snapshot).is_ok());
    snapshot.mark.digest ^= 1;
    let error = Replay::<Adder>::restore(&head, &snapshot).unwrap_err();
    assert!(error.to_string().contains("digest"), "{error}");
    let mut earlier = head;
    earlier.rules = Adder::OLDEST_RULES;
    assert!(Replay::<Adder>::restore(&earlier, &snapshot).is_ok());
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
        assert_eq!(digest(resumable.room()), digest(bench.room.room()));
        assert_eq!((resumable.peers.len(), resumable.time), (1, all.last().unwrap().time));
    }
}
