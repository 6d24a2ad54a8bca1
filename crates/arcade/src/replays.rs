//! Finished matches, shown again from their journals.
//!
//! A page plays a match by the frames that it would have been sent: [`Replays::timeline`] says how long the match is and what
//! happened when, and [`Replays::frames`] gives the frames of a stretch of it. The first frames of each stretch bring a page up to
//! date that has seen nothing yet, so a page can begin anywhere.

mod frames;
mod track;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use store::Match;
use tokio::task::{JoinError, spawn_blocking};
use tracing::warn;

use self::track::{Timeline, Track, Wanted};
pub(crate) use self::{frames::Frames, track::ReplayError};
use crate::games::{Game, Kind, with_kind};

/// The longest stretch of one answer, in milliseconds.
pub(crate) const MAX_STRETCH: u64 = 300_000;
/// Limits on the matches that are kept for the next request: their number, since each keeps its journal open, and their memory.
const MAX_KEPT: usize = 64;
const MAX_KEPT_BYTES: usize = 192 << 20;

/// Replays matches.
#[derive(Debug)]
pub(crate) struct Replays {
    journals: PathBuf,
    // Whether matches are shown as far as they go whose end is not in their journal.
    unfinished: bool,
    // The one that was asked for last comes last.
    kept: Mutex<VecDeque<(String, Arc<Track>)>>,
}

impl Replays {
    /// Replays of the matches whose journals are in this directory.
    pub(crate) fn new(journals: PathBuf) -> Self {
        Self { journals, unfinished: false, kept: Mutex::default() }
    }

    /// The same, and matches that nobody has ended are shown as far as they go.
    pub(crate) fn with_unfinished(journals: PathBuf) -> Self {
        Self { unfinished: true, ..Self::new(journals) }
    }

    /// Whether there is something to replay of a match.
    pub(crate) fn has(&self, found: &Match) -> bool {
        self.path(found).is_some_and(|path| journal_core::exists(&path))
    }

    /// What happened when in a match. The seats are left out as long as they may not be seen; `today` is in days since 1970. `turn` is
    /// held until the work is done, also when the caller is gone before that.
    pub(crate) async fn timeline(
        &self,
        found: &Match,
        today: u32,
        turn: impl Send + 'static,
    ) -> Result<Timeline, ReplayError> {
        let track = self.replay(found, turn, |_, track| Ok(track)).await?;
        let seats = if is_sealed(&track, today) { vec![] } else { track.seats.clone() };
        Ok(Timeline { length: track.length(), seats, marks: track.marks.clone() })
    }

    /// What a watcher, or the player at a seat, was sent from one moment to another, in milliseconds since the match began. Whoever
    /// looked at the seat of a player of today's puzzle would know its code.
    pub(crate) async fn frames(
        &self,
        found: &Match,
        seat: Option<String>,
        (from, to): (u64, u64),
        today: u32,
        turn: impl Send + 'static,
    ) -> Result<Frames, ReplayError> {
        let to = to.min(from.saturating_add(MAX_STRETCH));
        self.replay(found, turn, move |game, track| {
            if seat.is_some() && is_sealed(&track, today) {
                return Err(ReplayError::Today);
            }
            let game = Game::named(game).ok_or_else(unknown)?;
            with_kind!(game, K => frames::frames::<<K as Kind>::Engine>(&track, seat.as_deref(), from, to))
        })
        .await
    }

    fn path(&self, found: &Match) -> Option<PathBuf> {
        // Names of files come from this hub; none leads out of the directory all the same.
        let is_plain = !found.journal.is_empty() && !found.journal.contains(['/', '\\', '\0']);
        is_plain.then(|| self.journals.join(&found.journal))
    }

    // Runs a piece of work on a match.
    async fn replay<T: Send + 'static>(
        &self,
        found: &Match,
        turn: impl Send + 'static,
        work: impl FnOnce(&str, Arc<Track>) -> Result<T, ReplayError> + Send + 'static,
    ) -> Result<T, ReplayError> {
        let path = self.path(found).filter(|path| journal_core::exists(path)).ok_or(ReplayError::Gone)?;
        let wanted = Wanted {
            game: found.game.clone(),
            path,
            number: found.number,
            begins: found.begins,
            ends: found.ends,
            unfinished: self.unfinished,
        };
        let (kept, path) = (self.kept(&found.id), wanted.path.clone());
        let task = spawn_blocking(move || {
            // The work runs to its end even if the caller closes its connection.
            let _turn = turn;
            let track = match kept {
                Some(track) => track,
                None => Arc::new(read(&wanted)?),
            };
            let done = work(&wanted.game, Arc::clone(&track));
            Ok((track, done))
        });
        let (track, done) = task.await.map_err(|error| panicked(&path, &error))??;
        self.keep(&found.id, track);
        done
    }

    fn kept(&self, id: &str) -> Option<Arc<Track>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(known, _)| known == id).map(|(_, track)| Arc::clone(track))
    }

    fn keep(&self, id: &str, track: Arc<Track>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| known != id);
        kept.push_back((id.to_owned(), track));
        while kept.len() > MAX_KEPT || kept.iter().map(|(_, track)| track.bytes()).sum::<usize>() > MAX_KEPT_BYTES {
            kept.pop_front();
        }
    }
}

// Whether the match was about a puzzle that others may still play: that of today, or of a later day if the clock of the hub went back.
fn is_sealed(track: &Track, today: u32) -> bool {
    track.day.is_some_and(|day| day >= today)
}

fn read(wanted: &Wanted) -> Result<Track, ReplayError> {
    let game = Game::named(&wanted.game).ok_or_else(unknown)?;
    with_kind!(game, K => Track::read::<<K as Kind>::Engine>(wanted))
}

fn unknown() -> ReplayError {
    ReplayError::Damaged("it is of a game that this hub does not know".into())
}

fn panicked(path: &Path, error: &JoinError) -> ReplayError {
    warn!(journal = %path.display(), %error, "a replay has failed");
    ReplayError::Damaged("its journal makes the game fail".into())
}

#[cfg(test)]
mod tests;
