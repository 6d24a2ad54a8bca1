//! The user's plan, and the setup that follows from it.

use std::{collections::BTreeSet, fs, path::PathBuf};

use anyhow::{Context as _, bail, ensure};
use blackjack::config::DELAY;
use clap::{ArgAction, Args};
use cmdkit::{count, whole_number};
use conformance::{Launcher as _, Program};
use serde::{Deserialize, Serialize};

use crate::rules::{BOT, BotLevel, Game, Rules};

pub(crate) const MAX_PLAYERS: usize = 128;
/// In letters.
const MAX_NAME: usize = 24;
/// Of the draw: the same version, setup and seed give the same matches.
const VERSION: u32 = 1;
const PLACEHOLDERS: [&str; 6] = ["host", "port", "server", "name", "gui", "own-port"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrant {
    /// Letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// A program, or `bot:easy`, `bot:normal` or `bot:hard`.
    pub command: String,
}

impl Entrant {
    pub(crate) fn bot(&self) -> Option<anyhow::Result<BotLevel>> {
        let level = self.command.strip_prefix(BOT)?;
        Some(level.parse().map_err(anyhow::Error::msg))
    }

    /// Fails if the command cannot be split into words, has an unknown placeholder, or lacks the server's address.
    pub(crate) fn program(&self, game: Game) -> anyhow::Result<Program> {
        let words = shlex::split(&self.command).context("a quotation mark in its command is not closed")?;
        let program = Program::new(words, game.usual(), &PLACEHOLDERS, &[])?;
        ensure!(
            program.takes("port") || program.takes("server"),
            "the command has no address of the server; it needs {{host}} and {{port}}, or {{server}}"
        );
        Ok(program)
    }

    fn check(&self, game: Game) -> anyhow::Result<()> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        ensure!(
            (1..=MAX_NAME).contains(&self.name.len())
                && self.name.chars().all(fits)
                && !matches!(&*self.name, "." | ".."),
            "invalid name '{}': expected 1 to {MAX_NAME} letters from a to z, digits, '-', '_' or '.', and not '.' or '..'",
            self.name.escape_debug()
        );
        let usable = self.bot().map_or_else(|| self.program(game).map(drop), |bot| bot.map(drop));
        usable.with_context(|| format!("player {}", self.name))
    }
}

/// The options of the user, from a file or the command line. Missing ones have defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Args)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// The game
    #[arg(value_enum)]
    pub game: Option<Game>,

    /// A participant: the command of a program, or bot:easy, bot:normal or bot:hard; may be repeated
    #[arg(long = "player", value_name = "NAME=COMMAND", value_parser = entrant, action = ArgAction::Append)]
    #[serde(rename = "player")]
    pub players: Vec<Entrant>,

    /// Maximum number of rounds; in each round, all players play equally often [default: 50]
    #[arg(long, value_name = "COUNT", value_parser = count(1..=1_000_000_u32, 50))]
    pub rounds: Option<u32>,

    /// End earlier once each player is better than the next with this certainty, from 0.5 to 0.999 [default: 0.95]
    // In thousandths.
    #[arg(long, value_name = "DEGREE", value_parser = typed_certainty)]
    #[serde(deserialize_with = "thousandths")]
    pub certainty: Option<u16>,

    /// Matches at the same time; programs that need processor time slow each other down [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=64_u8, 2))]
    pub jobs: Option<u8>,

    /// Seats of a match, for robots and nuggets [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole_number(2..=26_usize, 4))]
    pub seats: Option<usize>,

    /// Seed of all random choices [default: the system's entropy, or the seed of the continued league]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 17))]
    pub seed: Option<u64>,

    /// How long a player has to join and to answer [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3_600_u16, 10))]
    pub patience: Option<u16>,

    /// How long a match may last after its start [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3_600_u16, 60))]
    pub limit: Option<u16>,

    /// How long a player has to reconnect to its seat, once a match; 0 disables it [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(0..=3_600_u16, 10))]
    pub reconnect: Option<u16>,

    /// Turns of a game [default: 100]
    #[arg(long, value_name = "COUNT", help_heading = "Robots", value_parser = whole_number(1..=10_000_u16, 100))]
    pub turns: Option<u16>,

    /// Milliseconds of a turn [default: 20]
    #[arg(long, value_name = "MS", help_heading = "Robots", value_parser = whole_number(1..=10_000_u64, 20))]
    pub turn_ms: Option<u64>,

    /// Width of the board [default: 10]
    #[arg(long, value_name = "FIELDS", help_heading = "Robots", value_parser = whole_number(1..=1_000_u16, 10))]
    pub columns: Option<u16>,

    /// Height of the board [default: 10]
    #[arg(long, value_name = "FIELDS", help_heading = "Robots", value_parser = whole_number(1..=1_000_u16, 10))]
    pub rows: Option<u16>,

    /// The map [default: the built-in one]
    #[arg(long, value_name = "FILE", help_heading = "Nuggets")]
    pub map: Option<PathBuf>,

    /// Rounds at a table [default: 100, or 1000 with --delay-ms 0]
    #[arg(long, value_name = "COUNT", help_heading = "Blackjack", value_parser = count(1..=1_000_000_u32, 1_000))]
    pub hands: Option<u32>,

    /// The pause between two messages to a text player, as with `dealer` [default: 50]
    #[arg(long, value_name = "MS", help_heading = "Blackjack", value_parser = whole_number(0..=10_000_u64, 50))]
    pub delay_ms: Option<u64>,

    /// Pegs of a code [default: 4]
    #[arg(long, value_name = "COUNT", help_heading = "Mastermind", value_parser = whole_number(4..=8_u8, 4))]
    pub pegs: Option<u8>,

    /// Whether a colour may occur twice in a code [default: true]
    #[arg(long, value_name = "BOOL", help_heading = "Mastermind")]
    pub repeats: Option<bool>,
}

fn entrant(typed: &str) -> Result<Entrant, String> {
    let (name, command) =
        typed.split_once('=').ok_or("expected a name and a command, as in Ada=./ada {host} {port}")?;
    Ok(Entrant { name: name.to_owned(), command: command.to_owned() })
}

fn typed_certainty(typed: &str) -> Result<u16, String> {
    let value = typed.parse().map_err(|_| "expected a number from 0.5 to 0.999, as in 0.95".to_owned())?;
    certainty(value)
}

fn thousandths<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u16>, D::Error> {
    let value = f64::deserialize(from)?;
    certainty(value).map(Some).map_err(serde::de::Error::custom)
}

/// In thousandths. An error gives the accepted range.
fn certainty(value: f64) -> Result<u16, String> {
    if !(0.5..=0.999).contains(&value) {
        return Err(format!("invalid certainty {value}: expected a number from 0.5 to 0.999, as in 0.95"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 999, and positive")]
    let thousandths = (value * 1000.0).round() as u16;
    Ok(thousandths)
}

impl Plan {
    /// Takes missing values from another plan, whose players come first.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let players = [other.players, self.players].concat();
        macro_rules! with {
            ($($field:ident),*) => { Self { players, $($field: self.$field.or(other.$field)),* } };
        }
        with!(
            game, rounds, certainty, jobs, seats, seed, patience, limit, reconnect, turns, turn_ms, columns, rows, map,
            hands, delay_ms, pegs, repeats
        )
    }

    fn rules(&self, game: Game) -> anyhow::Result<Rules> {
        let asked: [(&str, bool, Game); 9] = [
            ("turns", self.turns.is_some(), Game::Robots),
            ("turn-ms", self.turn_ms.is_some(), Game::Robots),
            ("columns", self.columns.is_some(), Game::Robots),
            ("rows", self.rows.is_some(), Game::Robots),
            ("map", self.map.is_some(), Game::Nuggets),
            ("hands", self.hands.is_some(), Game::Blackjack),
            ("delay-ms", self.delay_ms.is_some(), Game::Blackjack),
            ("pegs", self.pegs.is_some(), Game::Mastermind),
            ("repeats", self.repeats.is_some(), Game::Mastermind),
        ];
        if let Some((option, _, of)) = asked.iter().find(|(_, given, of)| *given && *of != game) {
            bail!("'{option}' is an option of {of}, and this is a league of {game}");
        }
        Ok(match game {
            Game::Robots => Rules::Robots {
                turns: self.turns.unwrap_or(100),
                turn_ms: self.turn_ms.unwrap_or(20),
                columns: self.columns.unwrap_or(10),
                rows: self.rows.unwrap_or(10),
            },
            Game::Nuggets => Rules::Nuggets { map: self.map_text()? },
            Game::Blackjack => {
                let delay_ms = self.delay_ms.map_or_else(|| u64::try_from(DELAY.as_millis()), Ok)?;
                // With pauses, a thousand rounds would take six minutes.
                let hands = self.hands.unwrap_or(if delay_ms == 0 { 1_000 } else { 100 });
                Rules::Blackjack { hands, delay_ms }
            }
            Game::Mastermind => {
                Rules::Mastermind { pegs: self.pegs.unwrap_or(4), repeats: self.repeats.unwrap_or(true) }
            }
        })
    }

    fn map_text(&self) -> anyhow::Result<String> {
        let Some(path) = &self.map else { return Ok(String::from_utf8_lossy(nuggets::BUILT_IN_MAP).into_owned()) };
        let text = fs::read(path).with_context(|| format!("cannot read the map '{}'", path.display()))?;
        ensure!(
            text.len() <= nuggets::MAX_MAP_FILE,
            "the map '{}' is larger than {} bytes",
            path.display(),
            nuggets::MAX_MAP_FILE
        );
        String::from_utf8(text).with_context(|| format!("the map '{}' is not text", path.display()))
    }

    /// `drawn` is the seed if the plan has none. An error gives the accepted values.
    pub(crate) fn setup(&self, drawn: u64) -> anyhow::Result<Setup> {
        let game = self.game.context("missing game: expected robots, nuggets, blackjack or mastermind")?;
        let players = self.players.clone();
        ensure!(
            (2..=MAX_PLAYERS).contains(&players.len()),
            "invalid number of players {}: expected 2 to {MAX_PLAYERS}, each given by --player NAME=COMMAND",
            players.len()
        );
        let mut names = BTreeSet::new();
        for player in &players {
            player.check(game)?;
            ensure!(names.insert(player.name.to_lowercase()), "two players have the name {}", player.name);
        }
        let most = game.max_seats().min(players.len());
        let seats = self.seats.unwrap_or(2.min(most));
        if game.is_solo() {
            ensure!(self.seats.is_none(), "'seats' does not apply to {game}: each player plays alone on the same deal");
        } else {
            ensure!((2..=most).contains(&seats), "invalid number of seats {seats}: expected 2 to {most}");
        }
        ensure!(self.patience != Some(0) && self.limit != Some(0), "'patience' and 'limit' must be at least 1 s");
        Ok(Setup {
            version: VERSION,
            rules: self.rules(game)?,
            seats,
            seed: self.seed.unwrap_or(drawn),
            patience: self.patience.unwrap_or(10),
            limit: self.limit.unwrap_or(60),
            reconnect: self.reconnect.unwrap_or(10),
            players,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    version: u32,
    pub(crate) rules: Rules,
    pub(crate) seats: usize,
    pub(crate) seed: u64,
    /// In seconds, to join and to answer.
    pub(crate) patience: u16,
    /// In seconds.
    pub(crate) limit: u16,
    /// In seconds. Older leagues without this field permit no reconnection.
    #[serde(default)]
    pub(crate) reconnect: u16,
    pub(crate) players: Vec<Entrant>,
}

impl Setup {
    pub(crate) const fn game(&self) -> Game {
        self.rules.game()
    }

    /// For the user; `None` if they are equal.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        let Self { version, rules, seats, seed, patience, limit, reconnect, players } = self;
        let numbers = [
            ("version of the draw", u64::from(*version), u64::from(other.version)),
            ("seats", *seats as u64, other.seats as u64),
            ("seed", *seed, other.seed),
            ("patience", (*patience).into(), other.patience.into()),
            ("limit", (*limit).into(), other.limit.into()),
            ("time to reconnect", (*reconnect).into(), other.reconnect.into()),
        ];
        let names = |players: &[Entrant]| -> String {
            players.iter().map(|player| &*player.name).collect::<Vec<_>>().join(", ")
        };
        if rules != &other.rules {
            return Some(format!("it is a league of {}, {rules}", self.game()));
        }
        if names(players) != names(&other.players) {
            return Some(format!("its players are {}", names(players)));
        }
        if let Some((one, _)) = players.iter().zip(&other.players).find(|(one, other)| one != other) {
            return Some(format!("the command of {} is '{}'", one.name, one.command));
        }
        numbers.iter().find(|(_, one, other)| one != other).map(|(what, one, _)| format!("its {what} is {one}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(game: &str, more: &str) -> anyhow::Result<Setup> {
        let text = format!(
            "game = \"{game}\"\n{more}\n[[player]]\nname = \"Ada\"\ncommand = \"python3 'my bot.py' {{host}} {{port}}\"\n\
             [[player]]\nname = \"Hard\"\ncommand = \"bot:hard\"\n"
        );
        toml::from_str::<Plan>(&text)?.setup(7)
    }

    #[test]
    fn file_describes_a_league() {
        let setup = plan("robots", "turns = 50\nseed = 9\ncertainty = 0.99").unwrap();
        assert_eq!(setup.rules, Rules::Robots { turns: 50, turn_ms: 20, columns: 10, rows: 10 });
        assert_eq!((setup.seats, setup.seed, setup.players.len()), (2, 9, 2));
        assert_eq!(plan("mastermind", "").unwrap().seed, 7);
        assert_eq!(plan("blackjack", "").unwrap().rules, Rules::Blackjack { hands: 100, delay_ms: 50 });
        assert_eq!(plan("blackjack", "delay-ms = 0").unwrap().rules, Rules::Blackjack { hands: 1_000, delay_ms: 0 });
        let earlier: Rules = toml::from_str("game = \"blackjack\"\nhands = 7").unwrap();
        assert_eq!(earlier, Rules::Blackjack { hands: 7, delay_ms: 0 });
    }

    #[test]
    fn invalid_values_are_reported_with_the_accepted_ones() {
        let error = |game: &str, more: &str| format!("{:#}", plan(game, more).unwrap_err());
        assert_eq!(error("robots", "hands = 3"), "'hands' is an option of blackjack, and this is a league of robots");
        assert_eq!(error("robots", "seats = 3"), "invalid number of seats 3: expected 2 to 2");
        assert_eq!(error("robots", "patience = 0"), "'patience' and 'limit' must be at least 1 s");
        assert!(error("blackjack", "seats = 2").contains("each player plays alone"));
        assert!(error("robots", "turn = 3").contains("unknown field `turn`"));
        assert!(error("robots", "certainty = 2.0").contains("from 0.5 to 0.999"));
        let with = |name: &str, command: &str| {
            let player = |name: &str, command: &str| Entrant { name: name.into(), command: command.into() };
            let players = vec![player("A", "bot:easy"), player(name, command)];
            let plan = Plan { game: Some(Game::Nuggets), players, ..Plan::default() };
            format!("{:#}", plan.setup(1).unwrap_err())
        };
        assert_eq!(with("a", "bot:easy"), "two players have the name a");
        for name in ["B C", ".", ".."] {
            assert!(with(name, "bot:easy").contains(&format!("invalid name '{name}': expected 1 to 24 letters")));
        }
        assert!(with("B", "bot:best").contains("expected bot:easy, bot:normal or bot:hard"));
        assert!(with("B", "./b {prot}").contains("unknown placeholder '{prot}'"));
        assert!(with("B", "./b {name}").contains("needs {host} and {port}, or {server}"));
        assert!(with("B", "./b 'c").contains("not closed"));
    }

    #[test]
    fn first_difference_of_two_leagues_is_reported() {
        let setup = plan("robots", "").unwrap();
        assert_eq!(setup.difference(&setup), None);
        let difference = |change: fn(&mut Setup)| {
            let mut other = setup.clone();
            change(&mut other);
            setup.difference(&other).unwrap()
        };
        assert_eq!(difference(|other| other.seed = 1), "its seed is 7");
        assert_eq!(difference(|other| other.players.reverse()), "its players are Ada, Hard");
        assert_eq!(
            difference(|other| other.players[1].command = "bot:easy".into()),
            "the command of Hard is 'bot:hard'"
        );
        assert!(
            difference(|other| other.rules = Rules::Blackjack { hands: 1, delay_ms: 0 })
                .contains("a league of robots, 100 turns")
        );
    }
}
