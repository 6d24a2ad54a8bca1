//! What is known of ladders outside of their tasks.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use netcore::HostId;
use tokio::sync::mpsc;

use super::{shown::View, told::Tunnel};
use crate::games::Game;

/// The ladders of a hub, by their games.
#[derive(Debug, Default)]
pub(crate) struct Ladders(BTreeMap<Game, Arc<Board>>);

/// What is known of a ladder.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) game: Game,
    /// Where programs reach it.
    pub(crate) port: u16,
    view: Mutex<View>,
    // Names that lost a key, until the keeper has sent their programs away.
    revoked: Mutex<Vec<String>>,
    tunnels: mpsc::Sender<Tunnel>,
}

impl Board {
    pub(super) fn new(game: Game, port: u16, tunnels: mpsc::Sender<Tunnel>) -> Self {
        Self { game, port, view: Mutex::default(), revoked: Mutex::default(), tunnels }
    }

    /// Who waits, who plays, and what has been played last.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revoked(&self) -> MutexGuard<'_, Vec<String>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Programs with these names, whose keys do not prove them any more, are sent away soon.
    pub(crate) fn revoke(&self, names: &[String]) {
        self.revoked().extend_from_slice(names);
    }

    pub(super) fn take_revoked(&self) -> Vec<String> {
        std::mem::take(&mut *self.revoked())
    }

    /// Lets a program in over a WebSocket: what it says comes by `inbox`, and what it is told goes to `outbox`, which is dropped in the end.
    pub(crate) async fn attend(&self, host: HostId, inbox: mpsc::Receiver<Bytes>, outbox: mpsc::Sender<Bytes>) {
        // Without a door the hub ends.
        let _ = self.tunnels.send(Tunnel { host, inbox, outbox }).await;
    }
}

impl Ladders {
    /// These ladders.
    pub(super) fn of(boards: impl IntoIterator<Item = Arc<Board>>) -> Self {
        Self(boards.into_iter().map(|board| (board.game, board)).collect())
    }

    /// The ladder of a game, if there is one.
    pub(crate) fn get(&self, game: Game) -> Option<&Arc<Board>> {
        self.0.get(&game)
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.0.values()
    }
}
