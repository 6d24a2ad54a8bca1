//! Planted bugs, and the check that finds each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use netcore::probe::{self, Planted, Probe};

use super::world::{Options, World};

/// The maximum number of fleets to find one.
const SEEDS: u64 = 1_600;

/// Runs fleets with this bug, starting at a seed, until a check fails, and compares its message.
fn find(planted: Planted, first: u64, options: Options, expected: &[&str]) {
    let before = probe::enter(Probe::new(Some(planted)));
    let found = (first..first + SEEDS).find_map(|seed| {
        let panic = catch_unwind(AssertUnwindSafe(|| World::new(seed, options).run())).err()?;
        Some((seed, panic.downcast_ref::<String>().cloned().unwrap_or_default()))
    });
    probe::enter(before);
    match found {
        Some((seed, text)) => {
            assert!(expected.iter().any(|expected| text.contains(expected)), "with seed {seed}: {text}");
        }
        None => panic!("{planted:?} is not found with {SEEDS} seeds"),
    }
}

/// Creates one test for each bug.
macro_rules! found {
    ($($name:ident: $planted:ident, $($expected:literal)|+;)*) => {
        $(#[test]
        #[cfg_attr(debug_assertions, ignore = "takes many fleets; .ci/run runs it")]
        fn $name() {
            let planted = Planted::$planted;
            // One bug needs writes that arrive long after their node has forgotten them, and one needs clocks that
            // stop.
            let options = Options {
                calm: planted == Planted::GhostsStay,
                frozen: planted == Planted::ReadBeforeOpen,
                mixed: planted == Planted::FormerNodesIgnored,
            };
            // It takes a rare order of events, so the search starts shortly before it.
            let first = match planted {
                Planted::ReadBeforeOpen => 2_100,
                Planted::StrangerBuries => 500,
                Planted::ExpiredTooEarly => 80,
                Planted::PromiseForgotten => 640,
                _ => 1,
            };
            find(planted, first, options, &[$($expected),+]);
        }
        )*
    };
}

// A failure of the directory or of a lease appears as two owners, or as the loss of published state. In a `node` room
// it may appear as the loss of stored state: the former owner appended between the read and the open.
found! {
    a_fence_that_is_not_checked: FenceNotChecked, "what was told of" | "who follows";
    an_append_that_is_stored_twice: RetryStoredTwice, "what was told of" | "who follows";
    a_claim_that_overwrites_another: ClaimOverwrites, "two owners" | "what was told of" | "what was stored of";
    a_watch_that_skips_a_change: WatchSkips, "a watcher misses a change" | "stands still";
    a_result_acknowledged_before_it_is_committed: AcknowledgedBeforeCommit, "the result of";
    a_lease_that_is_ignored: LeaseIgnored, "two owners" | "what was stored of";
    a_node_that_is_buried_alive: ExpiredTooEarly, "two owners" | "what was stored of";
    a_promise_that_is_forgotten: PromiseForgotten, "two owners" | "what was stored of";
    a_stranger_that_buries: StrangerBuries, "two owners" | "what was stored of";
    a_node_that_does_not_notice_its_burial: ExpiryUnnoticed, "two owners";
    a_node_whose_heartbeats_are_not_ended: HeartbeatsNotEnded, "two owners" | "what was stored of";
    a_former_node_that_is_ignored: FormerNodesIgnored, "two owners" | "what was stored of";
    a_room_that_is_released_too_early: ReleasedTooEarly, "two owners" | "what was told of" | "what was stored of";
    a_ghost_that_stays: GhostsStay, "a closed room stays in the directory" | "stands still";
    an_output_told_before_it_is_stored: ToldBeforeStored, "what was told of";
    a_journal_read_before_it_is_opened: ReadBeforeOpen, "what was told of" | "what was stored of";
}
