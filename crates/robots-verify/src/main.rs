//! `robots-verify -p PORT -m KIND`: explains each received robots message byte by byte, for developers who debug their
//! own programs.
//!
//! - [`robots::protocol::shape`] describes the wire format as data and reads messages part by part.
//! - [`explain`] collects the parts in a [`Report`](report::Report) for each message. [`notes`] adds notes about
//!   well-formed parts that make no sense.
//! - [`text`] writes a report for users, [`json`] for programs.
//! - The modules above do no input or output: [`sources`] reads sockets and files, and [`printer`] writes standard
//!   output.

mod args;
mod explain;
mod json;
mod kind;
mod notes;
mod printer;
mod report;
mod sources;
#[cfg(test)]
mod tests;
mod text;

use std::process::ExitCode;

use anyhow::Context;
use cmdkit::{EXIT_FAILURE, Usage};
use netshell::{raise_open_files, shutdown};

use crate::{args::Args, printer::Printer};

/// The programs of this game exit with status 1 for wrong usage, too.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-p 2022 -m client" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot handle signals")?;
        let (printer, written) = Printer::start(args.json);
        let ended = tokio::select! {
            biased;
            () = stop => Ok(ExitCode::SUCCESS),
            () = printer.broken() => Ok(ExitCode::SUCCESS),
            ended = sources::explain(args, &printer) => ended,
        };
        drop(printer);
        written.finish().await?;
        ended
    })
}
