//! The in-process implementation for a single hub, without a thread, task or clock.

mod directory;
mod log;
mod results;
mod summaries;

use std::{
    fmt, mem,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use netcore::Time;

use self::{directory::Entries, log::Logs, results::Queue, summaries::Published};
use crate::{ErrorKind, JournalStreams, MeshError, events, journals};

pub const MAX_ENTRIES: usize = 100_000;
/// Events and journals are counted separately.
pub const MAX_LOGS: usize = 10_000;

/// The shared state of hubs within this process, shared by clones. A single hub stores its results and journals in its
/// database and files.
#[derive(Clone)]
pub struct Local(Arc<Inner>);

struct Inner {
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    state: Mutex<LocalState>,
    changes: Changes,
}

#[derive(Debug)]
struct LocalState {
    entries: Entries,
    events: Logs,
    journals: Logs,
    hashed: Logs,
    results: Queue,
    summaries: Published,
}

impl Local {
    /// `clock` must be monotonic.
    pub fn new(clock: impl Fn() -> Time + Send + Sync + 'static) -> Self {
        let state = LocalState {
            entries: Entries::default(),
            events: Logs::new(events::BOUNDS),
            journals: Logs::new(journals::BOUNDS),
            hashed: Logs::new(journals::BOUNDS),
            results: Queue::default(),
            summaries: Published::default(),
        };
        Self(Arc::new(Inner { clock: Box::new(clock), state: Mutex::new(state), changes: Changes::default() }))
    }

    /// The journals of this process. `self` has those of [`Placement::Single`](crate::Placement::Single).
    pub fn journals(&self) -> JournalStreams {
        JournalStreams { single: Arc::new(self.clone()), hashed: Arc::new(LocalHashed(self.clone())) }
    }

    fn state(&self) -> MutexGuard<'_, LocalState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        (self.0.clock)()
    }

    fn changed(&self) {
        self.0.changes.wake();
    }
}

/// The journals of [`Placement::Hashed`](crate::Placement::Hashed) of one process.
#[derive(Debug, Clone)]
pub struct LocalHashed(Local);

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Changes(Mutex<Vec<Waker>>);

impl Changes {
    fn wake(&self) {
        let waiting = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
    }

    fn wait<'a, T>(&'a self, look: impl FnMut() -> Option<T> + 'a) -> impl Future<Output = T> + 'a {
        Wait { changes: self, look: Box::new(look) }
    }
}

struct Wait<'a, L: ?Sized> {
    changes: &'a Changes,
    look: Box<L>,
}

impl<T, L: FnMut() -> Option<T>> Future for Wait<'_, L> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        // Register before `look` runs, so that no change in between is missed.
        {
            let mut waiting = self.changes.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.push(cx.waker().clone());
            }
        }
        (self.look)().map_or(Poll::Pending, Poll::Ready)
    }
}

fn full(what: &str, most: impl fmt::Display) -> MeshError {
    MeshError::new(
        ErrorKind::Full,
        what,
        "this process",
        format_args!("there are {most} already"),
        "remove unused entries",
    )
}
