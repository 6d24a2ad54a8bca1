//! Interleavings of a room, the threads that write its journal, and a waiting host, tried by shuttle.
#![cfg(shuttle)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

#[path = "writing/adder.rs"]
mod adder;

use std::{
    future::poll_fn,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
    time::Duration,
};

use journal_core::{Clock, Entry, Head, Journal, JournalHold, Scribe, SegmentState, SyncPolicy, Writing};
use netcore::{EngineRoom, Hold as _, Input, Link, Outbox, PeerId, Role, Room as _, Time};
use shuttle::{
    future::block_on,
    rand::{Rng, thread_rng},
    sync::mpsc,
    thread,
};
use testkit::disk::{Fault, SimulatedDisk};

use self::adder::Adder;

const INPUTS: u8 = 12;
const RUNS: usize = 500;

// Includes arrivals in removed segments; `None` if the journal is marked as cut.
fn arrivals(disk: &SimulatedDisk, journal: &Path) -> Option<u64> {
    let mut reader = Journal::open_on(disk, journal).unwrap().reader().unwrap();
    let before = reader.head().base.as_ref().map_or(0, |base| base.mark.arrivals);
    let entries = std::iter::from_fn(|| reader.next().unwrap());
    let after = entries.filter(|entry| matches!(entry, Entry::Arrival(_))).count() as u64;
    (reader.state() != SegmentState::Cut).then_some(before + after)
}

/// Each wait ends immediately.
#[derive(Debug, Default)]
struct Hurry(AtomicU64);

impl Clock for Hurry {
    fn elapsed(&self) -> Duration {
        Duration::from_secs(10 * self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn unix_seconds(&self) -> u64 {
        0
    }
}

/// A room in one thread, the threads of the scribe, and here a host that waits for each mark and then checks what a
/// crash would leave. A lost wake-up blocks all of them, which shuttle reports.
fn play(inputs: u8, sync: SyncPolicy, max: u64, fault: Option<Fault>) {
    let disk = SimulatedDisk::new();
    let writing = Writing {
        disk: Arc::new(disk.clone()),
        scribe: Scribe::start_with_clock(Hurry::default()).unwrap(),
        sync,
        max,
        copy: None,
    };
    let mut head = Head::new(&Adder::new(7), "0.0.0", vec![], 0);
    head.id = 9;
    let (journal, (mut room, hold, end)) =
        writing.create(Path::new("/games"), EngineRoom::new(Adder::new(7)), head).unwrap();
    disk.set_fault(fault);
    let (sender, marks) = mpsc::channel();
    let mut flush = hold.clone();
    let player = thread::spawn(move || {
        let (role, link, address) = (Role::Player, Link::Stream, "10.0.0.1:5".into());
        let mut out = Outbox::new();
        room.input(Time::ZERO, Input::Connected { peer: PeerId(0), role, link, address }, &mut out);
        for number in 1..=inputs {
            let message: &[u8] = &[b'a'];
            room.input(Time::from_millis(number.into()), Input::Message { peer: PeerId(0), message }, &mut out);
            let mark = flush.position();
            flush.flush();
            sender.send((u64::from(number) + 1, mark)).unwrap();
        }
        drop(sender);
        room
    });
    wait_for_all(&marks, hold, &disk, &journal, sync);
    let room = player.join().unwrap();
    end.close();
    assert!(end.finish(Duration::MAX));
    drop(room);
}

fn wait_for_all(
    marks: &mpsc::Receiver<(u64, u64)>,
    mut hold: JournalHold,
    disk: &SimulatedDisk,
    journal: &Path,
    sync: SyncPolicy,
) {
    let mut last = 0;
    while let Ok((count, mark)) = marks.recv() {
        // Lets the threads make some progress before the host waits.
        for _ in 0..thread_rng().gen_range(0..40) {
            thread::yield_now();
        }
        block_on(poll_fn(|context| {
            hold.flush();
            if hold.reached() >= mark || hold.failure().is_some() {
                return Poll::Ready(());
            }
            hold.poll_reached(mark - 1, context)
        }));
        if hold.failure().is_some() || hold.reached() == u64::MAX {
            return;
        }
        last = last.max(count);
        let left = match sync {
            SyncPolicy::Always => arrivals(&disk.certain(), journal),
            SyncPolicy::Interval => arrivals(&disk.other_process(), journal),
        };
        let Some(left) = left else { return };
        assert!(left >= last, "{sync:?}: outputs of input {last} may leave, and a crash would leave {left} inputs");
    }
}

#[test]
fn outputs_leave_when_their_inputs_are_safe_however_the_threads_interleave() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        shuttle::check_random(move || play(INPUTS, sync, 1 << 20, None), RUNS);
        // No later input hides a lost wake-up.
        shuttle::check_random(move || play(1, sync, 1 << 20, None), 10 * RUNS);
    }
}

#[test]
fn a_journal_is_continued_in_other_files_while_its_room_goes_on() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        // Each input is as large as a segment.
        shuttle::check_random(move || play(INPUTS, sync, 64, None), RUNS);
    }
}

#[test]
fn a_failing_disk_wakes_the_host_in_the_end() {
    for sync in [SyncPolicy::Always, SyncPolicy::Interval] {
        shuttle::check_random(move || play(INPUTS, sync, 1 << 20, Some(Fault::FailingSyncs(3))), RUNS);
        shuttle::check_random(move || play(INPUTS, sync, 1 << 20, Some(Fault::FailingWrites(150))), RUNS);
    }
}
