//! The types that the task of a node shares with the rest of the hub: commands, events, and rooms that are being
//! handed over.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mesh::{LeaseGrant, LeaseRequest, Name, Stays};
use tokio::sync::oneshot;

use super::{seal::RelayKey, view::View};

/// The sender that is notified of the outcome of a claim.
pub(super) type Answer = oneshot::Sender<Result<(), ClaimError>>;

/// A command of the hub to the task.
#[derive(Debug)]
pub(super) enum Command {
    /// Claims the name of a room with these needs.
    Open(Name, String, Answer),
    /// The hub has restored a room that it has taken over.
    Restored(Name),
    /// Claims a code for a room.
    Code { code: Name, room: Name, answer: Answer },
    /// Publishes the row of a room.
    Show(Name, String),
    /// A room has closed.
    Close(Name),
    /// Stops accepting rooms on this node.
    Drain,
    /// Hands a room over to another node. The reply states whether the room is to be suspended for that.
    HandOver(Name, oneshot::Sender<Result<(), HandoverError>>),
    /// A room that was to be handed over stays.
    Stay(Name),
    /// A room was suspended. The reply confirms that it was handed over.
    Suspended(Name, oneshot::Sender<()>),
    /// Waits until a room that was handed over is resumed, and replies where.
    Follow(Name, oneshot::Sender<Settled>),
    /// Another node requests a promise that this node does not take its rooms for a certain time.
    GrantLease(LeaseRequest, oneshot::Sender<LeaseGrant>),
    /// The process ends.
    Leave(oneshot::Sender<()>),
}

/// Why a claim was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClaimError {
    /// Another node owns it.
    #[error("another node has it")]
    Taken,
    /// The directory does not respond, so the owner is unknown.
    #[error(
        "the directory of the arcade does not respond; running rooms continue, and new rooms can be opened when it \
         responds again"
    )]
    Away,
}

/// An event that concerns a room of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Another node owns the room, so it has to end here.
    Lost(Name),
    /// The node has taken the room over, so it has to be resumed here.
    TakenOver(Name),
}

/// State shared by the task and the rest of the hub.
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
pub(crate) enum HandoverError {
    /// The room cannot be handed over.
    Stays(Stays),
    /// Another node owns it already, or it has closed.
    Lost,
}

/// Where a room that was handed over was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// At another node.
    At(Name),
    /// No node has taken it, so this node owns it again.
    Back,
}

type Waiting<T> = Option<oneshot::Sender<T>>;

#[derive(Debug, Default)]
struct Handover {
    offer: Waiting<Result<(), HandoverError>>,
    handed: Waiting<()>,
    settled: Waiting<Settled>,
    // Whether this node owned the room again before any caller followed it.
    is_back: bool,
}

/// Rooms that are being handed over. Forgetting a room drops its senders, which notifies their receivers.
#[derive(Debug, Default)]
pub(super) struct Handovers(BTreeMap<Name, Handover>);

impl Handovers {
    /// Starts the hand-over of a room. The reply states whether the room is to be suspended.
    pub(super) fn begin(&mut self, room: Name, answer: oneshot::Sender<Result<(), HandoverError>>) {
        self.0.insert(room, Handover { offer: Some(answer), ..Handover::default() });
    }

    /// Replies that the room is to be suspended.
    pub(super) fn suspend(&mut self, room: &Name) {
        // Under another fence this is requested again.
        answer(self.0.get_mut(room).and_then(|handover| handover.offer.take()), Ok(()));
    }

    /// Replies that the room stays.
    pub(super) fn stays(&mut self, room: &Name, why: Stays) {
        answer(self.0.remove(room).and_then(|handover| handover.offer), Err(HandoverError::Stays(why)));
    }

    /// Records that the room was suspended. Returns whether it can be handed over.
    pub(super) fn suspended(&mut self, room: &Name, handed: oneshot::Sender<()>) -> bool {
        let Some(handover) = self.0.get_mut(room) else { return false };
        handover.handed = Some(handed);
        true
    }

    /// Confirms that the room was handed over.
    pub(super) fn handed_over(&mut self, room: &Name) {
        answer(self.0.get_mut(room).and_then(|handover| handover.handed.take()), ());
    }

    /// Registers a sender that is notified when the room is resumed.
    pub(super) fn follow(&mut self, room: &Name, settled: oneshot::Sender<Settled>) {
        let Some(handover) = self.0.get_mut(room) else { return };
        if handover.is_back {
            answer(Some(settled), Settled::Back);
            self.0.remove(room);
        } else {
            handover.settled = Some(settled);
        }
    }

    /// Whether a caller waits until the room is resumed.
    pub(super) fn is_followed(&self, room: &Name) -> bool {
        self.0.get(room).is_some_and(|handover| handover.settled.is_some())
    }

    /// Reports where the room was resumed.
    pub(super) fn settled(&mut self, room: &Name, at: Settled) {
        let Some(handover) = self.0.get_mut(room) else { return };
        handover.is_back |= at == Settled::Back;
        if let Some(settled) = handover.settled.take() {
            answer(Some(settled), at);
            self.0.remove(room);
        }
    }

    /// Cancels the hand-over of the room.
    pub(super) fn forget(&mut self, room: &Name) {
        self.0.remove(room);
    }
}

fn answer<T>(waiting: Waiting<T>, said: T) {
    // The receiver may no longer wait.
    let _ = waiting.map(|waiting| waiting.send(said));
}
