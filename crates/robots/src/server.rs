//! The server as an engine: players, observers, and messages.
//!
//! Source: the task text of robots, "The server".

use alloc::{
    boxed::Box,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use core::{fmt::Write, mem::take, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{
    Departure, Engine, GameEvent, History, HistoryWriter, Input, Leave, Occupant, Outbox, Outcome, PeerId, Recorded,
    Role, Severity, Standing, StateError, Status, Time, wire::ShortText,
};
use serde::{Deserialize, Serialize};

use crate::{
    config::{Config, ConfigError},
    game::{Game, GameState},
    minstd::MinStd,
    protocol::{Action, ClientMessage, Event, Player, PlayerId, Robots, ServerMessage, encode},
};

/// If a turn is this late, and late by at least its duration, the process was stopped. Later turns are postponed by the
/// same time, because a burst of overdue turns would be unplayable.
const STALL: Duration = Duration::from_secs(10);

/// A server that hosts one game after the other for all connected peers.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    draws: MinStd,
    hello: Bytes,
    peers: BTreeMap<PeerId, Peer>,
    // Of the current or next game.
    players: BTreeMap<PlayerId, Player>,
    phase: Phase,
    games: u32,
    history: BoundedHistory,
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Peer {
    role: Role,
    address: ShortText,
    player: Option<PlayerId>,
}

#[derive(Debug, Clone)]
enum Phase {
    Lobby,
    Playing(Box<Playing>),
}

#[derive(Debug, Clone)]
struct Playing {
    game: Game,
    // When turn 0 was sent or is due.
    start: Time,
    opening: Option<Opening>,
    // The last action in this turn, by player number.
    actions: Vec<Option<Action>>,
}

#[derive(Debug, Clone)]
struct Opening {
    events: Vec<Event>,
    // The generator before turn 0, to recompute the game.
    draws: MinStd,
}

impl Server {
    /// A server in its first lobby.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        let mut hello = BytesMut::new();
        encode(&ServerMessage::Hello(config.parameters.clone()), &mut hello);
        Ok(Self {
            draws: MinStd::new(config.seed),
            hello: hello.freeze(),
            config,
            peers: BTreeMap::new(),
            players: BTreeMap::new(),
            phase: Phase::Lobby,
            games: 0,
            history: lobby_history(),
            outcome: None,
        })
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The current game; `None` in the lobby.
    pub fn game(&self) -> Option<&Game> {
        match &self.phase {
            Phase::Lobby => None,
            Phase::Playing(playing) => Some(&playing.game),
        }
    }

    /// The players of the current or next game.
    pub const fn players(&self) -> &BTreeMap<PlayerId, Player> {
        &self.players
    }

    fn send_snapshot(&mut self, peer: PeerId, out: &mut Outbox) -> bool {
        out.send(peer, self.hello.clone());
        let Some(log) = self.history.snapshot() else { return false };
        if !log.is_empty() {
            out.replay(peer, log);
        }
        true
    }

    fn connected(&mut self, peer: PeerId, role: Role, address: &str, out: &mut Outbox) {
        if !self.send_snapshot(peer, out) {
            // The peer may reconnect in the next lobby.
            return out.close(peer);
        }
        let address = ShortText::try_from(address).unwrap_or_default();
        self.peers.insert(peer, Peer { role, address, player: None });
    }

    fn refresh(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.peers.contains_key(&peer) && !self.send_snapshot(peer, out) {
            self.remove_peer(peer, Departure::Dismissed("the game is too long to be told again".into()), out);
        }
    }

    // The last action of a removed peer still counts, and its robot remains.
    fn remove_peer(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        let Some(gone) = self.peers.remove(&peer) else { return };
        out.close(peer);
        if let Some((id, player)) = gone.player.and_then(|id| self.players.get_key_value(&id)) {
            out.event(GameEvent::Left { peer, name: player.name.to_string(), seat: id.0.to_string(), why });
        }
    }

    fn request(&mut self, now: Time, peer: PeerId, request: ClientMessage, out: &mut Outbox) {
        let Some(Peer { role: Role::Player, player, .. }) = self.peers.get(&peer) else { return };
        match (&mut self.phase, request, *player) {
            (Phase::Lobby, ClientMessage::Join { name }, None) => self.join(now, peer, name, out),
            (Phase::Playing(playing), ClientMessage::Action(action), Some(player)) => {
                if let Some(slot) = playing.actions.get_mut(player.index()) {
                    *slot = Some(action);
                }
            }
            // Clients send a Join with every key. Observers' actions, and actions in the lobby, are ignored.
            (Phase::Lobby, ClientMessage::Join { .. }, Some(_))
            | (Phase::Lobby, ClientMessage::Action(_), _)
            | (Phase::Playing(_), ClientMessage::Join { .. }, _)
            | (Phase::Playing(_), ClientMessage::Action(_), None) => {}
        }
    }

    fn join(&mut self, now: Time, peer: PeerId, name: ShortText, out: &mut Outbox) {
        let Ok(id) = u8::try_from(self.players.len()).map(PlayerId) else { return };
        let Some(joiner) = self.peers.get_mut(&peer) else { return };
        joiner.player = Some(id);
        let player = Player { name, address: joiner.address.clone() };
        self.players.insert(id, player.clone());
        let event = GameEvent::Joined { peer, name: player.name.to_string(), seat: id.0.to_string() };
        self.record(&ServerMessage::AcceptedPlayer { id, player }, out);
        out.event(event);
        if self.players.len() == usize::from(self.config.parameters.players_count) {
            self.start(now, out);
        }
    }

    fn start(&mut self, now: Time, out: &mut Outbox) {
        self.games = self.games.saturating_add(1);
        self.history = BoundedHistory::new(self.config.max_history);
        let draws = self.draws.clone();
        let (game, events) = Game::new(&self.config, &mut self.draws);
        let actions = vec![None; self.players.len()];
        // Turn 0 is due immediately, but turns are counted from its announcement: announcing the start to a thousand
        // observers takes longer than a turn may be late.
        self.phase =
            Phase::Playing(Box::new(Playing { game, start: now, opening: Some(Opening { events, draws }), actions }));
        self.record(&ServerMessage::GameStarted { players: self.players.clone() }, out);
        let players = self.config.parameters.players_count.into();
        out.event(GameEvent::Started { game: self.games, players });
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        let Some(due) = self.deadline().filter(|&due| due <= now) else { return };
        let Phase::Playing(playing) = &mut self.phase else { return };
        if let Some(Opening { events, .. }) = playing.opening.take() {
            playing.start = now;
            self.record(&ServerMessage::Turn { turn: 0, events }, out);
            return self.end_if_over(out);
        }
        let late = now.since(due);
        if late >= STALL.max(self.config.turn_duration) {
            playing.start = playing.start.plus(late);
        }
        let events = playing.game.end_turn(&playing.actions, &mut self.draws);
        playing.actions.fill(None);
        let turn = playing.game.turn();
        self.record(&ServerMessage::Turn { turn, events }, out);
        self.end_if_over(out);
    }

    fn end_if_over(&mut self, out: &mut Outbox) {
        let Some(scores) = self.game().and_then(Game::outcome) else { return };
        let mut frame = BytesMut::new();
        encode(&ServerMessage::GameEnded { scores }, &mut frame);
        out.send_everyone(frame.freeze());
        self.publish_result(out);
        self.phase = Phase::Lobby;
        self.history = lobby_history();
        self.players.clear();
        for peer in self.peers.values_mut() {
            peer.player = None;
        }
    }

    fn publish_result(&self, out: &mut Outbox) {
        let Some(game) = self.game() else { return };
        let standings = standings(game, &self.players);
        let text = summary(self.games, game, &standings);
        out.event(GameEvent::Ended { game: self.games, complete: game.is_over(), standings });
        out.summary(text);
    }

    fn stop(&mut self, leave: Leave, out: &mut Outbox) {
        if leave == Leave::Over {
            self.publish_result(out);
            // The protocol has no message for the end of a connection.
            for peer in take(&mut self.peers).into_keys() {
                out.close(peer);
            }
        }
        self.outcome = Some(Outcome::Stopped);
    }

    fn record(&mut self, message: &ServerMessage, out: &mut Outbox) {
        let was_whole = self.history.written.is_some();
        out.send_everyone(self.history.append(message));
        if was_whole && self.history.written.is_none() {
            out.event(GameEvent::Notice { severity: Severity::Warning, peer: None, text: self.too_long() });
        }
    }

    fn too_long(&self) -> String {
        let Self { games, config: Config { max_history, .. }, .. } = self;
        let turn = self.game().map_or(0, Game::turn);
        format!(
            "the history of game {games} exceeds {max_history} bytes after turn {turn}: new clients are rejected \
             until the game is over"
        )
    }
}

// At most 255 players of at most 514 bytes, so it needs no bound.
fn lobby_history() -> BoundedHistory {
    BoundedHistory::new(u64::MAX)
}

impl Engine for Server {
    type Protocol = Robots;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, address, .. } => self.connected(peer, role, &address, out),
            Input::Message { peer, message } => self.request(now, peer, message, out),
            Input::Malformed { peer, why } => {
                if self.peers.get(&peer).is_some_and(|peer| peer.role == Role::Player) {
                    self.remove_peer(peer, Departure::Dismissed(format!("it sent what is no message: {why}")), out);
                }
            }
            Input::Disconnected { peer, why } => self.remove_peer(peer, Departure::Disconnected(why), out),
            Input::Refresh { peer } => self.refresh(peer, out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    /// Turns are counted from turn 0, so they do not drift. With a duration of zero, each [`Input::Elapsed`] is one
    /// turn, so that a shell can receive messages in between.
    fn deadline(&self) -> Option<Time> {
        let Phase::Playing(playing) = &self.phase else { return None };
        let turns = if playing.opening.is_some() { 0 } else { u32::from(playing.game.turn()) + 1 };
        let due = playing.start.plus(self.config.turn_duration.saturating_mul(turns));
        Some(due).filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Seats of departed players remain taken until the game is over.
    fn status(&self) -> Status {
        let phase = match &self.phase {
            _ if self.outcome.is_some() => netcore::Phase::Over,
            Phase::Lobby => netcore::Phase::Lobby,
            Phase::Playing(_) => netcore::Phase::Playing,
        };
        let taken = u32::try_from(self.players.len()).unwrap_or(u32::MAX);
        Status { phase, taken, seats: self.config.parameters.players_count.into() }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(&peer, line): (&PeerId, &Peer)| {
            let (id, player) = self.players.get_key_value(&line.player?)?;
            Some(Occupant { peer, name: player.name.to_string(), seat: id.0.to_string() })
        };
        self.peers.iter().filter_map(occupant).collect()
    }
}

/// The messages for new clients after Hello: the accepted players, or the game so far.
#[derive(Debug, Clone)]
struct BoundedHistory {
    // `None` once it has exceeded its bound in bytes.
    written: Option<HistoryWriter>,
    bound: u64,
}

impl BoundedHistory {
    fn new(bound: u64) -> Self {
        Self { written: Some(HistoryWriter::new()), bound }
    }

    fn append(&mut self, message: &ServerMessage) -> Bytes {
        let Some(written) = &mut self.written else {
            let mut frame = BytesMut::new();
            encode(message, &mut frame);
            return frame.freeze();
        };
        let frame = written.append(|frame| encode(message, frame));
        if written.len() as u64 > self.bound {
            self.written = None;
        }
        frame
    }

    fn snapshot(&mut self) -> Option<History> {
        self.written.as_mut().map(HistoryWriter::snapshot)
    }

    fn history(&self) -> Option<History> {
        self.written.as_ref().map(HistoryWriter::history)
    }
}

/// Fewest deaths first. Equal scores share a rank, in the order of numbers.
fn standings(game: &Game, players: &BTreeMap<PlayerId, Player>) -> Vec<Standing> {
    let scores = players.iter().zip(game.robots()).map(|((id, player), robot)| (robot.score, id, player));
    let mut rows: Vec<_> = scores.collect();
    rows.sort_unstable_by_key(|&(score, id, _)| (score, id));
    let mut standings: Vec<Standing> = Vec::with_capacity(rows.len());
    for (place, (score, id, player)) in (1..).zip(rows) {
        let score = i64::from(score);
        let rank = standings.last().filter(|before| before.score == score).map_or(place, |before| before.rank);
        standings.push(Standing { rank, seat: id.0.to_string(), name: player.name.to_string(), score });
    }
    standings
}

/// A line about the game, then one for each player: rank, deaths, number, name.
///
/// Control characters in names are escaped.
fn summary(number: u32, game: &Game, standings: &[Standing]) -> String {
    let (turn, length) = (game.turn(), game.length());
    let mut text = String::new();
    let _ = if game.is_over() {
        write!(text, "Game {number} is over after {length} turns")
    } else {
        write!(text, "Game {number} was stopped after {turn} of {length} turns")
    };
    text.push_str("\nrank  destroyed  player  name");
    for Standing { rank, seat, name, score } in standings {
        let _ = write!(text, "\n{rank:>4}  {score:>9}  {seat:>6}  {}", name.escape_debug());
    }
    text
}

/// The state of a [`Server`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    // Until turn 0 is sent, the generator before turn 0 was drawn.
    draws: MinStd,
    peers: Vec<(PeerId, Peer)>,
    players: Vec<Player>,
    phase: PhaseState,
    games: u32,
    stopped: bool,
}

#[derive(Debug, Serialize, Deserialize)]
enum PhaseState {
    Lobby,
    Opening { due: Time, actions: Vec<Option<Action>> },
    // `history` is `None` once it has exceeded its bound.
    Playing { start: Time, actions: Vec<Option<Action>>, game: GameState, history: Option<History> },
}

impl Recorded for Server {
    const GAME: &'static str = "robots";
    const RULES: u32 = 2;
    const OLDEST_RULES: u32 = 1;

    type Setup = Config;
    type State = State;

    fn setup(&self) -> Config {
        self.config.clone()
    }

    fn from_setup(config: Config) -> Result<Self, StateError> {
        Self::new(config).map_err(|why| why.to_string().into())
    }

    fn state(&self) -> State {
        let (mut draws, mut phase) = (&self.draws, PhaseState::Lobby);
        if let Phase::Playing(playing) = &self.phase {
            let Playing { game, start, opening, actions } = &**playing;
            let actions = actions.clone();
            phase = match opening {
                Some(opening) => {
                    draws = &opening.draws;
                    PhaseState::Opening { due: *start, actions }
                }
                None => {
                    PhaseState::Playing { start: *start, actions, game: game.state(), history: self.history.history() }
                }
            };
        }
        State {
            draws: draws.clone(),
            peers: self.peers.iter().map(|(&id, peer)| (id, peer.clone())).collect(),
            players: self.players.values().cloned().collect(),
            phase,
            games: self.games,
            stopped: self.outcome.is_some(),
        }
    }

    fn restore(config: Config, state: State) -> Result<Self, StateError> {
        let mut server = Self::from_setup(config)?;
        let State { draws, peers, players, phase, games, stopped } = state;
        (server.draws, server.games) = (draws, games);
        server.outcome = stopped.then_some(Outcome::Stopped);
        server.players = PlayerId::all().zip(players).collect();
        server.peers = peers.into_iter().collect();
        let (game, start, opening, actions) = match phase {
            PhaseState::Lobby => {
                for (&id, player) in &server.players {
                    server.history.append(&ServerMessage::AcceptedPlayer { id, player: player.clone() });
                }
                return Ok(server);
            }
            PhaseState::Opening { due, actions } => {
                server.history = BoundedHistory::new(server.config.max_history);
                server.history.append(&ServerMessage::GameStarted { players: server.players.clone() });
                let draws = server.draws.clone();
                let (game, events) = Game::new(&server.config, &mut server.draws);
                (game, due, Some(Opening { events, draws }), actions)
            }
            PhaseState::Playing { start, actions, game, history } => {
                let written = history.map(HistoryWriter::from);
                server.history = BoundedHistory { written, bound: server.config.max_history };
                (Game::restore(&server.config, game), start, None, actions)
            }
        };
        server.phase = Phase::Playing(Playing { game, start, opening, actions }.into());
        Ok(server)
    }
}
