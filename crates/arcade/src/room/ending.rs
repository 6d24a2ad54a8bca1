use std::sync::{Mutex, MutexGuard, PoisonError};

use netcore::Leave;
use tokio::sync::oneshot;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoomOutcome {
    /// Closed permanently, or owned by another hub.
    Closed,
    /// Restored when the hub restarts.
    Suspended,
    /// Restarts immediately with another journal.
    Renewed,
    /// Resumed by another hub.
    Moved,
}

pub(super) type Stopped = oneshot::Receiver<(Leave, RoomOutcome)>;

#[derive(Debug)]
pub(super) struct EndRequest(Mutex<EndState>);

#[derive(Debug)]
struct EndState {
    // `None` once sent.
    stop: Option<oneshot::Sender<(Leave, RoomOutcome)>>,
    outcome: RoomOutcome,
}

impl EndRequest {
    pub(super) fn new() -> (Self, Stopped) {
        let (stop, stopped) = oneshot::channel();
        (Self(Mutex::new(EndState { stop: Some(stop), outcome: RoomOutcome::Closed })), stopped)
    }

    fn state(&self) -> MutexGuard<'_, EndState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `Closed` replaces an earlier outcome.
    pub(super) fn stop(&self, leave: Leave, outcome: RoomOutcome) {
        let mut state = self.state();
        if let Some(stop) = state.stop.take() {
            state.outcome = outcome;
            let _ = stop.send((leave, outcome));
        } else if outcome == RoomOutcome::Closed {
            state.outcome = outcome;
        }
    }

    /// Lets another hub resume the room. Returns `false` if it was already about to end.
    pub(super) fn suspend(&self) -> bool {
        let mut state = self.state();
        let is_first = state.stop.take().is_some_and(|stop| stop.send((Leave::Resumable, RoomOutcome::Moved)).is_ok());
        if is_first {
            state.outcome = RoomOutcome::Moved;
        }
        is_first
    }

    pub(super) fn outcome(&self) -> RoomOutcome {
        self.state().outcome
    }

    pub(super) fn is_unrequested(&self) -> bool {
        self.state().stop.is_some()
    }

    pub(super) fn is_to_close(&self) -> bool {
        let state = self.state();
        state.stop.is_none() && state.outcome == RoomOutcome::Closed
    }
}
