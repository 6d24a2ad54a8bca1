//! `conformance KIND -- COMMAND…`: tests a program that others wrote.

mod args;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use cmdkit::{EXIT_FAILURE, EXIT_USAGE, Usage};

use crate::args::Args;

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "dealer -- ./dealer {port} {rounds}" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    let launcher = args.launcher()?;
    let report = (args.tester.test)(&*launcher, &args.options())?;
    let text = if args.json { format!("{}\n", report.to_json()) } else { report.to_string() };
    io::stdout().write_all(text.as_bytes())?;
    Ok(if report.passed() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_FAILURE) })
}
