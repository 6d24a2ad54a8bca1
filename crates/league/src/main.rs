//! `league GAME --player NAME=COMMAND...`: runs a tournament of programs.

mod args;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use cmdkit::{EXIT_USAGE, Usage, UsageError, print_stderr};
use league::{EndReason, League, Record};
use rand::{TryRng as _, rngs::SysRng};

use crate::args::Args;

const USAGE: Usage = Usage { code: EXIT_USAGE, example: "robots --player Easy=bot:easy --player Hard=bot:hard" };
const EXIT_STOPPED: u8 = 3;

fn main() -> ExitCode {
    conformance::guard();
    cmdkit::run(USAGE, |args| program(&args))
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    if !args.network {
        conformance::confine();
    }
    args.log.start("error")?;
    let plan = args.plan()?;
    let limits = args::limits(&plan)?;
    // An invalid plan is a usage error; an unwritable folder is not.
    league::check(&plan).map_err(|error| UsageError(format!("{error:#}")))?;
    let drawn = SysRng.try_next_u64().context("the system provides no entropy for the draw")?;
    let mut league = League::open(&args.out, plan, drawn)?;
    let stop = conformance::stop_on_signal()?;
    let before = league.records().len();
    if before > 0 {
        print_stderr(&format!("Continuing the league after {before} matches.\n"));
    }
    let (standings, ending) = league.play(limits, &stop, &mut |record| print_stderr(&line(record)))?;
    let (folder, end) = (
        args.out.display(),
        match ending {
            EndReason::Certain => "The order is certain.",
            EndReason::Rounds => "All rounds are played.",
            EndReason::Stopped => "The league was stopped; repeat the command to continue it.",
        },
    );
    let text = format!("{standings}{end} The page is '{folder}/index.html'.\n");
    io::stdout().write_all(text.as_bytes())?;
    Ok(if ending == EndReason::Stopped { EXIT_STOPPED.into() } else { ExitCode::SUCCESS })
}

// Such as `match 17, round 2: Hard 0, Easy - (it ended with exit status 1)`.
fn line(record: &Record) -> String {
    let seats: Vec<String> = record
        .seats
        .iter()
        .map(|seat| {
            let score = seat.score.map_or_else(|| "-".to_owned(), |score| score.to_string());
            let why: Vec<String> = seat.forfeit.iter().chain(&seat.note).map(|why| format!(" ({why})")).collect();
            format!("{} {score}{}", seat.player, why.concat())
        })
        .collect();
    format!("match {}, round {}: {}\n", record.number, record.round, seats.join(", "))
}
