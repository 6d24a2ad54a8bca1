//! How a room is to end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use netcore::Leave;
use tokio::sync::oneshot;

/// What becomes of a room when its task ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is over.
    Closed,
    /// It comes back when the hub is started again.
    Kept,
    /// It begins anew at once, with another journal.
    Renewed,
    /// Another hub is to go on with it.
    Moved,
}

/// What the task of a room waits for.
pub(super) type Stopped = oneshot::Receiver<(Leave, Fate)>;

/// How a room is to end.
#[derive(Debug)]
pub(super) struct Ending(Mutex<State>);

#[derive(Debug)]
struct State {
    // None if it was told already.
    stop: Option<oneshot::Sender<(Leave, Fate)>>,
    fate: Fate,
}

impl Ending {
    pub(super) fn new() -> (Self, Stopped) {
        let (stop, stopped) = oneshot::channel();
        (Self(Mutex::new(State { stop: Some(stop), fate: Fate::Closed })), stopped)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the room to end. A room that is to be closed is closed, also if it was to end in another way before.
    pub(super) fn stop(&self, leave: Leave, fate: Fate) {
        let mut state = self.state();
        if let Some(stop) = state.stop.take() {
            state.fate = fate;
            // The room may have ended already.
            let _ = stop.send((leave, fate));
        } else if fate == Fate::Closed {
            state.fate = fate;
        }
    }

    /// Suspends the room, so that another hub goes on with it. Returns whether it was not about to end in another way.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        let is_first = state.stop.take().is_some_and(|stop| stop.send((Leave::Resumable, Fate::Moved)).is_ok());
        if is_first {
            state.fate = Fate::Moved;
        }
        is_first
    }

    /// What becomes of it.
    pub(super) fn fate(&self) -> Fate {
        self.state().fate
    }

    /// Whether nobody has asked the room to end.
    pub(super) fn is_unasked(&self) -> bool {
        self.state().stop.is_some()
    }

    /// Whether somebody wants it to be closed for good.
    pub(super) fn is_to_close(&self) -> bool {
        let state = self.state();
        state.stop.is_none() && state.fate == Fate::Closed
    }
}
