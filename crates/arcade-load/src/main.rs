//! `arcade-load`: measures what a machine holds.
//!
//! It starts a hub of its own, with an empty directory, and plays over real sockets. The hub and the players share the machine, so
//! the figures are those of a host whose players come from the same machine; with players elsewhere it holds more.

mod attack;
mod attacks;
mod driver;
mod fleet;
mod hub;
mod innocents;
mod nuggets;
mod page;
mod robots;
mod rooms;
mod scenarios;

use std::{
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use cmdkit::{EXIT_FAILURE, EXIT_USAGE, LogArgs, Usage};
use netshell::raise_open_files;

/// Measure how many rooms and watchers this machine holds
#[derive(Debug, Parser)]
#[command(name = "arcade-load", version)]
struct Args {
    /// The hub's program; by default the one beside this program
    #[arg(long, value_name = "PATH", global = true)]
    arcade: Option<PathBuf>,

    #[command(flatten)]
    log: LogArgs,

    #[command(subcommand)]
    measure: Measure,
}

#[derive(Debug, Subcommand)]
enum Measure {
    /// Many live rooms: half robots with 4 clients each, half nuggets with 8
    Rooms(rooms::Options),
    /// Many browsers that watch one match of robots
    Watchers(scenarios::Watchers),
    /// Starting a hub with many rooms after it was killed
    Restart(scenarios::Restart),
    /// Three hubs as one arcade: the lobby, relayed players and watchers, a hub that moves its rooms and one that is killed
    Fleet(fleet::Options),
    /// A class behind one address that opens the page and sits down
    Class(scenarios::Class),
    /// All attacks at once beside eight innocent players of every kind; status 1 if they notice more than they may
    Attack(attack::Options),
}

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "rooms --rooms 100 --turns 100" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("warn")?;
    raise_open_files();
    // One thread: the hub needs the processors.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let hub = args.arcade.as_deref();
    let (report, broken) = runtime.block_on(async {
        anyhow::Ok(match &args.measure {
            Measure::Rooms(options) => (rooms::measure(hub, options).await?, vec![]),
            Measure::Watchers(options) => (scenarios::watchers(hub, options).await?, vec![]),
            Measure::Restart(options) => (scenarios::restart(hub, options).await?, vec![]),
            Measure::Fleet(options) => fleet::measure(hub, options).await?,
            Measure::Class(options) => (scenarios::class(hub, options).await?, vec![]),
            Measure::Attack(options) if options.list => (attacks::list(), vec![]),
            Measure::Attack(options) => attack::measure(hub, options).await?,
        })
    })?;
    write!(io::stdout().lock(), "{report}").context("cannot write the figures")?;
    for line in &broken {
        writeln!(io::stderr().lock(), "{line}").context("cannot write what is wrong")?;
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}
