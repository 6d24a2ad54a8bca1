//! The state of the end of a room.

use std::sync::{Mutex, MutexGuard, PoisonError};

use netcore::Leave;
use tokio::sync::oneshot;

/// What happens to a room after its task has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomOutcome {
    /// The room is over here: it was closed permanently, or another hub owns it.
    Closed,
    /// The room is restored when the hub restarts.
    Kept,
    /// The room restarts immediately with another journal.
    Renewed,
    /// Another hub resumes the room.
    Moved,
}

/// The signal to end that the task of a room waits for.
pub(super) type Stopped = oneshot::Receiver<(Leave, RoomOutcome)>;

/// The request to end a room, and what happens to the room afterwards.
#[derive(Debug)]
pub(super) struct EndRequest(Mutex<State>);

#[derive(Debug)]
struct State {
    // `None` once the signal was sent.
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

    /// Requests the room to end. Closing takes precedence over an earlier request of another kind.
    pub(super) fn stop(&self, leave: Leave, fate: RoomOutcome) {
        let mut state = self.state();
        if let Some(stop) = state.stop.take() {
            state.fate = fate;
            // The room may have ended already.
            let _ = stop.send((leave, fate));
        } else if fate == RoomOutcome::Closed {
            state.fate = fate;
        }
    }

    /// Suspends the room, so that another hub resumes it. Returns `false` if it was already about to end.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        let is_first = state.stop.take().is_some_and(|stop| stop.send((Leave::Resumable, RoomOutcome::Moved)).is_ok());
        if is_first {
            state.fate = RoomOutcome::Moved;
        }
        is_first
    }

    /// Returns what happens to the room after its task has ended.
    pub(super) fn fate(&self) -> RoomOutcome {
        self.state().fate
    }

    /// Whether no request to end the room was made.
    pub(super) fn is_unasked(&self) -> bool {
        self.state().stop.is_some()
    }

    /// Whether the room is to be closed permanently.
    pub(super) fn is_to_close(&self) -> bool {
        let state = self.state();
        state.stop.is_none() && state.fate == RoomOutcome::Closed
    }
}
