//! `arcade`: hosts all games in one process, with a web page to play and to watch.

mod args;
mod fleet;
mod games;
mod hub;
mod message;
mod operator;
mod player_name;
mod proxied;
mod replays;
mod results;
mod room;
mod today;
mod web;

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

#[cfg(unix)]
use crate::operator::{commands, doctor, ladder, replay, restore, results as results_of};
use crate::{args::Args, operator::host};

// Large pages speed up a thousand rooms. Development builds keep the system allocator for tests of memory use.
#[cfg(all(target_os = "linux", not(debug_assertions)))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "" }, |args: Args| {
        #[cfg(unix)]
        match args.command {
            Some(commands::Command::Doctor { json }) => return doctor::examine(&args, json),
            Some(commands::Command::Restore { ref file, replace }) => {
                return restore::restore(&args.data, file, replace);
            }
            Some(commands::Command::Results(ref command)) => return results_of::run(&args, command),
            Some(commands::Command::Replay { ref file, port }) => return replay::show(&args, file, port),
            Some(commands::Command::Ladder(ref command)) => {
                cmdkit::become_owner(&args.data)?;
                return ladder::run(command);
            }
            Some(command) => return commands::run(&args.data, command),
            None => {}
        }
        // Before any file is read and any thread starts.
        #[cfg(unix)]
        cmdkit::become_owner(&args.data)?;
        // The hub itself logs problems with the broker.
        args.log.start("info,async_nats=error")?;
        host::host(&args)
    })
}
