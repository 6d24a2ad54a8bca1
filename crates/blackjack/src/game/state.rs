//! A game as plain data.

use alloc::vec::Vec;
use netcore::StateError;
use serde::{Deserialize, Serialize};

use super::{
    Game, Generator, Record, Seed,
    round::{Round, RoundState},
};
use crate::{
    cards::{Card, Deck},
    config::Config,
    hand::Hand,
    verdict::Score,
};

/// What a game has come to. Where its cards come from and how many rounds it has is in its dealer's set-up.
#[derive(Serialize, Deserialize)]
pub(crate) struct GameState {
    records: Vec<Record>,
    deck: Vec<Card>,
    // How many random words were drawn.
    drawn: u64,
    round: Option<RoundState>,
    revealed: Option<Hand>,
}

impl Game {
    pub(crate) fn state(&self) -> GameState {
        GameState {
            records: self.records.clone(),
            deck: self.deck.order().to_vec(),
            // The most rounds, 10^9, take about 2^35 words.
            drawn: u64::try_from(self.rng.0.get_word_pos()).unwrap_or(u64::MAX),
            round: self.round.as_ref().map(Round::state),
            revealed: self.revealed,
        }
    }

    /// The game that had this state, at the table of this number.
    /// Fails with [`StateError`] when no game of this dealer can be in it.
    pub(crate) fn restore(config: &Config, number: u32, state: GameState) -> Result<Self, StateError> {
        let GameState { records, deck, drawn, round, revealed } = state;
        if records.len() != config.players {
            return Err("a game with another number of players".into());
        }
        if !records.iter().all(|record| is_possible(config, record)) {
            return Err("a seat with more results than it can have".into());
        }
        let deck = Deck::in_order(&deck).ok_or("a deck without each card once")?;
        let round = round.map(|round| Round::restore(&round, deck.clone())).transpose()?;
        let counts = |(seat, record): (usize, &Record)| {
            let dealt = round.as_ref().filter(|round| !round.is_over()).is_some_and(|round| round.view(seat).is_some());
            !dealt || record.score.rounds() < u64::from(config.rounds)
        };
        if !records.iter().enumerate().all(counts) {
            return Err("a round that is dealt to a seat which has played all of its rounds".into());
        }
        let mut rng = Seed::generator(config.seed, number);
        rng.set_word_pos(drawn.into());
        let mut game = Self {
            rounds: config.rounds,
            deck,
            rng: Generator(rng),
            round,
            revealed,
            players: super::fingerprint_of_players(&records),
            dealt: 0,
            scored: 0,
            records,
        };
        game.dealt = game.fingerprint_of_deck();
        game.scored = game.fingerprint_of_records();
        Ok(game)
    }
}

fn is_possible(config: &Config, Record { score, forfeits, .. }: &Record) -> bool {
    let Score { wins, pushes, losses, busts } = *score;
    let rounds = [pushes, losses, busts].into_iter().try_fold(wins, u64::checked_add);
    rounds.is_some_and(|rounds| rounds <= u64::from(config.rounds)) && *forfeits <= losses
}
