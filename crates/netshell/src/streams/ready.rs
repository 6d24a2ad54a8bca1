//! Which of many connections have something to do, without asking all of them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Sources that have woken, in the order in which they did, each once.
#[derive(Debug)]
pub(crate) struct ReadyList<K> {
    shared: Arc<Shared<K>>,
}

#[derive(Debug)]
struct Shared<K> {
    woken: Mutex<Woken<K>>,
}

#[derive(Debug)]
struct Woken<K> {
    sources: VecDeque<Arc<Inner<K>>>,
    task: Option<Waker>,
}

/// Something that wakes, known by its key.
#[derive(Debug)]
pub(crate) struct Source {
    waker: Waker,
}

#[derive(Debug)]
struct Inner<K> {
    key: K,
    queued: AtomicBool,
    shared: Arc<Shared<K>>,
}

impl<K> Shared<K> {
    fn woken(&self) -> MutexGuard<'_, Woken<K>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send + Sync + 'static> Wake for Inner<K> {
    fn wake(self: Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let mut woken = shared.woken();
        woken.sources.push_back(self);
        let task = woken.task.take();
        drop(woken);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<K: Copy + Send + Sync + 'static> ReadyList<K> {
    /// Nothing has woken.
    pub(crate) fn new() -> Self {
        Self { shared: Arc::new(Shared { woken: Mutex::new(Woken { sources: VecDeque::new(), task: None }) }) }
    }

    /// A source that is awake from the start, so that it is looked at once and then waits.
    pub(crate) fn source(&self, key: K) -> Source {
        let inner = Inner { key, queued: AtomicBool::new(false), shared: Arc::clone(&self.shared) };
        let source = Source { waker: Arc::new(inner).into() };
        source.wake();
        source
    }

    /// Takes the source that has been awake for longest off the list.
    pub(crate) fn next(&self) -> Option<K> {
        let inner = self.shared.woken().sources.pop_front()?;
        // Before it is looked at: what happens meanwhile wakes it again.
        inner.queued.store(false, Ordering::Release);
        Some(inner.key)
    }

    /// Ready when a source is awake; otherwise the next that wakes will wake the task.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut woken = self.shared.woken();
        if !woken.sources.is_empty() {
            return Poll::Ready(());
        }
        woken.task = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Source {
    /// Puts it on the list.
    pub(crate) fn wake(&self) {
        self.waker.wake_by_ref();
    }

    /// A context in which whatever pends puts the source on the list once it can go on.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(list: &ReadyList<u8>) -> Vec<u8> {
        std::iter::from_fn(|| list.next()).collect()
    }

    #[test]
    fn what_wakes_is_listed_once_and_in_order() {
        let list = ReadyList::new();
        let sources: Vec<Source> = (0..4).map(|key| list.source(key)).collect();
        assert_eq!(drain(&list), [0, 1, 2, 3], "each is awake at first");
        for key in [2, 0, 2, 2] {
            sources[key].wake();
        }
        assert_eq!(drain(&list), [2, 0]);
        sources[2].wake();
        assert_eq!(drain(&list), [2], "and again after it was looked at");
    }

    #[test]
    fn a_task_that_waits_is_woken_by_the_next_source() {
        let (list, outer) = (ReadyList::new(), ReadyList::new());
        let task = outer.source('t');
        assert_eq!(outer.next(), Some('t'));
        assert_eq!(list.poll(&task.context()), Poll::Pending);
        let source = list.source(7);
        assert_eq!(outer.next(), Some('t'));
        assert_eq!(list.poll(&task.context()), Poll::Ready(()));
        drop(source);
        assert_eq!(list.next(), Some(7), "what has woken stays on the list");
    }
}
