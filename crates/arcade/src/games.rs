//! The games of the hub: what a room can be asked for, and the engine that it gets.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::Context as _;
use cmdkit::Wire;
use mastermind::{protocol::Mode, server::FirstDay};
use netcore::{Framing, Rate, wire::ShortText};
use netshell::Farewell;
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use store::Order;

use crate::options::{BOARD, MINUTES, PEGS, RACERS, ROBOTS, ROUNDS, TABLE, TURN_DURATION, TURNS, within};

/// Bytes that are read from one connection to a table.
const BLACKJACK_RATE: Rate = Rate { per_second: 1 << 20, burst: 64 << 10 };

/// Bytes that are read from one connection to a room of mastermind; its messages are short lines.
const MASTERMIND_RATE: Rate = Rate { per_second: 4 << 10, burst: 16 << 10 };

/// Players that a game of nuggets is filled to with bots.
const PARTY: u32 = 4;

/// How long a player of nuggets keeps a seat without a key. Over UDP nobody notices that a client is gone, and its seat would keep a
/// room open for ever.
const IDLE: Duration = Duration::from_mins(15);

/// A game of the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Game {
    Nuggets,
    Robots,
    Blackjack,
    Mastermind,
}

impl Game {
    /// All of them, in the order in which the lobby shows them.
    pub(crate) const ALL: [Self; 4] = [Self::Nuggets, Self::Robots, Self::Blackjack, Self::Mastermind];

    /// What its leaderboard is ordered by.
    pub(crate) const fn order(self) -> Order {
        match self {
            Self::Nuggets | Self::Robots | Self::Blackjack => Order::Rating,
            Self::Mastermind => Order::LowestScore,
        }
    }

    /// The game with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|game| game.name() == name)
    }

    /// Its name in addresses, on the page and in journals.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Nuggets => "nuggets",
            Self::Robots => "robots",
            Self::Blackjack => "blackjack",
            Self::Mastermind => "mastermind",
        }
    }

    /// Whether its turns come by the clock, whoever acts.
    pub(crate) const fn is_timed(self) -> bool {
        matches!(self, Self::Robots)
    }

    /// How its messages look in WebSocket frames.
    pub(crate) const fn frames(self) -> Frames {
        match self {
            Self::Nuggets | Self::Mastermind => Frames::Text,
            Self::Robots => Frames::Binary,
            Self::Blackjack => Frames::ZeroEndedText,
        }
    }

    /// The message by which somebody who is removed is told why, if the wire has one that any client understands.
    pub(crate) fn farewell(self, why: &str) -> Option<Farewell> {
        let frame = |framing| match self {
            Self::Nuggets => Some(nuggets::ServerMessage::Quit(why.as_bytes()).to_frame(framing)),
            Self::Mastermind => Some(mastermind::ServerMessage::Bye(why.into()).to_frame(framing)),
            Self::Robots | Self::Blackjack => None,
        };
        Some(Farewell { stream: frame(Framing::Stream)?, whole: frame(Framing::Whole)? })
    }

    /// How native clients reach it.
    pub(crate) const fn wire(self) -> Wire {
        match self {
            Self::Nuggets => Wire::Udp,
            Self::Robots => Wire::Tcp(robots::READ_RATE),
            Self::Blackjack => Wire::Tcp(BLACKJACK_RATE),
            Self::Mastermind => Wire::Tcp(MASTERMIND_RATE),
        }
    }
}

/// How messages look in WebSocket frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Text frames that hold the message.
    Text,
    /// Text frames that hold the message without the zero byte at its end.
    ZeroEndedText,
    /// Binary frames that hold the message.
    Binary,
}

/// What a new room is to be. Everything has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "game", rename_all = "lowercase")]
pub(crate) enum Options {
    Nuggets(NuggetsOptions),
    Robots(RobotsOptions),
    Blackjack(BlackjackOptions),
    Mastermind(MastermindOptions),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NuggetsOptions {
    /// One of the maps of the hub.
    map: String,
    seed: Option<u64>,
}

impl Default for NuggetsOptions {
    fn default() -> Self {
        Self { map: "main".into(), seed: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RobotsOptions {
    players: u8,
    columns: u16,
    rows: u16,
    turns: u16,
    /// Milliseconds.
    turn_duration: u64,
    seed: Option<u32>,
}

impl Default for RobotsOptions {
    fn default() -> Self {
        Self { players: 4, columns: 16, rows: 12, turns: 300, turn_duration: 200, seed: None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct BlackjackOptions {
    players: u8,
    rounds: u32,
}

impl Default for BlackjackOptions {
    fn default() -> Self {
        Self { players: 2, rounds: 20 }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MastermindOptions {
    mode: MastermindMode,
    length: u8,
    repeats: bool,
    /// Of a race.
    players: u8,
    /// How long a race lasts at most.
    minutes: u8,
    seed: Option<u64>,
}

impl Default for MastermindOptions {
    fn default() -> Self {
        Self { mode: MastermindMode::Solo, length: 4, repeats: true, players: 2, minutes: 10, seed: None }
    }
}

/// How players of mastermind have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MastermindMode {
    Solo,
    Race,
    Daily,
}

/// The maps that rooms can be asked for, by name.
pub(crate) const MAPS: [(&str, &[u8]); 6] = [
    ("main", nuggets::BUILT_IN_MAP),
    ("alcoves", include_bytes!("../../../maps/alcoves.txt")),
    ("brawl", include_bytes!("../../../maps/brawl.txt")),
    ("donuts", include_bytes!("../../../maps/donuts.txt")),
    ("gold", include_bytes!("../../../maps/gold.txt")),
    ("spiral", include_bytes!("../../../maps/spiral.txt")),
];

/// The engine of a new room.
pub(crate) enum Engine {
    Nuggets(Box<nuggets::server::Server>),
    Robots(Box<robots::Server>),
    Blackjack(Box<blackjack::Server>),
    Mastermind(Box<mastermind::Server>),
}

impl Options {
    /// A room of this game with all defaults.
    pub(crate) fn usual(game: Game) -> Self {
        match game {
            Game::Nuggets => Self::Nuggets(NuggetsOptions::default()),
            Game::Robots => Self::Robots(RobotsOptions::default()),
            Game::Blackjack => Self::Blackjack(BlackjackOptions::default()),
            Game::Mastermind => Self::Mastermind(MastermindOptions::default()),
        }
    }

    /// The rooms that every hub has: one of each game, and the puzzle of the day.
    pub(crate) fn permanent() -> impl Iterator<Item = Self> {
        let daily = MastermindOptions { mode: MastermindMode::Daily, ..MastermindOptions::default() };
        Game::ALL.into_iter().map(Self::usual).chain([Self::Mastermind(daily)])
    }

    /// Whether the room has the puzzle of the day.
    pub(crate) const fn is_daily(&self) -> bool {
        matches!(self, Self::Mastermind(MastermindOptions { mode: MastermindMode::Daily, .. }))
    }

    /// Whether a game goes on from the first player, and others join in the middle of it. The other games wait until their seats
    /// are taken.
    pub(crate) const fn starts_at_once(&self) -> bool {
        match self {
            Self::Nuggets(_) => true,
            Self::Mastermind(options) => !matches!(options.mode, MastermindMode::Race),
            Self::Robots(_) | Self::Blackjack(_) => false,
        }
    }

    /// How many players a room with so many seats is filled to when somebody wants company.
    pub(crate) fn party(&self, seats: u32) -> u32 {
        match self {
            Self::Nuggets(_) => seats.min(PARTY),
            // Each plays alone.
            Self::Mastermind(_) if self.starts_at_once() => 1,
            Self::Robots(_) | Self::Blackjack(_) | Self::Mastermind(_) => seats,
        }
    }

    pub(crate) const fn game(&self) -> Game {
        match self {
            Self::Nuggets(_) => Game::Nuggets,
            Self::Robots(_) => Game::Robots,
            Self::Blackjack(_) => Game::Blackjack,
            Self::Mastermind(_) => Game::Mastermind,
        }
    }

    /// What anybody may know of them: without the seed, from which everything that happens follows.
    pub(crate) fn shown(&self) -> Self {
        let mut shown = self.clone();
        match &mut shown {
            Self::Nuggets(options) => options.seed = None,
            Self::Robots(options) => options.seed = None,
            Self::Mastermind(options) => options.seed = None,
            Self::Blackjack(_) => {}
        }
        shown
    }

    /// What the room is called in the lobby.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Nuggets(NuggetsOptions { map, .. }) => format!("map {map}"),
            Self::Robots(RobotsOptions { players, columns, rows, turns, .. }) => {
                let robots = if *players == 1 { "1 robot".into() } else { format!("{players} robots") };
                format!("{robots} on {columns} x {rows}, {turns} turns")
            }
            Self::Blackjack(BlackjackOptions { players: 1, rounds }) => format!("a table for one, {rounds} rounds"),
            Self::Blackjack(BlackjackOptions { players, rounds }) => format!("a table for {players}, {rounds} rounds"),
            Self::Mastermind(MastermindOptions { mode, length, repeats, players, .. }) => {
                let repeats = if *repeats { "with repeats" } else { "no repeats" };
                match mode {
                    MastermindMode::Solo => format!("codes of {length} pegs, {repeats}"),
                    MastermindMode::Race => format!("a race for {players}, {length} pegs, {repeats}"),
                    MastermindMode::Daily => format!("the puzzle of the day, {length} pegs, {repeats}"),
                }
            }
        }
    }

    /// The engine that plays it. It goes on with another game when one is over.
    ///
    /// # Errors
    /// When no game can be played so; the message says what would be possible.
    pub(crate) fn engine(&self) -> anyhow::Result<Engine> {
        Ok(match self {
            Self::Nuggets(NuggetsOptions { map, seed }) => {
                let names = || MAPS.map(|(name, _)| name).join(", ");
                let (_, text) = MAPS
                    .iter()
                    .find(|(name, _)| name == map)
                    .with_context(|| format!("there is no map '{}'; choose one of {}", map.escape_debug(), names()))?;
                let (grid, _) = nuggets::Grid::parse(text)?;
                let mut drawn = [0; 16];
                SysRng.try_fill_bytes(&mut drawn)?;
                let seed = seed.map_or(u128::from_le_bytes(drawn), u128::from);
                let config = nuggets::server::Config {
                    rules: nuggets::game::Rules::default(),
                    idle_timeout: Some(IDLE),
                    rematch: true,
                    wait_for: 0,
                    countdown: None,
                    seed,
                };
                Engine::Nuggets(Box::new(nuggets::server::Server::new(Arc::new(grid), config)?))
            }
            &Self::Robots(RobotsOptions { players, columns, rows, turns, turn_duration, seed }) => {
                within("players", players, &ROBOTS)?;
                within("columns", columns, &BOARD)?;
                within("rows", rows, &BOARD)?;
                within("turns", turns, &TURNS)?;
                within("turn_duration", turn_duration, &TURN_DURATION)?;
                let server_name = ShortText::try_from("Arcade").unwrap_or_default();
                let config = robots::Config {
                    parameters: robots::Parameters {
                        server_name,
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
                    max_history: robots::MAX_HISTORY,
                };
                Engine::Robots(Box::new(robots::Server::new(config)?))
            }
            &Self::Blackjack(BlackjackOptions { players, rounds }) => {
                within("players", players, &TABLE)?;
                within("rounds", rounds, &ROUNDS)?;
                let mut key = [0; 32];
                SysRng.try_fill_bytes(&mut key)?;
                let mut config = blackjack::server::Config::new(rounds, blackjack::Seed::new(key));
                config.players = players.into();
                config.forever = true;
                Engine::Blackjack(Box::new(blackjack::Server::new(config)?))
            }
            &Self::Mastermind(MastermindOptions { mode, length, repeats, players, minutes, seed }) => {
                within("length", length, &PEGS)?;
                within("players", players, &RACERS)?;
                within("minutes", minutes, &MINUTES)?;
                let (mode, first_day) = match mode {
                    MastermindMode::Solo => (Mode::Solo, None),
                    MastermindMode::Race => (Mode::Race(players), None),
                    MastermindMode::Daily => (Mode::Daily, Some(today()?)),
                };
                let config = mastermind::server::Config {
                    mode,
                    length,
                    repeats,
                    limit: Duration::from_secs(60 * u64::from(minutes)),
                    first_day,
                    seed: seed.map_or_else(|| SysRng.try_next_u64(), Ok)?,
                };
                Engine::Mastermind(Box::new(mastermind::Server::new(config)?))
            }
        })
    }
}

// The day in Greenwich, and how long it still lasts.
fn today() -> anyhow::Result<FirstDay> {
    const DAY: u64 = 86_400;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs();
    let day = u32::try_from(seconds / DAY).context("the clock is far in the future")?;
    Ok(FirstDay { day, lasts: Duration::from_secs(DAY - seconds % DAY) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_default_and_unknown_ones_are_rejected() {
        for game in Game::ALL {
            let read = |text: &str| serde_json::from_str::<Options>(&text.replace('$', game.name()));
            assert_eq!(read(r#"{"game": "$"}"#).unwrap(), Options::usual(game));
            assert!(read(r#"{"game": "$", "gold": 1}"#).unwrap_err().to_string().contains("unknown field `gold`"));
            Options::usual(game).engine().unwrap();
        }
        let map = serde_json::from_str::<Options>(r#"{"game": "nuggets", "map": "../x"}"#).unwrap();
        let Err(error) = map.engine() else { panic!("there is no such map") };
        assert!(error.to_string().starts_with("there is no map '../x'; choose one of main, "), "{error}");
    }

    #[test]
    fn a_seed_of_nuggets_that_nobody_chose_has_128_bits() {
        let seed = |options: &str| match serde_json::from_str::<Options>(options).unwrap().engine().unwrap() {
            Engine::Nuggets(server) => server.config().seed,
            _ => panic!("another game"),
        };
        assert_eq!(seed(r#"{"game": "nuggets", "seed": 7}"#), 7);
        // One in 2^64 is shorter.
        assert!(seed(r#"{"game": "nuggets"}"#) > u64::MAX.into());
    }
}
