//! Private rooms: what proves that a client may enter one.

use std::{sync::Arc, time::Duration};

use netcore::HostId;
use serde::Deserialize;
use tokio::time::sleep;

use super::{
    Hub,
    tries::{Purpose, Tried},
};
use crate::room::{
    Room,
    file::{Access, SHORT_CODE, read_code},
};

/// How long a look-up of a host that has used up its tries takes. With [`MAX_LOOKUPS`](super::resources::MAX_LOOKUPS) it bounds the rate
/// at which all such hosts together guess codes: 16 a second.
const LOOKUP: Duration = Duration::from_millis(250);

/// What a client shows to enter a room. Each part may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Proof {
    /// The code of its link.
    pub(crate) code: Option<String>,
    /// Its word.
    pub(crate) word: Option<String>,
    /// The token of its owner.
    pub(crate) owner: Option<String>,
    /// The token of a seat in it, of whatever match.
    pub(crate) seat: Option<String>,
}

/// The room of a code.
#[derive(Debug)]
pub(crate) enum Coded {
    Here(Arc<Room>),
    /// One of another node.
    Elsewhere {
        id: String,
        code: String,
    },
}

impl Hub {
    /// Looks up a code that the hub has drawn. The right one always passes: a host with too many wrong ones only waits for its turn.
    pub(crate) async fn look_up<T>(
        &self,
        host: HostId,
        purpose: Purpose,
        found: impl Future<Output = Option<T>>,
    ) -> Tried<T> {
        if self.tries.wait(host, &purpose).is_some() {
            let turn = match self.resources.lookups.wait(host).await {
                Ok(turn) => turn,
                Err(refusal) => return Tried::TooMany(refusal.after()),
            };
            sleep(LOOKUP).await;
            let found = found.await;
            drop(turn);
            return found.map_or(Tried::Wrong, Tried::Right);
        }
        if let Some(found) = found.await {
            return Tried::Right(found);
        }
        self.tries.charge(host, purpose);
        Tried::Wrong
    }

    /// The room whose link has this code.
    pub(crate) async fn by_code(&self, host: HostId, typed: &str) -> Tried<Coded> {
        let find = |code: &str| {
            if let Some(room) = self.rooms.all().into_iter().find(|room| room.access.code() == Some(code)) {
                return Some(Coded::Here(room));
            }
            let id = self.elsewhere()?.fleet.room_of(code)?;
            Some(Coded::Elsewhere { id, code: code.to_owned() })
        };
        self.try_code(host, typed, find).await
    }

    // A text that is no code guesses nothing.
    async fn try_code<T>(&self, host: HostId, typed: &str, find: impl FnOnce(&str) -> Option<T>) -> Tried<T> {
        match read_code(typed) {
            None => Tried::Wrong,
            Some(code) if code.len() == SHORT_CODE => self.tries.attempt(host, Purpose::ShortRoomCode, || find(&code)),
            Some(code) => self.look_up(host, Purpose::RoomCode, async { find(&code) }).await,
        }
    }

    /// Whether a client at this host may enter the room with this id. Tries at a missing room cost and take the same as at one that no list
    /// shows.
    pub(crate) async fn admits(&self, host: HostId, (id, room): (&str, Option<&Room>), proof: &Proof) -> Tried<()> {
        if room.is_some_and(|room| room.access.is_public() || self.has_token(id, room, proof)) {
            return Tried::Right(());
        }
        if let Some(Access::Word(mac)) = room.map(|room| &room.access) {
            let Some(word) = &proof.word else { return Tried::Wrong };
            let is_right = || self.secret().verify_word(id, word, mac);
            return self.tries.attempt(host, Purpose::Word(id.to_owned()), || is_right().then_some(()));
        }
        let Some(typed) = &proof.code else { return Tried::Wrong };
        let code = room.and_then(|room| room.access.code());
        self.try_code(host, typed, |typed| (code == Some(typed)).then_some(())).await
    }

    /// Whether a client has one of the tokens of a room, which are too long to be guessed.
    pub(crate) fn has_token(&self, id: &str, room: &Room, proof: &Proof) -> bool {
        proof.owner.as_deref().is_some_and(|token| room.has_owner(token))
            || proof.seat.as_deref().is_some_and(|token| self.secret().verify(id, token).is_some())
    }
}
