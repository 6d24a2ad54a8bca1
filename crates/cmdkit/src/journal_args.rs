//! Options about journals, and what a server begins with: a new match, or one that is gone on with.

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
/// The smallest journal that is worth its name.
const LEAST_SIZE: u64 = 64 << 10;

/// Where the match is written down, and which match is gone on with.
#[derive(Debug, Clone, Args)]
pub struct JournalArgs {
    /// Write everything that arrives into a journal in this directory, so that the match can be resumed after a crash and
    /// replayed; see the program `journal`
    #[arg(long = "journal", value_name = "DIR", help_heading = HEADING)]
    directory: Option<PathBuf>,

    /// Go on with the match of this journal, or of the newest in this directory, after the server was stopped or killed
    #[arg(long, value_name = "FILE", help_heading = HEADING, conflicts_with = "directory")]
    resume: Option<PathBuf>,

    /// What a journal is safe from before anybody is told anything
    #[arg(long, value_enum, default_value_t = SyncArg::Interval, value_name = "WHEN", help_heading = HEADING)]
    sync: SyncArg,

    /// The most bytes of a journal. The match goes on when it is full, but cannot be resumed
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size, help_heading = HEADING)]
    journal_max: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SyncArg {
    /// A power cut: answers wait for the disk
    Always,
    /// The end of the server: a power cut may lose a second
    Interval,
}

fn size(typed: &str) -> Result<u64, String> {
    let bytes = byte_count(typed)?;
    if bytes < LEAST_SIZE { Err("a journal needs 64K at least".to_owned()) } else { Ok(bytes) }
}

/// The match that a server begins with.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Match<E: Recorded> {
    /// A new one.
    New(E),
    /// One that is gone on with, and its journal.
    Resumed(Resumable<E>, PathBuf, File),
}

impl<E: Recorded> Match<E> {
    /// The engine that plays it.
    pub const fn engine(&self) -> &E {
        match self {
            Self::New(engine) => engine,
            Self::Resumed(resumable, ..) => resumable.room().engine(),
        }
    }
}

impl JournalArgs {
    /// The match that is to be gone on with, or the new one that `begin` makes.
    ///
    /// # Errors
    /// When the journal cannot be gone on with, or `begin` fails.
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

    /// Where a new journal goes, if there is to be one.
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
