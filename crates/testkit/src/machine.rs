//! A simulated machine: a clock and tasks, in one thread and in virtual time.
//!
//! A [`Machine`] polls a task only when its waker has fired. Its owner advances the time to the next event, and each
//! read of the [`SimulatedClock`] costs a little, so that a working task sees time pass. [`Machine::check_sleepers`]
//! detects lost wake-ups: it polls sleeping tasks, which must not make progress.

mod clock;
mod thread;

use std::{
    collections::BTreeMap,
    fmt,
    ops::RangeInclusive,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
    time::Duration,
};

use netcore::Time;
use rand::RngExt;
use rand_pcg::Pcg64;

use self::{
    clock::State,
    thread::{Process, ThreadTask},
};

pub use self::clock::{SimulatedClock, SimulatedTimer};
pub(crate) use self::thread::{ThreadContext, is_thread, sleep};

/// Consecutive polls without another event; more mean that a task wakes itself forever.
const MAX_POLLS: u32 = 1 << 16;

/// No two tasks have the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u64);

#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Task {
    name: &'static str,
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
    waker: Waker,
    polled: Time,
}

impl Task {
    fn is_woken(&self) -> bool {
        self.flag.0.load(Ordering::Relaxed)
    }
}

pub struct Machine {
    clock: SimulatedClock,
    tasks: BTreeMap<TaskId, Task>,
    next_id: u64,
    // Polls since the owner advanced the time.
    polls: u32,
    process: Process,
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks: Vec<_> = self.tasks.values().map(|task| task.name).collect();
        f.debug_struct("Machine").field("now", &self.now()).field("tasks", &tasks).finish_non_exhaustive()
    }
}

impl Machine {
    /// Starts at time zero. The seed decides the duration of work.
    pub fn new(seed: u64) -> Self {
        Self {
            clock: SimulatedClock(State::shared(seed)),
            tasks: BTreeMap::new(),
            next_id: 0,
            polls: 0,
            process: Process::default(),
        }
    }

    /// Clones show the same time.
    pub fn clock(&self) -> SimulatedClock {
        self.clock.clone()
    }

    /// The time of the simulation, independent of the clock's setting. Reading it costs no time.
    pub fn now(&self) -> Time {
        self.clock.world_now()
    }

    /// The next [`Machine::run`] polls the task once.
    pub fn spawn(&mut self, name: &'static str, future: impl Future<Output = ()> + 'static) -> TaskId {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Arc::clone(&flag).into();
        let id = TaskId(self.next_id);
        self.next_id += 1;
        self.tasks.insert(id, Task { name, future: Box::pin(future), flag, waker, polled: self.now() });
        id
    }

    /// The thread alternates with the tasks, so it may block in calls that take virtual time. If one thread is killed,
    /// all must be.
    pub(crate) fn spawn_thread(
        &mut self,
        name: &'static str,
        body: impl FnOnce(&ThreadContext) + Send + 'static,
    ) -> TaskId {
        let thread = ThreadTask::start(self.clock(), self.process.clone(), body);
        self.spawn(name, thread)
    }

    pub fn is_running(&self, id: TaskId) -> bool {
        self.tasks.contains_key(&id)
    }

    /// Ends the task at its current await point.
    pub fn kill(&mut self, id: TaskId) {
        self.tasks.remove(&id);
    }

    pub fn is_woken(&self) -> bool {
        self.tasks.values().any(Task::is_woken)
    }

    /// When the next task is due, if known: now if one is woken, or when a timer expires.
    pub fn next_due(&self) -> Option<Time> {
        if self.is_woken() { Some(self.now()) } else { self.clock.next_expiry() }
    }

    /// The time never decreases.
    pub fn advance(&mut self, to: Time) {
        if self.clock.advance(to) {
            self.polls = 0;
        }
    }

    /// Polls each woken task once. Returns `false` if there was none.
    pub fn run(&mut self) -> bool {
        self.clock.fire();
        let woken: Vec<TaskId> = self.tasks.iter().filter(|(_, task)| task.is_woken()).map(|(&id, _)| id).collect();
        for &id in &woken {
            self.polls += 1;
            let Some(task) = self.tasks.get(&id) else { continue };
            assert!(self.polls < MAX_POLLS, "the {} wakes itself forever at {:?}", task.name, self.now());
            self.poll(id);
        }
        !woken.is_empty()
    }

    /// Panics if a sleeping task makes progress when polled: it slept despite pending work.
    pub fn check_sleepers(&mut self) {
        // An expired timer fires only at the next run.
        if self.clock.next_expiry().is_some_and(|due| due <= self.now()) {
            return;
        }
        let sleepers: Vec<TaskId> = self.tasks.iter().filter(|(_, task)| !task.is_woken()).map(|(&id, _)| id).collect();
        for id in sleepers {
            let (looks, polled) = (self.clock.looks(), self.tasks[&id].polled);
            let name = self.tasks[&id].name;
            let progress = self.poll(id) || self.clock.looks() != looks;
            assert!(
                !progress,
                "the {name} sleeps although something is ready for it: polled at {polled:?}, and not woken until {:?}",
                self.now()
            );
        }
    }

    fn poll(&mut self, id: TaskId) -> bool {
        let now = self.now();
        let Some(task) = self.tasks.get_mut(&id) else { return false };
        task.polled = now;
        // Before the poll, so that events during it wake the task again.
        task.flag.0.store(false, Ordering::Relaxed);
        self.clock.begin_poll();
        let ended = task.future.as_mut().poll(&mut Context::from_waker(&task.waker)).is_ready();
        if ended {
            self.tasks.remove(&id);
        }
        ended
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pace {
    /// The time between two reads of the clock.
    pub work: RangeInclusive<Duration>,
    /// The delay of an expired timer.
    pub late: RangeInclusive<Duration>,
    /// Reads at which the whole process stalls.
    pub stall_per_million: u32,
    pub stall: RangeInclusive<Duration>,
}

impl Pace {
    pub const CALM: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(1),
        late: Duration::ZERO..=Duration::from_micros(50),
        stall_per_million: 0,
        stall: Duration::ZERO..=Duration::ZERO,
    };
    pub const ROUGH: Self = Self {
        work: Duration::from_nanos(20)..=Duration::from_micros(20),
        late: Duration::ZERO..=Duration::from_millis(2),
        stall_per_million: 200,
        stall: Duration::from_millis(10)..=Duration::from_millis(400),
    };
}

pub(crate) fn draw(rng: &mut Pcg64, range: &RangeInclusive<Duration>) -> Duration {
    let nanos = |delay: &Duration| u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(rng.random_range(nanos(range.start())..=nanos(range.end())))
}
