//! The rooms of daily challenges. Each attempt has one, in which its browser meets the bots.

use std::sync::Arc;

use netcore::HostId;
use store::{Attempt, StoreError};
use tokio::task::block_in_place;

use super::{Hub, OpenError};
use crate::{
    games::{Game, Options},
    room::{
        Room,
        file::{Access, Challenge},
    },
};

/// The attempts of one host at the challenges of a day.
pub(crate) const MAX_ATTEMPTS_A_DAY: u32 = 200;

#[derive(Debug)]
pub(crate) enum ChallengeError {
    /// The browser has made this attempt before.
    Again(Attempt),
    NotOpened(OpenError),
    Store(StoreError),
}

impl Hub {
    /// Registers the attempt before its room is open, so a player cannot see the match without it.
    pub(crate) async fn start_challenge(
        self: &Arc<Self>,
        game: Game,
        challenge: Challenge,
        host: HostId,
    ) -> Result<Arc<Room>, ChallengeError> {
        let Some(options) = Options::challenge(game, challenge.day) else {
            let error = anyhow::anyhow!("{} has no daily challenge", game.name());
            return Err(ChallengeError::NotOpened(error.into()));
        };
        let id = block_in_place(|| self.reserve_name(&options, Some(host))).map_err(ChallengeError::NotOpened)?;
        let (store, of) = (&self.results().store, store::Challenge { game: game.name(), day: challenge.day });
        let before = match store.begin_challenge(of, &challenge.key, &id).await {
            Ok(None) => None,
            Ok(Some(earlier)) => Some(ChallengeError::Again(earlier)),
            Err(error) => Some(ChallengeError::Store(error)),
        };
        if let Some(error) = before {
            block_in_place(|| self.release_name(&id));
            return Err(error);
        }
        let key = challenge.key;
        let access = Access::Challenge(challenge);
        let opened = block_in_place(|| {
            self.open_as(&id, &options, Some(host), |file| {
                file.access = access;
                Ok(())
            })
        });
        if opened.is_err() {
            // Otherwise the attempt of this day is lost.
            store.cancel_challenge(of, &key).await.map_err(ChallengeError::Store)?;
        }
        opened.map_err(ChallengeError::NotOpened)
    }

    /// Whether the person can enter the room of an attempt: it is open, and the person has not left it.
    pub(crate) fn may_enter(&self, id: &str) -> bool {
        let Some(room) = self.rooms.get(id) else {
            return self.cluster().is_some_and(|cluster| cluster.fleet.owner_of(id).is_some());
        };
        let has_person = || room.info.borrow().players.iter().any(|player| !player.bot);
        room.roster.has_challenger() == Some(false) || has_person()
    }
}
