use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{anyhow, bail};
use blackjack::{
    Name, Policy, QTable, StateSpace,
    config::TIMEOUT,
    exact::Solver,
    game::MAX_ROUNDS,
    learn::{Chance, Explore},
};
use clap::{
    Parser, ValueEnum,
    builder::{OsStringValueParser, TypedValueParser},
};
use cmdkit::{Autosave, DirectoryArgs, ScreenLogArgs, UsageError, command_of, count, file_name, whole_number};
use rand::{SeedableRng, TryRng, rngs::SysRng};
use rand_pcg::Pcg64Mcg;
use tracing::info;

use crate::{
    bot::{Learner, Strategy, USUAL, load_table},
    game::Advisor,
};

const EXAMPLES: &str = "\
Examples:
  player --practice
      play yourself against a dealer in this program, at your own pace
  player Ann localhost 2021 --human
      play yourself at this dealer; press a for the odds and best play
  player Ann localhost 2021 --best
      best play, without a file
  player Ann localhost 2021 --train --explore epsilon --table ann.qtable
      train a table and save it in ann.qtable
  player Ann localhost 2021 --table ann.qtable
      play with the trained table
  player Ann --best --directory http://10.0.0.11:8080/rooms/blackjack-1
      play in a room of several hubs, even if it moves
  printf 'stand\\nhit\\nquit\\n' | player Ann localhost 2021 --human
      answer each question with a line

Random training, the method of the course, never plays well: it learns the value of an action if all later actions \
are random, too. Use --explore epsilon or until-confident to learn to play.

Exit status: 0 when the dealer sends QUIT, you leave or a signal arrives; 1 when the dealer cannot be reached, \
disconnects without QUIT, does not wait for your answer or sends an invalid message, or when a table cannot be read \
or saved; 2 for wrong usage.";

/// Play the game of 21 with a table, train a table, or play yourself
#[derive(Debug, Clone, Parser)]
#[command(name = "player", version, after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct Args {
    /// Your name: 1 to 64 printable ASCII characters without a space
    #[arg(required_unless_present = "practice", value_parser = OsStringValueParser::new().try_map(|typed| Name::new(typed.as_encoded_bytes())))]
    pub(crate) name: Option<Name>,

    /// Name or address of the dealer; optional with --directory, as is the port
    #[arg(required_unless_present_any = ["practice", "directory"], requires = "port", value_parser = cmdkit::host(2021))]
    pub(crate) host: Option<String>,

    /// TCP port of the dealer
    #[arg(required_unless_present_any = ["practice", "directory"], value_parser = whole_number(1..=u16::MAX, 2021), allow_negative_numbers = true)]
    pub(crate) port: Option<u16>,

    /// The location of the room in an arcade of several hubs.
    #[command(flatten)]
    pub(crate) directory: DirectoryArgs,

    /// Train the table while playing, and save it
    #[arg(long, conflicts_with_all = ["human", "practice"])]
    pub(crate) train: bool,

    /// Play yourself: in the terminal, or by lines of text if standard input or output is not a terminal
    #[arg(long)]
    pub(crate) human: bool,

    /// Play yourself against a dealer in this program. It shows its hand after each round and has no time limit
    #[arg(long, conflicts_with_all = ["host", "port", "binary", "think", "rounds", "directory"])]
    pub(crate) practice: bool,

    /// Time limit of the dealer in seconds, for the countdown, since the dealer does not send it; 0 hides the countdown
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT.as_secs(), value_parser = whole_number(0..=86_400_u64, 30),
          requires = "human", allow_negative_numbers = true)]
    pub(crate) think: u64,

    /// Number of rounds of the dealer, to show the remaining time while a table plays or learns, since the dealer does
    /// not send it
    #[arg(long, value_name = "ROUNDS", value_parser = count(1..=u64::from(MAX_ROUNDS), 1000), conflicts_with = "human",
          allow_negative_numbers = true)]
    pub(crate) rounds: Option<u64>,

    /// The table to play with, to train or to use for advice
    /// [default: 'qtable'; if the file does not exist, training creates it, and advice follows best play]
    #[arg(long, visible_alias = "qtable", value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Play with the best table, or use it for advice; it is computed, not learned
    #[arg(long, conflicts_with_all = ["train", "table"])]
    pub(crate) best: bool,

    /// The facts in a state: coarse (total and upcard) or soft (also whether an ace counts 11)
    /// [default: as in the table; coarse for a new one, soft for the best]
    #[arg(long, value_name = "SPACE", value_parser = parse_space)]
    pub(crate) state: Option<StateSpace>,

    /// Use the binary protocol
    #[arg(long)]
    pub(crate) binary: bool,

    /// How the learner chooses its actions
    #[arg(long, value_enum, default_value_t = Exploring::Random, requires = "train", help_heading = "Training")]
    pub(crate) explore: Exploring,

    /// Probability of a random action with --explore epsilon [default: 0.1]
    #[arg(long, value_name = "CHANCE", value_parser = str::parse::<Chance>, requires = "train",
          help_heading = "Training", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<Chance>,

    /// Seed of the learner's random actions, or of the cards with --practice [default: random]
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(0..=u64::MAX, 17), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,

    /// Save the table after this number of rounds, and at the end
    #[arg(long, value_name = "ROUNDS", default_value_t = 10_000, value_parser = count(1..=u64::MAX, 10_000),
          requires = "train", help_heading = "Training", allow_negative_numbers = true)]
    pub(crate) save_every: u64,

    /// Log level and destination.
    #[command(flatten)]
    pub(crate) logs: ScreenLogArgs,
}

/// How the learner chooses its actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Exploring {
    /// Always at random
    Random,
    /// By the table, and sometimes at random
    Epsilon,
    /// At random until the better action is known with confidence, then by the table
    #[value(alias = "doubt")]
    UntilConfident,
}

fn parse_space(typed: &str) -> Result<StateSpace, &'static str> {
    StateSpace::from_word(typed).ok_or("expected coarse or soft")
}

#[derive(Debug)]
pub(crate) enum Plan {
    Human(Box<Advisor>),
    Program(Strategy),
}

impl Args {
    /// Reads the table. Fails if it is damaged, is required but missing, or has other states than requested.
    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        if self.seed.is_some() && !self.train && !self.practice {
            let wrong = "--seed requires --train or --practice; nothing else is random";
            return Err(UsageError(wrong.to_owned()).into());
        }
        if self.train {
            return Ok(Plan::Program(Strategy::Learner(Box::new(self.learner()?))));
        }
        let solver = Solver::new();
        let (policy, by_table) = self.policy(&solver)?;
        if self.is_for_person() {
            let mut advisor = Advisor::new(solver, policy);
            advisor.by_table = by_table;
            Ok(Plan::Human(Box::new(advisor)))
        } else {
            Ok(Plan::Program(Strategy::Table(Box::new(policy))))
        }
    }

    pub(crate) const fn is_for_person(&self) -> bool {
        self.human || self.practice
    }

    /// `None` shows no countdown.
    pub(crate) fn limit(&self) -> Option<Duration> {
        (self.think > 0 && !self.practice).then(|| Duration::from_secs(self.think))
    }

    fn path(&self) -> &Path {
        self.table.as_deref().unwrap_or_else(|| Path::new(USUAL))
    }

    fn learner(&self) -> anyhow::Result<Learner> {
        if self.epsilon.is_some() && self.explore != Exploring::Epsilon {
            let wrong = "--epsilon requires --explore epsilon";
            return Err(UsageError(wrong.to_owned()).into());
        }
        let path = self.path();
        let table = load_table(path, self.state)?;
        // An unwritable file is reported now, not after hours of training.
        cmdkit::check_replaceable(path)
            .map_err(|error| anyhow!("cannot save the table {}: {error}", file_name(path)))?;
        if let Some(table) = &table {
            info!("continuing with {}, {} states seen", file_name(path), table.visited().count());
        } else {
            info!("starting with an empty table, which will be saved as {}", file_name(path));
        }
        let seed = if let Some(seed) = self.seed { seed } else { SysRng.try_next_u64()? };
        Ok(Learner {
            table: table.unwrap_or_else(|| QTable::new(self.state.unwrap_or_default())),
            path: path.to_owned(),
            explore: match self.explore {
                Exploring::Random => Explore::Random,
                Exploring::Epsilon => Explore::Epsilon(match self.epsilon {
                    Some(epsilon) => epsilon,
                    None => "0.1".parse()?,
                }),
                Exploring::UntilConfident => Explore::UntilConfident,
            },
            rng: Pcg64Mcg::seed_from_u64(seed),
            saves: Autosave::new(self.save_every),
        })
    }

    // Also returns whether the policy is from a table file.
    fn policy(&self, solver: &Solver) -> anyhow::Result<(Policy, bool)> {
        let path = self.path();
        let name = file_name(path);
        if !self.best
            && let Some(table) = load_table(path, self.state)?
        {
            info!("playing with the table {name}");
            return Ok((table.policy(), true));
        }
        // Without `--table` and without the default file, users get advice from best play. Learners need the file.
        let advised = self.is_for_person() && self.table.is_none();
        if !self.best && !advised {
            let qtable = command_of("qtable");
            bail!(
                "no table {name}; create one with `{qtable} train --rounds 1000000 --explore epsilon -o {name}` \
                 (the first build takes a few minutes), train one at this dealer with --train, or play with the \
                 best table with --best"
            );
        }
        let space = self.state.unwrap_or(StateSpace::Soft);
        match space {
            StateSpace::Soft => info!("playing the best strategy (no file needed)"),
            StateSpace::Coarse => info!("playing the best strategy of {space} states (no file needed)"),
        }
        Ok((solver.best(space), false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::error::ErrorKind;

    #[test]
    fn contradicting_options_are_refused() {
        for (line, kind) in [
            ("player", ErrorKind::MissingRequiredArgument),
            ("player Ann localhost", ErrorKind::MissingRequiredArgument),
            ("player Ann localhost 0", ErrorKind::ValueValidation),
            ("player Ann localhost 80x", ErrorKind::ValueValidation),
            ("player Ann localhost 65536", ErrorKind::ValueValidation),
            ("player Ann localhost:80 80", ErrorKind::ValueValidation),
            ("player Z\u{fc} localhost 80", ErrorKind::ValueValidation),
            ("player Ann localhost 80 90", ErrorKind::UnknownArgument),
            ("player Ann localhost 80 --epsilon 0.2", ErrorKind::MissingRequiredArgument),
            ("player Ann localhost 80 --train --human", ErrorKind::ArgumentConflict),
            ("player Ann localhost 80 --train --epsilon 1.5", ErrorKind::ValueValidation),
            ("player Ann localhost 80 --train --epsilon -0.1", ErrorKind::ValueValidation),
            ("player Ann localhost 80 --train --epsilon 1e-1", ErrorKind::ValueValidation),
            ("player Ann localhost 80 --train --epsilon +0.1", ErrorKind::ValueValidation),
            ("player Ann localhost 80 --train --best", ErrorKind::ArgumentConflict),
            ("player Ann localhost 80 --table x --best", ErrorKind::ArgumentConflict),
            ("player Ann localhost 80 --practice", ErrorKind::ArgumentConflict),
            ("player Ann localhost --directory http://h/rooms/a", ErrorKind::MissingRequiredArgument),
            ("player --practice --directory http://h/rooms/a", ErrorKind::ArgumentConflict),
            ("player Ann --directory https://h/rooms/a", ErrorKind::ValueValidation),
            ("player --practice --train", ErrorKind::ArgumentConflict),
            ("player --practice --think 5", ErrorKind::ArgumentConflict),
            ("player Ann localhost 80 --think 5", ErrorKind::MissingRequiredArgument),
            ("player Ann localhost 80 --human --rounds 5", ErrorKind::ArgumentConflict),
            ("player Ann localhost 80 --state fine", ErrorKind::ValueValidation),
        ] {
            let error = Args::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(error.kind(), kind, "{line}: {error}");
        }
        let long = "x".repeat(65);
        for name in ["", "a b", &long] {
            let error = Args::try_parse_from(["player", name, "localhost", "80"]).unwrap_err();
            assert!(error.to_string().contains("1 to 64 printable"), "{error}");
        }
    }

    #[test]
    fn practice_needs_no_other_arguments() {
        let args = Args::try_parse_from(["player", "--practice"]).unwrap();
        assert!(args.is_for_person() && args.name.is_none() && args.limit().is_none());
        assert!(Args::try_parse_from(["player", "Ann", "--practice", "--seed", "3"]).unwrap().name.is_some());
        let args = Args::try_parse_from(["player", "Ann", "localhost", "80", "--human"]).unwrap();
        assert_eq!(args.limit(), Some(TIMEOUT));
    }
}
