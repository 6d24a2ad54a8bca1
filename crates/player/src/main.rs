//! `player NAME HOST PORT`: plays the game of 21 by its table, learns, or lets a user play.

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "Ann localhost 2021 --human" };

fn main() -> ExitCode {
    cmdkit::run::<player::Args>(USAGE, player::run)
}
