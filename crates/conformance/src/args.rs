use std::{fs::File, num::NonZero, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::Context as _;
use clap::{
    Parser, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cmdkit::{HostPort, UsageError, byte_count, host_port, whole_number};
use conformance::{
    Format, Launcher, Limits, Options, Plan, Program, Remote, Rule, Seed, TESTERS, Terminal, Tester, USUAL_SEED,
};

use crate::secret::Secret;

const AFTER_HELP: &str = "\
Examples:
  conformance dealer -- ./dealer {port} {rounds} --players {players}
      starts ./dealer for each scenario and tests it
  conformance dealer --at localhost:4021
      tests a running dealer that waits for one player
  conformance player --format html --output report.html -- ./player
      writes a page with the messages before each failure
  conformance dealer --list
      lists the rules; --explain ID describes one

If the command has no placeholder, the usual arguments of the course are \
appended. docs/conformance.md lists the placeholders.

Exit status: 0 if all required rules were tested and passed, 1 if one failed, \
2 for wrong usage, 3 if the program cannot be started, 4 if the tester cannot \
continue or is stopped (the report is partial), 5 if none failed but some could \
not be tested.";

/// Test a server or a client, and report which rules of the protocol it breaks
#[derive(Debug, Parser)]
#[command(name = "conformance", version, after_help = AFTER_HELP,
          override_usage = "conformance KIND [OPTIONS] -- COMMAND...\n       conformance KIND --at HOST:PORT [OPTIONS]\n       conformance KIND --list | --explain ID\n       conformance class DIR --to DIR --kind KIND [OPTIONS] -- COMMAND...\n       conformance limits [OPTIONS]")]
pub(crate) struct Args {
    /// The kind of program under test
    #[arg(value_name = "KIND", value_parser = kind())]
    pub(crate) tester: &'static Tester,

    /// The command that starts the program under test
    #[arg(value_name = "COMMAND", last = true, required_unless_present_any = ["at", "list", "explain"],
          conflicts_with_all = ["at", "list", "explain"])]
    command: Vec<String>,

    /// Test a running server instead; scenarios that need a server of their own are skipped
    #[arg(long, value_name = "HOST:PORT", value_parser = host_port)]
    at: Option<HostPort>,

    /// With --at, the number of players that the dealer waits for
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=6_u8, 1), default_value = "1", requires = "at")]
    players: u8,

    /// The port of a nuggets server, if the tester cannot find it
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1..=65_535_u16, 4021), conflicts_with = "at")]
    port: Option<u16>,

    /// How long the tester waits for each answer and for the program to exit
    ///
    /// A program may take four times as long to start. On a busy machine, all these times are longer.
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3600_u16, 10), default_value = "5")]
    patience: u16,

    #[command(flatten)]
    limits: LimitArgs,

    /// Which of the program's standard streams are at a pseudo-terminal
    #[arg(long, value_name = "WHEN", default_value = "auto", conflicts_with = "at")]
    terminal: AtTerminal,

    /// How to write the report
    #[arg(long, value_name = "FORMAT", value_parser = format(), default_value = Format::Text.word())]
    pub(crate) format: Format,

    /// Write the report to this file, and to standard output as text
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "explain"])]
    output: Option<PathBuf>,

    /// Report only these rules, separated by commas, and skip scenarios for other rules
    #[arg(long, value_name = "ID,...", value_delimiter = ',', conflicts_with_all = ["list", "explain"])]
    only: Vec<String>,

    /// The seed of all random choices of the tester
    #[arg(long, value_name = "NUMBER", value_parser = whole_number(1..=2_147_483_646_u32, USUAL_SEED),
          default_value_t = USUAL_SEED)]
    seed: u32,

    /// Use the seed of a student in a class that was tested with this secret; the report does not contain it
    #[arg(long, value_name = "WORD", requires_all = ["salt", "student"], conflicts_with = "seed")]
    secret: Option<String>,

    /// With --secret, the file `salt` in the results of the class
    #[arg(long, value_name = "FILE", requires = "secret")]
    salt: Option<PathBuf>,

    /// With --secret, the name of the student's directory
    #[arg(long, value_name = "NAME", requires = "secret")]
    student: Option<String>,

    /// Run the whole test this many times; the report shows how often each rule failed
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=1000_u32, 5), default_value = "1", conflicts_with = "at")]
    repeat: u32,

    /// Write a transcript of each scenario, with standard error, into this directory
    #[arg(long, value_name = "DIRECTORY", conflicts_with_all = ["list", "explain"])]
    transcripts: Option<PathBuf>,

    /// List the rules with name, basis, points and text; as text, JSON or Markdown
    #[arg(long, conflicts_with_all = ["at", "explain"])]
    pub(crate) list: bool,

    /// Explain one rule
    #[arg(long, value_name = "ID", conflicts_with = "at")]
    pub(crate) explain: Option<String>,
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::word))
        .map(|typed| Format::ALL.into_iter().find(|format| format.word() == typed).unwrap_or_default())
}

pub(crate) fn kind() -> impl TypedValueParser<Value = &'static Tester> {
    PossibleValuesParser::new(TESTERS.map(|tester| tester.kind))
        .map(|typed| TESTERS.into_iter().find(|tester| tester.kind == typed).unwrap_or(TESTERS[0]))
}

pub(crate) fn rule(tester: &Tester, id: &str) -> Result<&'static Rule, UsageError> {
    let unknown = || UsageError(format!("unknown rule '{id}' of a {}: --list shows all rules", tester.kind));
    tester.rule(id).ok_or_else(unknown)
}

pub(crate) fn only(tester: &Tester, ids: &[String]) -> Result<Option<Vec<&'static Rule>>, UsageError> {
    let rules = ids.iter().map(|id| rule(tester, id)).collect::<Result<Vec<_>, _>>()?;
    Ok(Some(rules).filter(|rules| !rules.is_empty()))
}

impl Args {
    pub(crate) fn launcher(&self) -> anyhow::Result<Box<dyn Launcher>> {
        let tester = self.tester;
        let Some(at) = &self.at else {
            let program = Program::new(self.command.clone(), tester.usual, tester.known, tester.needed);
            let program = program.map_err(|error| UsageError(error.to_string()))?;
            self.limits.confine();
            return Ok(Box::new(self.terminal.of(program).with_limits(self.limits.limits()?)));
        };
        if !tester.is_server {
            return Err(UsageError(format!(
                "a {} is a client: give its command after '--' instead of --at",
                tester.kind
            ))
            .into());
        }
        let address = at.resolve()?.into_iter().next();
        Ok(Box::new(Remote(address.ok_or_else(|| UsageError("the host has no address".to_owned()))?)))
    }

    pub(crate) fn plan(&self) -> anyhow::Result<Plan> {
        let patience = Duration::from_secs(self.patience.into());
        let seed = match (&self.secret, &self.salt, &self.student) {
            (Some(word), Some(salt), Some(student)) => Secret::read(word, salt)?.seed(student),
            _ => Seed::Number(self.seed),
        };
        let options = Options { patience, players: self.players, port: self.port, seed };
        let only = only(self.tester, &self.only)?;
        let runs = NonZero::new(self.repeat).unwrap_or(NonZero::<u32>::MIN);
        Ok(Plan { options, only, runs, transcripts: self.transcripts.clone() })
    }

    /// Created before the test, so that a wrong path does not lose the results.
    pub(crate) fn output(&self) -> anyhow::Result<Option<File>> {
        let Some(path) = &self.output else { return Ok(None) };
        let file = File::create(path).with_context(|| format!("cannot write the report to {}", path.display()))?;
        Ok(Some(file))
    }
}

/// Limits of programs under test.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct LimitArgs {
    /// Change a limit of the programs, as in memory=512M; `conformance limits` lists all
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    limits: Vec<String>,

    /// Let programs use the network; otherwise they have only loopback, if the system supports it
    #[arg(long)]
    pub(crate) network: bool,
}

impl LimitArgs {
    pub(crate) fn limits(&self) -> Result<Limits, UsageError> {
        let mut limits = Limits::default();
        for typed in &self.limits {
            limits.set(typed, byte_count).map_err(|error| UsageError(format!("--limit {typed}: {error}")))?;
        }
        Ok(limits)
    }

    /// Must be called before any other thread is started.
    pub(crate) fn confine(&self) {
        if !self.network {
            conformance::confine();
        }
    }
}

/// Which of a program's standard streams are at a pseudo-terminal.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum AtTerminal {
    /// As usual for its kind
    Auto,
    /// Standard input and output
    Yes,
    /// None
    No,
}

impl AtTerminal {
    pub(crate) fn of(self, program: Program) -> Program {
        match self {
            Self::Auto => program,
            Self::Yes => program.with_terminal(Terminal::Whole),
            Self::No => program.with_terminal(Terminal::No),
        }
    }
}

const LIMITS_AFTER_HELP: &str = "\
Limits apply to one program under test with all processes that it starts. \
memory, file-size and output are in bytes, optionally with a suffix K, M, G or \
T; cpu and time are in seconds.";

/// Show the limits of programs under test and how this system enforces them
#[derive(Debug, Parser)]
#[command(name = "conformance", version, after_help = LIMITS_AFTER_HELP, override_usage = "conformance limits [OPTIONS]")]
pub(crate) struct LimitsCommand {
    #[arg(value_parser = ["limits"], hide = true)]
    word: String,

    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn limits(args: &LimitsCommand) -> anyhow::Result<ExitCode> {
    args.limits.confine();
    let program = Program::new(vec![args.word.clone()], "", &[], &[])?.with_limits(args.limits.limits()?);
    crate::print(&format!("{}\n", program.limits().join("\n")))
}
