//! Wakes tasks that wait for a change, without a runtime.

use std::{
    pin::Pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// The wakers of waiting tasks.
#[derive(Debug, Default)]
pub(super) struct Changes(Mutex<Vec<Waker>>);

impl Changes {
    /// Wakes all waiting tasks.
    pub(super) fn wake(&self) {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Waits until `look` returns a value.
    pub(super) fn wait<'a, T>(&'a self, look: impl FnMut() -> Option<T> + 'a) -> impl Future<Output = T> + 'a {
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
