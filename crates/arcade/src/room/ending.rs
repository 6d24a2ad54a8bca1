//! How a room ends.

use std::sync::{Mutex, MutexGuard, PoisonError};

use netcore::Leave;
use tokio::sync::oneshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomOutcome {
    /// It was closed permanently, or another hub owns it.
    Closed,
    /// Restored when the hub restarts.
    Kept,
    /// Restarts immediately with another journal.
    Renewed,
    /// Another hub resumes it.
    Moved,
}

pub(super) type Stopped = oneshot::Receiver<(Leave, RoomOutcome)>;

#[derive(Debug)]
pub(super) struct EndRequest(Mutex<State>);

#[derive(Debug)]
struct State {
    // `None` once it was sent.
    stop: Option<oneshot::Sender<(Leave, RoomOutcome)>>,
    fate: RoomOutcome,
}

impl EndRequest {
    pub(super) fn new() -> (Self, Stopped) {
        let (stop, stopped) = oneshot::channel();
        (Self(Mutex::new(State { stop: Some(stop), fate: RoomOutcome::Closed })), stopped)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closing takes precedence over an earlier request of another kind.
    pub(super) fn stop(&self, leave: Leave, fate: RoomOutcome) {
        let mut state = self.state();
        if let Some(stop) = state.stop.take() {
            state.fate = fate;
            let _ = stop.send((leave, fate));
        } else if fate == RoomOutcome::Closed {
            state.fate = fate;
        }
    }

    /// Lets another hub resume the room. Returns `false` if it was already about to end.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        let is_first = state.stop.take().is_some_and(|stop| stop.send((Leave::Resumable, RoomOutcome::Moved)).is_ok());
        if is_first {
            state.fate = RoomOutcome::Moved;
        }
        is_first
    }

    pub(super) fn fate(&self) -> RoomOutcome {
        self.state().fate
    }

    /// Whether no request to end the room was made.
    pub(super) fn is_unasked(&self) -> bool {
        self.state().stop.is_some()
    }

    pub(super) fn is_to_close(&self) -> bool {
        let state = self.state();
        state.stop.is_none() && state.fate == RoomOutcome::Closed
    }
}
