//! Feeds: sockets by which other nodes watch a room of this one, each for all of its watchers.
//!
//! What the room tells is published, see `hub/feeding.rs`. A feed says only when that has begun, and who may look on: the node that has the
//! room decides, as for watchers of its own.
//!
//! ```text
//! > {"come":7,"address":"192.0.2.1:40000"}     somebody wants to look on
//! > {"gone":7}
//! < {"going":true}                             what is published can be followed; false, that nothing more is published
//! < {"let":7}                                  may look on
//! < {"end":7,"why":"banned"}                   may not, or no longer
//! ```

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        Path, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use netcore::HostId;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tracing::debug;

use super::{
    answer::error,
    beats::{Beats, Pulse, beat, send},
    caller::Caller,
    connections,
};
use crate::{
    fleet::seal::Relayed,
    hub::{Hub, feeding::Step},
    room::{Room, mailbox::Ending},
};

/// The longest message of a feed, in bytes.
pub(super) const MAX_LINE: usize = 256;
/// How often a feed says something, and it is looked whether its watchers may still be there.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
/// Watchers of one feed at most.
const MAX_WATCHERS: usize = 1 << 16;

/// What a node says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Asks {
    Come { come: u64, address: SocketAddr },
    Gone { gone: u64 },
}

/// What it is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Answers {
    Let { r#let: u64 },
    End { end: u64, why: Ending },
    Going { going: bool },
    Beat {},
}

/// Opens a feed for another node.
pub(super) async fn feed(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    relayed: Option<Extension<Relayed>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Nobody else has the key.
    let is_node = relayed.is_some();
    let room = hub.rooms.get(&id).filter(|room| is_node && room.access.is_public());
    let Some(room) = room else { return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response() };
    let Some(step) = hub.elsewhere().and_then(|elsewhere| elsewhere.feeding.feed(&elsewhere.fleet, &room)) else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "the directory has not told yet that the room is this hub's");
    };
    connections::bounded(upgrade, MAX_LINE).on_upgrade(async move |socket| {
        let mut feed = Feed { hub, room, hosts: BTreeMap::new() };
        feed.serve(socket, step).await;
    })
}

// Those who look on by one feed.
struct Feed {
    hub: Arc<Hub>,
    room: Arc<Room>,
    hosts: BTreeMap<u64, HostId>,
}

impl Feed {
    async fn serve(&mut self, mut socket: WebSocket, mut step: watch::Receiver<Step>) {
        let pulse = Pulse::default();
        let mut beats = Beats::new(&pulse);
        let mut told = Step::Beginning;
        loop {
            let now = *step.borrow_and_update();
            if now != told {
                told = now;
                match now {
                    Step::Beginning => {}
                    Step::Going if say(&mut socket, Answers::Going { going: true }).await => {}
                    Step::Going | Step::Over => return,
                    Step::Failed => {
                        say(&mut socket, Answers::Going { going: false }).await;
                        return;
                    }
                }
            }
            tokio::select! {
                changed = step.changed() => if changed.is_err() {
                    return;
                },
                message = pulse.read(socket.recv()) => {
                    let asks = match message {
                        Some(Ok(Message::Text(text))) => serde_json::from_str(&text),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                        Some(Ok(_) | Err(_)) | None => return,
                    };
                    match asks {
                        Ok(asks) => if !self.hear(&mut socket, asks).await {
                            return;
                        },
                        Err(error) => return debug!("a feed of another hub is not understood: {error}"),
                    }
                }
                due = beats.due() => if !self.look(&mut socket).await || !beat(&mut socket, due).await {
                    return;
                },
            }
        }
    }

    // Returns whether the other end can be reached.
    async fn hear(&mut self, socket: &mut WebSocket, asks: Asks) -> bool {
        match asks {
            Asks::Come { come, address } => {
                let host = Caller(address).host();
                let refusal = if self.hosts.len() >= MAX_WATCHERS { Some(Ending::Full) } else { self.refusal(host) };
                if let Some(why) = refusal {
                    return say(socket, Answers::End { end: come, why }).await;
                }
                if self.hosts.insert(come, host).is_none() {
                    self.room.watch_elsewhere(1);
                }
                say(socket, Answers::Let { r#let: come }).await
            }
            Asks::Gone { gone } => {
                if self.hosts.remove(&gone).is_some() {
                    self.room.watch_elsewhere(-1);
                }
                true
            }
        }
    }

    // Why somebody may not look on, as for those who watch at this node.
    fn refusal(&self, host: HostId) -> Option<Ending> {
        if self.hub.bans().has(host) {
            return Some(Ending::Banned);
        }
        self.room.roster.is_barred(self.room.roster.mask.host(host)).then_some(Ending::RemovedByOwner)
    }

    // Ends watchers that may not look on any longer. Returns whether the other end can be reached.
    async fn look(&mut self, socket: &mut WebSocket) -> bool {
        let barred = self.hosts.iter().filter_map(|(&number, &host)| Some((number, self.refusal(host)?)));
        for (number, why) in barred.collect::<Vec<_>>() {
            self.hosts.remove(&number);
            self.room.watch_elsewhere(-1);
            if !say(socket, Answers::End { end: number, why }).await {
                return false;
            }
        }
        true
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        let all = isize::try_from(self.hosts.len()).unwrap_or(isize::MAX);
        if all > 0 {
            self.room.watch_elsewhere(-all);
        }
    }
}

async fn say(socket: &mut WebSocket, answer: Answers) -> bool {
    // Numbers and words have JSON.
    let text = serde_json::to_string(&answer).unwrap_or_default();
    send(socket, Message::Text(text.into())).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_understand_each_other() {
        for (answer, text) in [
            (Answers::Let { r#let: 7 }, r#"{"let":7}"#),
            (Answers::End { end: 7, why: Ending::RemovedByOwner }, r#"{"end":7,"why":"removed-by-owner"}"#),
            (Answers::Going { going: true }, r#"{"going":true}"#),
            (Answers::Beat {}, "{}"),
        ] {
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
            assert_eq!(serde_json::from_str::<Answers>(text).unwrap(), answer);
        }
        let longest =
            Asks::Come { come: u64::MAX, address: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535".parse().unwrap() };
        assert!(serde_json::to_string(&longest).unwrap().len() <= MAX_LINE);
    }
}
