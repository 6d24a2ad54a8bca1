//! The server without its sockets: who holds which seat, and who is told what.
//!
//! Sources: the requirements of the course's nuggets project, and for the bounds on what strangers can make a server
//! send, `docs/nuggets.md`.

mod chance;
mod ending;
mod pacing;
mod recorded;
mod seat;
mod starting;
mod telling;

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use core::time::Duration;
use netcore::{
    DecodeError, Departure, Digest, Engine, GameEvent, Input, Link, Occupant, Outbox, Outcome, PeerId, Phase, Status,
    Time,
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use self::{
    chance::Chance,
    pacing::Allowance,
    seat::{Role, Seat, Stranger},
    starting::Start,
};
use crate::{
    fingerprint::{self, fold, hash},
    game::{Action, Game, JoinError, MAX_PLAYERS, PlayerId, Rules, RulesError},
    grid::Grid,
    protocol::{ClientMessage, FROM_A_SERVER, Name, Nuggets, ServerMessage},
    view::Views,
};

pub use self::{
    pacing::{CATCH_UP, DRAWN, SHOWN, SPECTATES, UNPROVEN, WELCOMES},
    recorded::{Setup, State},
};

/// What the seat of a spectator is called in events.
pub const SPECTATOR: &str = "spectator";
const FULL: &[u8] = b"Game is full: no more players can join.";
const NAMELESS: &[u8] = b"Sorry - you must provide player's name.";
const READMITTED: &[u8] = b"You have left this game and cannot join it again.";
const GOODBYE: &[u8] = b"Thanks for playing!";
const GOODBYE_SPECTATOR: &[u8] = b"Thanks for watching!";
const REPLACED: &[u8] = b"You have been replaced by a new spectator.";
const UNKNOWN_KEY: &[u8] = b"unknown keystroke";

/// How a server is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Config {
    /// The rules of its games.
    pub rules: Rules,
    /// A player who sends no key for that long loses its seat.
    pub idle_timeout: Option<Duration>,
    /// Whether a game that is over is followed by another.
    pub rematch: bool,
    /// A game begins when so many play; with fewer than two of them it begins with its first player.
    pub wait_for: u32,
    /// How long after that it begins. Until then players look around, and keys that move are ignored.
    pub countdown: Option<Duration>,
    /// Where the random numbers come from: same seed, same piles and places. Whoever hosts for strangers draws all 128 bits, since a
    /// short seed is found by trying which one gives the piles that were seen.
    pub seed: u128,
}

/// A nuggets server: one game at a time, and the seats of those who play it or look on.
#[derive(Debug, Clone)]
pub struct Server {
    grid: Arc<Grid>,
    config: Config,
    rng: Chance,
    game: Game,
    // From 1, and whether it has begun.
    number: u32,
    start: Start,
    views: Views,
    seats: BTreeMap<PeerId, Seat>,
    // Peers that are connected and have no seat; on datagrams only while they are answered.
    strangers: BTreeMap<PeerId, Stranger>,
    // Addresses of those who quit this game.
    quitters: BTreeSet<String>,
    spectates: Allowance,
    // When those who were not shown each move of a very fast player are shown where it is now.
    catch_up: Option<Time>,
    wake: Option<Time>,
    outcome: Option<Outcome>,
    // All but the game and the views, which have their own.
    digest: Digest,
}

impl Server {
    /// A server whose first game has its gold dropped.
    ///
    /// # Errors
    /// [`RulesError`] when no game can have these rules.
    pub fn new(grid: Arc<Grid>, config: Config) -> Result<Self, RulesError> {
        let mut rng = Chance::new(config.seed);
        let game = Game::new(Arc::clone(&grid), config.rules, &mut rng)?;
        let views = Views::new(&game);
        let mut digest = Digest::default();
        let set_up = hash(format!("{:?} {:?} {}", config.rules, config.idle_timeout, config.rematch).as_bytes());
        digest.toggle(fingerprint::SET_UP, 0, fold(hash(grid.text()), set_up));
        let mut server = Self {
            grid,
            config,
            rng,
            game,
            number: 1,
            start: Start::Waiting,
            views,
            seats: BTreeMap::new(),
            strangers: BTreeMap::new(),
            quitters: BTreeSet::new(),
            spectates: Allowance::new(fingerprint::SPECTATES, SPECTATES, Time::ZERO),
            catch_up: None,
            wake: None,
            outcome: None,
            digest,
        };
        server.toggle_game();
        Ok(server)
    }

    /// How it is set up.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The game that is played.
    pub const fn game(&self) -> &Game {
        &self.game
    }

    fn request(&mut self, now: Time, peer: PeerId, request: ClientMessage, out: &mut Outbox) {
        match (request, self.seats.get(&peer).map(|seat| seat.role)) {
            (ClientMessage::Play(name), None) => self.play(now, peer, name, out),
            (ClientMessage::Play(_), Some(Role::Player(player))) => self.play_again(now, peer, player, out),
            (ClientMessage::Play(_), Some(Role::Spectator | Role::Watcher)) => {
                self.error(now, peer, b"you are watching; leave with Q before you play", out);
            }
            (ClientMessage::Spectate, Some(Role::Player(_))) => {
                self.error(now, peer, b"you are playing; leave with Q before you watch", out);
            }
            (ClientMessage::Spectate, Some(Role::Watcher)) => self.welcome(now, peer, out),
            (ClientMessage::Spectate, None | Some(Role::Spectator)) => self.spectate(now, peer, out),
            (ClientMessage::Key(key), Some(role)) => self.key(now, peer, role, key, out),
            // Strangers' keys have no effect and no answer.
            (ClientMessage::Key(_), None) => {}
        }
    }

    fn play(&mut self, now: Time, peer: PeerId, name: Option<Name>, out: &mut Outbox) {
        let Some(Stranger { address, .. }) = self.strangers.get(&peer) else { return };
        if self.game.players().len() >= MAX_PLAYERS {
            return self.say(peer, &ServerMessage::Quit(FULL), out);
        }
        let Some(name) = name else {
            return self.say(peer, &ServerMessage::Quit(NAMELESS), out);
        };
        if self.quitters.contains(address) {
            return self.say(peer, &ServerMessage::Quit(READMITTED), out);
        }
        self.toggle_game();
        let joined = self.game.join(name, &mut self.rng);
        self.toggle_game();
        let (player, event) = match joined {
            Ok(joined) => joined,
            Err(JoinError::NoLetter | JoinError::NoSpot) => return self.say(peer, &ServerMessage::Quit(FULL), out),
        };
        self.views.update(&self.game, &[event]);
        self.take_seat(now, peer, Role::Player(player), out);
        self.welcome(now, peer, out);
        self.displays(now, None, Some(peer), out);
        self.players_changed(now, out);
    }

    // A PLAY from somebody who plays: an answer to the first was lost, unless a key shows that it arrived.
    fn play_again(&mut self, now: Time, peer: PeerId, player: PlayerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        if seat.is_proven() {
            let letter = self.game.player(player).map(|player| player.letter);
            let text = letter.map_or_else(String::new, |letter| format!("you are playing already, as {letter}"));
            self.error(now, peer, text.as_bytes(), out);
        } else if seat.welcome_again(now, &mut self.digest) {
            self.welcome(now, peer, out);
        }
    }

    fn spectate(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        // The number of nobody in particular: the rate is one for all.
        if !self.spectates.take(now, 1, (&mut self.digest, PeerId(0))) {
            return self.error(now, peer, b"too many spectators just now; try again in a second", out);
        }
        let before = self.spectator().filter(|&before| before != peer);
        if let Some(before) = before {
            self.say(before, &ServerMessage::Quit(REPLACED), out);
            self.leave_seat(before, Departure::Dismissed("replaced by a new spectator".into()), out);
        }
        if !self.seats.contains_key(&peer) {
            self.take_seat(now, peer, Role::Spectator, out);
        }
        self.welcome(now, peer, out);
    }

    fn key(&mut self, now: Time, peer: PeerId, role: Role, key: u8, out: &mut Outbox) {
        if let Some(seat) = self.seats.get_mut(&peer) {
            seat.key(now, self.config.idle_timeout.is_some(), &mut self.digest);
        }
        match role {
            Role::Spectator | Role::Watcher if key == b'Q' => {
                self.say(peer, &ServerMessage::Quit(GOODBYE_SPECTATOR), out);
                self.leave_seat(peer, Departure::Quit, out);
            }
            Role::Spectator | Role::Watcher => {}
            Role::Player(player) => match Action::from_key(key) {
                None => self.error(now, peer, UNKNOWN_KEY, out),
                Some(Action::Quit) => self.quit(now, peer, player, Some(GOODBYE), Departure::Quit, out),
                Some(_) if !self.has_begun() => {
                    let text = self.start_text(now);
                    self.error(now, peer, text.as_bytes(), out);
                }
                Some(action) => {
                    let Ok(events) = self.game.apply(player, action) else { return };
                    if !events.is_empty() {
                        self.views.update(&self.game, &events);
                        self.tell(now, player, &events, out);
                    }
                }
            },
        }
    }

    // Takes a player off the map; `farewell` is none if it cannot be told.
    fn quit(
        &mut self,
        now: Time,
        peer: PeerId,
        player: PlayerId,
        farewell: Option<&[u8]>,
        why: Departure,
        out: &mut Outbox,
    ) {
        let Ok(events) = self.game.apply(player, Action::Quit) else { return };
        self.views.update(&self.game, &events);
        if let Some(text) = farewell {
            self.say(peer, &ServerMessage::Quit(text), out);
        }
        if let Some(seat) = self.seats.get(&peer)
            && self.quitters.insert(seat.address.clone())
        {
            self.digest.toggle(fingerprint::QUITTER, 0, hash(seat.address.as_bytes()));
        }
        self.leave_seat(peer, why, out);
        self.tell(now, player, &events, out);
        // Nobody plays and nobody can join: such a game would never make room for the next.
        let full = self.game.players().len() >= MAX_PLAYERS;
        if self.config.rematch && full && !self.game.is_over() && self.game.active().next().is_none() {
            self.finish(out);
        } else if self.outcome.is_none() {
            self.players_changed(now, out);
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: &DecodeError, out: &mut Outbox) {
        let text = format!("malformed message: {why}");
        match self.link(peer) {
            // Nothing behind it can be read, so the peer could do no more than look on.
            Some(Link::Stream) => self.dismiss_peer(now, peer, &text, out),
            // Two servers that were set against each other by a forged address would answer each other for ever.
            Some(Link::Datagram) if *why == FROM_A_SERVER => {}
            _ => self.error(now, peer, text.as_bytes(), out),
        }
    }

    // Sends a peer away, whatever it is, and says why.
    fn dismiss_peer(&mut self, now: Time, peer: PeerId, text: &str, out: &mut Outbox) {
        let why = Departure::Dismissed(text.to_string());
        match self.seats.get(&peer).map(|seat| seat.role) {
            Some(Role::Player(player)) => self.quit(now, peer, player, Some(text.as_bytes()), why, out),
            seat => {
                self.say(peer, &ServerMessage::Quit(text.as_bytes()), out);
                if seat.is_some() {
                    self.leave_seat(peer, why, out);
                } else if self.remove_stranger(peer).is_some() {
                    out.close(peer);
                }
            }
        }
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        self.set_wake(None);
        self.tick(now, out);
        // Nobody loses a seat by waiting for the others.
        let idle_timeout = self.config.idle_timeout.filter(|_| self.has_begun());
        if let Some(limit) = idle_timeout {
            let idle = |seat: &Seat| match seat.role {
                Role::Player(player) if now.since(seat.last_key()) >= limit => Some((seat.peer, player)),
                _ => None,
            };
            let seconds = limit.as_secs();
            for (peer, player) in self.seats.values().filter_map(idle).collect::<Vec<_>>() {
                let text = format!("You sent no key for {seconds} seconds and have lost your seat.");
                let why = Departure::Dismissed(format!("sent no key for {seconds} seconds"));
                self.quit(now, peer, player, Some(text.as_bytes()), why, out);
            }
        }
        self.set_catch_up(self.catch_up.filter(|&due| now < due));
        self.wake_at(self.catch_up);
        self.wake_at(self.start.due());
        if let Some(limit) = idle_timeout {
            let players = self.seats.values().filter(|seat| matches!(seat.role, Role::Player(_)));
            let next = players.map(|seat| seat.last_key().plus(limit)).min();
            self.wake_at(next);
        }
        self.owed_displays(now, out);
    }

    fn take_seat(&mut self, now: Time, peer: PeerId, role: Role, out: &mut Outbox) {
        let Some(stranger) = self.remove_stranger(peer) else { return };
        let seat = Seat::new(now, peer, role, stranger);
        seat.toggle(&mut self.digest);
        let (name, seat_name) = self.called(role);
        out.event(GameEvent::Joined { peer, name, seat: seat_name });
        self.seats.insert(peer, seat);
        if let (Some(limit), Role::Player(_)) = (self.config.idle_timeout, role) {
            self.wake_at(Some(now.plus(limit)));
        }
    }

    fn leave_seat(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        let Some(gone) = self.seats.remove(&peer) else { return };
        gone.toggle(&mut self.digest);
        out.close(peer);
        let (name, seat) = self.called(gone.role);
        out.event(GameEvent::Left { peer, name, seat, why });
    }

    // The name of somebody who has a seat, and the seat's.
    fn called(&self, role: Role) -> (String, String) {
        match role {
            Role::Player(player) => self
                .game
                .player(player)
                .map_or_else(Default::default, |player| (player.name.to_string(), player.letter.to_string())),
            Role::Spectator => (String::new(), SPECTATOR.into()),
            Role::Watcher => (String::new(), "watcher".into()),
        }
    }

    fn remove_stranger(&mut self, peer: PeerId) -> Option<Stranger> {
        let stranger = self.strangers.remove(&peer)?;
        stranger.toggle(&mut self.digest, peer);
        Some(stranger)
    }

    // On datagrams nobody says goodbye, so whoever was not let in by a message is forgotten at once.
    fn forget_stranger(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.strangers.get(&peer).is_some_and(|stranger| stranger.link == Link::Datagram) {
            self.remove_stranger(peer);
            out.close(peer);
        }
    }

    fn link(&self, peer: PeerId) -> Option<Link> {
        let seated = self.seats.get(&peer).map(|seat| seat.link);
        seated.or_else(|| self.strangers.get(&peer).map(|stranger| stranger.link))
    }

    fn spectator(&self) -> Option<PeerId> {
        self.seats.values().find(|seat| seat.role == Role::Spectator).map(|seat| seat.peer)
    }

    // Asks to be woken at `time`, unless that is asked for earlier already.
    fn wake_at(&mut self, time: Option<Time>) {
        self.set_wake(self.wake.into_iter().chain(time).min());
    }

    fn set_wake(&mut self, wake: Option<Time>) {
        let old = core::mem::replace(&mut self.wake, wake);
        change_time(&mut self.digest, fingerprint::WAKE, old, wake);
    }

    fn set_catch_up(&mut self, catch_up: Option<Time>) {
        let old = core::mem::replace(&mut self.catch_up, catch_up);
        change_time(&mut self.digest, fingerprint::CATCH_UP, old, catch_up);
    }

    fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = Some(outcome);
        self.digest.toggle(fingerprint::OUTCOME, 0, u64::from(outcome == Outcome::Finished));
    }

    // Adds the number of the game and the state of the generator to the digest, or takes them away.
    fn toggle_game(&mut self) {
        let mut next = self.rng.clone();
        self.digest.toggle(fingerprint::CHANCE, 0, fold(next.random(), next.random()));
        self.toggle_start();
    }
}

// No more than there are letters.
fn count(players: usize) -> u32 {
    u32::try_from(players).unwrap_or(u32::MAX)
}

fn change_time(digest: &mut Digest, what: u8, old: Option<Time>, new: Option<Time>) {
    if old != new {
        old.into_iter().chain(new).for_each(|time| digest.toggle(what, 0, time.as_nanos()));
    }
}

impl Engine for Server {
    type Protocol = Nuggets;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, link, address } => {
                let stranger = Stranger { address: address.into_owned(), link };
                stranger.toggle(&mut self.digest, peer);
                self.strangers.insert(peer, stranger);
                if role == netcore::Role::Watcher {
                    self.take_seat(now, peer, Role::Watcher, out);
                    self.welcome(now, peer, out);
                }
            }
            Input::Message { peer, message } => {
                self.request(now, peer, message, out);
                self.forget_stranger(peer, out);
            }
            Input::Malformed { peer, why } => {
                self.malformed(now, peer, &why, out);
                self.forget_stranger(peer, out);
            }
            Input::Refresh { peer } => {
                self.tell_all(peer, out);
                // A stranger is there until its first message is answered. That message was lost with the server that took it
                // in, and nobody says that the stranger is gone.
                self.forget_stranger(peer, out);
            }
            Input::Disconnected { peer, why } => {
                if self.remove_stranger(peer).is_some() {
                    out.close(peer);
                }
                let why = Departure::Disconnected(why);
                match self.seats.get(&peer).map(|seat| seat.role) {
                    Some(Role::Player(player)) => self.quit(now, peer, player, None, why, out),
                    Some(Role::Spectator | Role::Watcher) => self.leave_seat(peer, why, out),
                    None => {}
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.wake.filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        // Facts of each kind stand in one of the three only, so together they are one set.
        self.game.digest() ^ self.views.digest() ^ self.digest.value()
    }

    fn status(&self) -> Status {
        let phase = match self.outcome {
            Some(_) => Phase::Over,
            None if self.has_begun() => Phase::Playing,
            None => Phase::Lobby,
        };
        // A letter is not given twice in a game, so whoever leaves takes the seat along.
        let taken = self.game.active().count();
        let left = self.game.players().len() - taken;
        Status { phase, taken: count(taken), seats: count(MAX_PLAYERS - left) }
    }

    fn roster(&self) -> Vec<Occupant> {
        let seats = self.seats.values().filter(|seat| matches!(seat.role, Role::Player(_)));
        let occupant = |seat: &Seat| {
            let (name, letter) = self.called(seat.role);
            Occupant { peer: seat.peer, name, seat: letter }
        };
        seats.map(occupant).collect()
    }
}
