//! How rooms of this node are handed over to others.

use mesh::Name;
use tokio::{sync::oneshot, time::timeout};

use super::{
    Fleet, PATIENCE,
    command::Command,
    handing::{Kept, Settled},
};

impl Fleet {
    /// Another node is to have a room of this one, which drains. When it is to be suspended, `Ok`; none while the directory does not answer.
    pub(crate) async fn hand_over(&self, room: &str) -> Option<Result<(), Kept>> {
        let room: Name = room.parse().ok()?;
        let (answer, answered) = oneshot::channel();
        let _ = self.commands.send(Command::HandOver(room.clone(), answer)).await;
        if let Ok(answered) = timeout(PATIENCE, answered).await {
            return Some(answered.unwrap_or(Err(Kept::Lost)));
        }
        let _ = self.commands.send(Command::Stay(room)).await;
        None
    }

    /// A room that was to be handed over stays.
    pub(crate) async fn stay(&self, room: &str) {
        self.tell(room, Command::Stay).await;
    }

    /// A room tells nobody anything more, and its copy is complete. Waits until it is another node's, or is to be; that takes as long as the
    /// directory does. Returns whether this node has handed it over.
    pub(crate) async fn suspended(&self, room: &str) -> bool {
        let (answer, answered) = oneshot::channel();
        self.tell(room, |room| Command::Suspended(room, answer)).await;
        answered.await.is_ok()
    }

    /// Waits until a room that was handed over goes on. None if nobody can say where.
    pub(crate) async fn follow(&self, room: &str) -> Option<Settled> {
        let (answer, answered) = oneshot::channel();
        self.tell(room, |room| Command::Follow(room, answer)).await;
        answered.await.ok()
    }

    /// Whether a room is on its way to another node, or was claimed by one that does not have its state yet.
    pub(crate) fn is_moving(&self, room: &str) -> bool {
        room.parse().is_ok_and(|room| self.shared.view().is_moving(&room))
    }
}
