//! What the task of a node and the rest of the hub have in common.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mesh::Name;

use super::{seal::RelayKey, view::View};

/// Why something cannot be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    /// Another node has it.
    #[error("another node has it")]
    Taken,
    /// The directory does not answer, so nobody knows who has it.
    #[error(
        "the directory of the arcade does not answer; what runs goes on, and new rooms can be opened when it is back"
    )]
    Away,
}

/// What happens to rooms of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Somebody else has the room: it is to end here.
    Lost(Name),
    /// The node has taken the room over: it is to go on here.
    TakenOver(Name),
}

/// What the task and the rest of the hub know together.
#[derive(Debug, Default)]
pub(super) struct Shared {
    view: Mutex<View>,
    key: Mutex<Option<RelayKey>>,
}

impl Shared {
    pub(super) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn key(&self) -> MutexGuard<'_, Option<RelayKey>> {
        self.key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
