//! Threads of a simulated machine, for code that blocks, such as the threads of a [`Scribe`](journal_core::Scribe).
//!
//! A thread runs only while its task is polled, so at most one runs at a time and runs are repeatable. Where the code
//! blocks, it yields until the virtual time has come.

use std::{
    any::Any,
    cell::RefCell,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll, Waker},
    thread::{self, JoinHandle},
    time::Duration,
};

use netcore::Time;

use super::clock::SimulatedClock;

thread_local! {
    /// The simulated thread that runs in this system thread.
    static CURRENT: RefCell<Option<Rc<ThreadContext>>> = const { RefCell::new(None) };
}

enum ThreadSignal {
    Run(Waker),
    Exit,
}

/// The threads of a simulated process. They die together, because one may hold a lock that another waits for.
#[derive(Clone, Default)]
pub(super) struct Process(Arc<Mutex<Vec<Sender<ThreadSignal>>>>);

impl Process {
    fn add(&self, signal: Sender<ThreadSignal>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(signal);
    }

    fn kill(&self) {
        for signal in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // A thread that has ended has dropped its receiver.
            let _ = signal.send(ThreadSignal::Exit);
        }
    }
}

enum Yielded {
    /// The thread sleeps until this time of the simulation.
    Sleeps(Time),
    /// The thread waits until it is woken, or until this time.
    Waits(Option<Time>),
    Ended,
    Panicked(Box<dyn Any + Send>),
}

pub(crate) struct ThreadContext {
    signals: Receiver<ThreadSignal>,
    yielded: Sender<Yielded>,
    clock: SimulatedClock,
    // `None` once the thread has to exit.
    waker: RefCell<Option<Waker>>,
}

impl ThreadContext {
    /// `None` if the thread has to exit.
    pub(crate) fn waker(&self) -> Option<Waker> {
        self.waker.borrow().clone()
    }

    /// Waits for the waker, or until this time.
    pub(crate) fn wait(&self, until: Option<Time>) {
        self.hand_over(Yielded::Waits(until));
    }

    pub(crate) fn note_progress(&self) {
        self.clock.note_progress();
    }

    fn hand_over(&self, why: Yielded) {
        if self.waker.borrow().is_none() {
            return;
        }
        let next = self.yielded.send(why).ok().and_then(|()| self.signals.recv().ok());
        *self.waker.borrow_mut() = match next {
            Some(ThreadSignal::Run(waker)) => Some(waker),
            Some(ThreadSignal::Exit) | None => None,
        };
    }
}

/// Blocks a simulated thread. In other threads, or if the process was killed, returns immediately. Returns whether time
/// has passed.
pub(crate) fn sleep(duration: Duration) -> bool {
    let Some(context) = CURRENT.with_borrow(Clone::clone).filter(|_| duration > Duration::ZERO) else { return false };
    context.note_progress();
    context.hand_over(Yielded::Sleeps(context.clock.world_now().plus(duration)));
    context.waker.borrow().is_some()
}

pub(crate) fn is_thread() -> bool {
    CURRENT.with_borrow(Option::is_some)
}

pub(super) struct ThreadTask {
    signal: Sender<ThreadSignal>,
    process: Process,
    yielded: Receiver<Yielded>,
    thread: Option<JoinHandle<()>>,
    clock: SimulatedClock,
    // Its number among the sleepers of the clock.
    number: u64,
    sleeps_until: Option<Time>,
}

impl ThreadTask {
    pub(super) fn start(
        clock: SimulatedClock,
        process: Process,
        body: impl FnOnce(&ThreadContext) + Send + 'static,
    ) -> Self {
        let (signal, signals) = channel();
        let (yields, yielded) = channel();
        let (number, of_thread) = (clock.new_number(), clock.clone());
        process.add(signal.clone());
        let thread = thread::spawn(move || run(signals, yields, of_thread, body));
        Self { signal, process, yielded, thread: Some(thread), clock, number, sleeps_until: None }
    }
}

fn run(
    signals: Receiver<ThreadSignal>,
    yielded: Sender<Yielded>,
    clock: SimulatedClock,
    body: impl FnOnce(&ThreadContext),
) {
    let Ok(ThreadSignal::Run(waker)) = signals.recv() else { return };
    let context = Rc::new(ThreadContext { signals, yielded, clock, waker: RefCell::new(Some(waker)) });
    CURRENT.set(Some(Rc::clone(&context)));
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| body(&context)));
    let end = match done {
        Ok(()) => Yielded::Ended,
        Err(panic) => Yielded::Panicked(panic),
    };
    // Not received if the process was killed.
    let _ = context.yielded.send(end);
}

impl Future for ThreadTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if let Some(until) = this.sleeps_until
            && this.clock.world_now() < until
        {
            this.clock.wake_at(this.number, Some((until, context.waker().clone())));
            return Poll::Pending;
        }
        let _ = this.signal.send(ThreadSignal::Run(context.waker().clone()));
        let until = match this.yielded.recv() {
            Ok(Yielded::Sleeps(until)) => {
                this.sleeps_until = Some(until);
                Some(until)
            }
            Ok(Yielded::Waits(until)) => {
                this.sleeps_until = None;
                until
            }
            Ok(Yielded::Ended) | Err(_) => return Poll::Ready(()),
            Ok(Yielded::Panicked(panic)) => std::panic::resume_unwind(panic),
        };
        this.clock.wake_at(this.number, until.map(|until| (until, context.waker().clone())));
        Poll::Pending
    }
}

impl Drop for ThreadTask {
    fn drop(&mut self) {
        self.clock.wake_at(self.number, None);
        self.process.kill();
        if let Some(thread) = self.thread.take() {
            // The last actions of a killed process have no effect.
            let _ = thread.join();
        }
    }
}
