//! Blackjack: a table for one with the same decks for everybody. The score is the bankroll: rounds won less rounds lost.

use std::time::Duration;

use anyhow::bail;
use blackjack::{Config, Seed, Server};
use netcore::Rate;
use serde::Deserialize;

use crate::{draw::Fixture, hosting::Wire, referee::Table, rules::Rules, seen::State, setup::Setup};

/// Bytes that are read from the player; some ten thousand answers a second stay far below it.
const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 64 << 10 };

pub(crate) struct Blackjack;

/// The standings as the server prints them.
#[derive(Deserialize)]
struct Standings {
    seats: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    wins: i64,
    losses: i64,
    busts: i64,
}

impl Table for Blackjack {
    type Engine = Server;
    const WIRE: Wire = Wire::Tcp(READ_RATE);

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Server> {
        let Rules::Blackjack { hands } = setup.rules else { bail!("these are no rules of blackjack") };
        let mut config = Config::new(hands, Seed::from_number(fixture.seed));
        // A program reads one message after the other, whether they come together or not.
        config.delay = Duration::ZERO;
        config.timeout = Duration::from_secs(setup.patience.into());
        config.json = true;
        Ok(Server::new(config)?)
    }

    fn score(state: &State, _: usize) -> Option<i64> {
        bankroll(state.result.as_ref()?.summary.as_ref()?)
    }
}

// Events of the game tell only the rounds that were won.
fn bankroll(standings: &str) -> Option<i64> {
    let standings: Standings = serde_json::from_str(standings).ok()?;
    standings.seats.first().map(|Row { wins, losses, busts }| wins - losses - busts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::{Name, game::Game};

    #[test]
    fn the_bankroll_is_read_from_what_a_dealer_prints() {
        let name = Name::new(b"Ann").unwrap();
        let mut game = Game::new(vec![name], 3, Seed::from_number(17).generator(1)).unwrap();
        game.forfeit(0);
        assert_eq!(bankroll(&game.standings(1).to_json()), Some(-1));
        assert_eq!(bankroll(r#"{"table":1,"seats":[{"wins":9,"pushes":2,"losses":3,"busts":4}]}"#), Some(2));
    }
}
