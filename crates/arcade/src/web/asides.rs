//! What a page says to the hub on the socket of its room, beside the game: text frames that begin with a brace.

use std::net::SocketAddr;

use serde::Deserialize;

use crate::room::Room;

/// The longest of them, in bytes.
pub(super) const MAX_ASIDE: usize = 256;

/// What a page says.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Aside {
    /// A phrase for all.
    Say(u8),
    /// Whether it is ready for a rematch.
    Rematch(bool),
}

/// Does what the page at this seat wants. What is not known is ignored: a page may be newer than the hub.
pub(super) fn hear(room: &Room, seat: SocketAddr, text: &str) {
    match serde_json::from_str(text) {
        Ok(Aside::Say(phrase)) => room.roster.say(seat, phrase),
        Ok(Aside::Rematch(ready)) => room.roster.answer_invitation(seat, ready),
        Err(_) => {}
    }
}
