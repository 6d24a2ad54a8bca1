//! `arcade-load`: measures how much load a machine can carry.
//!
//! Each scenario starts hubs with empty data directories and plays over real sockets. The hubs share the machine with
//! the clients, so they could carry more if these ran elsewhere.

mod attack;
mod attacks;
mod brokers;
mod class;
mod clients;
mod driver;
mod fleet;
mod pages;
mod players;
mod rooms;
mod wire;

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    process::{Command, ExitCode},
};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use cmdkit::{EXIT_FAILURE, EXIT_USAGE, LogArgs, Usage};
use netshell::raise_open_files;

/// Measure how much load this machine can carry
#[derive(Debug, Parser)]
#[command(name = "arcade-load", version)]
struct Args {
    /// The hub's program; by default the one beside this program
    #[arg(long, value_name = "PATH", global = true)]
    arcade: Option<PathBuf>,

    #[command(flatten)]
    log: LogArgs,

    #[command(subcommand)]
    scenario: Scenario,
}

#[derive(Debug, Subcommand)]
enum Scenario {
    /// Many live rooms: half robots with 4 clients each, half nuggets with 8
    Rooms(rooms::Options),
    /// Many browsers that watch one match of robots
    Watchers(pages::Options),
    /// Restarting a killed hub with many rooms
    Restart(rooms::RestartOptions),
    /// Three hubs as one arcade: the brokers, the lobby, relayed players and watchers, moved rooms and a killed hub
    Fleet(fleet::Options),
    /// A class behind one address: joining, a match with a lost network, a tournament and the results
    Class(class::Options),
    /// All attacks at the same time beside eight well-behaved players; status 1 if a bound is broken
    Attack(attack::Options),
}

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "rooms --rooms 100 --turns 100" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("warn")?;
    raise_open_files();
    let beside = env::current_exe()?.with_file_name(format!("arcade{}", env::consts::EXE_SUFFIX));
    let hub = Command::new(args.arcade.as_deref().unwrap_or(&beside));
    // One thread, since the hub needs the processors.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(async {
        match &args.scenario {
            Scenario::Rooms(options) => rooms::measure(hub, options).await,
            Scenario::Watchers(options) => pages::watchers(hub, options).await,
            Scenario::Restart(options) => rooms::restart(hub, options).await,
            Scenario::Fleet(options) => fleet::measure(hub, options).await,
            Scenario::Class(options) => class::measure(hub, options).await,
            Scenario::Attack(options) => attack::measure(hub, options).await,
        }
    })?;
    write!(io::stdout().lock(), "{}", report.text).context("cannot write the report")?;
    for line in &report.broken {
        writeln!(io::stderr().lock(), "{line}").context("cannot write the broken bounds")?;
    }
    Ok(if report.broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}
