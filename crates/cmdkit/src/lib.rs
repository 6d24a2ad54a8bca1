//! The command-line conventions that all programs share.
//!
//! [`run`] parses the arguments, prints completions or the manual page, reports an error in one line on standard error,
//! and returns the exit code: 0 for success, 1 for a failure at run time, 2 (or the traditional code of the program)
//! for wrong usage. With the feature `saving`, files are replaced atomically. With the feature `owner`, a program that
//! was started as root continues as the user whose files it uses.

#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

mod autosave;
mod backoff;
mod command;
#[cfg(feature = "directory")]
mod directory;
mod files;
mod logs;
#[cfg(all(feature = "owner", unix))]
mod owner;
mod printable;
mod progress;
#[cfg(feature = "journals")]
mod retention;
#[cfg(feature = "saving")]
mod saving;
mod stop;
mod values;

use std::{
    env,
    ffi::OsString,
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches, error::ErrorKind};
use clap_complete::Shell;
use clap_mangen::Man;

pub use self::{
    autosave::Autosave,
    backoff::Backoff,
    command::command_of,
    files::{file_name, read_file},
    logs::{LogArgs, LogFormat, Queue, ScreenLogArgs, has_colour, print_stderr},
    printable::{csv_cell, display_name, is_steering, isolated, printable, printable_json, printable_lines},
    progress::{Progress, clock_time, progress_bar, rounds_line, stderr_size, stdout_size, time_left},
    stop::stop_flag,
    values::{HostPort, byte_count, count, host, host_port, host_port_or, ip_address, resolve, whole_number},
};

#[cfg(feature = "directory")]
pub use self::directory::{Directory, DirectoryArgs, FOLLOW, RoomUrl};

#[cfg(all(feature = "owner", unix))]
pub use self::owner::{Named, Owner, become_owner};

#[cfg(feature = "journals")]
pub use self::retention::retention;

#[cfg(feature = "saving")]
pub use self::saving::{NewFile, check_replaceable, load_file, replace_file, save_file};

pub const EXIT_FAILURE: u8 = 1;
/// The code for wrong usage, unless the program has a traditional one.
pub const EXIT_USAGE: u8 = 2;

const COMPLETIONS: &str = "completions";
const MAN: &str = "man";

/// An error in the arguments that the parser cannot detect.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// [`EXIT_USAGE`], or the traditional code of the program.
    pub code: u8,
    /// A short, valid command line, shown when a required argument is missing.
    pub example: &'static str,
}

/// `--completions SHELL` and `--man` work without any other argument.
pub fn run<P>(usage: Usage, program: impl FnOnce(P) -> anyhow::Result<ExitCode>) -> ExitCode
where
    P: CommandFactory + FromArgMatches,
{
    run_or(EXIT_FAILURE, usage, program)
}

/// Like [`run`], but exits with `failure` on errors other than [`UsageError`].
pub fn run_or<P>(failure: u8, usage: Usage, program: impl FnOnce(P) -> anyhow::Result<ExitCode>) -> ExitCode
where
    P: CommandFactory + FromArgMatches,
{
    let command = with_texts(P::command());
    let name = command.get_name().to_owned();
    let parsed = command.clone().try_get_matches().and_then(|matches| {
        if let Some(text) = text_asked_for(&matches, &command, &name) {
            let _ = io::stdout().write_all(&text);
            return Ok(None);
        }
        P::from_arg_matches(&matches).map_err(|error| error.format(&mut command.clone())).map(Some)
    });
    let arguments = match parsed {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return ExitCode::SUCCESS,
        Err(error) => {
            let error = match error.kind() {
                // Clap's error does not name the argument or its value.
                ErrorKind::InvalidUtf8 => {
                    command.clone().error(ErrorKind::InvalidUtf8, not_utf8(env::args_os().skip(1)))
                }
                _ => error,
            };
            // If the reader has closed the pipe, it has seen enough.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
                ErrorKind::MissingRequiredArgument => {
                    logs::print_last(&format!("\nFor example: {} {}", command_of(&name), usage.example));
                    ExitCode::from(usage.code)
                }
                _ => ExitCode::from(usage.code),
            };
        }
    };
    outlive_file_limits();
    let result = program(arguments);
    logs::finish();
    match result {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // The error may quote a name or a line of another program.
            logs::print_last(&printable_lines(&format!("{name}: {error:#}")));
            ExitCode::from(if error.is::<UsageError>() { usage.code } else { failure })
        }
    }
}

fn with_texts(command: Command) -> Command {
    let completions = Arg::new(COMPLETIONS)
        .long(COMPLETIONS)
        .value_name("SHELL")
        .value_parser(clap::builder::EnumValueParser::<Shell>::new())
        .action(ArgAction::Set)
        // Otherwise clap would insist on the required arguments.
        .exclusive(true)
        .help("Print a completion script for this shell and exit");
    // Hidden, because only packagers need it.
    let man = Arg::new(MAN).long(MAN).action(ArgAction::SetTrue).exclusive(true).hide(true);
    command.arg(completions).arg(man)
}

/// Written into memory first, because the generators panic when a pipe is closed.
fn text_asked_for(matches: &ArgMatches, command: &Command, name: &str) -> Option<Vec<u8>> {
    let mut text = vec![];
    if let Some(&shell) = matches.get_one::<Shell>(COMPLETIONS) {
        clap_complete::generate(shell, &mut command.clone(), name, &mut text);
    } else if matches.get_flag(MAN) {
        let _ = Man::new(command.clone()).render(&mut text);
    } else {
        return None;
    }
    Some(text)
}

/// Makes writes beyond the limit on file sizes fail, like on a full disk. By default the system kills the program,
/// silently, and a temporary file remains.
#[cfg(unix)]
fn outlive_file_limits() {
    // Fails on a system without this signal, which is harmless.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(not(unix))]
fn outlive_file_limits() {}

fn not_utf8(arguments: impl Iterator<Item = OsString>) -> String {
    let foreign = arguments.filter(|argument| argument.to_str().is_none());
    let shown: Vec<String> =
        foreign.map(|argument| format!("'{}'", argument.as_encoded_bytes().escape_ascii())).collect();
    format!("invalid UTF-8 in {}: only arguments that are files or names may contain other bytes", shown.join(", "))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
