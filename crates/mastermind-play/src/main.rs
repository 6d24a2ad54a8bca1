//! The program `mastermind-play`.

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

fn main() -> ExitCode {
    let usage = Usage { code: EXIT_USAGE, example: "solve --length 4 --colours 6 --strategy entropy --all" };
    cmdkit::run::<mastermind_play::Args>(usage, mastermind_play::run)
}
