//! The program `robots-gui`.

use std::process::ExitCode;

use cmdkit::{EXIT_FAILURE, Usage};

fn main() -> ExitCode {
    // The course's programs end with 1 for wrong usage.
    let usage = Usage { code: EXIT_FAILURE, example: "-c localhost:2023 -p 2024" };
    cmdkit::run::<robots_gui::Args>(usage, robots_gui::run)
}
