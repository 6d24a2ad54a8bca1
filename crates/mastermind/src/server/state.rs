//! The state of a server as plain data, and a server restored from it.
//!
//! No code is in it: codes follow from the seed, the number of the game and the day, and a game follows from what its player did.

use alloc::{string::ToString, vec::Vec};
use netcore::{Outcome, PeerId, Recorded, Role, StateError, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use super::{
    HINT_RATE, Peer, Server,
    contest::Contest,
    seat::{Played, Seat},
};
use crate::{
    code::{Code, MAX_COLOURS},
    config::{Config, Mode, Rules},
    game::{Action, Entry, TURNS},
    lifeline::{Lifeline, Revealed},
    protocol::{Advice, Name},
    puzzle::Day,
    solver::LISTED,
    view::Ending,
};

/// The state of a [`Server`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct State {
    today: Option<(u32, Time)>,
    peers: Vec<(PeerId, Peer)>,
    seats: Vec<SeatState>,
    contests: Vec<(u32, Contest)>,
    games: u32,
    hints: TokenBucket,
    stopped: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct SeatState {
    number: u8,
    peer: PeerId,
    name: Name,
    last: Time,
    ready: bool,
    played: Option<PlayedState>,
}

#[derive(Debug, Serialize, Deserialize)]
struct PlayedState {
    number: u32,
    length: u8,
    repeats: bool,
    day: Option<u32>,
    actions: Vec<ActionState>,
    hints: u32,
    how: Option<Ending>,
    advice: Option<(Advice, Vec<Code>)>,
}

#[derive(Debug, Serialize, Deserialize)]
enum ActionState {
    Guess(Code),
    Lifeline(u8),
}

impl Recorded for Server {
    const GAME: &'static str = "mastermind";
    const RULES: u32 = 2;
    const OLDEST_RULES: u32 = 1;

    type Setup = Config;
    type State = State;

    fn setup(&self) -> Config {
        self.config
    }

    fn from_setup(config: Config) -> Result<Self, StateError> {
        Self::new(config).map_err(|why| why.to_string().into())
    }

    fn state(&self) -> State {
        let seat = |(&number, seat): (&u8, &Seat)| SeatState {
            number,
            peer: seat.peer,
            name: seat.name.clone(),
            last: seat.last,
            ready: seat.ready,
            played: seat.played.as_ref().map(PlayedState::of),
        };
        State {
            today: self.today.map(|(day, ends)| (day.0, ends)),
            peers: self.peers.iter().map(|(&id, peer)| (id, peer.clone())).collect(),
            seats: self.seats.iter().map(seat).collect(),
            contests: self.contests.iter().map(|(&number, contest)| (number, contest.clone())).collect(),
            games: self.games,
            hints: self.hints.clone(),
            stopped: self.outcome.is_some(),
        }
    }

    fn restore(config: Config, state: State) -> Result<Self, StateError> {
        let mut server = Self::from_setup(config)?;
        let State { today, peers, seats, contests, games, hints, stopped } = state;
        if today.is_some() != server.today.is_some() {
            return Err("a day in a room that is not a daily one, or none in one that is".into());
        }
        if hints.rate() != HINT_RATE {
            return Err("another rate of hints".into());
        }
        server.today = today.map(|(day, ends)| (Day(day), ends));
        (server.games, server.hints) = (games, hints);
        server.outcome = stopped.then_some(Outcome::Stopped);
        server.restore_peers(peers)?;
        for seat in seats {
            server.restore_seat(seat)?;
        }
        if server.peers.values().filter(|peer| peer.seat.is_some()).count() != server.seats.len() {
            return Err("a seat without a player".into());
        }
        server.restore_contests(contests)?;
        Ok(server)
    }
}

impl PlayedState {
    fn of(played: &Played) -> Self {
        let rules = played.game.rules();
        let action = |entry: &Entry| match entry {
            Entry::Guess(guess, _) => ActionState::Guess(*guess),
            Entry::Lifeline(Revealed::Colour(_), _) => ActionState::Lifeline(1),
            Entry::Lifeline(Revealed::Place { .. }, _) => ActionState::Lifeline(2),
        };
        Self {
            number: played.number,
            // At most 8.
            length: u8::try_from(rules.length()).unwrap_or(u8::MAX),
            repeats: rules.repeats(),
            day: played.day.map(|day| day.0),
            actions: played.game.history().iter().map(action).collect(),
            hints: u32::try_from(played.game.hints()).unwrap_or(u32::MAX),
            how: played.how,
            advice: played.advice.clone(),
        }
    }

    // Plays the game again.
    fn play(self, config: &Config) -> Result<Played, StateError> {
        let rules = Rules::new(self.length.into(), MAX_COLOURS, self.repeats)
            .map_err(|why| StateError(why.to_string().into()))?;
        let mut played = Played::new(config, self.number, rules, self.day.map(Day));
        for action in self.actions {
            let action = match action {
                ActionState::Guess(code) => Action::Guess(code),
                ActionState::Lifeline(number) => {
                    Action::Lifeline(Lifeline::from_number(number.into()).ok_or("a lifeline that does not exist")?)
                }
            };
            played.act(action).map_err(|why| StateError(why.to_string().into()))?;
        }
        let possible = match played.outcome() {
            Some(how) => self.how == Some(how),
            None => matches!(self.how, None | Some(Ending::Resigned | Ending::Late)),
        };
        if !possible {
            return Err("a game that is not over in this way".into());
        }
        // One for each turn.
        let hints = usize::try_from(self.hints).unwrap_or(usize::MAX);
        if hints > TURNS {
            return Err("more hints than turns".into());
        }
        if let Some((advice, listed)) = &self.advice {
            let fits = |code: &Code| rules.allows_guess(*code);
            let sound = advice.turn == played.game.turn() && fits(&advice.guess) && listed.iter().all(fits);
            if self.how.is_some() || hints == 0 || !sound || listed.len() > LISTED {
                return Err("a hint that does not belong to the turn".into());
            }
        }
        played.game.set_hints(hints);
        (played.how, played.advice) = (self.how, self.advice);
        Ok(played)
    }
}

impl Server {
    fn restore_peers(&mut self, peers: Vec<(PeerId, Peer)>) -> Result<(), StateError> {
        for (id, peer) in peers {
            let capacity = self.capacity();
            let may_sit = |seat| peer.role == Role::Player && (1..=capacity).contains(&seat);
            if !peer.seat.is_none_or(may_sit) {
                return Err("a peer at a seat that it cannot have".into());
            }
            self.toggle_peer(id, &peer);
            if self.peers.insert(id, peer).is_some() {
                return Err("a peer that is there twice".into());
            }
        }
        Ok(())
    }

    fn restore_seat(&mut self, seat: SeatState) -> Result<(), StateError> {
        let SeatState { number, peer, name, last, ready, played } = seat;
        if self.peers.get(&peer).and_then(|peer| peer.seat) != Some(number) {
            return Err("a seat whose player is not there".into());
        }
        let daily = self.config.mode.is_daily();
        if played
            .as_ref()
            .is_some_and(|played| played.number == 0 || played.number > self.games || played.day.is_some() != daily)
        {
            return Err("a game that has not begun".into());
        }
        let race = matches!(self.config.mode, Mode::Race(_));
        let played = played.map(|played| played.play(&self.config)).transpose()?;
        let over = played.as_ref().is_none_or(|played| played.how.is_some());
        if ready && !(race && over) || !race && played.is_none() {
            return Err("a player who waits for no game".into());
        }
        if self.seats.insert(number, Seat { peer, name, last, ready, played }).is_some() {
            return Err("a seat that is there twice".into());
        }
        Ok(())
    }

    fn restore_contests(&mut self, contests: Vec<(u32, Contest)>) -> Result<(), StateError> {
        let race = matches!(self.config.mode, Mode::Race(_));
        let most = if race { self.capacity().into() } else { 1 };
        let mut running = 0;
        for (number, contest) in contests {
            if number == 0 || number > self.games || contest.racers.len() > most || contest.is_over() {
                return Err("a game that cannot be running".into());
            }
            for seat in contest.running() {
                let plays = self.seats.get(&seat).and_then(|seat| seat.played.as_ref());
                if !plays.is_some_and(|played| played.number == number && played.how.is_none()) {
                    return Err("a game whose player does not play it".into());
                }
                running += 1;
            }
            if self.contests.insert(number, contest).is_some() {
                return Err("a game that is there twice".into());
            }
        }
        let unfinished = |seat: &&Seat| seat.played.as_ref().is_some_and(|played| played.how.is_none());
        if running != self.seats.values().filter(unfinished).count() || race && self.contests.len() > 1 {
            return Err("a player whose game is not running".into());
        }
        if race && self.contests.is_empty() && self.missing() == 0 {
            return Err("a race that should have begun".into());
        }
        Ok(())
    }
}
