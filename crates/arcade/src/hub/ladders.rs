//! The ladder: programs connect to a port for each game and play matches in rooms. Rooms treat them as ordinary
//! clients, so results, journals and watchers work as usual.

pub(crate) mod board;
mod link;
pub(crate) mod program;
mod task;

use std::{sync::Arc, time::Duration};

use ladder::Settings;
use netcore::Link;
use store::LADDER;
use tokio::sync::mpsc;
use tracing::{info, warn};

use self::{
    board::{Board, Ladders},
    task::LadderTask,
};
use super::Hub;
use crate::{games::Game, results::Results};

/// The maximum number of programs of a ladder, waiting or playing.
pub(crate) const MAX_PROGRAMS: usize = 128;
/// The same from one host, which a class may share.
pub(crate) const MAX_HOST_PROGRAMS: usize = 64;
/// The maximum number of concurrent matches of a ladder.
pub(crate) const MAX_LADDER_MATCHES: usize = 8;
/// Messages to a ladder's task. While the queue is full, programs are not read.
const QUEUE: usize = 1_024;
/// Programs over `WebSockets` that wait to be accepted.
const TUNNELS: usize = 16;

impl Hub {
    /// Opens each ladder at its port, where 0 is any free one. Called once, on a runtime.
    /// A program may reconnect to its match within `reconnect`.
    pub(crate) fn open_ladders(self: &Arc<Self>, games: &[(Game, u16)], reconnect: Duration) -> anyhow::Result<()> {
        let mut boards = vec![];
        for &(game, port) in games {
            let (sockets, lease) = self.ports.open_at(game.wire(), port)?;
            let (tunnels, coming) = mpsc::channel(TUNNELS);
            let board = Arc::new(Board::new(game, lease.port, tunnels));
            let (sender, messages) = mpsc::channel(QUEUE);
            let settings = Settings {
                matches: MAX_LADDER_MATCHES,
                programs: MAX_PROGRAMS,
                per_host: MAX_HOST_PROGRAMS,
                continuous: !game.requests_moves(),
                limit: game.ladder_limit(),
                reconnect,
                datagrams: game.link() == Link::Datagram,
                ..Settings::default()
            };
            info!(game = game.name(), port = board.port, "the ladder is open to programs");
            let task = LadderTask::new(Arc::downgrade(self), Arc::clone(&board), settings, sender.clone());
            tokio::spawn(task.run(messages));
            program::open(self, (game, game.greeting()?), sockets, lease, (sender, coming))?;
            tokio::spawn(remember(Arc::clone(self.results()), Arc::clone(&board)));
            boards.push(board);
        }
        let _ = self.ladders.set(Ladders::of(boards));
        Ok(())
    }

    pub(crate) fn ladders(&self) -> Option<&Ladders> {
        self.ladders.get()
    }
}

// Lists earlier matches, if the results can be read.
async fn remember(results: Arc<Results>, board: Arc<Board>) {
    // After a crash, the last results are only in journals.
    results.caught_up().await;
    match results.store.newest_of_class(board.game.name(), LADDER, board::RECENT).await {
        Ok(before) => board.view().remember(before),
        Err(error) => warn!(game = board.game.name(), %error, "cannot read the last matches of the ladder"),
    }
}
