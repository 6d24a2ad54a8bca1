//! A server as plain data, and the way back.

use alloc::{
    collections::BTreeSet,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use netcore::{
    Outcome, PeerId, Recorded, StateError, Time,
    probe::{self, Planted},
};
use serde::{Deserialize, Serialize};

use super::{
    SPECTATES, Server,
    chance::Chance,
    facts,
    facts::hash,
    pacing::Allowance,
    seat::{Role, Seat, Stranger},
    start::Start,
};
use crate::{
    config::Config,
    game::{Game, state::GameState},
    grid::{Grid, MAX_MAP_FILE},
    view::{Spots, Views},
};

/// What a [`Server`] is made from: its map and its configuration.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Setup {
    map: String,
    config: Config,
}

/// The state of a [`Server`] as plain data.
///
/// On the largest map with a seat for each letter it takes some 230 kB, of which nearly all are the spots that each player has
/// been on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    drawn: u64,
    number: u32,
    start: Start,
    game: GameState,
    visited: Vec<Spots>,
    // In the order of their peers.
    seats: Vec<Seat>,
    strangers: Vec<(PeerId, Stranger)>,
    quitters: BTreeSet<String>,
    spectates: Allowance,
    catch_up: Option<Time>,
    wake: Option<Time>,
    outcome: Option<Outcome>,
}

impl Recorded for Server {
    const GAME: &'static str = "nuggets";
    const RULES: u32 = 3;
    const OLDEST_RULES: u32 = 2;
    // One spectator.
    const SETUP_DEFAULTS: &'static [u8] = &[1];
    type Setup = Setup;
    type State = State;

    fn setup(&self) -> Setup {
        // A map is made of ASCII.
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
            strangers: self.strangers.iter().map(|(&peer, stranger)| (peer, stranger.clone())).collect(),
            quitters: self.quitters.clone(),
            spectates: self.spectates.clone(),
            catch_up: self.catch_up,
            wake: self.wake,
            outcome: self.outcome,
        }
    }

    fn restore(setup: Setup, state: State) -> Result<Self, StateError> {
        let mut server = Self::from_setup(setup)?;
        if state.number == 0 || (state.number > 1 && !server.config.rematch) {
            return Err("a game of that number is never played".into());
        }
        server.toggle_game();
        server.game = Game::restore(Arc::clone(&server.grid), server.config.rules, state.game)?;
        server.views = Views::restore(&server.game, state.visited)?;
        server.rng = Chance::after(server.config.seed, state.drawn);
        (server.number, server.start) = (state.number, state.start);
        server.toggle_game();
        server.restore_peers(state.seats, state.strangers, state.quitters)?;
        if !state.spectates.is(facts::SPECTATES, SPECTATES) {
            return Err("the budget for SPECTATEs is not that of a server".into());
        }
        server.spectates = state.spectates;
        server.spectates.restore_fact(&mut server.digest, PeerId(0));
        server.set_catch_up(state.catch_up);
        server.set_wake(state.wake);
        if let Some(outcome) = state.outcome {
            server.set_outcome(outcome);
        }
        server.check()?;
        Ok(server)
    }
}

impl Server {
    fn restore_peers(
        &mut self,
        seats: Vec<Seat>,
        strangers: Vec<(PeerId, Stranger)>,
        quitters: BTreeSet<String>,
    ) -> Result<(), StateError> {
        for seat in seats {
            if !seat.has_the_budgets() {
                return Err("the budgets of a seat are not those of a seat".into());
            }
            seat.toggle(&mut self.digest);
            if self.seats.insert(seat.peer, seat).is_some() {
                return Err("a peer has two seats".into());
            }
        }
        for (peer, stranger) in strangers {
            stranger.toggle(&mut self.digest, peer);
            if self.seats.contains_key(&peer) || self.strangers.insert(peer, stranger).is_some() {
                return Err("a peer is there twice".into());
            }
        }
        for address in &quitters {
            self.digest.toggle(facts::QUITTER, 0, hash(address.as_bytes()));
        }
        if !probe::has(Planted::QuittersForgotten) {
            self.quitters = quitters;
        }
        Ok(())
    }

    // What holds in every server between two inputs, beyond what holds in each of its parts.
    fn check(&self) -> Result<(), StateError> {
        let spectators = self.seats.values().filter(|seat| seat.role == Role::Spectator).count();
        if spectators > self.config.spectators as usize {
            return Err("more spectate than may".into());
        }
        let plays = |role: &Role| matches!(role, Role::Player(_));
        let mut roles: Vec<Role> = self.seats.values().map(|seat| seat.role).filter(plays).collect();
        let all = roles.len();
        roles.sort_unstable();
        roles.dedup();
        if roles.len() < all {
            return Err("two peers have the same seat".into());
        }
        let is_active = |role: &Role| match *role {
            Role::Player(player) => self.game.player(player).is_some_and(|player| player.cell.is_some()),
            Role::Spectator | Role::Watcher => true,
        };
        if !roles.iter().all(is_active) {
            return Err("somebody who does not play has the seat of a player".into());
        }
        let active = self.game.active().count();
        if self.quitters.len() > self.game.players().len() - active {
            return Err("more addresses have quit than players".into());
        }
        match self.outcome {
            Some(Outcome::Deserted) => return Err("a server does not end by being deserted".into()),
            Some(_) => return Ok(()),
            None => {}
        }
        if self.game.is_over() {
            return Err("the game is over and the server goes on".into());
        }
        if roles.len() < active {
            return Err("somebody plays and has no seat".into());
        }
        self.check_start()?;
        // Whatever is due has somebody who wakes the server for it.
        let due = self.catch_up.into_iter().chain(self.start.due()).chain(self.next_idle()).min();
        let owes = self.seats.values().any(|seat| seat.owed.is_some());
        match (self.wake, due) {
            (None, due) if owes || due.is_some() => Err("something is due and nothing wakes the server".into()),
            (Some(wake), Some(due)) if due < wake => Err("the server is woken too late".into()),
            _ => Ok(()),
        }
    }

    // A game waits exactly as long as players are missing or a countdown goes on.
    fn check_start(&self) -> Result<(), StateError> {
        let waits_for_nobody = match self.start {
            Start::Waiting => self.is_ready(),
            Start::Counting { begins, tick } => self.config.countdown.is_none() || tick > begins || !self.is_ready(),
            Start::Begun => self.game.players().is_empty(),
        };
        if waits_for_nobody {
            return Err("the game has begun without players, or waits for nobody".into());
        }
        let moved = self.game.remaining() < self.config.rules.gold;
        if moved && !self.has_begun() {
            return Err("gold was collected before the game began".into());
        }
        Ok(())
    }
}
