//! Faults planted in the server, and the check that finds each.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use netcore::probe::Planted;
use testkit::simulation::Options;

use super::{GAMES, SOUND};

/// The maximum number of seeds needed to find a fault.
const SEEDS: u64 = 400;
/// Each fault, the game that is searched for it, and the messages of the checks that may find it.
const FAULTS: [(Planted, &str, &[&str]); 18] = [
    (Planted::OutputsNotHeld, "robots", &["and the replay sends only"]),
    (Planted::TimeGoesBack, "robots", &["the time of the room goes back"]),
    (Planted::SafeOutputsWakeNobody, "robots", &["the server sleeps although something is ready for it"]),
    (Planted::SocketNotReadAgain, "nuggets", &["the server sleeps although a datagram waits"]),
    (
        Planted::RecordsWakeNobody,
        "robots",
        &["the thread that writes journals sleeps although something is ready for it"],
    ),
    (Planted::RecordDropped, "robots", &["the match never had the state after"]),
    (Planted::SnapshotTooLate, "robots", &["the match never had the state after"]),
    (Planted::SyncBeforeWrite, "robots", &["and the replay sends only", "is damaged"]),
    (Planted::ReleasedWithoutCut, "robots", &["and the replay sends only"]),
    (Planted::CutOverPartialRecord, "robots", &["is damaged"]),
    (Planted::NameNotSynced, "robots", &["the journal has a name that a power cut takes away"]),
    (Planted::ParentNotSynced, "robots", &["the journal has a name that a power cut takes away"]),
    (Planted::OldSegmentNotSynced, "robots", &["it ends before the next segment begins"]),
    (
        Planted::WrongSegment,
        "robots",
        &[
            "the segment that continues it is missing",
            "the server resumes from another state",
            "and the replay sends only",
        ],
    ),
    (Planted::SyncedTooEarly, "robots", &["is damaged"]),
    (Planted::NotLocked, "robots", &["a second server resumes a journal that is in use"]),
    (Planted::LooksBehind, "blackjack", &["the replay diverges from the match"]),
    (
        Planted::QuittersForgotten,
        "nuggets",
        &["a client that had quit plays again", "it cannot be resumed: the replay diverges"],
    ),
];

/// The seed and the message of the first check that finds a fault.
fn found(planted: Planted, game: &str) -> Option<(u64, String)> {
    let (_, simulate) = GAMES.into_iter().find(|&(name, _)| name == game).unwrap();
    let options = Options { planted: Some(planted), ..SOUND };
    (1..=SEEDS).find_map(|seed| {
        let panic = catch_unwind(AssertUnwindSafe(|| simulate(seed, options))).err()?;
        let text = panic.downcast_ref::<String>().cloned();
        Some((seed, text.or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()))
    })
}

fn each_is_found(faults: &[(Planted, &str, &[&str])]) {
    let mut wrong = vec![];
    for &(planted, game, expected) in faults {
        match found(planted, game) {
            Some((seed, text)) if expected.iter().any(|expected| text.contains(expected)) => {
                eprintln!("{planted:?}: found with seed {seed}");
            }
            Some((seed, text)) => wrong.push(format!("{planted:?}: with seed {seed} something else fails: {text}")),
            None => wrong.push(format!("{planted:?}: not found with {SEEDS} seeds")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute or two in a debug build; .ci/run runs it")]
fn each_planted_fault_is_found_by_the_check_that_is_about_it() {
    let (some, others) = FAULTS.split_at(FAULTS.len() / 2);
    thread::scope(|scope| {
        scope.spawn(|| each_is_found(some));
        each_is_found(others);
    });
}
