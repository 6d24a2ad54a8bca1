//! `conformance KIND -- COMMAND…`: tests a program of another author.

mod args;
mod class;
mod secret;

use std::{
    env,
    ffi::OsStr,
    io::{self, IsTerminal as _, Write as _},
    process::ExitCode,
};

use anyhow::Context as _;
use cmdkit::{EXIT_FAILURE, EXIT_USAGE, Usage, UsageError};
use conformance::{Basis, Format, Outcome, Rule, Style};

use crate::args::Args;

const LIMITS: Usage = Usage { code: EXIT_USAGE, example: "limits" };
const USAGE: Usage = Usage { code: EXIT_USAGE, example: "dealer -- ./dealer {port} {rounds}" };
const EXIT_CANNOT_START: u8 = 3;
const EXIT_UNFINISHED: u8 = 4;
const EXIT_INCOMPLETE: u8 = 5;

fn main() -> ExitCode {
    conformance::guard();
    match env::args_os().nth(1).as_deref().and_then(OsStr::to_str) {
        Some("class") => cmdkit::run(class::USAGE, |args| class::class(&args)),
        Some("limits") => cmdkit::run(LIMITS, |args| args::limits(&args)),
        _ => cmdkit::run_or(EXIT_UNFINISHED, USAGE, |args| program(&args)),
    }
}

fn program(args: &Args) -> anyhow::Result<ExitCode> {
    if args.list {
        let list = conformance::list(args.tester.rules, args.format);
        return print(&list.ok_or_else(|| {
            UsageError(format!(
                "invalid format {} for a list of rules: expected text, json or markdown",
                args.format.word()
            ))
        })?);
    }
    if let Some(id) = &args.explain {
        return print(&explained(args::rule(args.tester, id)?));
    }
    let (plan, output) = (args.plan()?, args.output()?);
    let launcher = args.launcher()?;
    conformance::stop_on_signal()?;
    let report = args.tester.run(&*launcher, &plan).context("cannot create the directory for transcripts")?;
    let written = report.write(args.format);
    let is_in_file = output.is_some();
    if let Some(mut file) = output {
        file.write_all(written.as_bytes()).context("cannot write the report")?;
    }
    if is_in_file || args.format == Format::Text {
        print(&report.text(style()))?;
    } else {
        print(&written)?;
    }
    Ok(match report.outcome() {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed => EXIT_FAILURE.into(),
        Outcome::CannotStart => EXIT_CANNOT_START.into(),
        Outcome::Unfinished => EXIT_UNFINISHED.into(),
        Outcome::Incomplete => EXIT_INCOMPLETE.into(),
    })
}

fn style() -> Style {
    let stdout = io::stdout();
    let width = stdout.is_terminal().then(|| cmdkit::stdout_size().0.into());
    Style { width, colour: cmdkit::has_colour(&stdout) }
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn explained(rule: &Rule) -> String {
    let Rule { id, text, points, page, hint, .. } = rule;
    let basis = match rule.basis {
        Basis::Protocol => format!("protocol ({})", rule.task),
        Basis::Advice => "advice (a failure is noted and costs no points)".to_owned(),
    };
    let hint = if hint.is_empty() { String::new() } else { format!("hint      {hint}\n") };
    let section = conformance::section(page).map_or_else(String::new, |section| format!("\n{section}\n"));
    format!("{id}\n\nrule      {text}\nbasis     {basis}\npoints    {points}\n{hint}see       docs/{page}:\n{section}")
}
