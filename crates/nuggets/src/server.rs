//! The server without its sockets: who holds which seat, and who is told what.
//!
//! Sources: the requirements of the course's nuggets project, and for the bounds on what strangers can make a server
//! send, `docs/nuggets.md`.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};
use bytes::Bytes;
use core::time::Duration;
use netcore::{DecodeError, Engine, Input, Link, Outbox, Outcome, PeerId, Rate, Time, TokenBucket};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::{
    game::{Action, Event, Game, JoinError, MAX_PLAYERS, Player, PlayerId, Rules, RulesError},
    grid::Grid,
    protocol::{ClientMessage, FROM_A_SERVER, MAX_DATAGRAM, Name, Nuggets, ServerMessage},
    view::Views,
};

/// Bytes of DISPLAYs that an address may be sent before it has sent a KEY: a quarter of a megabyte a second, after as
/// much at once. Until then nothing shows that the address asked for them itself.
pub const UNPROVEN: Rate = Rate { per_second: 256 << 10, burst: 256 << 10 };
/// How often an address without a KEY so far is sent its joining messages again, however often it asks: one that lost
/// them asks again after a second.
pub const WELCOMES: Rate = Rate { per_second: 1, burst: 2 };
/// How many moves of one player are shown to the others one by one: 200 a second, after 10,000 at once. Whoever moves
/// faster is seen every [`CATCH_UP`], so that a program that runs to and fro does not flood everybody's network.
pub const SHOWN: Rate = Rate { per_second: 200, burst: 10_000 };
/// After how long at most the others see the moves beyond [`SHOWN`].
pub const CATCH_UP: Duration = Duration::from_millis(5);
/// How often a SPECTATE is taken in: two a second, after eight at once. Each one sends a whole map somewhere.
pub const SPECTATES: Rate = Rate { per_second: 2, burst: 8 };

const FULL: &[u8] = b"Game is full: no more players can join.";
const NAMELESS: &[u8] = b"Sorry - you must provide player's name.";
const READMITTED: &[u8] = b"You have left this game and cannot join it again.";
const GOODBYE: &[u8] = b"Thanks for playing!";
const GOODBYE_SPECTATOR: &[u8] = b"Thanks for watching!";
const REPLACED: &[u8] = b"You have been replaced by a new spectator.";
const UNKNOWN_KEY: &[u8] = b"unknown keystroke";

/// How a server is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Config {
    /// The rules of its games.
    pub rules: Rules,
    /// A player who sends no key for that long loses its seat.
    pub idle_timeout: Option<Duration>,
    /// Whether a game that is over is followed by another.
    pub rematch: bool,
    /// Where the random numbers come from: same seed, same piles and places.
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Player(PlayerId),
    // The one who came by SPECTATE; the next one takes the place.
    Spectator,
    // One whom the shell let in to look on.
    Watcher,
}

// Somebody who has been let in.
#[derive(Debug, Clone)]
struct Seat {
    role: Role,
    address: String,
    // Whether a KEY came from there: a forged address cannot know that it should send one.
    proven: bool,
    budget: TokenBucket,
    welcomes: TokenBucket,
    shown: TokenBucket,
    // A DISPLAY that had to wait; the newest is sent once it may.
    owed: bool,
    last_key: Time,
}

impl Seat {
    // Sends a DISPLAY if the budget allows; otherwise it is owed, and the answer is when to try again.
    fn show(&mut self, now: Time, peer: PeerId, frame: Bytes, out: &mut Outbox) -> Option<Time> {
        self.owed = !self.proven && !self.budget.take(now, length(&frame));
        if self.owed {
            return self.budget.ready_at(now, length(&frame));
        }
        out.send(peer, frame);
        None
    }
}

// Somebody who has not been let in yet.
#[derive(Debug, Clone)]
struct Stranger {
    address: String,
    link: Link,
}

/// A nuggets server: one game at a time, and the seats of those who play it or look on.
#[derive(Debug, Clone)]
pub struct Server {
    grid: Arc<Grid>,
    config: Config,
    rng: Pcg64,
    game: Game,
    views: Views,
    seats: BTreeMap<PeerId, Seat>,
    // Peers that are connected and have no seat, with their addresses; on datagrams only while they are answered.
    strangers: BTreeMap<PeerId, Stranger>,
    // Addresses of those who quit this game.
    quitters: BTreeSet<String>,
    spectates: TokenBucket,
    // When those who were not shown each move of a very fast player are shown where it is now.
    catch_up: Option<Time>,
    wake: Option<Time>,
    outcome: Option<Outcome>,
}

impl Server {
    /// A server whose first game has its gold dropped.
    ///
    /// # Errors
    /// [`RulesError`] when no game can have these rules.
    pub fn new(grid: Arc<Grid>, config: Config) -> Result<Self, RulesError> {
        let mut rng = Pcg64::seed_from_u64(config.seed);
        let game = Game::new(Arc::clone(&grid), config.rules, &mut rng)?;
        let views = Views::new(&game);
        Ok(Self {
            grid,
            config,
            rng,
            game,
            views,
            seats: BTreeMap::new(),
            strangers: BTreeMap::new(),
            quitters: BTreeSet::new(),
            spectates: TokenBucket::new(SPECTATES, Time::ZERO),
            catch_up: None,
            wake: None,
            outcome: None,
        })
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
        let refusal = |text| ServerMessage::Quit(text).to_bytes();
        if self.game.players().len() >= MAX_PLAYERS {
            return out.send(peer, refusal(FULL));
        }
        let Some(name) = name else {
            return out.send(peer, refusal(NAMELESS));
        };
        if self.quitters.contains(address) {
            return out.send(peer, refusal(READMITTED));
        }
        let joined = self.game.join(name, &mut self.rng);
        let (player, event) = match joined {
            Ok(joined) => joined,
            Err(JoinError::NoLetter | JoinError::NoSpot) => return out.send(peer, refusal(FULL)),
        };
        self.views.update(&self.game, &[event]);
        self.take_seat(now, peer, Role::Player(player));
        self.welcome(now, peer, out);
        self.displays(now, Some(peer), out);
    }

    // A PLAY from somebody who plays: an answer to the first was lost, unless a key shows that it arrived.
    fn play_again(&mut self, now: Time, peer: PeerId, player: PlayerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        if seat.proven {
            let letter = self.game.player(player).map(|player| player.letter);
            let text = letter.map_or_else(String::new, |letter| format!("you are playing already, as {letter}"));
            self.error(now, peer, text.as_bytes(), out);
        } else if seat.welcomes.take(now, 1) {
            self.welcome(now, peer, out);
        }
    }

    fn spectate(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        if !self.spectates.take(now, 1) {
            return self.error(now, peer, b"too many spectators just now; try again in a second", out);
        }
        let before = self.spectator().filter(|&before| before != peer);
        if let Some(before) = before {
            out.send(before, ServerMessage::Quit(REPLACED).to_bytes());
            self.leave_seat(before, out);
        }
        if !self.seats.contains_key(&peer) {
            self.take_seat(now, peer, Role::Spectator);
        }
        self.welcome(now, peer, out);
    }

    fn key(&mut self, now: Time, peer: PeerId, role: Role, key: u8, out: &mut Outbox) {
        if let Some(seat) = self.seats.get_mut(&peer) {
            seat.proven = true;
            seat.last_key = now;
        }
        match role {
            Role::Spectator | Role::Watcher if key == b'Q' => {
                out.send(peer, ServerMessage::Quit(GOODBYE_SPECTATOR).to_bytes());
                self.leave_seat(peer, out);
            }
            Role::Spectator | Role::Watcher => {}
            Role::Player(player) => match Action::from_key(key) {
                None => self.error(now, peer, UNKNOWN_KEY, out),
                Some(Action::Quit) => self.quit(now, peer, player, Some(GOODBYE), out),
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
    fn quit(&mut self, now: Time, peer: PeerId, player: PlayerId, farewell: Option<&[u8]>, out: &mut Outbox) {
        let Ok(events) = self.game.apply(player, Action::Quit) else { return };
        self.views.update(&self.game, &events);
        if let Some(text) = farewell {
            out.send(peer, ServerMessage::Quit(text).to_bytes());
        }
        if let Some(seat) = self.seats.get(&peer) {
            self.quitters.insert(seat.address.clone());
        }
        self.leave_seat(peer, out);
        self.tell(now, player, &events, out);
        // Nobody plays and nobody can join: such a game would never make room for the next.
        let full = self.game.players().len() >= MAX_PLAYERS;
        if self.config.rematch && full && !self.game.is_over() && self.game.active().next().is_none() {
            self.finish(out);
        }
    }

    // Tells everybody what an action of `actor` has changed: all GOLDs, all DISPLAYs, then texts, since a GOLD wipes a
    // text off a client's status line; and the end of the game, if it was that.
    fn tell(&mut self, now: Time, actor: PlayerId, events: &[Event], out: &mut Outbox) {
        let mut gained = 0;
        let mut shared = false;
        let mut victims = Vec::new();
        for event in events {
            match *event {
                Event::Collected { nuggets, .. } => {
                    gained += nuggets;
                    shared = true;
                }
                Event::Stolen { victim, nuggets, .. } => {
                    gained += nuggets;
                    victims.push((victim, nuggets));
                }
                // What nobody has found yet has grown.
                Event::Dropped { .. } => shared = true,
                Event::Joined { .. } | Event::Moved { .. } | Event::Left { .. } => {}
            }
        }
        for (&peer, seat) in &self.seats {
            let told = match seat.role {
                Role::Player(player) if player == actor => (shared || gained > 0).then_some(gained),
                Role::Player(player) => (shared || victims.iter().any(|&(victim, _)| victim == player)).then_some(0),
                Role::Spectator | Role::Watcher => shared.then_some(0),
            };
            if let Some(collected) = told {
                out.send(peer, self.gold(seat.role, collected));
            }
        }
        let over = self.game.is_over();
        let fast = |(_, seat): (_, &mut Seat)| seat.role == Role::Player(actor) && !seat.shown.take(now, 1);
        if !shared && !over && self.seats.iter_mut().any(fast) {
            self.display_later(now, actor, out);
        } else {
            self.displays(now, None, out);
        }
        self.tell_thefts(actor, &victims, out);
        if over {
            self.finish(out);
        }
    }

    fn tell_thefts(&self, thief: PlayerId, victims: &[(PlayerId, u32)], out: &mut Outbox) {
        let known = |player: PlayerId| Some((self.peer_of(player)?, self.game.player(player)?));
        for &(victim, nuggets) in victims {
            let (Some((thief_peer, thief)), Some((victim_peer, victim))) = (known(thief), known(victim)) else {
                continue;
            };
            let mut say = |peer, text: String| out.send(peer, ServerMessage::Error(text.as_bytes()).to_bytes());
            let Player { letter, purse, .. } = thief;
            say(thief_peer, format!("you stole {nuggets} nuggets from {}; you have {purse} now", victim.letter));
            say(victim_peer, format!("{letter} stole {nuggets} nuggets from you; you have {} now", victim.purse));
        }
    }

    fn finish(&mut self, out: &mut Outbox) {
        let text = format!("GAME OVER:\n{}", self.game.table());
        self.dismiss(text.as_bytes(), out);
        out.summary(text);
        if self.config.rematch
            && let Ok(game) = Game::new(Arc::clone(&self.grid), self.config.rules, &mut self.rng)
        {
            self.views = Views::new(&game);
            self.game = game;
            self.quitters.clear();
        } else {
            self.outcome = Some(Outcome::Finished);
        }
    }

    // Takes leave of everybody.
    fn dismiss(&mut self, text: &[u8], out: &mut Outbox) {
        out.send_everyone(ServerMessage::Quit(text).to_bytes());
        for peer in core::mem::take(&mut self.seats).into_keys() {
            out.close(peer);
        }
    }

    fn welcome(&mut self, now: Time, peer: PeerId, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&peer) else { return };
        let role = seat.role;
        let Some(display) = display(&self.views, role) else { return };
        // Whoever asks again and again without ever sending a key may be somebody else with a forged address.
        if !seat.proven && !seat.budget.take(now, length(&display)) {
            return;
        }
        seat.owed = false;
        if let Role::Player(player) = role
            && let Some(player) = self.game.player(player)
        {
            out.send(peer, ServerMessage::Ok(player.letter).to_bytes());
        }
        out.send(peer, ServerMessage::Grid { rows: self.grid.rows(), cols: self.grid.cols() }.to_bytes());
        out.send(peer, self.gold(role, 0));
        out.send(peer, display);
    }

    // A DISPLAY to everybody but `except`.
    fn displays(&mut self, now: Time, except: Option<PeerId>, out: &mut Outbox) {
        for (&peer, seat) in &mut self.seats {
            if Some(peer) == except {
                continue;
            }
            let Some(frame) = display(&self.views, seat.role) else { continue };
            self.wake = earliest(self.wake, seat.show(now, peer, frame, out));
        }
    }

    // A DISPLAY to `actor`; to the others when it is time to catch up.
    fn display_later(&mut self, now: Time, actor: PlayerId, out: &mut Outbox) {
        for (&peer, seat) in &mut self.seats {
            if seat.role != Role::Player(actor) {
                seat.owed = true;
            } else if let Some(frame) = display(&self.views, seat.role) {
                self.wake = earliest(self.wake, seat.show(now, peer, frame, out));
            }
        }
        let due = *self.catch_up.get_or_insert_with(|| now.plus(CATCH_UP));
        self.wake = earliest(self.wake, Some(due));
    }

    fn gold(&self, role: Role, collected: u32) -> Bytes {
        let purse = match role {
            Role::Player(player) => self.game.player(player).map_or(0, |player| player.purse),
            Role::Spectator | Role::Watcher => 0,
        };
        ServerMessage::Gold { collected, purse, remaining: self.game.remaining() }.to_bytes()
    }

    fn error(&mut self, now: Time, peer: PeerId, text: &[u8], out: &mut Outbox) {
        let frame = ServerMessage::Error(text).to_bytes();
        let refused = |seat: &mut Seat| !seat.proven && !seat.budget.take(now, length(&frame));
        if !self.seats.get_mut(&peer).is_some_and(refused) {
            out.send(peer, frame);
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: DecodeError, out: &mut Outbox) {
        if why == FROM_A_SERVER {
            return;
        }
        let text = format!("malformed message: {why}");
        self.error(now, peer, text.as_bytes(), out);
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        self.wake = None;
        if let Some(limit) = self.config.idle_timeout {
            let idle = |seat: &Seat| match seat.role {
                Role::Player(player) if now.since(seat.last_key) >= limit => Some(player),
                _ => None,
            };
            let idlers: Vec<_> =
                self.seats.iter().filter_map(|(&peer, seat)| idle(seat).map(|player| (peer, player))).collect();
            let text = format!("You sent no key for {} seconds and have lost your seat.", limit.as_secs());
            for (peer, player) in idlers {
                self.quit(now, peer, player, Some(text.as_bytes()), out);
            }
        }
        self.catch_up = self.catch_up.filter(|&due| now < due);
        self.wake = earliest(self.wake, self.catch_up);
        for (&peer, seat) in &mut self.seats {
            if let Some(limit) = self.config.idle_timeout
                && matches!(seat.role, Role::Player(_))
            {
                self.wake = earliest(self.wake, Some(seat.last_key.plus(limit)));
            }
            if !seat.owed || self.catch_up.is_some() {
                continue;
            }
            let Some(frame) = display(&self.views, seat.role) else { continue };
            self.wake = earliest(self.wake, seat.show(now, peer, frame, out));
        }
    }

    fn take_seat(&mut self, now: Time, peer: PeerId, role: Role) {
        let Some(Stranger { address, .. }) = self.strangers.remove(&peer) else { return };
        let seat = Seat {
            role,
            address,
            proven: false,
            budget: TokenBucket::new(UNPROVEN, now),
            welcomes: TokenBucket::new(WELCOMES, now),
            shown: TokenBucket::new(SHOWN, now),
            owed: false,
            last_key: now,
        };
        self.seats.insert(peer, seat);
        if let (Some(limit), Role::Player(_)) = (self.config.idle_timeout, role) {
            self.wake = earliest(self.wake, Some(now.plus(limit)));
        }
    }

    fn leave_seat(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.seats.remove(&peer).is_some() {
            out.close(peer);
        }
    }

    // On datagrams nobody says goodbye, so whoever was not let in by a message is forgotten at once.
    fn forget_stranger(&mut self, peer: PeerId, out: &mut Outbox) {
        if self.strangers.get(&peer).is_some_and(|stranger| stranger.link == Link::Datagram) {
            self.strangers.remove(&peer);
            out.close(peer);
        }
    }

    fn spectator(&self) -> Option<PeerId> {
        self.seats.iter().find(|(_, seat)| seat.role == Role::Spectator).map(|(&peer, _)| peer)
    }

    fn peer_of(&self, player: PlayerId) -> Option<PeerId> {
        self.seats.iter().find(|(_, seat)| seat.role == Role::Player(player)).map(|(&peer, _)| peer)
    }
}

fn display(views: &Views, role: Role) -> Option<Bytes> {
    match role {
        Role::Player(player) => views.player(player),
        Role::Spectator | Role::Watcher => Some(views.spectator()),
    }
}

fn length(frame: &Bytes) -> u32 {
    debug_assert!(frame.len() <= MAX_DATAGRAM, "every message fits a datagram");
    u32::try_from(frame.len()).unwrap_or(u32::MAX)
}

fn earliest(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    one.into_iter().chain(other).min()
}

impl Engine for Server {
    type Protocol = Nuggets;

    fn input(&mut self, now: Time, input: Input<'_, ClientMessage>, out: &mut Outbox) {
        if self.outcome.is_some() {
            return;
        }
        match input {
            Input::Connected { peer, role, link, address } => {
                self.strangers.insert(peer, Stranger { address: address.to_string(), link });
                if role == netcore::Role::Watcher {
                    self.take_seat(now, peer, Role::Watcher);
                    self.welcome(now, peer, out);
                }
            }
            Input::Request { peer, request } => {
                self.request(now, peer, request, out);
                self.forget_stranger(peer, out);
            }
            Input::Malformed { peer, why } => {
                self.malformed(now, peer, why, out);
                self.forget_stranger(peer, out);
            }
            Input::Refresh { peer } => self.welcome(now, peer, out),
            Input::Disconnected { peer, .. } => {
                if self.strangers.remove(&peer).is_some() {
                    out.close(peer);
                }
                match self.seats.get(&peer).map(|seat| seat.role) {
                    Some(Role::Player(player)) => self.quit(now, peer, player, None, out),
                    Some(Role::Spectator | Role::Watcher) => self.leave_seat(peer, out),
                    None => {}
                }
            }
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop => {
                let mut text = String::from("The server was stopped.");
                if !self.game.players().is_empty() {
                    text = format!("{text}\n{}", self.game.table());
                }
                self.dismiss(text.as_bytes(), out);
                self.outcome = Some(Outcome::Stopped);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.wake.filter(|_| self.outcome.is_none())
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn digest(&self) -> u64 {
        self.game.digest()
    }
}
