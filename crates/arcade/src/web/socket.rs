//! The sockets of rooms: each carries the protocol of its game, and what the hub says besides.
//!
//! `/rooms/ID/socket` is a new player at once, or a watcher with `?watch=true`. With `?enter=true` the first message says who enters: an
//! [`Entry`] as JSON, with the token of a seat and the key of a name. Secrets are not taken from addresses, which are written into logs.

use std::{pin::pin, sync::Arc, time::Duration};

use axum::{
    extract::{
        Path, Query, State, WebSocketUpgrade,
        ws::{Message, Utf8Bytes, WebSocket},
    },
    http::StatusCode,
    response::{IntoResponse, Response},
};
use netcore::Role;
use serde::Deserialize;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::{
    asides::hear,
    beats::send,
    caller::{Caller, SocketPermit},
    connections,
    names::{self, KeyHash},
    pump::{self, Talk},
};
use crate::{
    hub::{Hub, codes::Proof, secret::Ticket, tries::Tried},
    room::{Room, mailbox::Ending},
};

/// The longest message that a browser may send: that of a datagram.
pub(super) const MAX_MESSAGE: usize = 65_507;
/// How long the first message of a socket may take to arrive.
pub(super) const ENTRY: Duration = Duration::from_secs(5);
/// The longest first message, in bytes.
const MAX_ENTRY: usize = 1 << 10;
/// Frames up to the first message; others than pings are none.
const MAX_ENTRY_FRAMES: usize = 4;

/// How long a socket waits for the room before its page is told so.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a page is told then.
const WAITING: &str = r#"{"waiting":true}"#;

/// What a socket says in its address.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// Whether it only looks on.
    #[serde(default)]
    pub(super) watch: bool,
    /// Whether its first message says how it enters.
    #[serde(default)]
    pub(super) enter: bool,
    // Secrets, which do not belong there.
    pub(super) seat: Option<String>,
    pub(super) key: Option<String>,
}

/// How a socket enters a room.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Entry {
    /// The token of its seat.
    seat: Option<String>,
    /// The key of the owner of its names.
    key: Option<String>,
    /// Whether it only looks on.
    watch: bool,
    /// The token of a seat that is over, of whoever comes anew.
    past: Option<String>,
    /// The token of the owner of the room.
    owner: Option<String>,
    /// The code of the room's link, or its word.
    code: Option<String>,
    word: Option<String>,
}

impl Entry {
    /// Whether it looks on and proves nothing.
    pub(super) const fn only_looks_on(&self) -> bool {
        self.watch && self.owner.is_none()
    }
}

pub(crate) async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    Query(asked): Query<Asked>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    if asked.seat.is_some() || asked.key.is_some() {
        let text = "Addresses are written into logs: open the socket with ?enter=true, and send seat and key in the first message.\n";
        return (StatusCode::BAD_REQUEST, text).into_response();
    }
    let room = hub.rooms.get(&id);
    if !asked.enter {
        match &room {
            Some(room) if room.access.is_public() => {}
            Some(room) if room.access.is_listed() => {
                let text =
                    "This room takes a word: open the socket with ?enter=true, and send it in the first message.\n";
                return (StatusCode::FORBIDDEN, text).into_response();
            }
            _ => return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response(),
        }
    }
    connections::bounded(upgrade, MAX_MESSAGE).on_upgrade(async move |mut socket| {
        let entry = if asked.enter {
            let Ok(Some(entry)) = timeout(ENTRY, first(&mut socket)).await else {
                return pump::end(socket, Ending::Unclear).await;
            };
            entry
        } else {
            Entry { watch: asked.watch, ..Entry::default() }
        };
        enter(socket, &hub, &id, room, caller, entry).await;
        drop(place);
    })
}

// The first message of a socket, if it is one.
pub(super) async fn first(socket: &mut WebSocket) -> Option<Entry> {
    for _ in 0..MAX_ENTRY_FRAMES {
        match socket.recv().await?.ok()? {
            Message::Text(text) if text.len() <= MAX_ENTRY => return serde_json::from_str(&text).ok(),
            Message::Ping(_) | Message::Pong(_) => {}
            _ => return None,
        }
    }
    None
}

// A missing room is answered as one that no list shows, whose code is in the first message.
async fn enter(mut socket: WebSocket, hub: &Hub, id: &str, room: Option<Arc<Room>>, caller: Caller, entry: Entry) {
    let Some(key) = entry.key.as_deref().map(KeyHash::of).map_or(Some(None), |key| key.map(Some)) else {
        return pump::end(socket, Ending::Unclear).await;
    };
    let proof = Proof {
        code: entry.code,
        word: entry.word,
        owner: entry.owner.clone(),
        seat: entry.seat.clone().or_else(|| entry.past.clone()),
    };
    let is_admitted = hub.admits(caller.host(), (id, room.as_deref()), &proof).await == Tried::Right(());
    let room = match room {
        Some(room) if is_admitted => room,
        Some(room) if room.access.is_listed() => return pump::end(socket, Ending::Private).await,
        _ => return pump::end(socket, Ending::Missing).await,
    };
    let host = room.roster.mask.host(caller.host());
    if room.roster.is_barred(host) {
        return pump::end(socket, Ending::RemovedByOwner).await;
    }
    let role = if entry.watch { Role::Watcher } else { Role::Player };
    // Whoever only looks on has nothing to come back to.
    let token = entry.seat.filter(|_| role == Role::Player);
    let returns = match token.map(|token| hub.secret().verify(id, &token)) {
        None => None,
        Some(Some(ticket)) if ticket.journal == room.number => Some(ticket.seat),
        Some(_) => return pump::end(socket, Ending::Expired).await,
    };
    let seat = match returns.map_or_else(|| room.roster.mask.seat(caller.host()), Ok) {
        Ok(seat) => seat,
        Err(error) => return warn!(%error, "a browser cannot enter: the system has no random numbers"),
    };
    let plays = role == Role::Player;
    let comes_anew = plays && returns.is_none();
    if let Some(past) = entry.past.filter(|_| comes_anew).and_then(|past| hub.secret().verify(id, &past)) {
        room.roster.move_member(past.seat, seat);
    }
    if let Some((_, ending)) = room.roster.refusal(host, Some(seat)).filter(|_| comes_anew) {
        return pump::end(socket, ending).await;
    }
    let mut entering = pin!(room.gate.enter(role, caller.host(), seat, returns.is_some()));
    let mailbox = tokio::select! {
        mailbox = &mut entering => mailbox,
        () = sleep(PATIENCE) => {
            if !send(&mut socket, Message::Text(Utf8Bytes::from_static(WAITING))).await {
                return;
            }
            entering.await
        }
    };
    let Some(mailbox) = mailbox else { return };
    let is_owner = entry.owner.is_some_and(|token| room.has_owner(&token));
    let (_here, words) = room.roster.enter(plays.then_some(seat), is_owner);
    if is_owner {
        room.set_owner_active(caller.host());
    }
    let mut news = room.news.subscribe(plays.then_some(seat));
    let mut hello = news.room().to_string();
    if let Some(own) = news.own() {
        let token = json!(hub.secret().token(id, Ticket { journal: room.number, seat }));
        let kept = hub.keep_seats().as_secs();
        hello.replace_range(..1, &format!(r#"{{"seat":{token},"kept":{kept},"own":{own},"#));
    }
    let metrics = hub.metrics().game(room.game.name());
    let told = |text: &str| {
        if plays {
            hear(&room, seat, text);
        }
    };
    let talk = Talk { hello, news, words, hear: told };
    let pumped = pump::run(socket, mailbox, room.game.frames(), talk, &metrics);
    let Some(key) = key.filter(|_| plays) else { return pumped.await };
    // The names are looked up while the game goes on.
    tokio::select! {
        () = pumped => {}
        () = async {
            names::prove(hub.results(), &room, seat, key).await;
            std::future::pending::<()>().await;
        } => {}
    }
}
