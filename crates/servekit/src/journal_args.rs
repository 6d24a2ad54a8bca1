//! Options about journals, and the match that a server starts with: a new one or a resumed one.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use cmdkit::{byte_count, retention};
use journal_core::{MAX_SIZE, Pruned, Resumable, Retention, RetentionClass, StoredJournal, SyncPolicy, SystemDisk};
use netcore::Recorded;
use tracing::{info, warn};

const HEADING: &str = "Journals";
/// The smallest size that can be configured.
const LEAST_SIZE: u64 = 64 << 10;

/// The options for recording a match and for resuming one.
#[derive(Debug, Clone, Args)]
pub struct JournalArgs {
    /// Record all input in a journal in this directory, so that the match can be resumed after a crash and replayed;
    /// see the program `journal`
    #[arg(long = "journal", value_name = "DIR", help_heading = HEADING)]
    directory: Option<PathBuf>,

    /// Resume the match of this journal, or of the newest in this directory, after the server was stopped or killed
    #[arg(long, value_name = "FILE", help_heading = HEADING, conflicts_with = "directory")]
    resume: Option<PathBuf>,

    /// When recorded input is synced to disk, which determines what a match survives
    #[arg(long, value_enum, default_value_t = SyncArg::Interval, value_name = "WHEN", help_heading = HEADING)]
    sync: SyncArg,

    /// Maximum size of a journal; the oldest part of a longer one is removed: the match can still be resumed, but its
    /// replay begins later
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = size, help_heading = HEADING)]
    journal_max: u64,

    /// When a match begins, remove the oldest journals of this game from the directory until this limit is met: an age
    /// in hours, days or weeks, a number of journals, a total size, or several of these, as in 30d,100,10G; the newest
    /// journal is always kept [default: no limit]
    #[arg(long, value_name = "WHAT", value_parser = retention, requires = "directory", conflicts_with = "resume", help_heading = HEADING)]
    journal_keep: Option<Retention>,
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
    if bytes < LEAST_SIZE { Err("expected at least 64K".to_owned()) } else { Ok(bytes) }
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Match<E: Recorded> {
    New(E),
    Resumed(Resumable<E>),
}

impl<E: Recorded> Match<E> {
    pub const fn engine(&self) -> &E {
        match self {
            Self::New(engine) => engine,
            Self::Resumed(resumable) => resumable.room().engine(),
        }
    }
}

impl JournalArgs {
    /// Returns the match to resume, or the new one that `begin` creates.
    pub fn open<E: Recorded>(&self, begin: impl FnOnce() -> anyhow::Result<E>) -> anyhow::Result<Match<E>> {
        let Some(path) = &self.resume else { return Ok(Match::New(begin()?)) };
        let cannot = || format!("cannot resume '{}'", path.display());
        let resumable = Resumable::<E>::open(&SystemDisk, path).with_context(cannot)?;
        if resumable.torn > 0 {
            let (journal, bytes) = (resumable.journal.display(), resumable.torn);
            warn!(%journal, bytes, "removed the incomplete last record; its effects were not sent to any client");
        }
        Ok(Match::Resumed(resumable))
    }

    pub(crate) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Applies the limits of `--journal-keep` before the next match begins.
    pub(crate) fn prune(&self, game: &str) {
        let (Some(directory), Some(retention)) = (&self.directory, &self.journal_keep) else { return };
        // A directory that does not exist yet contains no journals.
        if !directory.is_dir() {
            return;
        }
        let mut is_newest = true;
        let worth = |journal: &StoredJournal| match journal.is_of(game) {
            false => RetentionClass::Exempt,
            // The journal that `--resume` selects in the directory.
            true if std::mem::take(&mut is_newest) => RetentionClass::Required,
            true => RetentionClass::Removable(0),
        };
        let now = SystemTime::now();
        match journal_core::prune(&SystemDisk, directory, retention, now, worth) {
            Ok(Pruned { removed, failed, .. }) => {
                for journal in removed {
                    let days = journal.age(now).as_secs() / 86_400;
                    info!(journal = %journal.path.display(), bytes = journal.size, days, "removed an old journal");
                }
                for (journal, error) in failed {
                    warn!(journal = %journal.display(), %error, "cannot remove an old journal");
                }
            }
            Err(error) => warn!(directory = %directory.display(), %error, "cannot search for old journals"),
        }
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
