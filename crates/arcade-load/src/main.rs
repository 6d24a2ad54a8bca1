//! `arcade-load`: measures what a machine holds.
//!
//! It starts a hub of its own, with an empty directory, and plays over real sockets. The hub and the players share the machine, so
//! the figures are those of a host whose players come from the same machine; with players elsewhere it holds more.

mod args;
mod attack;
mod class;
mod explorers;
mod fleet;
mod floor;
mod hub;
mod lateness;
mod nuggets;
mod pages;
mod restart;
mod robots;
mod rooms;
mod stamp;
mod watchers;
mod worker;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use cmdkit::{EXIT_FAILURE, EXIT_USAGE, Usage};
use netshell::raise_open_files;

use crate::args::{Args, Measure};

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "rooms --rooms 100 --turns 100" }, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    args.log.start("warn")?;
    raise_open_files();
    // Few threads: the hub shall have the processors.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (report, broken) = runtime.block_on(async {
        Ok::<_, anyhow::Error>(match &args.measure {
            Measure::Rooms(rooms) => (rooms::measure(args.hub(), rooms).await?, vec![]),
            Measure::Watchers(watchers) => (watchers::measure(args.hub(), watchers).await?, vec![]),
            Measure::Restart(restart) => (restart::measure(args.hub(), restart).await?, vec![]),
            Measure::Fleet(fleet) => fleet::measure(args.hub(), fleet).await?,
            Measure::Class(class) => (class::measure(args.hub(), class).await?, vec![]),
            Measure::Attack(attack) if attack.list => (attack::list(), vec![]),
            Measure::Attack(attack) => attack::measure(args.hub(), attack).await?,
        })
    })?;
    write!(io::stdout().lock(), "{report}").context("cannot write the figures")?;
    for line in &broken {
        writeln!(io::stderr().lock(), "{line}").context("cannot write what is wrong")?;
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}
