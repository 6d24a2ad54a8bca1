use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use cmdkit::{LogArgs, UsageError, read_file};
use league::{Limits, Plan};

/// In bytes, of a league file.
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
    #[command(flatten)]
    plan: Plan,

    /// Read players and options from a TOML file; options of the command line take precedence
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,

    /// The folder of the league: its matches, journals, table and page
    #[arg(long, value_name = "DIR", default_value = "league")]
    pub(crate) out: PathBuf,

    /// Let programs use the network; without this option each program has only a loopback of its own, where the system
    /// allows that
    #[arg(long)]
    pub(crate) network: bool,

    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let Some(file) = &self.file else { return Ok(self.plan.clone()) };
        let text = read_file(file, MAX_FILE).with_context(|| format!("cannot read '{}'", file.display()))?;
        let text = String::from_utf8(text).with_context(|| format!("'{}' is not text", file.display()))?;
        let written: Plan = toml::from_str(&text).map_err(|error| {
            UsageError(format!("cannot read '{}': {}", file.display(), error.to_string().trim_end()))
        })?;
        Ok(self.plan.clone().or(written))
    }
}

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
    use clap::CommandFactory;
    use league::Game;

    use super::*;

    #[test]
    fn definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn command_line_overrides_the_file_and_adds_players() {
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
