//! A value that one thread changes and another waits for.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::PATIENCE;

/// A value that one thread changes and another waits for.
#[derive(Debug, Default)]
pub struct Watched<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Watched<T> {
    /// Creates it with an initial value.
    pub fn new(value: T) -> Arc<Self> {
        Arc::new(Self { value: Mutex::new(value), changed: Condvar::new() })
    }

    /// The current value. After a panic of another thread it is what that one has left.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value and wakes whoever waits.
    pub fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until `wanted` holds. `describe` formats the value for the panic message.
    pub fn wait(&self, wanted: impl Fn(&T) -> bool, describe: impl Fn(&T) -> String) {
        self.find(
            |value| wanted(value).then_some(()),
            |value| format!("waited too long; the value is\n{}", describe(value)),
        );
    }

    /// Waits until `find` returns something. `fail` is the panic message if it does not in time.
    pub fn find<R>(&self, mut find: impl FnMut(&T) -> Option<R>, fail: impl Fn(&T) -> String) -> R {
        let deadline = Instant::now() + PATIENCE;
        let mut value = self.lock();
        loop {
            if let Some(found) = find(&value) {
                return found;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{}", fail(&value));
            value = self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
