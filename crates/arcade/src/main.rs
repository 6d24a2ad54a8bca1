//! `arcade`: hosts all games in one process, with a web page to play and to watch.

mod address;
#[cfg(unix)]
mod admin;
mod api;
mod args;
mod assets;
#[cfg(unix)]
mod backup;
mod begin;
mod bots;
mod caller;
mod connections;
#[cfg(unix)]
mod control;
#[cfg(unix)]
mod doctor;
mod engines;
mod fuse;
mod games;
mod hosting;
mod hub;
mod learn;
mod life;
mod limits;
mod line;
mod live;
mod lobby;
mod metrics;
mod names;
mod options;
mod ports;
mod pump;
mod record;
mod replays;
mod results;
mod room;
mod rooms;
mod seats;
mod threads;
mod transport;
mod warden;
mod web;

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

use crate::args::Args;

// The released hub is a static one.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cmdkit::run(Usage { code: EXIT_USAGE, example: "" }, |args: Args| {
        #[cfg(unix)]
        match args.command {
            Some(admin::Command::Doctor) => return doctor::examine(&args),
            Some(command) => return admin::run(&args.data, command),
            None => {}
        }
        args.log.start("info")?;
        hosting::host(&args)
    })
}
