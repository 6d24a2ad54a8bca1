//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{ArgAction, Parser};
use cmdkit::{LogArgs, UsageError, count, read_file, whole_number};
use league::{Entrant, Game, Limits, Plan};

/// The longest file of a league, in bytes.
const MAX_FILE: usize = 1 << 20;

const AFTER_HELP: &str = "\
Examples:
  league robots --player Easy=bot:easy --player Hard=bot:hard --rounds 8
      play the built-in bots against each other
  league --file league.toml
      use the players and options of a file
  league mastermind --out codes --player A=bot:easy --player B=bot:hard
      write to a separate folder

The command of a player has placeholders: {host} and {port}, or {server}; \
{name}; {gui} and {own-port} for clients of robots. Repeat the command to continue a league that was stopped. \
docs/league.md describes how to hold a tournament.

Exit status: 0 when the league is over, 1 on failure, 2 for wrong usage, 3 when the league was stopped.";

/// Let programs play against each other until it is known which is better
#[derive(Debug, Parser)]
#[command(name = "league", version, after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The game
    #[arg(value_enum)]
    game: Option<Game>,

    /// A participant: the command of a program, or bot:easy, bot:normal or bot:hard; may be repeated
    #[arg(long = "player", value_name = "NAME=COMMAND", value_parser = player, action = ArgAction::Append)]
    players: Vec<Entrant>,

    /// Read players and options from a TOML file; options of the command line take precedence
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// The folder of the league: its matches, journals, table and page
    #[arg(long, value_name = "DIR", default_value = "league")]
    pub(crate) out: PathBuf,

    /// Maximum number of rounds; in each round, all players play equally often [default: 50]
    #[arg(long, value_name = "COUNT", value_parser = count(1..=1_000_000_u32, 50))]
    rounds: Option<u32>,

    /// End earlier once each player is better than the next with this certainty, from 0.5 to 0.999 [default: 0.95]
    #[arg(long, value_name = "DEGREE", value_parser = certainty)]
    certainty: Option<u16>,

    /// Matches at the same time; programs that need processor time slow each other down [default: 1]
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=64_u8, 2))]
    jobs: Option<u8>,

    /// Seats of a match, for robots and nuggets [default: 2]
    #[arg(long, value_name = "COUNT", value_parser = whole_number(2..=26_usize, 4))]
    seats: Option<usize>,

    /// Seed of all random choices [default: the system's entropy, or the seed of the continued league]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 17))]
    seed: Option<u64>,

    /// How long a player has to join and to answer [default: 10]
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3_600_u16, 10))]
    patience: Option<u16>,

    /// How long a match may last after its start [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3_600_u16, 60))]
    limit: Option<u16>,

    /// Turns of a game [default: 100]
    #[arg(long, value_name = "COUNT", help_heading = "Robots", value_parser = whole_number(1..=10_000_u16, 100))]
    turns: Option<u16>,

    /// Milliseconds of a turn [default: 20]
    #[arg(long, value_name = "MS", help_heading = "Robots", value_parser = whole_number(1..=10_000_u64, 20))]
    turn_ms: Option<u64>,

    /// Width of the board [default: 10]
    #[arg(long, value_name = "FIELDS", help_heading = "Robots", value_parser = whole_number(1..=1_000_u16, 10))]
    columns: Option<u16>,

    /// Height of the board [default: 10]
    #[arg(long, value_name = "FIELDS", help_heading = "Robots", value_parser = whole_number(1..=1_000_u16, 10))]
    rows: Option<u16>,

    /// The map [default: the built-in one]
    #[arg(long, value_name = "FILE", help_heading = "Nuggets")]
    map: Option<PathBuf>,

    /// Rounds at a table [default: 100, or 1000 with --delay-ms 0]
    #[arg(long, value_name = "COUNT", help_heading = "Blackjack", value_parser = count(1..=1_000_000_u32, 1_000))]
    hands: Option<u32>,

    /// The pause between two messages to a text player, as with `dealer` [default: 50]
    #[arg(long, value_name = "MS", help_heading = "Blackjack", value_parser = whole_number(0..=10_000_u64, 50))]
    delay_ms: Option<u64>,

    /// Pegs of a code [default: 4]
    #[arg(long, value_name = "COUNT", help_heading = "Mastermind", value_parser = whole_number(4..=8_u8, 4))]
    pegs: Option<u8>,

    /// Whether a colour may occur twice in a code [default: true]
    #[arg(long, value_name = "BOOL", help_heading = "Mastermind")]
    repeats: Option<bool>,

    /// Let programs use the network; without this option each program has only a loopback of its own, where the system
    /// allows that
    #[arg(long)]
    pub(crate) network: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

fn player(typed: &str) -> Result<Entrant, String> {
    let (name, command) =
        typed.split_once('=').ok_or("expected a name and a command, as in Ada=./ada {host} {port}")?;
    Ok(Entrant { name: name.to_owned(), command: command.to_owned() })
}

fn certainty(typed: &str) -> Result<u16, String> {
    let value = typed.parse().map_err(|_| "expected a number from 0.5 to 0.999, as in 0.95".to_owned())?;
    league::thousandths(value)
}

impl Args {
    /// The plan from the command line and the file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let typed = Plan {
            game: self.game,
            seats: self.seats,
            seed: self.seed,
            patience: self.patience,
            limit: self.limit,
            rounds: self.rounds,
            certainty: self.certainty,
            jobs: self.jobs,
            turns: self.turns,
            turn_ms: self.turn_ms,
            columns: self.columns,
            rows: self.rows,
            map: self.map.clone(),
            hands: self.hands,
            delay_ms: self.delay_ms,
            pegs: self.pegs,
            repeats: self.repeats,
            players: self.players.clone(),
        };
        let Some(file) = &self.file else { return Ok(typed) };
        let text = read_file(file, MAX_FILE).with_context(|| format!("cannot read '{}'", file.display()))?;
        let text = String::from_utf8(text).with_context(|| format!("'{}' is not text", file.display()))?;
        let written: Plan = toml::from_str(&text).map_err(|error| {
            UsageError(format!("cannot read '{}': {}", file.display(), error.to_string().trim_end()))
        })?;
        Ok(typed.or(written))
    }
}

/// The limits of a league with this plan.
///
/// # Errors
/// When a number in the plan is not valid.
pub(crate) fn limits(plan: &Plan) -> Result<Limits, UsageError> {
    let Plan { rounds, certainty, jobs, .. } = plan;
    let limits = Limits {
        rounds: rounds.unwrap_or(50),
        certainty: f64::from(certainty.unwrap_or(950)) / 1000.0,
        jobs: jobs.unwrap_or(1).into(),
    };
    if limits.rounds == 0 || limits.jobs == 0 {
        return Err(UsageError("a league needs at least one round and one match at a time".into()));
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_command_line_comes_before_the_file_and_adds_players() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("league.toml");
        let text = "game = \"robots\"\nturns = 50\nrounds = 4\n[[player]]\nname = \"A\"\ncommand = \"bot:easy\"\n";
        std::fs::write(&file, text).unwrap();
        let typed = ["league", "--turns", "70", "--certainty", "0.9", "--player", "B=./b {server} a=b", "--file"];
        let typed = typed.into_iter().map(Into::into).chain([file.clone().into_os_string()]);
        let plan = Args::try_parse_from(typed).unwrap().plan().unwrap();
        assert_eq!(
            (plan.game, plan.turns, plan.rounds, plan.certainty),
            (Some(Game::Robots), Some(70), Some(4), Some(900))
        );
        let players: Vec<_> = plan.players.iter().map(|player| (&*player.name, &*player.command)).collect();
        assert_eq!(players, [("A", "bot:easy"), ("B", "./b {server} a=b")]);
        std::fs::write(&file, "game = \"chess\"\n").unwrap();
        let args = Args::try_parse_from(["league".into(), "--file".into(), file.into_os_string()]).unwrap();
        let told = args.plan().unwrap_err().to_string();
        assert!(told.contains("unknown variant `chess`") && told.contains("robots"), "{told}");
    }
}
