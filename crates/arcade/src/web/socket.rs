//! The sockets of rooms: each carries the protocol of its game, and what the hub says besides.

use std::{
    net::SocketAddr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use axum::{
    extract::{Path, Query, State, WebSocketUpgrade},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use netcore::Role;
use rand::{TryRng as _, rngs::SysRng};
use serde::Deserialize;
use serde_json::json;

use super::{
    caller::SocketPermit,
    connections,
    names::{self, KeyHash},
    pump,
};
use crate::{hub::Hub, room::Room};

/// The longest message that a browser may send: that of a datagram.
const MAX_MESSAGE: usize = 65_507;

/// How a socket enters a room.
#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    /// Whether it only looks on.
    #[serde(default)]
    watch: bool,
    /// Whether it looks on for a picture of the room, which nobody follows.
    #[serde(default)]
    preview: bool,
    /// The token of its seat.
    seat: Option<String>,
    /// The key of the owner of its names.
    key: Option<String>,
}

pub(crate) async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    Query(entry): Query<Entry>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    let Some(room) = hub.rooms.get(&id) else {
        return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response();
    };
    let returns = entry.seat.as_deref().and_then(|token| hub.secret().verify(&id, token));
    if entry.seat.is_some() && returns.is_none() {
        return (StatusCode::FORBIDDEN, "This is not the token of a seat in this room.\n").into_response();
    }
    let key = entry.key.as_deref().map(KeyHash::of);
    if key == Some(None) {
        return (StatusCode::BAD_REQUEST, "The key of the name is not valid.\n").into_response();
    }
    let role = if entry.watch { Role::Watcher } else { Role::Player };
    connections::bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |socket| {
        let seat = returns.unwrap_or_else(|| other_port(caller.0));
        if let (Some(key), Role::Player) = (key.flatten(), role) {
            names::prove(hub.results(), &room, seat, key).await;
        }
        let preview = entry.preview && role == Role::Watcher && returns.is_none();
        // Before the room learns of it.
        let _preview = preview.then(|| Preview::new(&room, seat));
        let Some(line) = room.gate.enter(role, seat, returns.is_some()).await else { return };
        let mut info = room.info.clone();
        let token = hub.secret().token(&id, seat);
        let hello = json!({ "seat": token, "room": *info.borrow_and_update() }).to_string();
        let metrics = hub.metrics().game(room.game.name());
        pump::run(socket, line, room.game.frames(), hello, info, &metrics).await;
        drop(place);
    })
}

/// A page that shows a picture of a room, until it is dropped.
struct Preview {
    room: Arc<Room>,
    seat: SocketAddr,
}

impl Preview {
    fn new(room: &Arc<Room>, seat: SocketAddr) -> Self {
        room.previews.insert(seat);
        Self { room: Arc::clone(room), seat }
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.room.previews.remove(self.seat);
    }
}

/// An address for a seat: that of the browser with a port of its own, since a seat outlives its socket and another socket may get the
/// same port meanwhile. Ports are given in order from a random one, so that the seats of one host do not collide.
fn other_port(address: SocketAddr) -> SocketAddr {
    static NEXT: LazyLock<AtomicU32> = LazyLock::new(|| AtomicU32::new(SysRng.try_next_u32().unwrap_or_default()));
    let port = NEXT.fetch_add(1, Ordering::Relaxed) % u32::from(u16::MAX) + 1;
    // In the spelling in which the journal has it.
    SocketAddr::new(address.ip().to_canonical(), u16::try_from(port).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_seats_of_one_host_have_addresses_of_their_own() {
        let browser = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let seats: BTreeSet<SocketAddr> = (0..2_000).map(|_| other_port(browser)).collect();
        assert_eq!(seats.len(), 2_000);
    }
}
