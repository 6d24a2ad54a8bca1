//! The program `nuggets-client`.

use std::process::ExitCode;

use cmdkit::EXIT_USAGE;

fn main() -> ExitCode {
    cmdkit::run::<nuggets_client::Args>(EXIT_USAGE, nuggets_client::run)
}
