//! Journals of earlier versions are replayed, or rejected because of their rules.

use std::{collections::BTreeSet, fs};

use journal_core::{
    Entry, Head, HeadError, Note, ReadError, Reader, Replay, Resumable, ResumeError, SegmentState, SystemDisk,
};
use netcore::{Outbox, Recorded};
use testkit::TempDir;

use crate::programs::workspace;

#[derive(Debug, PartialEq, Eq)]
enum ReplayResult {
    Replayed { arrivals: u64, resumed: u64 },
    OtherRules,
}

fn replay<E: Recorded>(head: &Head, mut reader: Reader<&[u8]>) -> ReplayResult {
    let mut replay = match Replay::<E>::start(head) {
        Err(HeadError::Rules { found, expected, .. }) => {
            assert!(found == head.rules && expected == E::RULES && found < E::OLDEST_RULES);
            return ReplayResult::OtherRules;
        }
        started => started.unwrap(),
    };
    let (mut out, mut resumed) = (Outbox::new(), 0);
    while let Some(entry) = reader.next().unwrap() {
        match entry {
            Entry::Arrival(arrival) => {
                replay.apply(&arrival, &mut out).unwrap();
                out.drain().for_each(drop);
            }
            Entry::Note(Note::Mark(mark)) => replay.check(&mark).unwrap(),
            Entry::Note(Note::Resumed { .. }) => resumed += 1,
            Entry::Note(_) => {}
        }
    }
    assert_eq!((reader.torn(), reader.state()), (0, SegmentState::Closed));
    ReplayResult::Replayed { arrivals: replay.arrivals(), resumed }
}

// Only a match under the present rules is resumed or reported as over. Returns whether its rules are the present ones.
fn resume<E: Recorded>(head: &Head, bytes: &[u8]) -> bool {
    let directory = TempDir::new();
    let copy = directory.path().join("copy.journal");
    fs::write(&copy, bytes).unwrap();
    match Resumable::<E>::open(&SystemDisk, &copy) {
        Ok(_) | Err(ResumeError::Over(_)) => assert!(head.has_rules_of::<E>()),
        Err(ResumeError::Head(HeadError::Rules { .. })) => assert!(!head.has_rules_of::<E>()),
        Err(error) => panic!("{error}"),
    }
    head.has_rules_of::<E>()
}

#[test]
fn journals_of_earlier_versions_are_replayed_or_rejected_by_version() {
    let mut replayed = BTreeSet::new();
    let mut paths: Vec<_> =
        fs::read_dir(workspace().join("tests/data")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "journal"));
    paths.sort();
    for path in paths {
        // If the test fails, the last line names the journal.
        eprintln!("{}", path.display());
        let bytes = fs::read(&path).unwrap();
        let reader = match Reader::new(&bytes[..], bytes.len() as u64) {
            Err(ReadError::Version(_)) => continue,
            reader => reader.unwrap(),
        };
        let head = reader.head().clone();
        let result = match &*head.game {
            "blackjack" => replay::<blackjack::Server>(&head, reader),
            "nuggets" => replay::<nuggets::Server>(&head, reader),
            "robots" => replay::<robots::Server>(&head, reader),
            other => panic!("there is no game {other}"),
        };
        if let ReplayResult::Replayed { arrivals, resumed } = result {
            let is_present = match &*head.game {
                "blackjack" => resume::<blackjack::Server>(&head, &bytes),
                "nuggets" => resume::<nuggets::Server>(&head, &bytes),
                _ => resume::<robots::Server>(&head, &bytes),
            };
            assert!(arrivals > 50 && resumed > 0, "{arrivals} arrivals, resumed {resumed} times");
            replayed.extend(is_present.then_some(head.game));
        }
    }
    // If the rules change, see tests/data/README.md.
    let games = ["blackjack", "nuggets", "robots"].map(str::to_owned);
    assert_eq!(replayed, BTreeSet::from(games));
}
