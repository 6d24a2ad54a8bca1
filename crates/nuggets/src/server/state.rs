use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use netcore::{Outcome, PeerId, Recorded, StateError, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use super::{
    Server,
    chance::Chance,
    seat::{Seat, UnjoinedPeer, bucket},
    start::Start,
};
use crate::{
    config::Config,
    game::{Game, GameState},
    grid::{Grid, MAX_MAP_FILE},
    view::{Spots, Views},
};

/// The map and the configuration of a [`Server`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    map: String,
    config: Config,
}

/// The state of a [`Server`] as plain data.
///
/// About 230 kB for the largest map with all seats taken, mostly visited spots.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    drawn: u64,
    number: u32,
    start: Start,
    game: GameState,
    visited: Vec<Spots>,
    seats: Vec<Seat>,
    strangers: Vec<(PeerId, UnjoinedPeer)>,
    quitters: BTreeSet<String>,
    #[serde(with = "bucket")]
    spectates: TokenBucket,
    catch_up: Option<Time>,
    wake: Option<Time>,
    outcome: Option<Outcome>,
}

impl Recorded for Server {
    const GAME: &'static str = "nuggets";
    const RULES: u32 = 3;
    const OLDEST_RULES: u32 = 2;
    const SETUP_DEFAULTS: &'static [u8] = &[1];
    type Setup = Setup;
    type State = State;

    fn setup(&self) -> Setup {
        Setup { map: String::from_utf8_lossy(self.grid.text()).into_owned(), config: self.config }
    }

    fn from_setup(Setup { map, config }: Setup) -> Result<Self, StateError> {
        if map.len() > MAX_MAP_FILE {
            return Err("the map is too large".into());
        }
        let (grid, repairs) = Grid::parse(map.as_bytes()).map_err(|why| StateError(why.to_string().into()))?;
        if !repairs.is_empty() {
            return Err("the map is not written as a server writes it".into());
        }
        Self::new(Arc::new(grid), config).map_err(|why| StateError(why.to_string().into()))
    }

    fn state(&self) -> State {
        State {
            drawn: self.rng.drawn,
            number: self.number,
            start: self.start,
            game: self.game.state(),
            visited: self.views.state(),
            seats: self.seats.values().cloned().collect(),
            strangers: self.unjoined.iter().map(|(&peer, unjoined)| (peer, unjoined.clone())).collect(),
            quitters: self.quitters.clone(),
            spectates: self.spectates.clone(),
            catch_up: self.catch_up,
            wake: self.wake,
            outcome: self.outcome,
        }
    }

    fn restore(setup: Setup, state: State) -> Result<Self, StateError> {
        let mut server = Self::from_setup(setup)?;
        server.game = Game::restore(Arc::clone(&server.grid), server.config.rules, state.game)?;
        server.views = Views::restore(&server.game, state.visited);
        server.rng = Chance::after(server.config.seed, state.drawn);
        (server.number, server.start) = (state.number, state.start);
        server.seats = state.seats.into_iter().map(|seat| (seat.peer, seat)).collect();
        server.unjoined = state.strangers.into_iter().collect();
        server.quitters = state.quitters;
        server.spectates = state.spectates;
        (server.catch_up, server.wake, server.outcome) = (state.catch_up, state.wake, state.outcome);
        Ok(server)
    }
}
