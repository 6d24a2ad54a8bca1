//! The state of a server as plain data, without codes, which follow from the seed, the number of the game and the day.
//! A game is restored by replaying the player's actions.

use alloc::{string::ToString, vec::Vec};
use netcore::{Outcome, PeerId, Recorded, StateError, Time, TokenBucket};
use serde::{Deserialize, Serialize};

use super::{
    Peer, Server,
    seat::{Contest, Seat, SeatGame},
};
use crate::{
    code::{Code, MAX_COLOURS},
    config::{Config, Rules},
    game::{Action, Entry},
    lifeline::{Lifeline, Revealed},
    protocol::{Advice, Name},
    puzzle::Day,
    view::GameOutcome,
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
    current: Option<SeatGameState>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SeatGameState {
    number: u32,
    length: u8,
    repeats: bool,
    day: Option<u32>,
    actions: Vec<ActionState>,
    hints: u32,
    how: Option<GameOutcome>,
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
            current: seat.current.as_ref().map(SeatGameState::of),
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
        server.today = today.map(|(day, ends)| (Day(day), ends));
        (server.games, server.hints) = (games, hints);
        server.outcome = stopped.then_some(Outcome::Stopped);
        server.peers = peers.into_iter().collect();
        for SeatState { number, peer, name, last, ready, current } in seats {
            let current = current.map(|current| current.play(&config)).transpose()?;
            server.seats.insert(number, Seat { peer, name, last, ready, current });
        }
        server.contests = contests.into_iter().collect();
        Ok(server)
    }
}

impl SeatGameState {
    fn of(current: &SeatGame) -> Self {
        let rules = current.game.rules();
        let action = |entry: &Entry| match entry {
            Entry::Guess(guess, _) => ActionState::Guess(*guess),
            Entry::Lifeline(Revealed::Colour(_), _) => ActionState::Lifeline(1),
            Entry::Lifeline(Revealed::Place { .. }, _) => ActionState::Lifeline(2),
        };
        Self {
            number: current.number,
            length: u8::try_from(rules.length()).unwrap_or(u8::MAX),
            repeats: rules.repeats(),
            day: current.day.map(|day| day.0),
            actions: current.game.history().iter().map(action).collect(),
            hints: u32::try_from(current.game.hints()).unwrap_or(u32::MAX),
            how: current.how,
            advice: current.advice.clone(),
        }
    }

    fn play(self, config: &Config) -> Result<SeatGame, StateError> {
        let rules = Rules::new(self.length.into(), MAX_COLOURS, self.repeats)
            .map_err(|why| StateError(why.to_string().into()))?;
        let mut current = SeatGame::new(config, self.number, rules, self.day.map(Day));
        for action in self.actions {
            let action = match action {
                ActionState::Guess(code) => Action::Guess(code),
                ActionState::Lifeline(number) => {
                    Action::Lifeline(Lifeline::from_number(number.into()).ok_or("a lifeline that does not exist")?)
                }
            };
            current.act(action).map_err(|why| StateError(why.to_string().into()))?;
        }
        current.game.set_hints(usize::try_from(self.hints).unwrap_or(usize::MAX));
        (current.how, current.advice) = (self.how, self.advice);
        Ok(current)
    }
}
