//! A table for one player, with the same decks for all. The score is the bankroll: rounds won minus rounds lost.

use std::time::Duration;

use anyhow::bail;
use blackjack::{Config, Seed, Server};
use netcore::Rate;
use serde::Deserialize;

use crate::{draw::Fixture, hosting::Wire, observer::MatchState, referee::Table, rules::Rules, setup::Setup};

/// In bytes, far above ten thousand answers per second.
const READ_RATE: Rate = Rate { per_second: 1 << 20, burst: 64 << 10 };

/// Of the longest round: BEGIN, two cards, the dealer's card, RESULT, and up to ten cards and eleven questions.
const MESSAGES: u32 = 26;

pub(crate) struct Blackjack;

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
        let Rules::Blackjack { hands, delay_ms } = setup.rules else { bail!("not the rules of blackjack") };
        let mut config = Config::new(hands, Seed::from_number(fixture.seed));
        // Many programs treat one read as one message.
        config.delay = Duration::from_millis(delay_ms);
        config.timeout = Duration::from_secs(setup.patience.into());
        config.json = true;
        Ok(Server::new(config)?)
    }

    // Pauses do not count towards the player's time.
    fn limit(setup: &Setup) -> Duration {
        let Rules::Blackjack { hands, delay_ms } = setup.rules else { return Duration::ZERO };
        let limit = Duration::from_secs(setup.limit.into());
        Duration::from_millis(delay_ms).saturating_mul(hands.saturating_mul(MESSAGES)).saturating_add(limit)
    }

    fn score(state: &MatchState, _: usize) -> Option<i64> {
        bankroll(state.result.as_ref()?.summary.as_ref()?)
    }
}

// Game events report only the rounds won.
fn bankroll(standings: &str) -> Option<i64> {
    let standings: Standings = serde_json::from_str(standings).ok()?;
    standings.seats.first().map(|Row { wins, losses, busts }| wins - losses - busts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use blackjack::{Name, config::DELAY, game::Game};

    use crate::{draw::Draw, setup::Plan};

    #[test]
    fn table_pauses_like_a_dealer_by_default() {
        let delay = |options: &str| {
            let players =
                "[[player]]\nname = \"A\"\ncommand = \"bot:easy\"\n[[player]]\nname = \"B\"\ncommand = \"bot:hard\"\n";
            let plan: Plan = toml::from_str(&format!("game = \"blackjack\"\n{options}\n{players}")).unwrap();
            let setup = plan.setup(1).unwrap();
            let fixture = &Draw::new(&setup).round(1)[0];
            (Blackjack::engine(&setup, fixture).unwrap().config().delay, Blackjack::limit(&setup))
        };
        let (pause, limit) = delay("limit = 60");
        assert_eq!((pause, limit), (DELAY, Duration::from_secs(60) + DELAY * 2_600));
        assert_eq!(delay("limit = 60\ndelay-ms = 0"), (Duration::ZERO, Duration::from_secs(60)));
    }

    #[test]
    fn bankroll_is_read_from_the_printed_standings() {
        let name = Name::new(b"Ann").unwrap();
        let mut game = Game::new(vec![name], 3, Seed::from_number(17).generator(1)).unwrap();
        game.forfeit(0);
        assert_eq!(bankroll(&game.standings(1).to_json()), Some(-1));
        assert_eq!(bankroll(r#"{"table":1,"seats":[{"wins":9,"pushes":2,"losses":3,"busts":4}]}"#), Some(2));
    }
}
