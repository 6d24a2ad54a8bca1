//! The server without its sockets: seats, games, and messages.
//!
//! All clients receive updates about every seat, limited by their [`Visibility`] of its game.

mod seat;
mod state;
mod updates;

use alloc::{collections::BTreeMap, format, string::ToString, vec::Vec};
use core::time::Duration;
use netcore::{
    Departure, Engine, GameEvent, HostId, Input, Leave, Link, Occupant, Outbox, Outcome, PeerId, Phase, Rate,
    RequestOf, Role, Status, Time, TokenBucket,
};
use serde::{Deserialize, Serialize};

pub use self::seat::NOT_FOUND;
use self::seat::{Contest, Seat, SeatGame};
use crate::{
    code::MAX_COLOURS,
    config::{Config, ConfigError, Mode, Rules},
    game::Action,
    protocol::{Advice, ClientMessage, Mastermind, Name, ServerMessage},
    puzzle::Day,
    solver::Hint,
    view::{Board, GameOutcome, Visibility},
};

/// The number of seats, except in a race.
pub const SEATS: u8 = 64;
/// The number of seats for one host, except in a race.
pub const SEATS_OF_HOST: usize = 32;
/// A player who sends nothing for this long loses the seat.
pub const IDLE: Duration = Duration::from_secs(15 * 60);
/// The maximum number of guesses in a game with hints, that of six pegs. A hint then takes a few milliseconds; for
/// eight pegs a hundred.
const MAX_HINT_GUESSES: u64 = 1 << 18;
const DAY: Duration = Duration::from_secs(86_400);
const HINT_RATE: Rate = Rate { per_second: 2, burst: 6 };

const WATCHING: &str = "you only look on here; open the room to play";
const NO_SEAT: &str = "you have no seat; say PLAY and your name";
const FULL: &str = "all seats are taken; try again later";
const FULL_FOR_HOST: &str = "too many seats are taken from your network; try again later";
const SEATED: &str = "you are playing already";
const NOT_OVER: &str = "your game is not over; RESIGN gives it up";
const NO_GAME: &str = "your game is over; say NEW for another";
const NOT_BEGUN: &str = "the race has not begun";
const RACE_RULES: &str = "in a race everybody has the rules of the room; say NEW without any";
const DAILY_RULES: &str = "the puzzle of the day has the rules of the room; say NEW without any";
const ONE_A_DAY: &str = "there is one puzzle a day; the next one comes at midnight in Greenwich";
const NO_HINTS_IN_A_RACE: &str = "there are no hints in a race";
const NO_LONG_HINTS: &str = "there are hints for up to 6 pegs only";
/// The rejection of a hint beyond the rate limit.
pub const TOO_MANY_HINTS: &str = "too many hints were asked for just now; try again in a second";
const GOODBYE: &str = "thanks for playing";
const STOPPED: &str = "the server was stopped";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Peer {
    role: Role,
    link: Link,
    host: HostId,
    seat: Option<u8>,
}

/// A mastermind server.
#[derive(Debug, Clone)]
pub struct Server {
    config: Config,
    rules: Rules,
    // The day, and when it ends.
    today: Option<(Day, Time)>,
    peers: BTreeMap<PeerId, Peer>,
    seats: BTreeMap<u8, Seat>,
    contests: BTreeMap<u32, Contest>,
    games: u32,
    hints: TokenBucket,
    outcome: Option<Outcome>,
}

impl Server {
    /// Creates a server without players.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let rules = config.check()?;
        Ok(Self {
            config,
            rules,
            today: config.first_day.map(|first| (Day(first.day), Time::ZERO.plus(first.lasts))),
            peers: BTreeMap::new(),
            seats: BTreeMap::new(),
            contests: BTreeMap::new(),
            games: 0,
            hints: TokenBucket::new(HINT_RATE, Time::ZERO),
            outcome: None,
        })
    }

    /// The names and public games of all seats, in the order of the seats.
    pub fn boards(&self) -> impl Iterator<Item = (&Name, Option<Board>)> {
        self.seats.iter().map(|(&number, seat)| (&seat.name, self.board(number, Visibility::Answers)))
    }

    /// The configuration.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// Whether a seated player of this game has other rules than the room, and whether one has used hints.
    pub fn oddities(&self, game: u32) -> (bool, bool) {
        let games = self.seats.values().filter_map(|seat| seat.current.as_ref());
        let of_game = games.filter(|current| current.number == game);
        of_game.fold((false, false), |(rules, hints), current| {
            (rules || current.game.rules() != self.rules, hints || current.game.hints() > 0)
        })
    }

    const fn capacity(&self) -> u8 {
        match self.config.mode {
            Mode::Race(players) => players,
            Mode::Solo | Mode::Daily | Mode::Keyed(_) => SEATS,
        }
    }

    fn request(&mut self, now: Time, peer: PeerId, message: ClientMessage, out: &mut Outbox) {
        let Some(Peer { role, seat, .. }) = self.peers.get(&peer) else { return };
        if *role == Role::Watcher && message != ClientMessage::Quit {
            return self.refuse(peer, WATCHING, out);
        }
        let Some(seat) = *seat else {
            return match message {
                ClientMessage::Play(name) => self.play(now, peer, name, out),
                ClientMessage::Quit => self.dismiss(peer, GOODBYE, Departure::Quit, out),
                _ => self.refuse(peer, NO_SEAT, out),
            };
        };
        if let Some(seat) = self.seats.get_mut(&seat) {
            seat.last = now;
        }
        match message {
            ClientMessage::Play(_) => self.refuse(peer, SEATED, out),
            ClientMessage::Guess(code) => self.act(peer, seat, Action::Guess(code), out),
            ClientMessage::Lifeline(lifeline) => self.act(peer, seat, Action::Lifeline(lifeline), out),
            ClientMessage::Hint => self.hint(now, peer, seat, out),
            ClientMessage::New(rules) => self.new_game(now, peer, seat, rules, out),
            ClientMessage::Resign => match self.running(seat) {
                Some(_) => self.finish(seat, GameOutcome::Resigned, out),
                None => self.refuse(peer, self.no_game(seat), out),
            },
            ClientMessage::Quit => self.dismiss(peer, GOODBYE, Departure::Quit, out),
        }
    }

    fn play(&mut self, now: Time, peer: PeerId, name: Name, out: &mut Outbox) {
        let Some(host) = self.peers.get(&peer).map(|peer| peer.host) else { return };
        let Some(seat) = (1..=self.capacity()).find(|seat| !self.seats.contains_key(seat)) else {
            return self.refuse(peer, FULL, out);
        };
        let taken = self.peers.values().filter(|peer| peer.host == host && peer.seat.is_some()).count();
        if taken >= SEATS_OF_HOST && !matches!(self.config.mode, Mode::Race(_)) {
            return self.refuse(peer, FULL_FOR_HOST, out);
        }
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.seat = Some(seat);
        }
        self.seats.insert(seat, Seat { peer, name: name.clone(), last: now, ready: false, current: None });
        self.send(peer, &ServerMessage::Ok(seat), out);
        self.send_all(&ServerMessage::Seat(seat, name), out);
        self.joined(seat, out);
        self.take_part(now, seat, self.rules, out);
    }

    fn joined(&self, number: u8, out: &mut Outbox) {
        let Some(seat) = self.seats.get(&number) else { return };
        out.event(GameEvent::Joined { peer: seat.peer, name: seat.name.to_string(), seat: number.to_string() });
    }

    fn take_part(&mut self, now: Time, number: u8, rules: Rules, out: &mut Outbox) {
        let Some(seat) = self.seats.get_mut(&number) else { return };
        seat.ready = true;
        match self.missing() {
            0 if matches!(self.config.mode, Mode::Race(_)) => {
                let all: Vec<u8> = self.seats.keys().copied().collect();
                self.begin(now, &all, rules, out);
            }
            0 => self.begin(now, &[number], rules, out),
            missing => self.send_all(&ServerMessage::Wait(missing), out),
        }
    }

    fn missing(&self) -> u8 {
        let Mode::Race(players) = self.config.mode else { return 0 };
        let ready = self.seats.values().filter(|seat| seat.ready).count();
        players.saturating_sub(u8::try_from(ready).unwrap_or(u8::MAX))
    }

    fn begin(&mut self, now: Time, seats: &[u8], rules: Rules, out: &mut Outbox) {
        self.games = self.games.saturating_add(1);
        let number = self.games;
        let day = self.today.map(|(day, _)| day);
        let mut contest = Contest::new(now);
        for &seat in seats {
            let Some(place) = self.seats.get_mut(&seat) else { continue };
            place.ready = false;
            place.current = Some(SeatGame::new(&self.config, number, rules, day));
            contest.enter(seat, place.name.clone());
        }
        self.contests.insert(number, contest);
        out.event(GameEvent::Started { game: number, players: u32::try_from(seats.len()).unwrap_or(u32::MAX) });
        for &seat in seats {
            self.send_all(&ServerMessage::Game { seat, number, rules }, out);
        }
        for &seat in seats {
            self.send_turn(seat, out);
        }
    }

    fn running(&mut self, seat: u8) -> Option<&mut SeatGame> {
        self.seats.get_mut(&seat)?.current.as_mut().filter(|current| current.how.is_none())
    }

    fn no_game(&self, seat: u8) -> &'static str {
        let waits = self.seats.get(&seat).is_some_and(|seat| seat.ready);
        if waits { NOT_BEGUN } else { NO_GAME }
    }

    fn act(&mut self, peer: PeerId, seat: u8, action: Action, out: &mut Outbox) {
        let Some(current) = self.running(seat) else {
            return self.refuse(peer, self.no_game(seat), out);
        };
        if let Err(why) = current.act(action) {
            return self.refuse(peer, &why.to_string(), out);
        }
        let how = current.outcome();
        self.send_lines(seat, 1, out);
        match how {
            Some(how) => self.finish(seat, how, out),
            None => self.send_turn(seat, out),
        }
    }

    fn hint(&mut self, now: Time, peer: PeerId, seat: u8, out: &mut Outbox) {
        let race = matches!(self.config.mode, Mode::Race(_));
        let Some(current) = self.seats.get_mut(&seat).and_then(|seat| seat.current.as_mut()) else {
            return self.refuse(peer, self.no_game(seat), out);
        };
        if current.how.is_some() {
            return self.refuse(peer, NO_GAME, out);
        }
        if race {
            return self.refuse(peer, NO_HINTS_IN_A_RACE, out);
        }
        if current.advice.is_some() {
            return self.send_advice(seat, out);
        }
        if current.game.rules().guesses() > MAX_HINT_GUESSES {
            return self.refuse(peer, NO_LONG_HINTS, out);
        }
        if !self.hints.take(now, 1) {
            return self.refuse(peer, TOO_MANY_HINTS, out);
        }
        let turn = current.game.turn();
        // The answers were given by a code, so a code is possible.
        let Some(hint) = Hint::of(&current.game.request_hint()) else { return };
        current.advice = Some((Advice::of(turn, &hint), hint.possible));
        self.send_turn(seat, out);
    }

    fn new_game(&mut self, now: Time, peer: PeerId, seat: u8, wanted: Option<(usize, bool)>, out: &mut Outbox) {
        let Some(place) = self.seats.get(&seat) else { return };
        let why = match (self.config.mode, &place.current) {
            (_, Some(current)) if current.how.is_none() => Some(NOT_OVER),
            _ if place.ready => Some(NOT_BEGUN),
            (Mode::Race(_), _) if wanted.is_some() => Some(RACE_RULES),
            (mode, _) if mode.is_daily() && wanted.is_some() => Some(DAILY_RULES),
            (mode, Some(current)) if mode.is_daily() && current.day == self.today.map(|(day, _)| day) => {
                Some(ONE_A_DAY)
            }
            _ => None,
        };
        if let Some(why) = why {
            return self.refuse(peer, why, out);
        }
        let rules = match wanted.map(|(length, repeats)| Rules::new(length, MAX_COLOURS, repeats)) {
            None => self.rules,
            Some(Ok(rules)) => rules,
            Some(Err(why)) => return self.refuse(peer, &why.to_string(), out),
        };
        self.take_part(now, seat, rules, out);
    }

    fn finish(&mut self, seat: u8, how: GameOutcome, out: &mut Outbox) {
        let Some(current) = self.running(seat) else { return };
        current.how = Some(how);
        current.advice = None;
        let (number, turns) = (current.number, current.game.turns_gone());
        self.send_over(seat, out);
        if let Some(contest) = self.contests.get_mut(&number) {
            contest.finish(seat, Some(how), turns);
        }
        self.end_if_over(number, out);
    }

    fn end_if_over(&mut self, number: u32, out: &mut Outbox) {
        if !self.contests.get(&number).is_some_and(Contest::is_over) {
            return;
        }
        let Some(contest) = self.contests.remove(&number) else { return };
        contest.report(number, out);
        let players = || self.seats.iter().filter(move |(_, seat)| seat.plays(number)).map(|(&seat, _)| seat);
        for seat in players() {
            self.joined(seat, out);
        }
        if matches!(self.config.mode, Mode::Race(_)) {
            // The code is no longer secret.
            for seat in players() {
                self.send_lines(seat, usize::MAX, out);
                self.send_over(seat, out);
            }
        }
    }

    fn dismiss(&mut self, peer: PeerId, text: &str, why: Departure, out: &mut Outbox) {
        self.send(peer, &ServerMessage::Bye(text.into()), out);
        self.remove(peer, why, out);
    }

    fn remove(&mut self, peer: PeerId, why: Departure, out: &mut Outbox) {
        let Some(gone) = self.peers.remove(&peer) else { return };
        out.close(peer);
        let Some((number, seat)) = gone.seat.and_then(|number| Some((number, self.seats.remove(&number)?))) else {
            return;
        };
        out.event(GameEvent::Left { peer, name: seat.name.to_string(), seat: number.to_string(), why });
        self.send_all(&ServerMessage::Left(number), out);
        if let Some(current) = seat.current.filter(|current| current.how.is_none()) {
            if let Some(contest) = self.contests.get_mut(&current.number) {
                contest.finish(number, None, current.game.turns_gone());
            }
            self.end_if_over(current.number, out);
        }
        if matches!(self.config.mode, Mode::Race(_)) && self.contests.is_empty() {
            self.send_all(&ServerMessage::Wait(self.missing()), out);
        }
    }
}

impl Engine for Server {
    type Protocol = Mastermind;

    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, link, address } => {
                self.peers.insert(peer, Peer { role, link, host: HostId::of(&address), seat: None });
                self.send_snapshot(peer, out);
            }
            Input::Message { peer, message: Ok(message) } => self.request(now, peer, message, out),
            Input::Message { peer, message: Err(why) } => self.refuse(peer, &format!("{why}"), out),
            Input::Malformed { peer, why } => {
                let link = self.peers.get(&peer).map(|peer| peer.link);
                let text = format!("malformed message: {why}");
                match link {
                    // The rest of the stream cannot be decoded.
                    Some(Link::Stream) => self.dismiss(peer, &text, Departure::Dismissed(text.clone()), out),
                    _ => self.refuse(peer, &text, out),
                }
            }
            Input::Refresh { peer } => self.send_snapshot(peer, out),
            Input::Disconnected { peer, why } => self.remove(peer, Departure::Disconnected(why), out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => self.stop(leave, out),
        }
    }

    fn deadline(&self) -> Option<Time> {
        let idle = self.seats.values().map(|seat| seat.last.plus(IDLE));
        let race = matches!(self.config.mode, Mode::Race(_));
        let late = self.contests.values().filter(|_| race).map(|contest| contest.started.plus(self.config.limit));
        idle.chain(late).chain(self.today.map(|(_, ends)| ends)).min()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn status(&self) -> Status {
        let phase = match self.outcome {
            Some(_) => Phase::Over,
            None if self.contests.is_empty() => Phase::Lobby,
            None => Phase::Playing,
        };
        let taken = u32::try_from(self.seats.len()).unwrap_or(u32::MAX);
        Status { phase, taken, seats: self.capacity().into() }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(number, seat): (&u8, &Seat)| Occupant {
            peer: seat.peer,
            name: seat.name.to_string(),
            seat: number.to_string(),
        };
        self.seats.iter().map(occupant).collect()
    }
}

impl Server {
    fn stop(&mut self, leave: Leave, out: &mut Outbox) {
        if leave == Leave::Over {
            for (number, contest) in core::mem::take(&mut self.contests) {
                contest.report(number, out);
            }
            self.send_all(&ServerMessage::Bye(STOPPED.into()), out);
            for peer in core::mem::take(&mut self.peers).into_keys() {
                out.close(peer);
            }
            self.seats.clear();
        }
        self.outcome = Some(Outcome::Stopped);
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        if let Some((day, ended)) = self.today.filter(|(_, ends)| *ends <= now) {
            let days = u32::try_from(now.since(ended).as_secs() / DAY.as_secs()).unwrap_or(u32::MAX).saturating_add(1);
            self.today = Some((Day(day.0.saturating_add(days)), ended.plus(DAY.saturating_mul(days))));
            for &peer in self.peers.keys() {
                self.send_snapshot(peer, out);
            }
        }
        let idle = self.seats.values().filter(|seat| now.since(seat.last) >= IDLE).map(|seat| seat.peer);
        let minutes = IDLE.as_secs() / 60;
        for peer in idle.collect::<Vec<_>>() {
            let text = format!("you said nothing for {minutes} minutes and have lost your seat");
            self.dismiss(peer, &text, Departure::Dismissed(format!("said nothing for {minutes} minutes")), out);
        }
        if matches!(self.config.mode, Mode::Race(_)) {
            let late = self.contests.values().filter(|race| now.since(race.started) >= self.config.limit);
            for seat in late.flat_map(Contest::running).collect::<Vec<_>>() {
                self.finish(seat, GameOutcome::Late, out);
            }
        }
    }
}
