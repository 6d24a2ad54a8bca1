//! The shutdown signal of the server.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use netcore::Leave;

/// Resolves when the server should stop. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop(Arc<Mutex<(Option<Leave>, Option<Waker>)>>);

impl Stop {
    pub(super) fn stop(&self, how: Leave) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = Some(how);
        state.1.take().into_iter().for_each(Waker::wake);
    }
}

impl Future for Stop {
    type Output = Leave;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Leave> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leave) = state.0 {
            return Poll::Ready(leave);
        }
        state.1 = Some(context.waker().clone());
        Poll::Pending
    }
}
