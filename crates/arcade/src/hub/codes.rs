//! Rooms that are not for everybody, and who may enter them.

use std::sync::Arc;

use netcore::HostId;
use serde::Deserialize;

use super::{Hub, tries::Tried};
use crate::room::{
    Room,
    access::{self, Access},
};

/// What somebody shows to enter a room. Each part may be missing.
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
    /// The room whose link has this code.
    pub(crate) fn by_code(&self, host: HostId, typed: &str) -> Tried<Coded> {
        self.tries.attempt(host, || {
            let code = access::read(typed)?;
            if let Some(room) = self.rooms.all().into_iter().find(|room| room.access.code() == Some(&*code)) {
                return Some(Coded::Here(room));
            }
            let id = self.elsewhere()?.fleet.room_of(&code)?;
            Some(Coded::Elsewhere { id, code })
        })
    }

    /// Whether somebody at this host may enter a room.
    pub(crate) fn admits(&self, host: HostId, room: &Room, proof: &Proof) -> Tried<()> {
        if room.access.is_public() {
            return Tried::Right(());
        }
        let id = room.file().id.clone();
        // Whoever has one of the tokens guesses nothing.
        if proof.owner.as_deref().is_some_and(|token| room.has_owner(token))
            || proof.seat.as_deref().is_some_and(|token| self.secret().verify(&id, token).is_some())
        {
            return Tried::Right(());
        }
        let is_right = || match &room.access {
            Access::Public => true,
            Access::Link(code) => proof.code.as_deref().and_then(access::read).is_some_and(|typed| typed == *code),
            Access::Word(mac) => proof.word.as_deref().is_some_and(|word| self.secret().verify_word(&id, word, mac)),
        };
        // Whoever shows nothing has not tried.
        if proof.code.is_none() && proof.word.is_none() {
            return Tried::Wrong;
        }
        self.tries.attempt(host, || is_right().then_some(()))
    }
}
