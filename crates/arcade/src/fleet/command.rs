//! Commands, events and hand-overs between the task of a node and the rest of the hub.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mesh::{HandoverRefusal, LeaseGrant, LeaseRequest, Name};
use tokio::sync::oneshot;

use super::{seal::RelayKey, view::View};

pub(super) type Answer = oneshot::Sender<Result<(), ClaimError>>;

#[derive(Debug)]
pub(super) enum Command {
    /// Claims the name of a room that requires these rules.
    Open(Name, String, Answer),
    /// The hub has restored a room that it has taken over.
    Restored(Name),
    /// Claims a code for a room.
    Code { code: Name, room: Name, answer: Answer },
    /// Publishes the row of a room.
    Show(Name, String),
    /// The room has closed.
    Close(Name),
    /// Accepts no more rooms on this node.
    Drain,
    /// The reply states whether the room is to be suspended.
    HandOver(Name, oneshot::Sender<Result<(), HandoverError>>),
    /// A room that was to be handed over stays.
    CancelHandover(Name),
    /// The reply confirms the hand-over.
    Suspended(Name, oneshot::Sender<()>),
    /// The reply states where the room was resumed.
    Follow(Name, oneshot::Sender<Settled>),
    /// Another node requests that this node does not take its rooms for a certain time.
    GrantLease(LeaseRequest, oneshot::Sender<LeaseGrant>),
    /// The process ends.
    Leave(oneshot::Sender<()>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClaimError {
    #[error("another node has it")]
    Taken,
    /// The owner is unknown, because the directory does not respond.
    #[error(
        "the directory of the arcade does not respond; running rooms continue, and new rooms can be opened when it \
         responds again"
    )]
    Away,
}

/// Concerns a room of this node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// Another node owns the room, so it has to end here.
    Lost(Name),
    /// The room has to be resumed here.
    TakenOver(Name),
}

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandoverError {
    Refused(HandoverRefusal),
    /// Another node owns the room already, or it has closed.
    Lost,
}

/// Where a handed-over room was resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
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

/// Removing a room drops its senders, which notifies their receivers.
#[derive(Debug, Default)]
pub(super) struct Handovers(BTreeMap<Name, Handover>);

impl Handovers {
    pub(super) fn begin(&mut self, room: Name, answer: oneshot::Sender<Result<(), HandoverError>>) {
        self.0.insert(room, Handover { offer: Some(answer), ..Handover::default() });
    }

    pub(super) fn suspend(&mut self, room: &Name) {
        // Under another fence this is requested again.
        answer(self.0.get_mut(room).and_then(|handover| handover.offer.take()), Ok(()));
    }

    pub(super) fn refuse(&mut self, room: &Name, why: HandoverRefusal) {
        answer(self.0.remove(room).and_then(|handover| handover.offer), Err(HandoverError::Refused(why)));
    }

    /// Returns whether the room can be handed over.
    pub(super) fn suspended(&mut self, room: &Name, handed: oneshot::Sender<()>) -> bool {
        let Some(handover) = self.0.get_mut(room) else { return false };
        handover.handed = Some(handed);
        true
    }

    pub(super) fn handed_over(&mut self, room: &Name) {
        answer(self.0.get_mut(room).and_then(|handover| handover.handed.take()), ());
    }

    /// `settled` is notified when the room is resumed.
    pub(super) fn follow(&mut self, room: &Name, settled: oneshot::Sender<Settled>) {
        let Some(handover) = self.0.get_mut(room) else { return };
        if handover.is_back {
            answer(Some(settled), Settled::Back);
            self.0.remove(room);
        } else {
            handover.settled = Some(settled);
        }
    }

    pub(super) fn is_followed(&self, room: &Name) -> bool {
        self.0.get(room).is_some_and(|handover| handover.settled.is_some())
    }

    pub(super) fn settled(&mut self, room: &Name, at: Settled) {
        let Some(handover) = self.0.get_mut(room) else { return };
        handover.is_back |= at == Settled::Back;
        if let Some(settled) = handover.settled.take() {
            answer(Some(settled), at);
            self.0.remove(room);
        }
    }

    pub(super) fn remove(&mut self, room: &Name) {
        self.0.remove(room);
    }
}

fn answer<T>(waiting: Waiting<T>, outcome: T) {
    // The receiver may no longer wait.
    let _ = waiting.map(|waiting| waiting.send(outcome));
}
