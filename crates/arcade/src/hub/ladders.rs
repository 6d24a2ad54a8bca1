//! The ladder: programs come to one port for each game, wait there, and play matches in rooms of the hub.
//!
//! - `door.rs` listens, reads the first message, and checks the name and its key (`keys.rs`).
//! - `keeper.rs` owns the [`ladder::Ladder`] of a game, which decides who plays whom, and tells `matches.rs` to play.
//! - `matches.rs` opens a room on this machine only, and gives each program a connection to it.
//! - `attend.rs` is one program: it waits, and then what it and its room say is passed on, until one of them is gone.
//!
//! To its room a program is a client as any other, so results, journals and watchers are those of all rooms.

pub(crate) mod board;
mod keeper;
mod line;
pub(crate) mod program;

use std::sync::Arc;

use ladder::Settings;
use store::LADDER;
use tokio::sync::mpsc;
use tracing::{info, warn};

use self::{
    board::{Board, Ladders},
    keeper::Keeper,
};
use super::Hub;
use crate::{games::Game, results::Results};

/// Programs of a ladder at the same time, waiting or playing.
pub(crate) const MAX_PROGRAMS: usize = 64;
/// Programs of a ladder from one host. A class may share one.
pub(crate) const MAX_HOST_PROGRAMS: usize = 40;
/// Matches of a ladder at the same time.
pub(crate) const MAX_LADDER_MATCHES: usize = 8;
/// What waits for a keeper. A program that says more than that is read later.
const QUEUE: usize = 1_024;
/// Programs over `WebSockets` that wait for the door.
const TUNNELS: usize = 16;

impl Hub {
    /// Opens the ladder of these games, each at its port; 0 is any free one. Called once, on a runtime.
    ///
    /// # Errors
    /// When a port cannot be had.
    pub(crate) fn open_ladders(self: &Arc<Self>, games: &[(Game, u16)]) -> anyhow::Result<()> {
        let mut boards = vec![];
        for &(game, port) in games {
            let (sockets, lease) = self.ports.open_at(game.wire(), port)?;
            let (tunnels, coming) = mpsc::channel(TUNNELS);
            let board = Arc::new(Board::new(game, lease.port, tunnels));
            let (sender, told) = mpsc::channel(QUEUE);
            let settings = Settings {
                matches: MAX_LADDER_MATCHES,
                programs: MAX_PROGRAMS,
                per_host: MAX_HOST_PROGRAMS,
                continuous: !game.asks(),
                limit: game.ladder_limit(),
                ..Settings::default()
            };
            info!(game = game.name(), port = board.port, "the ladder is open to programs");
            let keeper = Keeper::new(Arc::downgrade(self), Arc::clone(&board), settings, sender.clone());
            tokio::spawn(keeper.run(told));
            program::open(self, (game, game.greeting()?), sockets, lease, (sender, coming))?;
            tokio::spawn(remember(Arc::clone(self.results()), Arc::clone(&board)));
            boards.push(board);
        }
        // Called once.
        let _ = self.ladders.set(Ladders::of(boards));
        Ok(())
    }

    /// The ladders, if there are any.
    pub(crate) fn ladders(&self) -> Option<&Ladders> {
        self.ladders.get()
    }
}

// Lists the matches of before the hub was started. Without them the ladder goes on all the same.
async fn remember(results: Arc<Results>, board: Arc<Board>) {
    // A hub that was killed finds its last results in journals.
    results.caught_up().await;
    match results.store.newest_of_class(board.game.name(), LADDER, board::RECENT).await {
        Ok(before) => board.view().remember(before),
        Err(error) => warn!(game = board.game.name(), %error, "the last matches of the ladder cannot be read"),
    }
}
