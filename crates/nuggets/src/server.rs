//! The server without its sockets: seats and messages.
//!
//! Sources: the requirements of the course's nuggets project and, for the limits on the traffic that unauthenticated
//! clients can cause, `docs/nuggets.md`.

mod engine;
mod seat;
mod updates;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::{convert::Infallible, time::Duration};

use bytes::Bytes;
use netcore::{Framing, GameEvent, Link, Outbox, Outcome, PeerId, Recorded, Severity, StateError, Time, TokenBucket};
use rand::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use self::seat::{Cause, Role, Seat, UnjoinedPeer, bucket, length};
use crate::{
    config::{Config, ConfigError},
    game::{Game, GameState, MAX_PLAYERS},
    grid::{Grid, MAX_MAP_FILE},
    protocol::ServerMessage,
    view::{Spots, Views},
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

// A random number generator whose position can be stored.

/// The seed and the number of draws determine the state.
#[derive(Debug, Clone)]
struct Chance {
    generator: Pcg64,
    drawn: u64,
}

impl Chance {
    fn new(seed: u128) -> Self {
        Self { generator: generator(seed), drawn: 0 }
    }

    fn after(seed: u128, drawn: u64) -> Self {
        let mut generator = generator(seed);
        generator.advance(drawn.into());
        Self { generator, drawn }
    }
}

// Journals and transcripts contain seeds of up to 64 bits, so their sequences must not change. A longer seed is the
// initial state, and its halves also determine the increment, so that observed random numbers reveal no part of the
// generator.
fn generator(seed: u128) -> Pcg64 {
    if let Ok(short) = u64::try_from(seed) {
        return Pcg64::seed_from_u64(short);
    }
    let (high, low) = (seed >> 64, seed & u128::from(u64::MAX));
    let mut expanded = Pcg64::seed_from_u64(u64::try_from(high ^ low).unwrap_or_default());
    let stream = u128::from(expanded.next_u64()) << 64 | u128::from(expanded.next_u64());
    Pcg64::new(seed, stream)
}

impl TryRng for Chance {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.drawn = self.drawn.wrapping_add(1);
        Ok(self.generator.next_u32())
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.drawn = self.drawn.wrapping_add(1);
        Ok(self.generator.next_u64())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for bytes in bytes.chunks_mut(size_of::<u64>()) {
            bytes.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}

/// The start of a game. Each seat receives an ERROR, because the protocol has no message for it and all clients show an
/// ERROR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Start {
    /// More players are needed.
    Waiting,
    /// The next second of the countdown is announced at `tick`.
    Counting { begins: Time, tick: Time },
    /// The game has begun.
    Begun,
}

impl Start {
    const fn due(self) -> Option<Time> {
        match self {
            Self::Counting { tick, .. } => Some(tick),
            Self::Waiting | Self::Begun => None,
        }
    }
}

impl Server {
    fn has_begun(&self) -> bool {
        self.start == Start::Begun
    }

    fn next_idle(&self) -> Option<Time> {
        let limit = self.config.idle_timeout.filter(|_| self.has_begun())?;
        let players = self.seats.values().filter(|seat| matches!(seat.role, Role::Player(_)));
        players.map(|seat| seat.last_key.plus(limit)).min()
    }

    /// Whether enough players are active, or at least one and no other can join.
    fn is_ready(&self) -> bool {
        let active = self.game.active().count();
        let wanted = usize::try_from(self.config.wait_for).unwrap_or(usize::MAX);
        let is_full = self.game.players().len() >= MAX_PLAYERS || !self.game.has_free_spot();
        active > 0 && (active >= wanted || is_full)
    }

    fn players_changed(&mut self, now: Time, out: &mut Outbox) {
        match (self.start, self.is_ready()) {
            (Start::Begun, _) | (Start::Counting { .. }, true) => {}
            (Start::Waiting, true) => match self.config.countdown {
                None => self.begin(now, out),
                Some(countdown) => self.count_down(now, now.plus(countdown), out),
            },
            (Start::Waiting | Start::Counting { .. }, false) => {
                self.start = Start::Waiting;
                self.send_start(now, out);
            }
        }
    }

    fn tick(&mut self, now: Time, out: &mut Outbox) {
        match self.start {
            Start::Counting { begins, .. } if now >= begins => self.begin(now, out),
            Start::Counting { begins, tick } if now >= tick => self.count_down(now, begins, out),
            Start::Waiting | Start::Counting { .. } | Start::Begun => {}
        }
    }

    fn start_text(&self, now: Time) -> String {
        match self.start {
            Start::Waiting => {
                let active = u32::try_from(self.game.active().count()).unwrap_or(u32::MAX);
                match self.config.wait_for.saturating_sub(active) {
                    1 => "waiting for 1 more player".into(),
                    missing => format!("waiting for {missing} more players"),
                }
            }
            Start::Counting { begins, .. } => format!("the game begins in {} s", seconds(begins.since(now))),
            Start::Begun => "the game has begun".into(),
        }
    }

    fn begin(&mut self, now: Time, out: &mut Outbox) {
        self.start = Start::Begun;
        out.event(GameEvent::Started { game: self.number, players: count(self.game.active().count()) });
        if let Some(limit) = self.config.idle_timeout {
            for seat in self.seats.values_mut().filter(|seat| matches!(seat.role, Role::Player(_))) {
                seat.last_key = now;
            }
            self.wake_at(Some(now.plus(limit)));
        }
        // The course's game starts without a wait and needs no announcement.
        if self.config.wait_for > 1 || self.config.countdown.is_some() {
            self.send_start(now, out);
        }
    }

    fn count_down(&mut self, now: Time, begins: Time, out: &mut Outbox) {
        let left = seconds(begins.since(now));
        let tick =
            Time::from_nanos(begins.as_nanos().saturating_sub(left.saturating_sub(1).saturating_mul(1_000_000_000)));
        self.start = Start::Counting { begins, tick };
        self.wake_at(Some(tick));
        self.send_start(now, out);
    }

    fn send_start(&mut self, now: Time, out: &mut Outbox) {
        let text = self.start_text(now);
        for seat in self.seats.values_mut() {
            let frame = ServerMessage::Error(text.as_bytes()).to_frame(seat.framing());
            if seat.pay(now, Cause::Others, length(&frame)) {
                out.send(seat.peer, frame);
            }
        }
        if !self.has_begun() {
            out.event(GameEvent::Notice { severity: Severity::Info, peer: None, text });
        }
    }
}

// Rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

fn count(players: usize) -> u32 {
    u32::try_from(players).unwrap_or(u32::MAX)
}

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

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use rand::RngExt;

    use super::*;

    #[test]
    fn generator_is_restored_from_its_draw_count() {
        let (mut chance, mut plain) = (Chance::new(7), Pcg64::seed_from_u64(7));
        for round in 1..50 {
            assert_eq!(chance.random_range(0..round * 100), plain.random_range(0..round * 100));
            assert_eq!(chance.next_u64(), plain.next_u64());
            let mut bytes = [[0; 21]; 2];
            chance.fill_bytes(&mut bytes[0]);
            plain.fill_bytes(&mut bytes[1]);
            assert_eq!(bytes[0], bytes[1]);
            assert_eq!(Chance::after(7, chance.drawn).next_u64(), chance.clone().next_u64());
        }
    }

    #[test]
    fn long_seeds_extend_64_bit_seeds() {
        for seed in [0, 1, 2021, u64::MAX] {
            assert_eq!(Chance::new(seed.into()).next_u64(), Pcg64::seed_from_u64(seed).next_u64(), "{seed}");
        }
        let long = 0xFEDC_BA98_7654_3210_0123_4567_89AB_CDEF;
        let first = |seed| Chance::new(seed).next_u64();
        // Journals contain such seeds, so these values must not change.
        assert_eq!([first(long), first(1 << 64)], [8_362_208_296_750_236_629, 2_555_873_365_653_585_740]);
        let all: BTreeSet<u64> = (0..128).map(|bit| first(long ^ (1 << bit))).chain([first(long)]).collect();
        assert_eq!(all.len(), 129);
        let mut chance = Chance::new(long);
        for _ in 0..100 {
            let _: u64 = chance.next_u64();
        }
        assert_eq!(Chance::after(long, 100).next_u64(), chance.next_u64());
    }
}
