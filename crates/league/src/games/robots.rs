//! Robots: fewest deaths win.

use std::time::Duration;

use anyhow::bail;
use netcore::wire::ShortText;
use robots::{Config, MAX_HISTORY, Parameters, READ_RATE, Server};

use crate::{draw::Fixture, hosting::Wire, referee::Table, rules::Rules, setup::Setup};

/// One field in this many has a block at the start.
const FIELDS_PER_BLOCK: u32 = 8;

pub(crate) struct Robots;

impl Table for Robots {
    type Engine = Server;
    const WIRE: Wire = Wire::Tcp(READ_RATE);

    fn engine(setup: &Setup, fixture: &Fixture) -> anyhow::Result<Server> {
        let Rules::Robots { turns, turn_ms, columns, rows } = setup.rules else { bail!("not the rules of robots") };
        let fields = u32::from(columns) * u32::from(rows);
        let config = Config {
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
            max_history: MAX_HISTORY,
        };
        Ok(Server::new(config)?)
    }

    // The server times the turns, so the length of a game is known. The extra time is for a server that stalls.
    fn limit(setup: &Setup) -> Duration {
        let Rules::Robots { turns, turn_ms, .. } = setup.rules else { return Duration::ZERO };
        let limit = Duration::from_secs(setup.limit.into());
        Duration::from_millis(turn_ms).saturating_mul(u32::from(turns) + 1).saturating_add(limit)
    }
}
