//! What people on the pages of a room say beside the game, and that they stay the same from seat to seat.

use std::net::SocketAddr;

use serde_json::json;

use super::{Room, talk::PHRASES};

impl Room {
    /// Whoever has this seat, or had it in the last match, says a phrase to all pages. Too much of it is left out.
    pub(crate) fn say(&self, seat: SocketAddr, phrase: u8) {
        let Some(member) = self.members.at(seat).filter(|_| phrase < PHRASES) else { return };
        if self.speech.may(seat.into()) {
            let said = json!({ "said": { "seat": member.seat, "name": member.name, "phrase": phrase } });
            self.pages.tell_all(&said.to_string().into());
        }
    }

    /// Whoever had the first seat, which is over, has the second one.
    pub(crate) fn move_on(&self, before: SocketAddr, now: SocketAddr) {
        // As long as somebody may come back to it, another window is not that person.
        if !self.known.has(before) {
            self.members.follow(before, now);
            self.invites.follow(before, now);
        }
    }

    /// Whoever is at this seat is ready for a rematch, or is not any more.
    pub(crate) fn want_rematch(&self, seat: SocketAddr, ready: bool) {
        self.invites.answer(seat, ready);
    }
}
