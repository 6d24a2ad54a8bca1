use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::PATIENCE;

/// A value that one thread changes while another waits for it.
#[derive(Default)]
pub struct Monitor<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Monitor<T> {
    pub fn new(value: T) -> Arc<Self> {
        Arc::new(Self { value: Mutex::new(value), changed: Condvar::new() })
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        // A test that panicked with the lock held has failed already.
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Returns `None` after [`PATIENCE`].
    pub fn find<U>(&self, find: impl FnMut(&T) -> Option<U>) -> Option<U> {
        self.find_within(PATIENCE, find)
    }

    pub fn find_within<U>(&self, patience: Duration, mut find: impl FnMut(&T) -> Option<U>) -> Option<U> {
        let deadline = Instant::now() + patience;
        let mut value = self.lock();
        loop {
            let found = find(&value);
            let left = deadline.saturating_duration_since(Instant::now());
            if found.is_some() || left.is_zero() {
                return found;
            }
            value = self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// `describe` formats the value for the panic message.
    pub fn wait(&self, wanted: impl Fn(&T) -> bool, describe: impl Fn(&T) -> String) {
        let found = self.find(|value| wanted(value).then_some(()));
        assert!(found.is_some(), "waited too long; the value is\n{}", describe(&self.lock()));
    }
}
