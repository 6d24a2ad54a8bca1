//! Options for logging.

use std::{
    env,
    fs::File,
    io::{self, IsTerminal},
    path::PathBuf,
    sync::Mutex,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use tracing_subscriber::{EnvFilter, fmt::writer::BoxMakeWriter};

use crate::{UsageError, has_colour, stderr::QueuedStderr};

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines of text for people.
    Text,
    /// Lines of JSON for programs.
    Json,
}

/// The options for logging.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// What to log on standard error: off, error, warn, info, debug, trace, or a filter as in `RUST_LOG`
    #[arg(long, value_name = "FILTER", help_heading = "Logging")]
    pub log: Option<String>,

    /// Format of log lines
    #[arg(long, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT", help_heading = "Logging")]
    pub log_format: LogFormat,
}

impl LogArgs {
    /// The filter is `--log`, or else `RUST_LOG`, or else `default`. Fails with [`UsageError`] if it is invalid.
    pub fn start(&self, default: &str) -> anyhow::Result<()> {
        self.init(default, BoxMakeWriter::new(QueuedStderr::start()), has_colour(&io::stderr()))
    }

    fn init(&self, default: &str, writer: BoxMakeWriter, colour: bool) -> anyhow::Result<()> {
        let from_environment = env::var(EnvFilter::DEFAULT_ENV).ok().filter(|filter| !filter.is_empty());
        let wanted = self.log.clone().or(from_environment).unwrap_or_else(|| default.to_owned());
        let filter = EnvFilter::try_new(&wanted)
            .map_err(|error| UsageError(format!("invalid log filter '{wanted}': {error}; try 'info'")))?;
        let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(colour);
        // Otherwise a write error is printed to standard error, which panics if that is what failed.
        let builder = builder.log_internal_errors(false);
        match self.log_format {
            LogFormat::Text => builder.with_target(false).init(),
            LogFormat::Json => builder.json().init(),
        }
        Ok(())
    }
}

/// The log options of a program that draws on the terminal: its log must not overwrite its own screen.
#[derive(Debug, Clone, Args)]
pub struct ScreenLogArgs {
    /// Write logs to this file; needed to see logs while a screen is drawn
    #[arg(long, value_name = "FILE", help_heading = "Logging")]
    pub log_file: Option<PathBuf>,

    /// The options for logging.
    #[command(flatten)]
    pub log: LogArgs,
}

impl ScreenLogArgs {
    /// As [`LogArgs::start`], but to the file if given. If the program draws a screen (`draws`) on the terminal of
    /// standard error, logs are discarded, and `--log` is an error.
    pub fn start(&self, default: &str, draws: bool) -> anyhow::Result<()> {
        let writer = match &self.log_file {
            Some(path) => {
                let file =
                    File::create(path).with_context(|| format!("cannot write the log file '{}'", path.display()))?;
                BoxMakeWriter::new(Mutex::new(file))
            }
            None if draws && io::stdout().is_terminal() && io::stderr().is_terminal() => {
                if let Some(filter) = &self.log.log {
                    return Err(UsageError(format!(
                        "--log {filter} would write over the screen; add --log-file FILE, or 2>FILE"
                    ))
                    .into());
                }
                BoxMakeWriter::new(io::sink)
            }
            None => BoxMakeWriter::new(QueuedStderr::start()),
        };
        self.log.init(default, writer, false)
    }
}
