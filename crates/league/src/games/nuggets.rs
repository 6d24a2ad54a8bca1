//! Nuggets: most gold wins. When the time is up, the gold found so far counts.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use nuggets::{Config, Grid, Server};

use crate::{draw::Fixture, hosting::Wire, referee::Table, rules::Rules, setup::Setup};

pub(crate) struct Nuggets;

impl Table for Nuggets {
    type Engine = Server;
    const WIRE: Wire = Wire::Udp;

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Server> {
        let Rules::Nuggets { map } = &setup.rules else { bail!("not the rules of nuggets") };
        let (grid, _) = Grid::parse(map.as_bytes()).context("cannot play on the map")?;
        let seats = u32::try_from(fixture.seats.len())?;
        let config = Config {
            // The first to join waits for all others.
            idle_timeout: Some(Duration::from_secs(setup.patience.into()).saturating_mul(seats)),
            wait_for: seats,
            seed: fixture.seed.into(),
            ..Config::default()
        };
        Ok(Server::new(Arc::new(grid), config)?)
    }
}
