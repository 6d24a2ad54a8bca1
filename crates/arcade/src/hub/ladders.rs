//! The ladder: programs come to one port for each game, wait there, and play matches in rooms of the hub.
//!
//! - `door.rs` listens, reads the first message, and checks the name and its key (`keys.rs`).
//! - `keeper.rs` owns the [`ladder::Ladder`] of a game, which decides who plays whom, and tells `matches.rs` to play.
//! - `matches.rs` opens a room on this machine only, and gives each program a connection to it.
//! - `attend.rs` is one program: it waits, and then what it and its room say is passed on, until one of them is gone.
//!
//! To its room a program is a client as any other, so results, journals and watchers are those of all rooms.

mod attend;
mod door;
mod keeper;
pub(crate) mod keys;
mod line;
mod matches;
mod shown;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ladder::Settings;
use netcore::HostId;
use tokio::sync::mpsc;
use tracing::info;

use self::{attend::Order, keeper::Keeper, shown::View};
use super::Hub;
use crate::games::Game;

/// Programs of a ladder at the same time, waiting or playing.
pub(crate) const MAX_PROGRAMS: usize = 64;
/// Programs of a ladder from one host. A class may share one.
pub(crate) const MAX_HOST_PROGRAMS: usize = 40;
/// Matches of a ladder at the same time.
pub(crate) const MAX_LADDER_MATCHES: usize = 8;
/// What waits for a keeper. A program that says more than that is read later.
const QUEUE: usize = 1_024;

/// The ladders of a hub, by their games.
#[derive(Debug, Default)]
pub(crate) struct Ladders(BTreeMap<Game, Arc<Board>>);

/// What is known of a ladder outside of its task.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) game: Game,
    /// Where programs reach it.
    pub(crate) port: u16,
    view: Mutex<View>,
}

impl Board {
    /// Who waits, who plays, and what has been played last.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ladders {
    /// The ladder of a game, if there is one.
    pub(crate) fn get(&self, game: Game) -> Option<&Arc<Board>> {
        self.0.get(&game)
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.0.values()
    }
}

/// A program that has proven its name.
#[derive(Debug)]
struct Newcomer {
    name: String,
    host: HostId,
    orders: mpsc::Sender<Order>,
}

impl Hub {
    /// Opens the ladder of these games, each at its port; 0 is any free one. Called once, on a runtime.
    ///
    /// # Errors
    /// When a port cannot be had.
    pub(crate) fn open_ladders(self: &Arc<Self>, games: &[(Game, u16)]) -> anyhow::Result<()> {
        let mut boards = BTreeMap::new();
        for &(game, port) in games {
            let (sockets, lease) = self.ports.open_at(game.wire(), port)?;
            let board = Arc::new(Board { game, port: lease.port, view: Mutex::default() });
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
            door::open(self, (game, game.greeting()?), sockets, lease, &sender)?;
            boards.insert(game, board);
        }
        // Called once.
        let _ = self.ladders.set(Ladders(boards));
        Ok(())
    }

    /// The ladders, if there are any.
    pub(crate) fn ladders(&self) -> Option<&Ladders> {
        self.ladders.get()
    }
}

/// How long something may take that is not a program's turn: a first message, a database, the end of a room.
const PATIENCE: Duration = Duration::from_secs(10);
