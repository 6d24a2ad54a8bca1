mod blackjack;

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use mastermind::Server as Mastermind;
use netcore::{Rate, wire::ShortText};
use nuggets::{Grid, Server as Nuggets};
use robots::{Parameters, Server as Robots};

use self::blackjack::Blackjack;
use crate::{
    draw::{Draw, Fixture},
    hosting::Wire,
    record::Record,
    referee::{Table, Venue, play},
    rules::{Game, Rules},
    setup::Setup,
};

const FIELDS_PER_BLOCK: u32 = 8;
/// In bytes. Messages are short lines.
const MASTERMIND_RATE: Rate = Rate { per_second: 4 << 10, burst: 16 << 10 };
const FIRST: u32 = 1;

pub(crate) fn play_match(venue: &Venue<'_>, fixture: &Fixture) -> anyhow::Result<Option<Record>> {
    match venue.setup.game() {
        Game::Robots => play::<Robots>(venue, fixture),
        Game::Nuggets => play::<Nuggets>(venue, fixture),
        Game::Blackjack => play::<Blackjack>(venue, fixture),
        Game::Mastermind => play::<Mastermind>(venue, fixture),
    }
}

/// Errors give the accepted values.
pub(crate) fn check(setup: &Setup) -> anyhow::Result<()> {
    let Some(fixture) = Draw::new(setup).round(1).into_iter().next() else { return Ok(()) };
    match setup.game() {
        Game::Robots => Robots::engine(setup, &fixture).map(drop),
        Game::Nuggets => Nuggets::engine(setup, &fixture).map(drop),
        Game::Blackjack => Blackjack::engine(setup, &fixture).map(drop),
        Game::Mastermind => Mastermind::engine(setup, &fixture).map(drop),
    }
}

/// The fewest deaths win.
impl Table for Robots {
    type Engine = Self;
    const WIRE: Wire = Wire::Tcp(robots::READ_RATE);

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Self> {
        let Rules::Robots { turns, turn_ms, columns, rows } = setup.rules else { bail!("not the rules of robots") };
        let fields = u32::from(columns) * u32::from(rows);
        Ok(Self::new(robots::Config {
            parameters: Parameters {
                server_name: ShortText::try_from("league").unwrap_or_default(),
                players_count: u8::try_from(fixture.seats.len())?,
                size_x: columns,
                size_y: rows,
                game_length: turns,
                explosion_radius: 4,
                bomb_timer: 5,
            },
            turn_duration: Duration::from_millis(turn_ms),
            initial_blocks: u16::try_from(fields / FIELDS_PER_BLOCK).unwrap_or(u16::MAX),
            seed: u32::try_from(fixture.seed >> 32)?,
            max_history: robots::MAX_HISTORY,
        })?)
    }

    // The server times the turns, which determines the length of a game. The rest is for a stalled server.
    fn limit(setup: &Setup) -> Duration {
        let Rules::Robots { turns, turn_ms, .. } = setup.rules else { return Duration::ZERO };
        let limit = Duration::from_secs(setup.limit.into());
        Duration::from_millis(turn_ms).saturating_mul(u32::from(turns) + 1).saturating_add(limit)
    }
}

/// The most gold wins. At the time limit, the gold found so far counts.
impl Table for Nuggets {
    type Engine = Self;
    const WIRE: Wire = Wire::Udp;

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Self> {
        let Rules::Nuggets { map } = &setup.rules else { bail!("not the rules of nuggets") };
        let (grid, _) = Grid::parse(map.as_bytes()).context("cannot play on the map")?;
        let seats = u32::try_from(fixture.seats.len())?;
        let config = nuggets::Config {
            // The first to join waits for all others.
            idle_timeout: Some(Duration::from_secs(setup.patience.into()).saturating_mul(seats)),
            wait_for: seats,
            seed: fixture.seed.into(),
            ..nuggets::Config::default()
        };
        Ok(Self::new(Arc::new(grid), config)?)
    }
}

/// The fewest turns for the same code win. A code that is not found counts as eleven turns.
impl Table for Mastermind {
    type Engine = Self;
    const WIRE: Wire = Wire::Tcp(MASTERMIND_RATE);
    const HAS_BREACHES: bool = true;

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Self> {
        let Rules::Mastermind { pegs, repeats } = setup.rules else { bail!("not the rules of mastermind") };
        Ok(Self::new(mastermind::Config::new(pegs, repeats, fixture.seed))?)
    }

    // The built-in codebreaker computes hints.
    fn breach(engine: &Self) -> Option<String> {
        let (_, hints) = engine.oddities(FIRST);
        hints.then(|| "it requested a hint".to_owned())
    }
}
