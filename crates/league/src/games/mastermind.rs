//! Mastermind: fewest turns for the same code win. A code that is not found counts as eleven turns.

use anyhow::bail;
use mastermind::{Config, Server};
use netcore::Rate;

use crate::{draw::Fixture, hosting::Wire, referee::Table, rules::Rules, setup::Setup};

/// Limit on bytes read from the player; messages are short lines.
const READ_RATE: Rate = Rate { per_second: 4 << 10, burst: 16 << 10 };
/// Only the first game counts.
const FIRST: u32 = 1;

pub(crate) struct Mastermind;

impl Table for Mastermind {
    type Engine = Server;
    const WIRE: Wire = Wire::Tcp(READ_RATE);

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Server> {
        let Rules::Mastermind { pegs, repeats } = setup.rules else { bail!("not the rules of mastermind") };
        Ok(Server::new(Config::new(pegs, repeats, fixture.seed))?)
    }

    // A hint is a guess by the built-in codebreaker.
    fn breach(engine: &Server) -> Option<String> {
        let (_, hints) = engine.oddities(FIRST);
        hints.then(|| "it requested a hint".to_owned())
    }
}
