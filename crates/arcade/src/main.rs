//! `arcade`: hosts all games in one process, with a web page to play and to watch.

mod args;
mod fleet;
mod games;
mod hub;
mod message;
mod operator;
mod replays;
mod results;
mod room;
mod web;

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

#[cfg(unix)]
use crate::operator::{commands, doctor, ladder, replay, restore, results as results_of};
use crate::{args::Args, operator::host};

// A hub accesses the states of a thousand rooms in turn, which is faster with large pages. Development builds keep the
// allocator of the system, for memory tools and for tests of the hub's memory use.
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
        // This precedes reading any file and starting threads.
        #[cfg(unix)]
        cmdkit::become_owner(&args.data)?;
        // The hub logs problems with the broker in its own words, so the client library logs only errors.
        args.log.start("info,async_nats=error")?;
        host::host(&args)
    })
}
