use alloc::{
    borrow::ToOwned as _,
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec,
    vec::Vec,
};
use bytes::Bytes;
use core::time::Duration;
use netcore::{
    DecodeError, Departure, DisconnectReason, Engine, Framing, GameEvent, HostId, Input, Leave, Link, Occupant, Outbox,
    Outcome, PeerId, Phase, Recorded, RequestOf, Role, Standing, StateError, Status, Time,
};
use serde::{Deserialize, Serialize};

use crate::{
    Rules,
    protocol::{ClientMessage, EndReason, Lines, Name, ServerMessage},
};

/// How long a seat is retained after a lost connection, for the same name and host.
const RETAINED: Duration = Duration::from_secs(60);
/// A player loses its seat after this long without a message.
const IDLE: Duration = Duration::from_secs(15 * 60);

const NO_SEAT: &str = "you have no seat; say PLAY and a name";
const SEATED: &str = "you have a seat already";
const FULL: &str = "all seats are taken; try again later";
const WATCHING: &str = "you only watch here";
const NO_GAME: &str = "no game is being played";
const PLAYING: &str = "the game is not over; RESIGN gives it up";
const NOT_YOUR_TURN: &str = "it is not your turn";
const ILLEGAL: &str = "that move is not possible";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setup<O> {
    options: O,
    seed: u64,
}

impl<O> Setup<O> {
    pub const fn options(&self) -> &O {
        &self.options
    }

    pub const fn seed(&self) -> u64 {
        self.seed
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TableState<R> {
    peers: BTreeMap<PeerId, Peer>,
    seats: BTreeMap<u8, Seat>,
    game: Option<Game<R>>,
    games: u32,
    last_move: Option<LastMove>,
    has_stopped: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Peer {
    role: Role,
    link: Link,
    host: HostId,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Seat {
    name: Name,
    peer: PeerId,
    host: HostId,
    // When the connection was lost.
    lost: Option<Time>,
    is_ready: bool,
    // The time of its last action.
    active: Time,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Game<R> {
    rules: R,
    asked: Time,
}

/// The last move, even after the end of its game.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastMove {
    /// Counted from 1.
    pub game: u32,
    /// Counted from 1.
    pub number: u32,
    pub name: String,
    pub action: String,
}

#[derive(Debug, Clone)]
pub struct Table<R: Rules> {
    setup: Setup<R::Options>,
    state: TableState<R>,
}

impl<R: Rules> Table<R> {
    /// The seed determines all random choices. Fails if the options are invalid; see [`Rules::check`].
    pub fn new(options: R::Options, seed: u64) -> Result<Self, String> {
        R::check(&options)?;
        let state = TableState {
            peers: BTreeMap::new(),
            seats: BTreeMap::new(),
            game: None,
            games: 0,
            last_move: None,
            has_stopped: false,
        };
        Ok(Self { setup: Setup { options, seed }, state })
    }

    pub fn position(&self) -> Option<&R> {
        self.state.game.as_ref().map(|game| &game.rules)
    }

    /// The view of a watcher.
    pub fn view(&self) -> Option<R::View> {
        self.position().map(|rules| rules.view(None))
    }

    pub const fn last_move(&self) -> Option<&LastMove> {
        self.state.last_move.as_ref()
    }

    /// The messages to a new watcher, as whole frames.
    pub fn overview(&self) -> Vec<Bytes> {
        self.greeting(None).iter().map(|message| message.to_frame(Framing::Whole)).collect()
    }

    fn seat_of(&self, peer: PeerId) -> Option<u8> {
        self.state.seats.iter().find(|(_, seat)| seat.peer == peer && seat.lost.is_none()).map(|(&number, _)| number)
    }

    fn missing(&self) -> u8 {
        let ready = self.state.seats.values().filter(|seat| seat.is_ready).count();
        R::SEATS.saturating_sub(u8::try_from(ready).unwrap_or(u8::MAX))
    }

    fn send(&self, peer: PeerId, message: &ServerMessage, out: &mut Outbox) {
        if let Some(known) = self.state.peers.get(&peer) {
            out.send(peer, message.to_frame(known.link.framing()));
        }
    }

    fn send_all(&self, message: &ServerMessage, out: &mut Outbox) {
        self.state.peers.keys().for_each(|&peer| self.send(peer, message, out));
    }

    fn refuse(&self, peer: PeerId, why: &str, out: &mut Outbox) {
        self.send(peer, &ServerMessage::No(why.to_owned()), out);
    }

    fn send_snapshot(&self, peer: PeerId, out: &mut Outbox) {
        self.greeting(self.seat_of(peer)).iter().for_each(|message| self.send(peer, message, out));
    }

    fn greeting(&self, seat: Option<u8>) -> Vec<ServerMessage> {
        let mut messages = vec![ServerMessage::Room { game: R::NAME.to_owned(), seats: R::SEATS }];
        messages.extend(seat.map(|seat| ServerMessage::Ok(seat + 1)));
        let names =
            self.state.seats.iter().map(|(number, seat)| ServerMessage::Seat(number + 1, seat.name.to_string()));
        messages.extend(names);
        if self.state.game.is_some() {
            messages.push(ServerMessage::Game(self.state.games));
            messages.extend(self.position_for(seat));
        } else {
            messages.push(ServerMessage::Wait(self.missing()));
        }
        messages
    }

    fn send_position(&self, peer: PeerId, out: &mut Outbox) {
        self.position_for(self.seat_of(peer)).iter().for_each(|message| self.send(peer, message, out));
    }

    fn position_for(&self, seat: Option<u8>) -> Vec<ServerMessage> {
        let Some(Game { rules, .. }) = &self.state.game else { return vec![] };
        let mut messages = vec![ServerMessage::View(serde_json::to_string(&rules.view(seat)).unwrap_or_default())];
        if let Some(turn) = rules.turn() {
            let moves = rules.moves().iter().filter(|_| seat == Some(turn)).map(ToString::to_string).collect();
            messages.push(ServerMessage::Turn(turn + 1, moves));
        }
        messages
    }

    fn request(&mut self, now: Time, peer: PeerId, message: ClientMessage, out: &mut Outbox) {
        let Some(Peer { role, .. }) = self.state.peers.get(&peer) else { return };
        let (role, seat) = (*role, self.seat_of(peer));
        if let Some(seat) = seat.and_then(|seat| self.state.seats.get_mut(&seat)) {
            seat.active = now;
        }
        match (message, seat) {
            (ClientMessage::Quit, _) => self.dismiss(now, peer, "thanks for playing", Departure::Quit, out),
            _ if role == Role::Watcher => self.refuse(peer, WATCHING, out),
            (ClientMessage::Play(name), None) => self.join(now, peer, &name, out),
            (ClientMessage::Play(_), Some(_)) => self.refuse(peer, SEATED, out),
            (_, None) => self.refuse(peer, NO_SEAT, out),
            (ClientMessage::Again, Some(_)) if self.state.game.is_some() => self.refuse(peer, PLAYING, out),
            (ClientMessage::Again, Some(seat)) => self.take_part(now, seat, out),
            (ClientMessage::Resign, Some(seat)) if self.state.game.is_some() => {
                self.finish(EndReason::Resigned, Some(seat), now, out);
            }
            (ClientMessage::Resign, Some(_)) => self.refuse(peer, NO_GAME, out),
            (ClientMessage::Move(text), Some(seat)) => self.play(now, peer, seat, &text, out),
        }
    }

    fn join(&mut self, now: Time, peer: PeerId, name: &Name, out: &mut Outbox) {
        let Some(host) = self.state.peers.get(&peer).map(|peer| peer.host) else { return };
        let retained = |seat: &Seat| seat.lost.is_some() && seat.host == host && seat.name == *name;
        if let Some((&number, _)) = self.state.seats.iter().find(|(_, seat)| retained(seat)) {
            if let Some(seat) = self.state.seats.get_mut(&number) {
                (seat.peer, seat.lost, seat.active) = (peer, None, now);
            }
            self.report_joined(number, out);
            return self.send_snapshot(peer, out);
        }
        let Some(number) = (0..R::SEATS).find(|number| !self.state.seats.contains_key(number)) else {
            return self.refuse(peer, FULL, out);
        };
        let seat = Seat { name: name.clone(), peer, host, lost: None, is_ready: false, active: now };
        self.state.seats.insert(number, seat);
        self.send(peer, &ServerMessage::Ok(number + 1), out);
        self.send_all(&ServerMessage::Seat(number + 1, name.to_string()), out);
        self.report_joined(number, out);
        self.take_part(now, number, out);
    }

    fn report_joined(&self, number: u8, out: &mut Outbox) {
        let Some(seat) = self.state.seats.get(&number) else { return };
        let (name, seat) = (seat.name.to_string(), seat.peer);
        out.event(GameEvent::Joined { peer: seat, name, seat: (number + 1).to_string() });
    }

    fn take_part(&mut self, now: Time, number: u8, out: &mut Outbox) {
        if let Some(seat) = self.state.seats.get_mut(&number) {
            seat.is_ready = true;
        }
        let missing = self.missing();
        if missing > 0 {
            return self.send_all(&ServerMessage::Wait(missing), out);
        }
        self.state.games = self.state.games.saturating_add(1);
        // The factor is odd, so no two games of a table have the same seed.
        let seed = self.setup.seed.wrapping_add(u64::from(self.state.games).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        self.state.game = Some(Game { rules: R::setup(&self.setup.options, seed), asked: now });
        self.state.seats.values_mut().for_each(|seat| seat.is_ready = false);
        out.event(GameEvent::Started { game: self.state.games, players: R::SEATS.into() });
        self.send_all(&ServerMessage::Game(self.state.games), out);
        self.state.peers.keys().for_each(|&peer| self.send_position(peer, out));
    }

    fn play(&mut self, now: Time, peer: PeerId, seat: u8, text: &str, out: &mut Outbox) {
        let Some(game) = &mut self.state.game else { return self.refuse(peer, NO_GAME, out) };
        if game.rules.turn() != Some(seat) {
            return self.refuse(peer, NOT_YOUR_TURN, out);
        }
        let Some(action) = text.parse().ok().filter(|action| game.rules.moves().contains(action)) else {
            return self.refuse(peer, ILLEGAL, out);
        };
        game.rules.play(&action);
        game.asked = now;
        let is_over = game.rules.turn().is_none();
        let before = self.state.last_move.as_ref().filter(|last| last.game == self.state.games);
        self.state.last_move = self.state.seats.get(&seat).map(|player| LastMove {
            game: self.state.games,
            number: before.map_or(1, |last| last.number.saturating_add(1)),
            name: player.name.to_string(),
            action: action.to_string(),
        });
        self.send_all(&ServerMessage::Moved(seat + 1, action.to_string()), out);
        self.state.peers.keys().for_each(|&peer| self.send_position(peer, out));
        if is_over {
            self.finish(EndReason::Played, None, now, out);
        }
    }

    // A loser who did not play to the end ranks behind all others.
    fn finish(&mut self, how: EndReason, loser: Option<u8>, now: Time, out: &mut Outbox) {
        let Some(Game { rules, .. }) = self.state.game.take() else { return };
        let mut scores = rules.scores();
        scores.resize(R::SEATS.into(), 0);
        if let Some(score) = loser.and_then(|loser| scores.get_mut(usize::from(loser))) {
            *score = i64::MIN;
        }
        let worst = scores.iter().copied().filter(|&score| score > i64::MIN).min().unwrap_or(0);
        // In a game of two players the opponent wins, regardless of the position.
        scores.iter_mut().filter(|score| **score == i64::MIN).for_each(|score| *score = worst.min(0) - 1);
        let mut standings: Vec<Standing> = (0u8..)
            .zip(&scores)
            .filter_map(|(number, &score)| {
                let name = self.state.seats.get(&number)?.name.to_string();
                let rank = 1 + scores.iter().filter(|&&other| other > score).count();
                Some(Standing {
                    rank: u32::try_from(rank).unwrap_or(u32::MAX),
                    seat: (number + 1).to_string(),
                    name,
                    score,
                })
            })
            .collect();
        standings.sort_by_key(|standing| standing.rank);
        out.event(GameEvent::Ended { game: self.state.games, complete: how != EndReason::Left, standings });
        self.send_all(&ServerMessage::Over(how, scores), out);
        // A result covers the seats reported since the last game, so they are reported again.
        self.state.seats.values_mut().for_each(|seat| seat.active = now);
        for number in self.state.seats.keys() {
            self.report_joined(*number, out);
        }
    }

    fn dismiss(&mut self, now: Time, peer: PeerId, text: &str, why: Departure, out: &mut Outbox) {
        self.send(peer, &ServerMessage::Bye(text.to_owned()), out);
        let seat = self.seat_of(peer);
        self.state.peers.remove(&peer);
        out.close(peer);
        if let Some(seat) = seat {
            self.vacate(now, seat, why, out);
        }
    }

    fn vacate(&mut self, now: Time, number: u8, why: Departure, out: &mut Outbox) {
        if self.state.game.is_some() {
            self.finish(EndReason::Left, Some(number), now, out);
        }
        let Some(seat) = self.state.seats.remove(&number) else { return };
        out.event(GameEvent::Left {
            peer: seat.peer,
            name: seat.name.to_string(),
            seat: (number + 1).to_string(),
            why,
        });
        self.send_all(&ServerMessage::Left(number + 1), out);
        self.send_all(&ServerMessage::Wait(self.missing()), out);
    }

    // A player who closes the connection in an orderly way loses the seat immediately; others may return.
    fn disconnected(&mut self, now: Time, peer: PeerId, why: DisconnectReason, out: &mut Outbox) {
        let seat = self.seat_of(peer);
        self.state.peers.remove(&peer);
        out.close(peer);
        let Some(number) = seat else { return };
        match self.state.seats.get_mut(&number) {
            Some(seat) if why != DisconnectReason::Left => seat.lost = Some(now),
            _ => self.vacate(now, number, Departure::Disconnected(why), out),
        }
    }

    fn elapsed(&mut self, now: Time, out: &mut Outbox) {
        let over = |since: Time, limit: Duration| now.since(since) >= limit;
        let late = self.state.game.as_ref().filter(|game| over(game.asked, R::MOVE_LIMIT));
        if let Some(late) = late.and_then(|game| game.rules.turn()) {
            self.finish(EndReason::Late, Some(late), now, out);
        }
        let gone = |seat: &Seat| seat.lost.is_some_and(|lost| over(lost, RETAINED));
        let numbers = |is: &dyn Fn(&Seat) -> bool| -> Vec<u8> {
            self.state.seats.iter().filter(|(_, seat)| is(seat)).map(|(&number, _)| number).collect()
        };
        let (lost, idle) = (numbers(&gone), numbers(&|seat| seat.lost.is_none() && over(seat.active, IDLE)));
        for number in lost {
            self.vacate(now, number, Departure::Disconnected(DisconnectReason::Interrupted), out);
        }
        for peer in idle.into_iter().filter_map(|number| Some(self.state.seats.get(&number)?.peer)).collect::<Vec<_>>()
        {
            let why = "you did nothing for 15 minutes and have lost your seat";
            self.dismiss(now, peer, why, Departure::Dismissed("did nothing for 15 minutes".to_owned()), out);
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: &DecodeError, out: &mut Outbox) {
        let text = format!("malformed message: {why}");
        match self.state.peers.get(&peer).map(|peer| peer.link) {
            // The rest of the stream cannot be decoded.
            Some(Link::Stream) => self.dismiss(now, peer, &text, Departure::Dismissed(text.clone()), out),
            _ => self.refuse(peer, &text, out),
        }
    }
}

impl<R: Rules> Engine for Table<R> {
    type Protocol = Lines<R>;

    fn input(&mut self, now: Time, input: Input<'_, RequestOf<Self>>, out: &mut Outbox) {
        match input {
            Input::Connected { peer, role, link, address } => {
                self.state.peers.insert(peer, Peer { role, link, host: HostId::of(&address) });
                self.send_snapshot(peer, out);
            }
            Input::Message { peer, message: Ok(message) } => self.request(now, peer, message, out),
            Input::Message { peer, message: Err(why) } => self.refuse(peer, &why.to_string(), out),
            Input::Malformed { peer, why } => self.malformed(now, peer, &why, out),
            Input::Refresh { peer } => self.send_snapshot(peer, out),
            Input::Disconnected { peer, why } => self.disconnected(now, peer, why, out),
            Input::Elapsed => self.elapsed(now, out),
            Input::Stop(leave) => {
                if leave == Leave::Over {
                    self.send_all(&ServerMessage::Bye("the server is stopped".to_owned()), out);
                    for peer in core::mem::take(&mut self.state.peers).into_keys() {
                        out.close(peer);
                    }
                }
                self.state.has_stopped = true;
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        let TableState { seats, game, .. } = &self.state;
        let turn = game.iter().map(|game| game.asked.plus(R::MOVE_LIMIT));
        let lost = seats.values().filter_map(|seat| seat.lost).map(|lost| lost.plus(RETAINED));
        let idle = seats.values().filter(|seat| seat.lost.is_none()).map(|seat| seat.active.plus(IDLE));
        turn.chain(lost).chain(idle).min()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.state.has_stopped.then_some(Outcome::Stopped)
    }

    fn status(&self) -> Status {
        let phase = match (&self.state.game, self.state.has_stopped) {
            (_, true) => Phase::Over,
            (None, false) => Phase::Lobby,
            (Some(_), false) => Phase::Playing,
        };
        let taken = u32::try_from(self.state.seats.len()).unwrap_or(u32::MAX);
        Status { phase, taken, seats: R::SEATS.into() }
    }

    fn roster(&self) -> Vec<Occupant> {
        let occupant = |(number, seat): (&u8, &Seat)| Occupant {
            peer: seat.peer,
            name: seat.name.to_string(),
            seat: (number + 1).to_string(),
        };
        self.state.seats.iter().map(occupant).collect()
    }
}

impl<R: Rules> Recorded for Table<R> {
    const GAME: &'static str = R::NAME;
    // The table itself has not changed yet, so the version of the game suffices.
    const RULES: u32 = R::VERSION;

    type Setup = Setup<R::Options>;
    type State = TableState<R>;

    fn setup(&self) -> Self::Setup {
        self.setup.clone()
    }

    fn from_setup(setup: Self::Setup) -> Result<Self, StateError> {
        Self::new(setup.options, setup.seed).map_err(StateError::from)
    }

    fn state(&self) -> TableState<R> {
        self.state.clone()
    }

    fn restore(setup: Self::Setup, state: TableState<R>) -> Result<Self, StateError> {
        let table = Self::from_setup(setup)?;
        Ok(Self { state, ..table })
    }
}

#[cfg(test)]
mod tests;
