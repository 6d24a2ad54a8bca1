//! `qtable train | eval | exact | merge | dump | chart | curve | play`: tools for learning the game of 21.

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "train --rounds 1000000" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| qtable::run(&args))
}
