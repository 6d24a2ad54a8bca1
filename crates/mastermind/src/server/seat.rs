//! A seat and the game at it.

use alloc::vec::Vec;
use netcore::{Fingerprint, PeerId, Time};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::{
    code::Code,
    config::{Config, Mode, Rules},
    game::{Action, ActionError, Entry, Game, Outcome},
    lifeline::Style,
    protocol::{Advice, Name},
    puzzle::Day,
    view::Ending,
};

/// A seat that is taken.
#[derive(Debug, Clone)]
pub(super) struct Seat {
    pub(super) peer: PeerId,
    pub(super) name: Name,
    // When the player last said something.
    pub(super) last: Time,
    // Whether it wants to play the next race.
    pub(super) ready: bool,
    // The game, also when it is over.
    pub(super) played: Option<Played>,
}

impl Seat {
    // The code follows from the number and the rules, and answers from the code.
    pub(super) fn add_to(&self, print: &mut Fingerprint) {
        print.add(self.peer.0);
        print.add_bytes(self.name.as_str().as_bytes());
        print.add_time(Some(self.last));
        print.add(u64::from(self.ready));
        print.add(u64::from(self.played.is_some()));
        let Some(Played { number, day, game, how, advice, .. }) = &self.played else { return };
        print.add(u64::from(*number));
        print.add(day.map_or(0, |day| u64::from(day.0) + 1));
        print.add_count(game.rules().length() << 1 | usize::from(game.rules().repeats()));
        print.add_count(game.hints() << 1 | usize::from(advice.is_some()));
        print.add(how.map_or(0, Ending::number));
        print.add_count(game.history().len());
        for entry in game.history() {
            match entry {
                Entry::Guess(guess, _) => print.add(guess.digits.into()),
                Entry::Lifeline(revealed, _) => print.add_count(revealed.lifeline().number()),
            }
        }
    }

    // Whether its game has this number.
    pub(super) fn plays(&self, number: u32) -> bool {
        self.played.as_ref().is_some_and(|played| played.number == number)
    }
}

/// A game at a seat.
#[derive(Debug, Clone)]
pub(super) struct Played {
    pub(super) number: u32,
    pub(super) day: Option<Day>,
    pub(super) game: Game,
    // How it is over.
    pub(super) how: Option<Ending>,
    // The hint of this turn, and the codes that it listed.
    pub(super) advice: Option<(Advice, Vec<Code>)>,
    // For what a lifeline reveals, which is used once.
    chance: u64,
}

impl Played {
    // The game with this number, or the puzzle of the day.
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

    // How the game is over by its turns.
    pub(super) fn outcome(&self) -> Option<Ending> {
        self.game.outcome().map(|outcome| match outcome {
            Outcome::Won(_) => Ending::Won,
            Outcome::Lost(_) => Ending::Lost,
        })
    }
}
