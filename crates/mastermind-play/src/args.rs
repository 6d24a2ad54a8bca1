//! The command line, and what it asks for.

use std::num::NonZeroUsize;

use clap::{ArgAction, ArgGroup, Parser, Subcommand};
use cmdkit::{UsageError, whole_number};
use mastermind::{
    Code, Rules,
    code::{MAX_COLOURS, MAX_LENGTH, MIN_COLOURS, MIN_LENGTH},
};

use crate::solve::{How, PROVABLE, Task};

/// The most threads that can be asked for.
const MOST_THREADS: usize = 1_024;

const EXAMPLES: &str = "\
Examples:
  mastermind-play
      the text game; the length and whether colours may repeat are asked for
  mastermind-play --length 4 --repeats no --seed 42
      one certain puzzle, to be shared
  mastermind-play --panel
      the panel game, with arrow keys, digits and the mouse
  mastermind-play --panel --daily
      the puzzle of the day
  mastermind-play solve --length 4 --colours 6 --strategy optimal --all
      how many turns the best play takes over all codes
  printf '4\\nyes\\n1122\\n' | mastermind-play --seed 1
      the text game through a pipe; it ends with its input

Past games are counted in a small file in the user's data directory (XDG_DATA_HOME, or what the system has for it);
those that are played through a pipe are not.

Exit status: 0 when the game is over, left or at the end of its input, 1 when something fails or a search is stopped, 2 for \
wrong usage.";

/// Mastermind: find a code of 4 to 8 digits in ten turns
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
#[derive(Debug, Clone, Parser)]
#[command(name = "mastermind-play", version, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Play on panels, in a window of 76 columns and 18 rows or more
    #[arg(long)]
    panel: bool,

    /// Pegs in a code, 4 to 8; without it you are asked
    #[arg(long, value_name = "PEGS", value_parser = whole_number(MIN_LENGTH..=MAX_LENGTH, 4), allow_negative_numbers = true)]
    length: Option<usize>,

    /// Whether a colour may occur twice in the code, yes or no; without it you are asked
    #[arg(long, value_name = "YES|NO", value_parser = yes_or_no)]
    repeats: Option<bool>,

    /// Colours that there are, 2 to 8 [default: 8]
    #[arg(long, value_name = "COLOURS", value_parser = whole_number(MIN_COLOURS..=MAX_COLOURS, 6),
          allow_negative_numbers = true)]
    colours: Option<usize>,

    /// The seed of the code: the same seed and rules give the same puzzle
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 42), allow_negative_numbers = true)]
    seed: Option<u64>,

    /// Say on each turn what the codebreaker would guess; in the panel game the key h says it once
    #[arg(long)]
    hint: bool,

    /// The puzzle of the day, the same for everybody: 4 pegs in 8 colours with repeats unless you want other rules
    #[arg(long)]
    daily: bool,

    /// Two people at one terminal: each sets a code for the other
    #[arg(long)]
    duel: bool,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What there is beside playing.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Command {
    /// Let the codebreaker play: every code, or one
    Solve(Solve),
    /// Show the statistics of past games
    Statistics,
}

/// Options of `solve`.
#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
#[command(group(ArgGroup::new("codes").args(["all", "code"]).required(true)))]
pub(crate) struct Solve {
    /// Pegs in a code, 4 to 8
    #[arg(long, value_name = "PEGS", value_parser = whole_number(MIN_LENGTH..=MAX_LENGTH, 4), allow_negative_numbers = true)]
    length: usize,

    /// Colours that there are, 2 to 8
    #[arg(long, value_name = "COLOURS", value_parser = whole_number(MIN_COLOURS..=MAX_COLOURS, 6),
          allow_negative_numbers = true)]
    colours: usize,

    /// Whether a colour may occur twice in a code, yes or no
    #[arg(long, value_name = "YES|NO", default_value = "yes", value_parser = yes_or_no, action = ArgAction::Set)]
    repeats: bool,

    /// As `--repeats no`, which it was called before.
    #[arg(long, hide = true, conflicts_with = "repeats")]
    no_repeats: bool,

    /// What makes a guess good: minimax, expected, entropy or parts look one step ahead; optimal searches for the best play
    #[arg(long, requires = "all", conflicts_with = "code")]
    strategy: Option<How>,

    /// Play every code, with --strategy
    #[arg(long, requires = "strategy")]
    all: bool,

    /// Play this code only, and say why each guess is made
    #[arg(long)]
    code: Option<Code>,

    /// Threads [default: one for each core]; a search that proves its total has one, and so has --code
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=MOST_THREADS, 4), allow_negative_numbers = true)]
    threads: Option<usize>,

    /// Puts the colours of a search that proves its total in another order, which must not change it
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 42), allow_negative_numbers = true)]
    seed: Option<u64>,
}

fn yes_or_no(typed: &str) -> Result<bool, &'static str> {
    crate::text::yes_or_no(typed).ok_or("give yes or no")
}

/// Rules, as far as the command line gives them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Pegs in a code.
    pub length: Option<usize>,
    /// Whether a colour may occur twice in a code.
    pub repeats: Option<bool>,
    /// The number of colours; all eight if none is given.
    pub colours: Option<usize>,
}

impl Wanted {
    /// Colours that there are.
    pub(crate) fn colours(self) -> usize {
        self.colours.unwrap_or(MAX_COLOURS)
    }

    /// The rules if nothing is asked: the shortest code and repeats where nothing else is given.
    ///
    /// # Errors
    /// [`UsageError`] when no game can have what is given.
    pub fn without_asking(self) -> Result<Rules, UsageError> {
        let (length, repeats) = (self.length.unwrap_or(MIN_LENGTH), self.repeats.unwrap_or(true));
        Rules::new(length, self.colours(), repeats).map_err(|error| UsageError(error.to_string()))
    }
}

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// The text game.
    Text {
        /// Rules that are given.
        wanted: Wanted,
        /// Where the codes come from, if that is given.
        seed: Option<u64>,
        /// The puzzle of the day.
        daily: bool,
        /// Hints on each turn.
        hints: bool,
    },
    /// Two people, line by line.
    Duel {
        /// Rules that are given.
        wanted: Wanted,
        /// Hints on each turn.
        hints: bool,
    },
    /// The panel game.
    Panel {
        /// Rules that are given.
        wanted: Wanted,
        /// Where the codes come from, if that is given.
        seed: Option<u64>,
        /// The puzzle of the day.
        daily: bool,
        /// Two people.
        duel: bool,
        /// Hints on each turn.
        hints: bool,
    },
    /// The codebreaker.
    Solve(Task),
    /// Past games.
    Statistics,
}

impl Plan {
    /// Reads the plan off the arguments.
    ///
    /// # Errors
    /// [`UsageError`] when no game can have the rules that are wanted, or options do not go together.
    pub(crate) fn of(args: Args) -> Result<Self, UsageError> {
        let Args { panel, length, repeats, colours, seed, hint: hints, daily, duel, command } = args;
        match command {
            Some(Command::Solve(solve)) => return task(&solve).map(Self::Solve),
            Some(Command::Statistics) => return Ok(Self::Statistics),
            None => {}
        }
        let refused = [
            (daily && seed.is_some(), "--daily has the code of its day: leave out --seed, or leave out --daily"),
            (duel && daily, "in a duel people set the codes: leave out --daily, or leave out --duel"),
            (duel && seed.is_some(), "in a duel people set the codes: leave out --seed, or leave out --duel"),
        ];
        if let Some((_, why)) = refused.iter().find(|(refused, _)| *refused) {
            return Err(UsageError((*why).into()));
        }
        let wanted = Wanted { length, repeats, colours };
        // If this is not possible, no answer to the questions would make it so.
        wanted.without_asking()?;
        Ok(match (panel, duel) {
            (true, _) => Self::Panel { wanted, seed, daily, duel, hints },
            (_, true) => Self::Duel { wanted, hints },
            _ => Self::Text { wanted, seed, daily, hints },
        })
    }
}

fn task(solve: &Solve) -> Result<Task, UsageError> {
    let usage = |error: String| UsageError(error);
    let Solve { length, colours, repeats, no_repeats, strategy, code, threads, seed, all: _ } = *solve;
    let rules = Rules::new(length, colours, repeats && !no_repeats).map_err(|error| usage(error.to_string()))?;
    if seed.is_some() && (strategy != Some(How::Optimal) || rules.guesses() > PROVABLE) {
        return Err(usage(format!(
            "--seed is for --strategy optimal in games of up to {PROVABLE} guesses, which are searched; all else is \
             always played alike"
        )));
    }
    let alone = strategy.is_none() || (strategy == Some(How::Optimal) && rules.guesses() <= PROVABLE);
    if alone && threads.is_some_and(|threads| threads > 1) {
        return Err(usage(format!(
            "one thread plays a single code, and --strategy optimal in games of up to {PROVABLE} guesses, where each step \
             of the search depends on those before it: leave out --threads"
        )));
    }
    let Some(how) = strategy else {
        let code = code.ok_or_else(|| usage("give --all and --strategy, or --code CODE".into()))?;
        if !rules.allows_secret(code) {
            return Err(usage(format!("{code} cannot be the code of a game with {rules}")));
        }
        return Ok(Task::One { rules, code });
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    Ok(Task::All { rules, how, threads: threads.unwrap_or(cores), seed })
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, error::ErrorKind};

    use super::*;

    fn plan(line: &str) -> Result<Plan, UsageError> {
        Plan::of(Args::try_parse_from(line.split(' ')).unwrap_or_else(|error| panic!("{line}: {error}")))
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_are_read() {
        let none = Wanted::default();
        let text = Plan::Text { wanted: none, seed: None, daily: false, hints: false };
        assert_eq!(plan("play").unwrap(), text);
        let wanted = Wanted { length: Some(5), repeats: Some(false), colours: Some(6) };
        assert_eq!(
            plan("play --length 5 --repeats NO --colours 6 --seed 7 --hint").unwrap(),
            Plan::Text { wanted, seed: Some(7), daily: false, hints: true }
        );
        let panel = |daily, duel, hints| Plan::Panel { wanted: none, seed: None, daily, duel, hints };
        assert_eq!(plan("play --panel --daily").unwrap(), panel(true, false, false));
        assert_eq!(plan("play --panel --duel --hint").unwrap(), panel(false, true, true));
        assert_eq!(plan("play --duel --hint").unwrap(), Plan::Duel { wanted: none, hints: true });
        assert_eq!(plan("play statistics").unwrap(), Plan::Statistics);
        let rules = Rules::new(4, 6, true).unwrap();
        assert_eq!(
            plan("play solve --length 4 --colours 6 --strategy optimal --all --threads 1 --seed 9").unwrap(),
            Plan::Solve(Task::All { rules, how: How::Optimal, threads: 1, seed: Some(9) })
        );
        let larger = Rules::new(5, 6, true).unwrap();
        assert_eq!(
            plan("play solve --length 5 --colours 6 --strategy optimal --all --threads 3").unwrap(),
            Plan::Solve(Task::All { rules: larger, how: How::Optimal, threads: 3, seed: None })
        );
        let code = "1123".parse().unwrap();
        assert_eq!(
            plan("play solve --length 4 --colours 6 --code 1123").unwrap(),
            Plan::Solve(Task::One { rules, code })
        );
    }

    #[test]
    fn whoever_names_no_codes_is_told_both_ways() {
        let error = |line: &str| Args::try_parse_from(line.split(' ')).unwrap_err();
        let neither = error("play solve --length 4 --colours 6");
        assert_eq!(neither.kind(), ErrorKind::MissingRequiredArgument);
        assert!(neither.to_string().contains("<--all|--code <CODE>>"), "{neither}");
        for both in ["--all --strategy parts --code 1123", "--all --code 1123", "--strategy parts --code 1123"] {
            let kind = error(&format!("play solve --length 4 --colours 6 {both}")).kind();
            assert_eq!(kind, ErrorKind::ArgumentConflict, "{both}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (line, kind) in [
            ("play --length 9", ErrorKind::ValueValidation),
            ("play --length -4", ErrorKind::ValueValidation),
            ("play --colours 1", ErrorKind::ValueValidation),
            ("play --repeats maybe", ErrorKind::ValueValidation),
            ("play --seed x", ErrorKind::ValueValidation),
            ("play solve", ErrorKind::MissingRequiredArgument),
            ("play solve --length 4 --colours 6 --all", ErrorKind::MissingRequiredArgument),
            ("play solve --length 4 --colours 6 --strategy entropy", ErrorKind::MissingRequiredArgument),
            ("play solve --length 4 --colours 6 --strategy luck --all", ErrorKind::ValueValidation),
            ("play solve --length 4 --colours 6 --strategy entropy --all --threads 0", ErrorKind::ValueValidation),
            ("play solve --length 4 --colours 6 --code 1x11", ErrorKind::ValueValidation),
        ] {
            assert_eq!(Args::try_parse_from(line.split(' ')).unwrap_err().kind(), kind, "{line}");
        }
        for (line, said) in [
            ("play --colours 4 --length 5 --repeats no", "5 pegs of 4 colours"),
            ("play --colours 3 --repeats no", "4 pegs of 3 colours"),
            ("play --duel --daily", "leave out --daily, or leave out --duel"),
            ("play --duel --seed 1", "leave out --seed, or leave out --duel"),
            ("play --daily --seed 1", "leave out --seed, or leave out --daily"),
            ("play solve --length 4 --colours 6 --code 1187", "1187 cannot be the code"),
            ("play solve --length 4 --colours 6 --strategy parts --all --seed 1", "--strategy optimal"),
            ("play solve --length 5 --colours 8 --strategy optimal --all --seed 1", "up to 4096 guesses"),
            ("play solve --length 4 --colours 6 --strategy optimal --all --threads 2", "leave out --threads"),
            ("play solve --length 4 --colours 6 --code 1123 --threads 2", "leave out --threads"),
        ] {
            let error = plan(line).unwrap_err();
            assert!(error.0.contains(said), "{line}: {error}");
        }
    }
}
