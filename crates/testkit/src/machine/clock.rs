use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use netcore::Time;
use netshell::{TimeSource, Timer};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::Pace;
use crate::machine::draw;

/// Reads of the clock during one poll; more mean an endless loop.
const MAX_LOOKS: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct State {
    now: Time,
    // A time of the simulation, and what the clock, which may have been set, shows then.
    set: (Time, Time),
    pace: Pace,
    rng: Pcg64,
    timers: BTreeMap<u64, Setting>,
    next_timer: u64,
    // Wakers by times of the simulation, independent of the clock.
    sleepers: BTreeMap<u64, (Time, Waker)>,
    // Reads of the clock, timers and notes of progress, in total and before the current poll.
    looks: u64,
    looks_before: u64,
}

#[derive(Debug, Default)]
struct Setting {
    // Expires by the clock.
    due: Option<Time>,
    waker: Option<Waker>,
}

impl State {
    pub(super) fn shared(seed: u64) -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self {
            now: Time::ZERO,
            set: (Time::ZERO, Time::ZERO),
            pace: Pace::CALM,
            rng: Pcg64::seed_from_u64(!seed),
            timers: BTreeMap::new(),
            next_timer: 0,
            sleepers: BTreeMap::new(),
            looks: 0,
            looks_before: 0,
        }))
    }

    fn reading(&self) -> Time {
        let (world, shown) = self.set;
        shown.plus(self.now.since(world))
    }

    // The time of the simulation when the clock shows `time`.
    fn world_time(&self, time: Time) -> Time {
        let (world, shown) = self.set;
        world.plus(time.since(shown))
    }

    fn advance(&mut self) -> Time {
        self.looks += 1;
        assert!(self.looks - self.looks_before < MAX_LOOKS, "a task works forever at {:?}", self.now);
        let mut passes = draw(&mut self.rng, &self.pace.work);
        if self.pace.stall_per_million > 0 && self.rng.random_range(0..1_000_000) < self.pace.stall_per_million {
            passes += draw(&mut self.rng, &self.pace.stall);
        }
        self.now = self.now.plus(passes);
        self.reading()
    }
}

/// Reading it with [`TimeSource::now`] costs time. Clones show the same time.
#[derive(Debug, Clone)]
pub struct SimulatedClock(pub(super) Arc<Mutex<State>>);

impl SimulatedClock {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The time that the clock shows. Unlike a read by a task, this costs no time.
    pub fn reading(&self) -> Time {
        self.lock().reading()
    }

    pub fn world_now(&self) -> Time {
        self.lock().now
    }

    /// Timers expire when the clock shows their time.
    pub fn set(&self, to: Time) {
        let mut state = self.lock();
        state.set = (state.now, to);
    }

    pub fn set_pace(&self, pace: Pace) {
        self.lock().pace = pace;
    }

    pub(super) fn advance(&self, to: Time) -> bool {
        let mut state = self.lock();
        let later = to > state.now;
        state.now = state.now.max(to);
        later
    }

    pub(super) fn next_expiry(&self) -> Option<Time> {
        let state = self.lock();
        // A timer without a waiting task has no effect.
        let waiting = state.timers.values().filter(|timer| timer.waker.is_some()).filter_map(|timer| timer.due).min();
        let sleepers = state.sleepers.values().map(|&(due, _)| due);
        waiting.map(|due| state.world_time(due)).into_iter().chain(sleepers).min().map(|due| due.max(state.now))
    }

    pub(super) fn fire(&self) {
        let state = &mut *self.lock();
        let (now, shown) = (state.now, state.reading());
        let due = state.timers.values_mut().filter(|timer| timer.due.is_some_and(|due| due <= shown));
        let mut wakers: Vec<Waker> = due.filter_map(|timer| timer.waker.take()).collect();
        state.sleepers.retain(|_, (due, waker)| {
            if *due <= now {
                wakers.push(waker.clone());
            }
            *due > now
        });
        // A waker only sets a flag.
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(super) fn new_number(&self) -> u64 {
        let mut state = self.lock();
        state.next_timer += 1;
        state.next_timer
    }

    /// Sets or removes a waker, and the time of the simulation at which it is used.
    pub(super) fn wake_at(&self, number: u64, when: Option<(Time, Waker)>) {
        let sleepers = &mut self.lock().sleepers;
        match when {
            Some(when) => sleepers.insert(number, when),
            None => sleepers.remove(&number),
        };
    }

    pub(super) fn note_progress(&self) {
        self.lock().looks += 1;
    }

    pub(super) fn looks(&self) -> u64 {
        self.lock().looks
    }

    pub(super) fn begin_poll(&self) {
        let mut state = self.lock();
        state.looks_before = state.looks;
    }
}

impl TimeSource for SimulatedClock {
    type Timer = SimulatedTimer;

    fn now(&self) -> Time {
        self.lock().advance()
    }

    fn timer(&self) -> io::Result<SimulatedTimer> {
        let mut state = self.lock();
        let number = state.next_timer;
        state.next_timer += 1;
        state.timers.insert(number, Setting::default());
        drop(state);
        Ok(SimulatedTimer { clock: self.clone(), number })
    }
}

#[derive(Debug)]
pub struct SimulatedTimer {
    clock: SimulatedClock,
    number: u64,
}

impl Timer for SimulatedTimer {
    fn set(&mut self, at: Option<Time>) -> io::Result<()> {
        let state = &mut *self.clock.lock();
        state.looks += 1;
        let late: Duration = draw(&mut state.rng, &state.pace.late);
        let due = at.map(|at| at.plus(late));
        state.timers.insert(self.number, Setting { due, waker: None });
        Ok(())
    }

    fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let state = &mut *self.clock.lock();
        let shown = state.reading();
        let setting = state.timers.entry(self.number).or_default();
        if setting.due.is_some_and(|due| due <= shown) {
            *setting = Setting::default();
            return Poll::Ready(Ok(()));
        }
        setting.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for SimulatedTimer {
    fn drop(&mut self) {
        self.clock.lock().timers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        future::poll_fn,
        rc::Rc,
    };

    use super::{super::Machine, *};

    const SECOND: Duration = Duration::from_secs(1);

    fn sleeper(machine: &mut Machine) -> Rc<Cell<Option<Time>>> {
        let (clock, woken) = (machine.clock(), Rc::new(Cell::new(None)));
        let note = Rc::clone(&woken);
        machine.spawn("sleeper", async move {
            let mut timer = clock.timer().unwrap();
            timer.set(Some(Time::ZERO.plus(SECOND))).unwrap();
            poll_fn(|context| timer.poll_expired(context)).await.unwrap();
            note.set(Some(clock.now()));
        });
        machine.run();
        woken
    }

    #[test]
    fn a_timer_expires_when_the_clock_shows_its_time() {
        for (jump, after) in [(None, 1_000), (Some(Time::from_millis(900)), 600), (Some(Time::ZERO), 1_500)] {
            let mut machine = Machine::new(1);
            let woken = sleeper(&mut machine);
            machine.advance(Time::from_millis(500));
            assert!(!machine.run());
            if let Some(shown) = jump {
                machine.clock().set(shown);
            }
            let due = machine.next_due().unwrap();
            let late = due.since(Time::from_millis(after));
            assert!(due >= Time::from_millis(after) && late < Duration::from_millis(1), "{jump:?}: {due:?}");
            machine.advance(due);
            machine.run();
            assert!(woken.get().is_some_and(|at| at >= Time::ZERO.plus(SECOND)));
            assert_eq!(machine.next_due(), None);
        }
    }

    #[test]
    fn reading_the_clock_takes_time_and_stalls_sometimes() {
        let machine = Machine::new(7);
        let clock = machine.clock();
        let times: Vec<Time> = (0..1_000).map(|_| clock.now()).collect();
        assert!(times.is_sorted_by(|one, two| one < two));
        assert!(machine.now() < Time::from_millis(1));
        clock.set_pace(Pace { stall_per_million: 10_000, ..Pace::ROUGH });
        let times: Vec<Time> = (0..1_000).map(|_| clock.now()).collect();
        let stalls = times.windows(2).filter(|two| two[1].since(two[0]) >= Duration::from_millis(10)).count();
        assert!((1..50).contains(&stalls), "{stalls}");
    }

    #[test]
    #[should_panic(expected = "the sleeper sleeps although something is ready for it")]
    fn a_lost_wake_up_is_detected() {
        let mut machine = Machine::new(1);
        let (clock, inbox) = (machine.clock(), Rc::new(RefCell::new(vec![1])));
        let source = Rc::clone(&inbox);
        // The task does not keep the waker.
        machine.spawn("sleeper", async move {
            loop {
                poll_fn(|_| source.borrow_mut().pop().map_or(Poll::Pending, Poll::Ready)).await;
                clock.now();
            }
        });
        machine.run();
        machine.check_sleepers();
        inbox.borrow_mut().push(2);
        assert!(!machine.run());
        machine.check_sleepers();
    }

    #[test]
    #[should_panic(expected = "the spinner wakes itself forever")]
    fn a_task_that_spins_is_detected() {
        let mut machine = Machine::new(1);
        machine.spawn(
            "spinner",
            poll_fn(|context| {
                context.waker().wake_by_ref();
                Poll::Pending
            }),
        );
        while machine.run() {}
    }
}
