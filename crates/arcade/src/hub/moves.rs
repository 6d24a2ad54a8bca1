//! The hand-over of rooms: its state and its outcome.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, OnceLock, PoisonError, atomic::AtomicBool},
};

use journal_core::JournalEnd;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::room::Room;

/// The state of the hand-over of rooms.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub(super) begun: AtomicBool,
    // The reason why all remaining rooms stay, if one room could not move for a reason that applies to all of them.
    pub(super) stopped: OnceLock<Why>,
    // The tasks that wait for the end of a room, by its id.
    ends: Mutex<BTreeMap<String, oneshot::Sender<JournalEnd>>>,
    // Rooms that were suspended, and not closed since.
    handed: Mutex<BTreeSet<String>>,
}

impl Moves {
    // Registers a task that waits for the end of a room.
    pub(super) fn expect(&self, id: &str) -> oneshot::Receiver<JournalEnd> {
        let (ended, end) = oneshot::channel();
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), ended);
        end
    }

    /// Removes and returns the waiting task of this room.
    pub(super) fn take(&self, room: &Room) -> Option<oneshot::Sender<JournalEnd>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).remove(&room.file().id)
    }

    pub(super) fn hand(&self, id: &str) {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    pub(super) fn keep(&self, id: &str) {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    /// Whether a room was handed over, or is about to be.
    pub(super) fn has_handed(&self, id: &str) -> bool {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }
}

/// Why a room stays at this hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Why {
    /// No other hub takes rooms.
    NoHub,
    /// No other hub has its version of the rules.
    NoRules,
    /// It is a ladder match.
    Ladder,
    /// Its journal was given up.
    NoJournal,
    /// Its copy is not available to other hubs.
    NoCopy,
    /// The directory does not answer.
    Away,
    /// No other hub took a room that was offered.
    NotTaken,
    /// No hub has reported yet that the room has resumed.
    Unheard,
}

impl Why {
    /// The end of a sentence about some rooms.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NoHub => "there is no other hub that takes rooms",
            Self::NoRules => "no other hub supports their version of the rules",
            Self::Ladder => "matches of the ladder do not move",
            Self::NoJournal => "their journals were cut, so no hub can resume them",
            Self::NoCopy => "their latest events are not replicated",
            Self::Away => "the directory of the arcade does not respond",
            Self::NotTaken => "the other hubs accepted none of the rooms",
            Self::Unheard => "they were handed over, but no other hub has confirmed that they resumed",
        }
    }
}

/// The outcome of moving all rooms.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moved {
    /// The pause of each moved room, in milliseconds.
    pub(crate) pauses_ms: Vec<u64>,
    /// The number of rooms that stay, by reason.
    pub(crate) stays: BTreeMap<Why, usize>,
}
