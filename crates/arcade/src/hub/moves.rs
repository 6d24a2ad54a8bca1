//! Which rooms are handed over, and what came of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, OnceLock, PoisonError, atomic::AtomicBool},
};

use journal_core::JournalEnd;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::room::Room;

/// Rooms that are handed over.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    pub(super) begun: AtomicBool,
    // Why all that have not moved stay, since a room did for which that holds too.
    pub(super) stopped: OnceLock<Why>,
    // Who waits for the end of a room.
    ends: Mutex<BTreeMap<String, oneshot::Sender<JournalEnd>>>,
    // Rooms that were suspended, and not closed since.
    handed: Mutex<BTreeSet<String>>,
}

impl Moves {
    // Waits for the end of a room.
    pub(super) fn expect(&self, id: &str) -> oneshot::Receiver<JournalEnd> {
        let (ended, end) = oneshot::channel();
        self.ends.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned(), ended);
        end
    }

    /// Who waits for the end of this room.
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

/// Why a room stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Why {
    /// There is no other hub that takes rooms.
    NoHub,
    /// No other hub knows its version of the rules.
    NoRules,
    /// It is a match of the ladder.
    Ladder,
    /// Its journal was given up.
    NoJournal,
    /// Its copy is not where other hubs find it.
    NoCopy,
    /// The directory does not answer.
    Away,
    /// A room that was offered to other hubs was taken by none.
    NotTaken,
    /// Nobody says so far that it goes on.
    Unheard,
}

impl Why {
    /// As the end of a sentence about some rooms.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::NoHub => "there is no other hub that takes rooms",
            Self::NoRules => "no other hub knows their version of the rules",
            Self::Ladder => "matches of the ladder do not move",
            Self::NoJournal => "their journals were given up, so that nobody can go on with them",
            Self::NoCopy => "what happened in them is not where other hubs find it",
            Self::Away => "the directory of the arcade does not answer",
            Self::NotTaken => "the other hubs took no room that was offered to them",
            Self::Unheard => "they were handed over, and no other hub says so far that it goes on with them",
        }
    }
}

/// What came of moving all rooms.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Moved {
    /// For how long each room stood still that has moved, in milliseconds.
    pub(crate) pauses_ms: Vec<u64>,
    /// How many rooms stay, and why.
    pub(crate) stays: BTreeMap<Why, usize>,
}
