//! The server without its sockets: who plays, who looks on, and what everybody is told when.
//!
//! Source: the task text of robots, "The server".

use alloc::{boxed::Box, collections::BTreeMap, vec, vec::Vec};
use bytes::{Bytes, BytesMut};
use core::time::Duration;
use netcore::{
    Digest, Engine, Input, LogWriter, MinStd, Outbox, Outcome, PeerId, Role, Time,
    wire::{Encode, ShortText, Writer},
};

use crate::{
    config::{Config, ConfigError},
    game::Game,
    messages::{Action, ClientMessage, Event, Player, PlayerId, ServerMessage},
    protocol::{Robots, encode},
};

/// A turn that comes so late, and by a whole turn at least, was held up by something that held up everything: a
/// stopped process, a machine that slept. The turns after it keep their distance to it, instead of following in one
/// rush that nobody can play.
pub const STALL: Duration = Duration::from_secs(10);

/// A robots server: one game after the other, and everybody who is connected.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    // One generator for all games.
    draws: MinStd,
    hello: Bytes,
    peers: BTreeMap<PeerId, Peer>,
    // Those of the game, or of the coming one.
    players: BTreeMap<PlayerId, Player>,
    players_digest: Digest,
    phase: Phase,
    // What a newcomer is told behind Hello: who was accepted so far, or the game so far.
    log: LogWriter,
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone)]
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
    // When turn 0 left; until then, when it is due.
    start: Time,
    // The events of turn 0, until it leaves.
    opening: Option<Vec<Event>>,
    // What each player wants to do in the coming turn, by number. Only the last counts, so no more is kept.
    actions: Vec<Option<Action>>,
}

impl Server {
    /// A server in its first lobby.
    ///
    /// # Errors
    /// [`ConfigError`] when no game can be played so.
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
            players_digest: Digest::default(),
            phase: Phase::Lobby,
            log: LogWriter::new(),
            outcome: None,
        })
    }

    /// How it is set up.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The game that is played; `None` in the lobby.
    pub fn game(&self) -> Option<&Game> {
        match &self.phase {
            Phase::Lobby => None,
            Phase::Playing(playing) => Some(&playing.game),
        }
    }

    /// Those who play, or who will in the coming game.
    pub const fn players(&self) -> &BTreeMap<PlayerId, Player> {
        &self.players
    }

    fn welcome(&mut self, peer: PeerId, out: &mut Outbox) {
        out.send(peer, self.hello.clone());
        let log = self.log.snapshot();
        if !log.is_empty() {
            out.replay(peer, log);
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
            // Clients say Join with every key, and actions come from those who look on, or too early.
            (Phase::Lobby, ClientMessage::Join { .. }, Some(_))
            | (Phase::Lobby, ClientMessage::Action(_), _)
            | (Phase::Playing(_), ClientMessage::Join { .. }, _)
            | (Phase::Playing(_), ClientMessage::Action(_), None) => {}
        }
    }

    fn join(&mut self, now: Time, peer: PeerId, name: ShortText, out: &mut Outbox) {
        // There are fewer players than the lobby takes, and that is a u8.
        let Ok(id) = u8::try_from(self.players.len()).map(PlayerId) else { return };
        let Some(joiner) = self.peers.get_mut(&peer) else { return };
        joiner.player = Some(id);
        let player = Player { name, address: joiner.address.clone() };
        self.players_digest.toggle(id.0, 0, fingerprint(&player));
        self.players.insert(id, player.clone());
        self.record(&ServerMessage::AcceptedPlayer { id, player }, out);
        if self.players.len() == usize::from(self.config.parameters.players_count) {
            self.start(now, out);
        }
    }

    fn start(&mut self, now: Time, out: &mut Outbox) {
        self.log.clear();
        self.record(&ServerMessage::GameStarted { players: self.players.clone() }, out);
        let (game, events) = Game::new(&self.config, &mut self.draws);
        let actions = vec![None; self.players.len()];
        // Turn 0 is due at once, but with a time of its own: telling a thousand who look on that the game starts takes
        // longer than turns may be off, and all turns are counted from turn 0.
        self.phase = Phase::Playing(Box::new(Playing { game, start: now, opening: Some(events), actions }));
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        let Some(due) = self.deadline().filter(|&due| due <= now) else { return };
        let Phase::Playing(playing) = &mut self.phase else { return };
        if let Some(events) = playing.opening.take() {
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
        let Some(game) = self.game().filter(|game| game.is_over()) else { return };
        let scores = PlayerId::all().zip(game.robots().iter().map(|robot| robot.score)).collect();
        self.phase = Phase::Lobby;
        self.log.clear();
        self.players.clear();
        self.players_digest = Digest::default();
        self.peers.values_mut().for_each(|peer| peer.player = None);
        let mut frame = BytesMut::new();
        encode(&ServerMessage::GameEnded { scores }, &mut frame);
        out.send_everyone(frame.freeze());
    }

    // Tells everybody, now and whenever somebody comes later.
    fn record(&mut self, message: &ServerMessage, out: &mut Outbox) {
        out.send_everyone(self.log.append(|frame| encode(message, frame)));
    }
}

fn fingerprint(player: &Player) -> u64 {
    let mut bytes = BytesMut::new();
    player.encode(&mut Writer::new(&mut bytes));
    // FNV-1a.
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

impl Engine for Server {
    type Protocol = Robots;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, address, .. } => {
                // Addresses are far shorter than a text may be.
                let address = ShortText::try_from(address).unwrap_or_default();
                self.peers.insert(peer, Peer { role, address, player: None });
                self.welcome(peer, out);
            }
            Input::Request { peer, request } => self.request(now, peer, request, out),
            // As if it had left: what it said before counts, and its robot stays.
            Input::Malformed { peer, .. } | Input::Disconnected { peer, .. } => {
                if self.peers.remove(&peer).is_some() {
                    out.close(peer);
                }
            }
            Input::Refresh { peer } => {
                if self.peers.contains_key(&peer) {
                    self.welcome(peer, out);
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop => {
                // The protocol has no farewell.
                while let Some((peer, _)) = self.peers.pop_first() {
                    out.close(peer);
                }
                self.outcome = Some(Outcome::Stopped);
            }
        }
    }

    /// When the coming turn is due. It is counted from turn 0, so turns do not drift; with a duration of zero it is
    /// always due, and each [`Input::Elapsed`] is one turn, so that a shell can take in messages between two of them.
    fn deadline(&self) -> Option<Time> {
        let Phase::Playing(playing) = &self.phase else { return None };
        let turns = if playing.opening.is_some() { 0 } else { u32::from(playing.game.turn()) + 1 };
        let due = playing.start.plus(self.config.turn_duration.saturating_mul(turns));
        Some(due).filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        // The generator, the players and at most 255 actions are few enough to be looked at each time.
        let mut digest = self.players_digest;
        digest.toggle(u8::MAX, 0, self.draws.state().into());
        if let Phase::Playing(playing) = &self.phase {
            digest.toggle(u8::MAX, 1, playing.game.digest() ^ u64::from(playing.opening.is_some()));
            for (player, &action) in (2..).zip(&playing.actions) {
                let code = match action {
                    None => continue,
                    Some(Action::PlaceBomb) => 4,
                    Some(Action::PlaceBlock) => 5,
                    Some(Action::Move(direction)) => direction as u64,
                };
                digest.toggle(u8::MAX, player, code);
            }
        }
        digest.value()
    }
}
