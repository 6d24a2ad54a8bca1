//! A list of ready connections, so that idle ones cost nothing.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// The woken sources, each once, in the order of waking.
#[derive(Debug)]
pub(crate) struct ReadyList<K>(Arc<Mutex<Woken<K>>>);

#[derive(Debug)]
struct Woken<K> {
    sources: VecDeque<Arc<Inner<K>>>,
    task: Option<Waker>,
}

#[derive(Debug)]
pub(crate) struct Source(Waker);

#[derive(Debug)]
struct Inner<K> {
    key: K,
    queued: AtomicBool,
    list: Arc<Mutex<Woken<K>>>,
}

fn lock<K>(list: &Mutex<Woken<K>>) -> MutexGuard<'_, Woken<K>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Send + Sync + 'static> Wake for Inner<K> {
    fn wake(self: Arc<Self>) {
        if self.queued.swap(true, Ordering::AcqRel) {
            return;
        }
        let list = Arc::clone(&self.list);
        let mut woken = lock(&list);
        woken.sources.push_back(self);
        let task = woken.task.take();
        drop(woken);
        if let Some(task) = task {
            task.wake();
        }
    }
}

impl<K: Copy + Send + Sync + 'static> ReadyList<K> {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Woken { sources: VecDeque::new(), task: None })))
    }

    /// Creates a source that is on the list, so that it is polled once.
    pub(crate) fn source(&self, key: K) -> Source {
        let inner = Inner { key, queued: AtomicBool::new(false), list: Arc::clone(&self.0) };
        let source = Source(Arc::new(inner).into());
        source.wake();
        source
    }

    /// Removes the next source. Until the next [`ReadyList::poll`] no task is woken, because the calling task is awake.
    pub(crate) fn next(&self) -> Option<K> {
        let mut woken = lock(&self.0);
        woken.task = None;
        let inner = woken.sources.pop_front()?;
        drop(woken);
        // Cleared before the poll of the source, so that events during it wake the source again.
        inner.queued.store(false, Ordering::Release);
        Some(inner.key)
    }

    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut woken = lock(&self.0);
        if !woken.sources.is_empty() {
            return Poll::Ready(());
        }
        woken.task = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Source {
    pub(crate) fn wake(&self) {
        self.0.wake_by_ref();
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(list: &ReadyList<u8>) -> Vec<u8> {
        std::iter::from_fn(|| list.next()).collect()
    }

    #[test]
    fn sources_are_listed_once_and_in_order() {
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
    fn the_next_source_wakes_the_waiting_task() {
        let (list, outer) = (ReadyList::new(), ReadyList::new());
        let task = outer.source('t');
        assert_eq!(outer.next(), Some('t'));
        assert_eq!(list.poll(&task.context()), Poll::Pending);
        let source = list.source(7);
        assert_eq!(outer.next(), Some('t'));
        assert_eq!(list.poll(&task.context()), Poll::Ready(()));
        assert_eq!(list.next(), Some(7));
        assert_eq!(list.poll(&task.context()), Poll::Pending);
        assert_eq!(list.next(), None);
        source.wake();
        assert_eq!(outer.next(), None, "a task that looks is awake");
        drop(source);
        assert_eq!(list.next(), Some(7), "a woken source stays on the list");
    }
}
