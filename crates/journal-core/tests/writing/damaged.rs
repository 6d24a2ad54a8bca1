use super::*;

#[test]
fn an_incomplete_last_record_is_removed_and_nothing_else_is_lost() {
    // Not yet known to be on disk.
    let mut bench = Bench::new(SyncPolicy::Interval);
    bench.connect();
    bench.send(b"abc");
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
                // The head was on disk before the first arrival.
                assert!(reader(&bytes).offset() > length as u64, "{length}");
            }
            Err(error) => panic!("{length}: {error}"),
        }
    }
}

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
    bench.send(b"d");
    bench.end.close();
    while bench.scribe.write() {}
    let bytes = bench.bytes();
    assert_eq!(reader(&bytes).state(), SegmentState::Closed);
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
    bench.send(b"defg");
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
    head.rules = 5;
    let excerpt = Excerpt::new(&head).into_bytes();
    let error = resume(&excerpt).unwrap_err().to_string();
    assert!(error.contains("1.2.3") && error.contains("rules 5 of adder") && error.contains("rules 4"), "{error}");
    head.game = "chess".into();
    let error = Replay::<Adder>::start(&head).unwrap_err();
    assert_eq!(error, HeadError::Game { found: "chess".into(), expected: "adder" });
    for (bytes, expected) in
        [(&b""[..], "it is not a journal"), (b"#!/bin/sh", "it is not a journal"), (&bytes[..9], "it contains nothing")]
    {
        let error = resume(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn after_a_panic_the_journal_ends_with_the_input_that_caused_it() {
    let mut bench = played();
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| bench.send(b"x")));
    assert!(done.is_err());
    bench.end.close();
    while bench.scribe.write() {}
    assert_eq!(bench.entries().last(), Some(&Entry::Note(Note::Broken)));
    let last = bench.arrivals().pop().unwrap();
    assert_eq!(last.input, Input::Message { peer: ANN, message: "x".into() });
    assert!(matches!(resume(&bench.bytes()), Err(ResumeError::Broken)));
}
