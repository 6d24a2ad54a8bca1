//! Robots: what its rooms can be asked for, their engine, bots, and marks on a timeline.

mod picture;

use std::{ops::RangeInclusive, time::Duration};

use clientkit::{Ended, robots_bot, run};
use netcore::wire::ShortText;
use rand::{TryRng as _, rngs::SysRng};
use robots::{Config, MAX_HISTORY, Parameters, READ_RATE, Server};
use serde::{Deserialize, Serialize};
use servekit::Wire;

use super::{
    bot::{Bot, Way},
    counts::Casual,
    fields::{Field, within},
    kind::{Frames, Kind},
    marked::Marked,
    shown::Shown,
};

/// Robots in a match.
const ROBOTS: RangeInclusive<u8> = 1..=25;
/// Columns and rows of a board.
const BOARD: RangeInclusive<u16> = 4..=100;
/// Turns of a game.
const TURNS: RangeInclusive<u16> = 1..=10_000;
/// Milliseconds of a turn.
const TURN_DURATION: RangeInclusive<u64> = 20..=10_000;

/// What a new room is to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Options {
    players: u8,
    columns: u16,
    rows: u16,
    turns: u16,
    /// Milliseconds.
    turn_duration: u64,
    seed: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Self { players: 4, columns: 16, rows: 12, turns: 300, turn_duration: 200, seed: None }
    }
}

impl Options {
    /// A match of two that lasts fifteen seconds, on a small field, so that robots meet.
    pub(super) fn short() -> Self {
        Self { players: 2, columns: 12, rows: 10, turns: 150, turn_duration: 100, seed: None }
    }
}

impl Kind for Options {
    type Engine = Server;
    type Painter = picture::Field;

    const NAME: &str = "robots";
    const TITLE: &str = "Robots";
    const COLOUR: [u8; 3] = [127, 209, 255];
    const WIRE: Wire = Wire::Tcp(READ_RATE);
    const FRAMES: Frames = Frames::Binary;
    const IS_TIMED: bool = true;

    fn title(&self) -> String {
        let Self { players, columns, rows, turns, .. } = self;
        let robots = if *players == 1 { "1 robot".into() } else { format!("{players} robots") };
        format!("{robots} on {columns} x {rows}, {turns} turns")
    }

    fn engine(&self) -> anyhow::Result<Server> {
        let &Self { players, columns, rows, turns, turn_duration, seed } = self;
        within("players", players, &ROBOTS)?;
        within("columns", columns, &BOARD)?;
        within("rows", rows, &BOARD)?;
        within("turns", turns, &TURNS)?;
        within("turn_duration", turn_duration, &TURN_DURATION)?;
        let config = Config {
            parameters: Parameters {
                server_name: ShortText::try_from("Arcade").unwrap_or_default(),
                players_count: players,
                size_x: columns,
                size_y: rows,
                game_length: turns,
                explosion_radius: 4,
                bomb_timer: 5,
            },
            turn_duration: Duration::from_millis(turn_duration),
            initial_blocks: u16::try_from(u32::from(columns) * u32::from(rows) / 8).unwrap_or(u16::MAX),
            seed: seed.map_or_else(|| SysRng.try_next_u32(), Ok)?,
            max_history: MAX_HISTORY,
        };
        Ok(Server::new(config)?)
    }

    fn fields() -> Vec<Field> {
        vec![
            Field::whole("players", &ROBOTS, "Robots in a match, which begins when all are taken."),
            Field::whole("columns", &BOARD, "Width of the board in fields."),
            Field::whole("rows", &BOARD, "Height of the board in fields."),
            Field::whole("turns", &TURNS, "Turns of a game."),
            Field::whole("turn_duration", &TURN_DURATION, "Duration of a turn in milliseconds."),
            Field::seed(u32::MAX.into()),
        ]
    }

    fn casual(&self) -> Option<Casual> {
        let standard = self.clone().without_seed() == Self::default();
        self.seed.map(|_| Casual::Seed).or((!standard).then_some(Casual::Options))
    }

    fn without_seed(self) -> Self {
        Self { seed: None, ..self }
    }

    fn score(score: i64) -> String {
        match score {
            0 => "never destroyed".into(),
            1 => "destroyed once".into(),
            times => format!("destroyed {times} times"),
        }
    }

    async fn play<'a>(bot: Bot, way: impl Way<'a>, left: impl Future<Output = ()> + Send) -> anyhow::Result<Ended> {
        let name = ShortText::try_from(&*bot.name)?;
        let (wire, own) = way.await?;
        let seed = u32::try_from(bot.seed >> 32).unwrap_or_default();
        let (mut client, mut pilot) = robots_bot(name, Some(own), bot.level, seed);
        Ok(run(wire, &mut client, &mut pilot, left).await)
    }
}

impl Marked for Server {
    // The number of deaths of each robot.
    type Probe = Vec<(String, u32)>;

    fn probe(&self) -> Self::Probe {
        let names = self.players().values().map(|player| player.name.to_string());
        let robots = self.game().map(robots::Game::robots).unwrap_or_default();
        names.zip(robots.iter().map(|robot| robot.score)).collect()
    }

    fn changes(before: &Self::Probe, after: &Self::Probe) -> Vec<(&'static str, String)> {
        let both = before.iter().zip(after);
        let died = both.filter(|(before, after)| after.1 > before.1);
        died.map(|(_, (name, _))| ("death", format!("{name} is destroyed"))).collect()
    }
}

// Everybody counts the explosions that the wire tells.
impl Shown for Server {}
