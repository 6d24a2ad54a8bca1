//! `robots-verify -p PORT -m KIND`: explains every robots message that it is sent.

mod args;
mod printer;
mod sources;

use std::process::ExitCode;

use anyhow::Context;
use cmdkit::{EXIT_FAILURE, Usage};
use netshell::{raise_open_files, shutdown};

use crate::{args::Args, printer::Printer};

/// The programs of this game end with 1 for wrong usage, too.
const USAGE: Usage = Usage { code: EXIT_FAILURE, example: "-p 2022 -m client" };

fn main() -> ExitCode {
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let stop = shutdown().context("cannot listen for signals")?;
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
