//! Options about journals, and the match that a server starts with: a new one or a resumed one.

use std::{
    fs::File,
    io::BufReader,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use journal::{MAX_SIZE, Resumable, SyncPolicy};
use netcore::Recorded;
use tracing::warn;

use crate::byte_count;

/// The heading of the options in the help.
const HEADING: &str = "Journals";
/// The smallest size that can be chosen.
const LEAST_SIZE: u64 = 64 << 10;

/// Where the match is recorded, and which match is resumed.
#[derive(Debug, Clone, Args)]
pub struct JournalArgs {
    /// Record everything that arrives in a journal in this directory, so that the match can be resumed after a crash and
    /// replayed; see the program `journal`
    #[arg(long = "journal", value_name = "DIR", help_heading = HEADING)]
    directory: Option<PathBuf>,

    /// Resume the match of this journal, or of the newest in this directory, after the server was stopped or killed
    #[arg(long, value_name = "FILE", help_heading = HEADING, conflicts_with = "directory")]
    resume: Option<PathBuf>,

    /// When recorded input reaches the disk, and so what a match survives
    #[arg(long, value_enum, default_value_t = SyncArg::Interval, value_name = "WHEN", help_heading = HEADING)]
    sync: SyncArg,

    /// The maximum size of a journal. When it is full, the match continues but cannot be resumed
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size, help_heading = HEADING)]
    journal_max: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SyncArg {
    /// Before any answer: the match survives a power failure
    Always,
    /// Once a second: the match survives a crash of the server; a power failure may lose a second
    Interval,
}

fn size(typed: &str) -> Result<u64, String> {
    let bytes = byte_count(typed)?;
    if bytes < LEAST_SIZE { Err("a journal needs 64K at least".to_owned()) } else { Ok(bytes) }
}

/// The match that a server starts with.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Match<E: Recorded> {
    /// A new one.
    New(E),
    /// A resumed one, and its journal.
    Resumed(Resumable<E>, PathBuf, File),
}

impl<E: Recorded> Match<E> {
    /// Its engine.
    pub const fn engine(&self) -> &E {
        match self {
            Self::New(engine) => engine,
            Self::Resumed(resumable, ..) => resumable.room().engine(),
        }
    }
}

impl JournalArgs {
    /// Returns the match to resume, or the new one that `begin` creates.
    ///
    /// # Errors
    /// When the journal cannot be resumed, or `begin` fails.
    pub fn open<E: Recorded>(&self, begin: impl FnOnce() -> anyhow::Result<E>) -> anyhow::Result<Match<E>> {
        let Some(path) = &self.resume else { return Ok(Match::New(begin()?)) };
        let cannot = |path: &Path| format!("cannot resume '{}'", path.display());
        let (path, file) = journal::find::<E>(path).with_context(|| cannot(path))?;
        let read = file
            .metadata()
            .map_err(Into::into)
            .and_then(|file_data| Resumable::<E>::read(BufReader::with_capacity(1 << 16, &file), file_data.len()));
        let resumable = read.with_context(|| cannot(&path))?;
        if resumable.torn > 0 {
            let (journal, bytes) = (path.display(), resumable.torn);
            warn!(%journal, bytes, "the last record is not whole and is cut off; nobody was told what followed from it");
        }
        Ok(Match::Resumed(resumable, path, file))
    }

    /// The directory of a new journal, if one is wanted.
    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(crate) const fn sync(&self) -> SyncPolicy {
        match self.sync {
            SyncArg::Always => SyncPolicy::Always,
            SyncArg::Interval => SyncPolicy::Interval,
        }
    }

    pub(crate) const fn max(&self) -> u64 {
        self.journal_max
    }
}

const _: () = assert!(MAX_SIZE == 1 << 30, "the default of --journal-max");
