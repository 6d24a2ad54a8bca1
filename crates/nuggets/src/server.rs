//! The server without its sockets: seats and messages.
//!
//! Sources: the requirements of the course's nuggets project and, for the limits on the traffic that unauthenticated
//! clients can cause, `docs/nuggets.md`.

mod chance;
mod engine;
mod seat;
mod start;
pub(crate) mod state;
mod updates;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
};
use bytes::Bytes;
use netcore::{Framing, Link, Outcome, PeerId, Time, TokenBucket};

use self::{
    chance::Chance,
    seat::{Seat, UnjoinedPeer},
    start::Start,
};
use crate::{
    config::{Config, ConfigError},
    game::Game,
    grid::Grid,
    protocol::ServerMessage,
    view::Views,
};

pub use self::seat::{CATCH_UP, DRAWN, SHOWN, SPECTATES, UNPROVEN, WELCOMES};

/// The seat name of a spectator in events.
pub const SPECTATOR: &str = "spectator";

/// A server: one game at a time, its players and its spectators.
#[derive(Debug, Clone)]
pub struct Server {
    grid: Arc<Grid>,
    config: Config,
    rng: Chance,
    game: Game,
    // Counted from 1.
    number: u32,
    start: Start,
    views: Views,
    seats: BTreeMap<PeerId, Seat>,
    // Connected peers without a seat; on datagrams only while their message is handled.
    unjoined: BTreeMap<PeerId, UnjoinedPeer>,
    quitters: BTreeSet<String>,
    spectates: TokenBucket,
    // When delayed moves are shown to the other clients.
    catch_up: Option<Time>,
    wake: Option<Time>,
    outcome: Option<Outcome>,
}

impl Server {
    /// A server with its first game set up.
    pub fn new(grid: Arc<Grid>, config: Config) -> Result<Self, ConfigError> {
        let mut rng = Chance::new(config.seed);
        let game = Game::new(Arc::clone(&grid), config.rules, &mut rng)?;
        let views = Views::new(&game);
        Ok(Self {
            grid,
            config,
            rng,
            game,
            number: 1,
            start: Start::Waiting,
            views,
            seats: BTreeMap::new(),
            unjoined: BTreeMap::new(),
            quitters: BTreeSet::new(),
            spectates: TokenBucket::new(SPECTATES, Time::ZERO),
            catch_up: None,
            wake: None,
            outcome: None,
        })
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The current game.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// The messages to a new spectator: size of the map, remaining gold, and map.
    pub fn overview(&self) -> [Bytes; 3] {
        let size = ServerMessage::Grid { rows: self.grid.rows(), cols: self.grid.cols() };
        let gold = ServerMessage::Gold { collected: 0, purse: 0, remaining: self.game.remaining() };
        [size.to_frame(Framing::Whole), gold.to_frame(Framing::Whole), self.views.spectator(Framing::Whole)]
    }

    /// As [`Server::overview`], but without progress: all gold, and the map without gold and players.
    pub fn prelude(&self) -> [Bytes; 3] {
        let size = ServerMessage::Grid { rows: self.grid.rows(), cols: self.grid.cols() };
        let gold = ServerMessage::Gold { collected: 0, purse: 0, remaining: self.config.rules.gold };
        [size, gold, ServerMessage::Display(self.grid.text())].map(|message| message.to_frame(Framing::Whole))
    }

    /// The gold unseen by any active player: the offset of each pile in a spectator's picture, and the map character
    /// below it.
    pub fn unseen_gold(&self) -> impl Iterator<Item = (usize, u8)> {
        let hidden = self.game.piles().keys().filter(|&&cell| !self.views.is_seen(cell));
        hidden.filter_map(|cell| Some((cell.index(), *self.grid.text().get(cell.index())?)))
    }

    fn link(&self, peer: PeerId) -> Option<Link> {
        let seated = self.seats.get(&peer).map(|seat| seat.link);
        seated.or_else(|| self.unjoined.get(&peer).map(|unjoined| unjoined.link))
    }

    fn wake_at(&mut self, time: Option<Time>) {
        self.wake = self.wake.into_iter().chain(time).min();
    }
}
