use std::num::NonZeroUsize;

use clap::{ArgAction, ArgGroup, Parser, Subcommand};
use cmdkit::{UsageError, whole_number};
use mastermind::{
    Code, Rules,
    code::{MAX_COLOURS, MAX_LENGTH, MIN_COLOURS, MIN_LENGTH},
};

use crate::{
    round::RulePreferences,
    solve::{How, PROVABLE, Task},
};

const MOST_THREADS: usize = 1_024;

const EXAMPLES: &str = "\
Examples:
  mastermind-play
      play the text game; it prompts for the length and for repeats
  mastermind-play --length 4 --repeats no --seed 42
      play a specific puzzle that can be shared
  mastermind-play --panel
      play the panel game, with arrow keys, digits and the mouse
  mastermind-play --panel --daily
      play the puzzle of the day
  mastermind-play solve --length 4 --colours 6 --strategy optimal --all
      compute the turns of best play over all codes
  mastermind-play solve --interactive --length 4 --colours 8
      find a code that another player has set; you type the answers
  printf '4\\nyes\\n1122\\n' | mastermind-play --seed 1
      play the text game through a pipe; it ends with its input

Past games are counted in a file in the user's data directory (XDG_DATA_HOME). Games through a pipe \
are not counted.

Exit status: 0 when the game is over, left or at the end of its input, 1 on failure or when a search is stopped, 2 \
for wrong usage.";

/// Mastermind: find a code of 4 to 8 digits in ten turns
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[derive(Debug, Clone, Parser)]
#[command(name = "mastermind-play", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Play on panels, in a window of 60 columns and 18 rows or more
    #[arg(long)]
    panel: bool,

    /// Pegs in a code, 4 to 8; without this option the program prompts for it
    #[arg(long, value_name = "PEGS", value_parser = whole_number(MIN_LENGTH..=MAX_LENGTH, 4), allow_negative_numbers = true)]
    length: Option<usize>,

    /// Whether a colour may occur twice in the code, yes or no; without this option the program prompts for it
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    repeats: Option<bool>,

    /// Number of colours, 2 to 8 [default: 8]
    #[arg(long, value_name = "COLOURS", value_parser = whole_number(MIN_COLOURS..=MAX_COLOURS, 6),
          allow_negative_numbers = true)]
    colours: Option<usize>,

    /// The seed of the code: the same seed and rules give the same puzzle
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 42), allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Show on each turn what the codebreaker would guess; in the panel game, the key h shows it once
    #[arg(long)]
    hint: bool,

    /// Play the puzzle of the day, the same for all players: 4 pegs in 8 colours with repeats unless other rules are
    /// given
    #[arg(long)]
    daily: bool,

    /// Two people at one terminal: each sets a code for the other
    #[arg(long)]
    duel: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Let the codebreaker play: every code, a given code, or a code that another person has set
    Solve(Solve),
    /// Show the statistics of past games
    Statistics,
}

/// The derived usage is wider than a terminal.
const SOLVE_USAGE: &str = "mastermind-play solve --length PEGS --colours COLOURS --all [OPTIONS]
       mastermind-play solve --length PEGS --colours COLOURS --code CODE [OPTIONS]
       mastermind-play solve --length PEGS --colours COLOURS --interactive [OPTIONS]";

/// Options of `solve`.
#[derive(Debug, Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own on the command line")]
#[group(skip)]
#[command(override_usage = SOLVE_USAGE)]
#[command(group(ArgGroup::new("codes").args(["all", "code", "interactive"]).required(true)))]
pub(crate) struct Solve {
    /// Pegs in a code, 4 to 8
    #[arg(long, value_name = "PEGS", value_parser = whole_number(MIN_LENGTH..=MAX_LENGTH, 4), allow_negative_numbers = true)]
    length: usize,

    /// Number of colours, 2 to 8
    #[arg(long, value_name = "COLOURS", value_parser = whole_number(MIN_COLOURS..=MAX_COLOURS, 6),
          allow_negative_numbers = true)]
    colours: usize,

    /// Whether a colour may occur twice in a code, yes or no
    #[arg(long, value_name = "YES|NO", default_value = "yes", value_parser = yes_or_no, action = ArgAction::Set)]
    repeats: bool,

    /// The former name of `--repeats no`.
    #[arg(long, hide = true, conflicts_with = "repeats")]
    no_repeats: bool,

    /// How guesses are rated: minimax, expected, entropy or parts look one step ahead; optimal searches for the best
    /// play
    #[arg(long, requires = "all", conflicts_with = "code")]
    strategy: Option<How>,

    /// Play every code, with --strategy
    #[arg(long, requires = "strategy")]
    all: bool,

    /// Play this code only, and explain each guess
    #[arg(long)]
    code: Option<Code>,

    /// Find a code that you know only by its answers: type the answer after each suggested guess, or after a guess of
    /// your own
    #[arg(long, conflicts_with_all = ["strategy", "threads", "seed"])]
    interactive: bool,

    /// Threads [default: one for each core]; a search that proves its total uses one, and so does --code
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=MOST_THREADS, 4), allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Permute the colours in a search that proves its total, which must not change the total
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 42), allow_negative_numbers = true)]
    seed: Option<u64>,
}

fn yes_or_no(typed: &str) -> Result<bool, &'static str> {
    crate::text::yes_or_no(typed).ok_or("expected yes or no")
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "as on the command line")]
pub(crate) struct Play {
    pub(crate) panel: bool,
    pub(crate) wanted: RulePreferences,
    pub(crate) rules: Rules,
    pub(crate) seed: Option<u64>,
    pub(crate) daily: bool,
    pub(crate) duel: bool,
    pub(crate) hints: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Play(Play),
    Solve(Task),
    Statistics,
}

impl Plan {
    pub(crate) fn of(args: Args) -> Result<Self, UsageError> {
        let Args { panel, length, repeats, colours, seed, hint: hints, daily, duel, command } = args;
        match command {
            Some(Command::Solve(solve)) => return task(&solve).map(Self::Solve),
            Some(Command::Statistics) => return Ok(Self::Statistics),
            None => {}
        }
        let refused = [
            (daily && seed.is_some(), "--daily determines the code: omit --seed or --daily"),
            (duel && daily, "in a duel, the players set the codes: omit --daily or --duel"),
            (duel && seed.is_some(), "in a duel, the players set the codes: omit --seed or --duel"),
        ];
        if let Some((_, why)) = refused.iter().find(|(refused, _)| *refused) {
            return Err(UsageError((*why).into()));
        }
        let wanted = RulePreferences { length, repeats, colours };
        // No input at the prompts can make invalid rules valid.
        let rules = wanted.without_asking().map_err(|error| UsageError(error.to_string()))?;
        Ok(Self::Play(Play { panel, wanted, rules, seed, daily, duel, hints }))
    }
}

fn task(solve: &Solve) -> Result<Task, UsageError> {
    let Solve { length, colours, repeats, no_repeats, strategy, code, interactive, threads, seed, all: _ } = *solve;
    let rules = Rules::new(length, colours, repeats && !no_repeats).map_err(|error| UsageError(error.to_string()))?;
    if interactive {
        return Ok(Task::Interactive { rules });
    }
    if seed.is_some() && (strategy != Some(How::Optimal) || rules.guesses() > PROVABLE) {
        return Err(UsageError(format!(
            "--seed requires --strategy optimal in a game of up to {PROVABLE} guesses; all other play is deterministic"
        )));
    }
    let alone = strategy.is_none() || (strategy == Some(How::Optimal) && rules.guesses() <= PROVABLE);
    if alone && threads.is_some_and(|threads| threads > 1) {
        return Err(UsageError(format!(
            "a single code and --strategy optimal in games of up to {PROVABLE} guesses use one thread, since each \
             step depends on earlier ones: omit --threads"
        )));
    }
    let Some(how) = strategy else {
        let code =
            code.ok_or_else(|| UsageError("expected --all and --strategy, --code CODE, or --interactive".into()))?;
        if !rules.allows_secret(code) {
            return Err(UsageError(format!("{code} cannot be the code of a game with {rules}")));
        }
        return Ok(Task::One { rules, code });
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Ok(Task::All { rules, how, threads: threads.unwrap_or(cores), seed })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Args::command().debug_assert();
    }
}
