//! The scribe of a simulated server: two threads on a machine of their own.

use std::time::Duration;

use journal_core::{Clock, Scribe, Step};
use netcore::Time;

use crate::machine::{Machine, SimulatedClock, TaskId, ThreadContext};

/// How early a scribe may do its work, to wake once for many journals.
const SLACK: Duration = Duration::from_millis(20);
/// Checks for lost wake-ups, one in this many steps.
const CHECKS: u32 = 16;

/// The machine with the threads of one scribe at a time.
pub(super) struct Scribes {
    pub(super) machine: Machine,
    threads: Vec<TaskId>,
    steps: u32,
}

/// The time of the machine, which is never set.
struct MachineClock(SimulatedClock);

impl Clock for MachineClock {
    fn elapsed(&self) -> Duration {
        self.0.world_now().since(Time::ZERO)
    }

    fn unix_seconds(&self) -> u64 {
        self.elapsed().as_secs()
    }
}

impl Scribes {
    pub(super) fn new(seed: u64) -> Self {
        Self { machine: Machine::new(seed), threads: vec![], steps: 0 }
    }

    pub(super) fn start(&mut self) -> Scribe {
        let scribe = Scribe::with_clock(MachineClock(self.machine.clock()));
        let writer = scribe.clone();
        let write = move |turns: &ThreadContext| repeat(turns, |waker| writer.write_step(waker));
        let keeper = scribe.clone();
        let keep = move |turns: &ThreadContext| repeat(turns, |waker| keeper.keep_step(waker));
        self.threads.push(self.machine.spawn_thread("thread that writes journals", write));
        self.threads.push(self.machine.spawn_thread("thread that syncs journals", keep));
        scribe
    }

    /// Their process must be dead, so that their remaining actions have no effect.
    pub(super) fn kill(&mut self) {
        self.threads.drain(..).for_each(|thread| self.machine.kill(thread));
    }

    pub(super) fn check(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(CHECKS) {
            self.machine.check_sleepers();
        }
    }
}

fn repeat(turns: &ThreadContext, step: impl Fn(&std::task::Waker) -> Step) {
    while let Some(waker) = turns.waker() {
        match step(&waker) {
            Step::Done => turns.note_progress(),
            Step::Until(due) => turns.wait(Some(Time::ZERO.plus(due.saturating_sub(SLACK)))),
            Step::Idle => turns.wait(None),
        }
    }
}
