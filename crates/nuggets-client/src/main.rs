//! The program `nuggets-client`.

use std::process::ExitCode;

use cmdkit::{EXIT_USAGE, Usage};

fn main() -> ExitCode {
    let usage = Usage { code: EXIT_USAGE, example: "localhost 2000 yourname" };
    cmdkit::run::<nuggets_client::Args>(usage, nuggets_client::run)
}
