//! The habits that all programs share at the command line.
//!
//! - [`run`] parses the arguments, prints completions when asked, turns an error into one line on standard error and
//!   gives the exit code: 0 for success, 1 for a failure at run time, 2 (or what the program's tradition wants) for
//!   wrong usage.
//! - [`whole_number`], [`ip_address`] and [`host_port`] read the values of options and say what would be right; [`resolve`]
//!   finds the addresses of a host.
//! - [`read_file`] and [`replace_file`] read within a bound and write all or nothing; [`file_name`] is for messages.
//! - [`Reach`] and [`command_of`] are how a server says where it is and how to join; with the feature `hosting`, `host` is all that
//!   servers do the same way: sockets, signals, the announcement, the loop, the log, standard output, and journals with their
//!   options (`JournalArgs`).
//! - [`stop_flag`] is for work that is asked to end, [`Autosave`] for work that is saved while it goes on,
//!   [`ProgressLine`] for a line that says how far it is, with [`progress_bar`] and [`time_left`] in it.
//! - [`LogArgs`] are the options `--log` and `--log-format`; logs go to standard error. [`ScreenLogArgs`] are those of a program
//!   that draws on the terminal, which can log to a file.

mod autosave;
mod files;
#[cfg(feature = "hosting")]
mod host;
mod host_port;
#[cfg(feature = "hosting")]
mod journal_args;
mod logs;
#[cfg(feature = "hosting")]
mod narrator;
mod progress;
mod queued;
mod reach;
mod stderr;
mod stop;
mod values;

use std::{
    env,
    ffi::OsString,
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgAction, CommandFactory, FromArgMatches, error::ErrorKind};
use clap_complete::Shell;

pub use crate::{
    autosave::Autosave,
    files::{check_replaceable, file_name, read_file, replace_file},
    host_port::{HostPort, host_port, is_ipv6, resolve},
    logs::{LogArgs, LogFormat, ScreenLogArgs},
    progress::{ProgressLine, clock_time, fit_stderr, progress_bar, time_left},
    reach::{Reach, command_of},
    stop::stop_flag,
    values::{byte_count, ip_address, whole_number},
};

#[cfg(feature = "hosting")]
pub use crate::{
    host::{Announce, Hosting, Wire, host},
    journal_args::{JournalArgs, Match},
};

/// Exit code for a failure at run time.
pub const EXIT_FAILURE: u8 = 1;
/// Exit code for wrong usage, unless a program's tradition wants another.
pub const EXIT_USAGE: u8 = 2;

const COMPLETIONS: &str = "completions";

/// An error in what the user asked for, found behind the parser's back; ends the program like a usage error.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// What a program does about wrong usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The exit code: [`EXIT_USAGE`], or what the program's tradition wants.
    pub code: u8,
    /// Arguments of a short command line that works, shown to whoever left out what is required.
    pub example: &'static str,
}

/// Parses the arguments into `P`, runs `program` and gives the exit code.
///
/// `usage` is for wrong usage. `--completions SHELL` works without any other argument.
pub fn run<P>(usage: Usage, program: impl FnOnce(P) -> anyhow::Result<ExitCode>) -> ExitCode
where
    P: CommandFactory + FromArgMatches,
{
    let command = P::command().arg(
        Arg::new(COMPLETIONS)
            .long(COMPLETIONS)
            .value_name("SHELL")
            .value_parser(clap::builder::EnumValueParser::<Shell>::new())
            .action(ArgAction::Set)
            // So that it does not ask for the required arguments.
            .exclusive(true)
            .help("Print a completion script for this shell and end"),
    );
    let name = command.get_name().to_owned();
    let parsed = command.clone().try_get_matches().and_then(|matches| {
        if let Some(&shell) = matches.get_one::<Shell>(COMPLETIONS) {
            // By way of memory, since the generator does not expect a reader that closes the pipe.
            let mut script = vec![];
            clap_complete::generate(shell, &mut command.clone(), &name, &mut script);
            let _ = io::stdout().write_all(&script);
            return Ok(None);
        }
        P::from_arg_matches(&matches).map_err(|error| error.format(&mut command.clone())).map(Some)
    });
    let arguments = match parsed {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            let error = match error.kind() {
                // The parser knows neither which argument that was nor what it held.
                ErrorKind::InvalidUtf8 => {
                    command.clone().error(ErrorKind::InvalidUtf8, not_utf8(env::args_os().skip(1)))
                }
                _ => error,
            };
            // A reader that closed the pipe has seen what it wanted.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                ErrorKind::MissingRequiredArgument => {
                    stderr::say(&format!("\nFor example: {} {}", command_of(&name), usage.example));
                    ExitCode::from(usage.code)
                }
                _ => ExitCode::from(usage.code),
            };
        }
    };
    outlive_file_limits();
    let result = program(arguments);
    stderr::finish();
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            stderr::say(&format!("{name}: {error:#}"));
            ExitCode::from(if error.is::<UsageError>() { usage.code } else { EXIT_FAILURE })
        }
    }
}

/// A file that may not grow any more is an error of writing, to be told like a full disk. By default the system ends the
/// program instead, without a word and with half a file beside the one that was to be replaced.
#[cfg(unix)]
fn outlive_file_limits() {
    // The flag is looked at by nobody. Where there is no such signal there is nothing to outlive.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(not(unix))]
fn outlive_file_limits() {}

fn not_utf8(arguments: impl Iterator<Item = OsString>) -> String {
    let foreign = arguments.filter(|argument| argument.to_str().is_none());
    let shown: Vec<String> =
        foreign.map(|argument| format!("'{}'", argument.as_encoded_bytes().escape_ascii())).collect();
    format!("every argument but a file or a name is text in UTF-8, which {} is not", shown.join(", "))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
