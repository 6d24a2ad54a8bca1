//! The program `journal`.

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

fn main() -> ExitCode {
    let usage = Usage { code: EXIT_USAGE, example: "list journals" };
    cmdkit::run::<journal::Args>(usage, journal::run)
}
