//! What the task of a node and the rest of the hub share: commands, events, and rooms on their way to other nodes.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mesh::{Name, Plea, Promise, Stays};
use tokio::sync::oneshot;

use super::{seal::RelayKey, view::View};

/// Who waits for something that is claimed.
pub(super) type Answer = oneshot::Sender<Result<(), Refused>>;

/// What the hub wants.
#[derive(Debug)]
pub(super) enum Command {
    /// Claims the name of a room with these needs.
    Open(Name, String, Answer),
    /// A room that was taken over goes on.
    Restored(Name),
    /// Claims a code for a room.
    Code { code: Name, room: Name, answer: Answer },
    /// Shows a row of a room.
    Show(Name, String),
    /// A room is over.
    Close(Name),
    /// No more rooms.
    Drain,
    /// Another node is to have a room. The answer is whether the room is to be suspended for that.
    HandOver(Name, oneshot::Sender<Result<(), Kept>>),
    /// A room that was to be handed over stays.
    Stay(Name),
    /// A room was suspended. The answer is that it was handed over.
    Suspended(Name, oneshot::Sender<()>),
    /// Says where a room goes on that was handed over.
    Follow(Name, oneshot::Sender<Settled>),
    /// Another node asks for how long its rooms are left alone.
    Promise(Plea, oneshot::Sender<Promise>),
    /// The process ends.
    Leave(oneshot::Sender<()>),
}

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

/// Why a room is not handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It cannot be.
    Stays(Stays),
    /// Another node has it already, or it is over.
    Lost,
}

/// Where a room that was handed over goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// At another node.
    At(Name),
    /// Nobody took it, so this node has it again.
    Back,
}

type Waiting<T> = Option<oneshot::Sender<T>>;

#[derive(Debug, Default)]
struct Handing {
    offer: Waiting<Result<(), Kept>>,
    handed: Waiting<()>,
    settled: Waiting<Settled>,
    // Whether this node has it again, if that was so before anybody asked.
    is_back: bool,
}

/// Rooms on their way to other nodes. Whoever waits for one that is forgotten hears that too.
#[derive(Debug, Default)]
pub(super) struct Handings(BTreeMap<Name, Handing>);

impl Handings {
    /// A room is to be handed over. The answer is whether it is to be suspended.
    pub(super) fn begin(&mut self, room: Name, answer: oneshot::Sender<Result<(), Kept>>) {
        self.0.insert(room, Handing { offer: Some(answer), ..Handing::default() });
    }

    /// It is to be suspended.
    pub(super) fn suspend(&mut self, room: &Name) {
        // Under another fence it is asked for again.
        answer(self.0.get_mut(room).and_then(|handing| handing.offer.take()), Ok(()));
    }

    /// It stays.
    pub(super) fn stays(&mut self, room: &Name, why: Stays) {
        answer(self.0.remove(room).and_then(|handing| handing.offer), Err(Kept::Stays(why)));
    }

    /// It was suspended. Returns whether it can be handed over.
    pub(super) fn suspended(&mut self, room: &Name, handed: oneshot::Sender<()>) -> bool {
        let Some(handing) = self.0.get_mut(room) else { return false };
        handing.handed = Some(handed);
        true
    }

    /// It was handed over.
    pub(super) fn handed_over(&mut self, room: &Name) {
        answer(self.0.get_mut(room).and_then(|handing| handing.handed.take()), ());
    }

    /// Somebody waits until it goes on.
    pub(super) fn follow(&mut self, room: &Name, settled: oneshot::Sender<Settled>) {
        let Some(handing) = self.0.get_mut(room) else { return };
        if handing.is_back {
            answer(Some(settled), Settled::Back);
            self.0.remove(room);
        } else {
            handing.settled = Some(settled);
        }
    }

    /// Whether somebody waits until it goes on.
    pub(super) fn is_followed(&self, room: &Name) -> bool {
        self.0.get(room).is_some_and(|handing| handing.settled.is_some())
    }

    /// It goes on.
    pub(super) fn settled(&mut self, room: &Name, at: Settled) {
        let Some(handing) = self.0.get_mut(room) else { return };
        handing.is_back |= at == Settled::Back;
        if let Some(settled) = handing.settled.take() {
            answer(Some(settled), at);
            self.0.remove(room);
        }
    }

    /// It is not handed over.
    pub(super) fn forget(&mut self, room: &Name) {
        self.0.remove(room);
    }
}

fn answer<T>(waiting: Waiting<T>, said: T) {
    // Whoever has asked may not wait any more.
    let _ = waiting.map(|waiting| waiting.send(said));
}
