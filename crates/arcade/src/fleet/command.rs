//! What the hub wants of the task of its node.

use mesh::{Name, Plea, Promise};
use tokio::sync::oneshot;

use super::{
    handing::{Kept, Settled},
    shared::Refused,
};

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
