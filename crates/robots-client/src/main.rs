//! `robots-client -d GUI:PORT -s SERVER:PORT`: takes part in a game of robots for a GUI.

use std::process::ExitCode;

use cmdkit::{EXIT_FAILURE, Usage};

/// The course's check starts the programs without arguments and wants 1.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-s localhost:2022 --gui" };

fn main() -> ExitCode {
    cmdkit::run::<robots_client::Args>(USAGE, robots_client::run)
}
