//! The options for what programs under test may take, and `conformance limits`, which says what holds here.

use std::process::ExitCode;

use clap::{Args, Parser, ValueEnum};
use cmdkit::{UsageError, byte_count};
use conformance::{Launcher, Limits, Program, Terminal};

/// What programs under test may take.
#[derive(Args, Clone, Debug)]
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

    /// Disconnects this process from the network, unless programs may use it. No other thread may run yet.
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
    /// Nothing
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

const AFTER_HELP: &str = "\
Limits apply to one program under test with all processes that it starts. \
memory, file-size and output are in bytes, optionally with a suffix K, M, G or \
T; cpu and time are in seconds.";

/// Show the limits of programs under test and how this system enforces them
#[derive(Debug, Parser)]
#[command(name = "conformance", version, after_help = AFTER_HELP, override_usage = "conformance limits [OPTIONS]")]
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
