//! Seats, their games, and the results.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use netcore::{Fingerprint, GameEvent, Outbox, PeerId, Standing, Time};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::{
    code::Code,
    config::{Config, Mode, Rules},
    game::{Action, ActionError, Game, Outcome, TURNS},
    lifeline::Style,
    protocol::{Advice, Name},
    puzzle::Day,
    view::GameOutcome,
};

/// The score of a player who did not find the code. Otherwise it is the number of turns.
pub const NOT_FOUND: i64 = 11;

const _: () = assert!(TURNS == 10, "one less than the score of a code that was not found");

#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    pub(super) name: Name,
    pub(super) last: Time,
    pub(super) ready: bool,
    pub(super) current: Option<SeatGame>,
}

impl Seat {
    pub(super) fn plays(&self, number: u32) -> bool {
        self.current.as_ref().is_some_and(|current| current.number == number)
    }
}

#[derive(Debug, Clone)]
pub(super) struct SeatGame {
    pub(super) number: u32,
    pub(super) day: Option<Day>,
    pub(super) game: Game,
    pub(super) how: Option<GameOutcome>,
    pub(super) advice: Option<(Advice, Vec<Code>)>,
    // Determines what a lifeline reveals.
    chance: u64,
}

impl SeatGame {
    pub(super) fn new(config: &Config, number: u32, rules: Rules, day: Option<Day>) -> Self {
        let of_day = day.map(|day| (u64::from(day.0), 0));
        let (seed, number_or_zero) = of_day.unwrap_or((config.seed, number));
        let chance = |what: u64| {
            let mut print = Fingerprint::new();
            for part in [what, seed, number_or_zero.into()] {
                print.add(part);
            }
            print.value()
        };
        let code = match (day, config.mode) {
            (Some(day), Mode::Keyed(key)) => day.keyed_puzzle(rules, key),
            (Some(day), _) => day.puzzle(rules),
            (None, _) => rules.draw(&mut Pcg64::seed_from_u64(chance(1))),
        };
        let game = Game::start(rules, Style::Panel, code);
        Self { number, day, game, how: None, advice: None, chance: chance(2) }
    }

    pub(super) fn act(&mut self, action: Action) -> Result<(), ActionError> {
        self.game.apply(action, &mut Pcg64::seed_from_u64(self.chance))?;
        self.advice = None;
        Ok(())
    }

    pub(super) fn outcome(&self) -> Option<GameOutcome> {
        self.game.outcome().map(|outcome| match outcome {
            Outcome::Won(_) => GameOutcome::Won,
            Outcome::Lost(_) => GameOutcome::Lost,
        })
    }
}

/// The players of one game: a single player or all racers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Contest {
    pub(super) started: Time,
    pub(super) racers: Vec<Racer>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Racer {
    seat: u8,
    name: Name,
    result: Option<Finish>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Finish {
    how: Option<GameOutcome>,
    turns: u8,
    // The number of racers that finished or left earlier.
    after: u8,
}

impl Contest {
    pub(super) const fn new(started: Time) -> Self {
        Self { started, racers: Vec::new() }
    }

    pub(super) fn enter(&mut self, seat: u8, name: Name) {
        self.racers.push(Racer { seat, name, result: None });
    }

    pub(super) fn running(&self) -> impl Iterator<Item = u8> + '_ {
        self.racers.iter().filter(|racer| racer.result.is_none()).map(|racer| racer.seat)
    }

    pub(super) fn is_over(&self) -> bool {
        self.running().next().is_none()
    }

    // `how` is `None` if the player left.
    pub(super) fn finish(&mut self, seat: u8, how: Option<GameOutcome>, turns: usize) {
        let after = self.racers.iter().filter(|racer| racer.result.is_some()).count();
        let racer = self.racers.iter_mut().find(|racer| racer.seat == seat && racer.result.is_none());
        if let Some(racer) = racer {
            let small = |number| u8::try_from(number).unwrap_or(u8::MAX);
            racer.result = Some(Finish { how, turns: small(turns), after: small(after) });
        }
    }

    pub(super) fn report(&self, game: u32, out: &mut Outbox) {
        let standings = self.standings();
        let results: Vec<_> = self.racers.iter().map(|racer| format!("{} {}", racer.name, racer.how())).collect();
        let played = |racer: &Racer| racer.result.is_some_and(|finish| finish.how.is_some());
        let complete = self.is_over() && self.racers.iter().any(played);
        out.event(GameEvent::Ended { game, complete, standings });
        out.summary(format!("game {game}: {}", results.join(", ")));
    }

    // Fewer turns are better. Ties are in the order of finishing.
    fn standings(&self) -> Vec<Standing> {
        let mut order: Vec<&Racer> = self.racers.iter().collect();
        order.sort_by_key(|racer| (racer.score(), racer.result.map(|finish| finish.after)));
        let mut standings: Vec<Standing> = Vec::with_capacity(order.len());
        for (place, racer) in (1..).zip(order) {
            let score = racer.score();
            let rank = standings.last().filter(|before| before.score == score).map_or(place, |before| before.rank);
            standings.push(Standing { rank, seat: racer.seat.to_string(), name: racer.name.to_string(), score });
        }
        standings
    }
}

impl Racer {
    fn score(&self) -> i64 {
        match self.result {
            Some(Finish { how: Some(GameOutcome::Won), turns, .. }) => turns.into(),
            _ => NOT_FOUND,
        }
    }

    fn how(&self) -> String {
        match self.result {
            Some(Finish { how: Some(GameOutcome::Won), turns, .. }) => format!("won in {turns} turns"),
            Some(Finish { how: Some(how), .. }) => how.word().into(),
            Some(Finish { how: None, .. }) => "left".into(),
            None => "was still playing".into(),
        }
    }
}
