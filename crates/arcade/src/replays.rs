//! Replays of finished matches from their journals: [`Replays::timeline`] returns the events of a match, and
//! [`Replays::frames`] the frames of a section, which starts with the state for a new page.

mod frames;
mod lines;
mod track;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use store::Match;
use tokio::task::{JoinError, spawn_blocking};
use tracing::warn;

use self::track::{ReplayRequest, Seal, Timeline, Track};
pub(crate) use self::{frames::Frames, track::ReplayError};
use crate::games::{Game, GameKind, with_kind};

/// In milliseconds.
pub(crate) const MAX_STRETCH: u64 = 300_000;
/// Limits on cached matches: their number, because each keeps its journal open, and their memory in bytes.
const MAX_CACHED: usize = 64;
const MAX_CACHED_BYTES: usize = 192 << 20;

#[derive(Debug)]
pub(crate) struct Replays {
    journals: PathBuf,
    // Whether unfinished matches are shown up to their last arrival.
    unfinished: bool,
    // Least recently used first.
    cache: Mutex<VecDeque<(String, Arc<Track>)>>,
}

impl Replays {
    pub(crate) fn new(journals: PathBuf) -> Self {
        Self { journals, unfinished: false, cache: Mutex::default() }
    }

    pub(crate) fn with_unfinished(journals: PathBuf) -> Self {
        Self { unfinished: true, ..Self::new(journals) }
    }

    pub(crate) fn has(&self, found: &Match) -> bool {
        self.path(found).is_some_and(|path| journal_core::exists(&path))
    }

    /// Fails while the match must stay secret, and omits its seats if only they must; `today` is in days since 1970.
    /// `turn` is held until the work is done, even if the caller is dropped.
    pub(crate) async fn timeline(
        &self,
        found: &Match,
        today: u32,
        turn: impl Send + 'static,
    ) -> Result<Timeline, ReplayError> {
        let track = self.replay(found, turn, |_, track| Ok(track)).await?;
        check_seal(&track, false, today)?;
        let seats = if check_seal(&track, true, today).is_err() { vec![] } else { track.seats.clone() };
        Ok(Timeline { length: track.length(), seats, marks: track.marks.clone() })
    }

    /// Messages to a watcher, or to the player at a seat, in an interval in milliseconds since the start. Seats of
    /// today's puzzle are not available, because they would reveal its code, and nothing of today's challenge.
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
            check_seal(&track, seat.is_some(), today)?;
            let game = Game::named(game).ok_or_else(unknown)?;
            with_kind!(game, K => frames::frames::<<K as GameKind>::Engine>(&track, seat.as_deref(), from, to))
        })
        .await
    }

    /// The match as lines of JSON after `first`. The actions in a match of today's puzzle or challenge are not available.
    pub(crate) async fn lines(
        &self,
        found: &Match,
        first: String,
        today: u32,
        turn: impl Send + 'static,
    ) -> Result<String, ReplayError> {
        self.replay(found, turn, move |game, track| {
            check_seal(&track, true, today)?;
            let game = Game::named(game).ok_or_else(unknown)?;
            with_kind!(game, K => lines::lines::<<K as GameKind>::Engine>(&track, first))
        })
        .await
    }

    fn path(&self, found: &Match) -> Option<PathBuf> {
        // The hub generates file names; nevertheless, none may lead out of the directory.
        let is_plain = !found.journal.is_empty() && !found.journal.contains(['/', '\\', '\0']);
        is_plain.then(|| self.journals.join(&found.journal))
    }

    async fn replay<T: Send + 'static>(
        &self,
        found: &Match,
        turn: impl Send + 'static,
        work: impl FnOnce(&str, Arc<Track>) -> Result<T, ReplayError> + Send + 'static,
    ) -> Result<T, ReplayError> {
        let path = self.path(found).filter(|path| journal_core::exists(path)).ok_or(ReplayError::Gone)?;
        let request = ReplayRequest {
            game: found.game.clone(),
            path,
            number: found.number,
            begins: found.begins,
            ends: found.ends,
            unfinished: self.unfinished,
        };
        let (track, path) = (self.cached(&found.id), request.path.clone());
        let task = spawn_blocking(move || {
            // The task runs to its end even if the caller is dropped.
            let _turn = turn;
            let track = match track {
                Some(track) => track,
                None => Arc::new(read(&request)?),
            };
            let done = work(&request.game, Arc::clone(&track));
            Ok((track, done))
        });
        let (track, done) = task.await.map_err(|error| panicked(&path, &error))??;
        self.keep(&found.id, track);
        done
    }

    fn cached(&self, id: &str) -> Option<Arc<Track>> {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.iter().find(|(known, _)| known == id).map(|(_, track)| Arc::clone(track))
    }

    fn keep(&self, id: &str, track: Arc<Track>) {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.retain(|(known, _)| known != id);
        cache.push_back((id.to_owned(), track));
        while cache.len() > MAX_CACHED || cache.iter().map(|(_, track)| track.bytes()).sum::<usize>() > MAX_CACHED_BYTES
        {
            cache.pop_front();
        }
    }
}

// Fails while the puzzle or challenge may still be played: it is today's, or a later one after the clock was set back.
// `for_seat` is whether the request is for the view or the actions of players.
fn check_seal(track: &Track, for_seat: bool, today: u32) -> Result<(), ReplayError> {
    match track.seal {
        Some(Seal::Whole(day)) if day >= today => Err(ReplayError::Today),
        Some(Seal::Seats(day)) if for_seat && day >= today => Err(ReplayError::Today),
        _ => Ok(()),
    }
}

fn read(request: &ReplayRequest) -> Result<Track, ReplayError> {
    let game = Game::named(&request.game).ok_or_else(unknown)?;
    with_kind!(game, K => Track::read::<<K as GameKind>::Engine>(request))
}

fn unknown() -> ReplayError {
    ReplayError::Damaged("it is of a game that this hub does not know".into())
}

fn panicked(path: &Path, error: &JoinError) -> ReplayError {
    warn!(journal = %path.display(), %error, "a replay failed");
    ReplayError::Damaged("its journal makes the game fail".into())
}

#[cfg(test)]
mod tests;
