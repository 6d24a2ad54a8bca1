//! Feeds: sockets by which another node watches a room for all of its watchers. The events are published (see
//! `hub/publisher.rs`); a feed only reports that the publication has started, and who may watch. If a node cannot
//! follow a room, each watcher gets its own socket (see `relay.rs`).
//!
//! ```text
//! > {"come":7,"address":"192.0.2.1:40000"}     a client wants to watch
//! > {"gone":7}
//! < {"going":true}                             the publication can be followed; false: it has failed
//! < {"let":7}                                  may watch
//! < {"end":7,"why":"banned"}                   may not, or no longer
//! ```

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        FromRequestParts as _, Path, Query, Request, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use mesh::Name;
use netcore::HostId;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{self, protocol::WebSocketConfig},
};
use tracing::{debug, warn};

use super::{
    caller::{Caller, SocketPermit},
    connections,
    event_stream::{PageSocket, opens_stream},
    keepalive::{Beats, Pulse, beat, send},
    page_socket::PageUpgrade,
    relay,
    response::error,
    socket::{self, ENTRY, MAX_MESSAGE, SocketQuery, first},
};
use crate::{
    fleet::{Feeds, seal::Relayed},
    games::Game,
    hub::{
        Hub,
        publisher::PublicationState,
        subscription::{Channel, ChannelRequest},
    },
    message::message,
    room::{Room, mailbox::CloseReason},
};

pub(super) const MAX_LINE: usize = 256;
/// The interval of a feed's messages and of its checks whether watchers may still watch.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
/// Watchers per feed.
const MAX_WATCHERS: usize = 1 << 16;

/// From the watching node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum WatchRequest {
    Come { come: u64, address: SocketAddr },
    Gone { gone: u64 },
}

/// To the watching node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum FeedMessage {
    Let { r#let: u64 },
    End { end: u64, why: CloseReason },
    Going { going: bool },
    Beat {},
}

pub(super) async fn feed(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    relayed: Option<Extension<Relayed>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    // Only nodes have the key for this proof.
    let is_node = relayed.is_some();
    let room = hub.rooms.get(&id).filter(|room| is_node && room.access.is_public());
    let Some(room) = room else { return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response() };
    let Some(step) = hub.cluster().and_then(|cluster| cluster.feeding.feed(&cluster.fleet, &room)) else {
        return error(
            StatusCode::SERVICE_UNAVAILABLE,
            &message!("not_owner", "the directory does not assign this room to this hub yet"),
        );
    };
    connections::bounded(upgrade, MAX_LINE).on_upgrade(async move |socket| {
        let mut feed = Feed { hub, room, hosts: BTreeMap::new() };
        feed.serve(socket, step).await;
    })
}

struct Feed {
    hub: Arc<Hub>,
    room: Arc<Room>,
    hosts: BTreeMap<u64, HostId>,
}

impl Feed {
    async fn serve(&mut self, mut socket: WebSocket, mut step: watch::Receiver<PublicationState>) {
        let pulse = Pulse::default();
        let mut beats = Beats::new(&pulse);
        let mut last_step = PublicationState::Beginning;
        loop {
            let now = *step.borrow_and_update();
            if now != last_step {
                last_step = now;
                match now {
                    PublicationState::Beginning => {}
                    PublicationState::Going if send_message(&mut socket, FeedMessage::Going { going: true }).await => {}
                    PublicationState::Going | PublicationState::Over => return,
                    PublicationState::Failed => {
                        send_message(&mut socket, FeedMessage::Going { going: false }).await;
                        return;
                    }
                }
            }
            tokio::select! {
                changed = step.changed() => if changed.is_err() {
                    return;
                },
                message = pulse.read(socket.recv()) => {
                    let request = match message {
                        Some(Ok(Message::Text(text))) => serde_json::from_str(&text),
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                        Some(Ok(_) | Err(_)) | None => return,
                    };
                    match request {
                        Ok(request) => if !self.answer(&mut socket, request).await {
                            return;
                        },
                        Err(error) => return debug!("cannot decode a feed of another hub: {error}"),
                    }
                }
                due = beats.due() => if !self.end_barred(&mut socket).await || !beat(&mut socket, due).await {
                    return;
                },
            }
        }
    }

    // Returns whether the peer is reachable.
    async fn answer(&mut self, socket: &mut WebSocket, request: WatchRequest) -> bool {
        match request {
            WatchRequest::Come { come, address } => {
                let host = Caller(address).host();
                let refusal =
                    if self.hosts.len() >= MAX_WATCHERS { Some(CloseReason::Full) } else { self.refusal(host) };
                if let Some(why) = refusal {
                    return send_message(socket, FeedMessage::End { end: come, why }).await;
                }
                if self.hosts.insert(come, host).is_none() {
                    self.room.watch_elsewhere(1);
                }
                send_message(socket, FeedMessage::Let { r#let: come }).await
            }
            WatchRequest::Gone { gone } => {
                if self.hosts.remove(&gone).is_some() {
                    self.room.watch_elsewhere(-1);
                }
                true
            }
        }
    }

    // The same rules as for watchers of this node.
    fn refusal(&self, host: HostId) -> Option<CloseReason> {
        if self.hub.bans().has(host) {
            return Some(CloseReason::Banned);
        }
        self.room.roster.is_blocked(self.room.roster.mask.host(host)).then_some(CloseReason::RemovedByOwner)
    }

    async fn end_barred(&mut self, socket: &mut WebSocket) -> bool {
        let barred = self.hosts.iter().filter_map(|(&number, &host)| Some((number, self.refusal(host)?)));
        for (number, why) in barred.collect::<Vec<_>>() {
            self.hosts.remove(&number);
            self.room.watch_elsewhere(-1);
            if !send_message(socket, FeedMessage::End { end: number, why }).await {
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

async fn send_message(socket: &mut WebSocket, answer: FeedMessage) -> bool {
    let text = serde_json::to_string(&answer).unwrap_or_default();
    send(socket, Message::Text(text.into())).await
}

/// How long a watcher waits for a feed before it gets its own socket.
const PATIENCE: Duration = Duration::from_secs(3);
/// Periods of silence after which a feed has failed.
const SILENT: u32 = 10;
/// How long a room without watchers is followed.
const LINGER: Duration = Duration::from_secs(5);
/// How long the brokers may be away before watchers get their own sockets.
const AWAY: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(200);

/// Serves sockets that only watch public rooms of other nodes, if this node can follow the room.
pub(super) async fn watch_remote_room(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let Some((id, game, query)) = watched(&hub, &request) else { return next.run(request).await };
    let (mut parts, body) = request.into_parts();
    let Some(channel) = channel(&hub, &id, game).await else {
        return next.run(Request::from_parts(parts, body)).await;
    };
    let permit = match SocketPermit::from_request_parts(&mut parts, &hub).await {
        Ok(permit) => permit,
        Err(refused) => return refused,
    };
    let upgrade = match PageUpgrade::from_request_parts(&mut parts, &hub).await {
        Ok(upgrade) => upgrade,
        Err(refused) => return refused,
    };
    upgrade.on_upgrade(MAX_MESSAGE, async move |mut socket| {
        if query.enter {
            let entry = timeout(ENTRY, first(&mut socket)).await;
            // Only the node of the room can check proofs.
            if !entry.is_ok_and(|entry| entry.is_some_and(|entry| entry.only_looks_on())) {
                return socket::end(socket, CloseReason::Unclear).await;
            }
        }
        serve_watcher(socket, &hub, &channel, permit.caller.0).await;
        drop(permit.place);
    })
}

// The public room of another node, if the request only watches it.
fn watched(hub: &Hub, request: &Request) -> Option<(String, Game, SocketQuery)> {
    let path = request.uri().path();
    let is_socket = request.headers().contains_key(header::UPGRADE) || opens_stream(request.headers());
    let upgrades = request.method() == Method::GET && is_socket;
    if !upgrades || !path.ends_with("/socket") || request.extensions().get::<Relayed>().is_some() {
        return None;
    }
    let Query(query) = Query::<SocketQuery>::try_from_uri(request.uri()).ok()?;
    if !query.watch || query.seat.is_some() || query.key.is_some() {
        return None;
    }
    let id = relay::room_of(path).filter(|id| hub.rooms.get(id).is_none())?;
    let far = hub.cluster()?.rooms().get(id).filter(|far| far.is_public).cloned()?;
    Some((id.to_owned(), far.row.game, query))
}

// `None` if the room cannot be followed.
async fn channel(hub: &Arc<Hub>, id: &str, game: Game) -> Option<Arc<Channel>> {
    let (channel, requests) = hub.cluster()?.following.channel(id, game)?;
    if let Some(requests) = requests {
        tokio::spawn(follow(Arc::clone(hub), id.to_owned(), Arc::clone(&channel), requests));
    }
    timeout(PATIENCE, channel.is_ready()).await.unwrap_or(false).then_some(channel)
}

async fn serve_watcher(socket: PageSocket, hub: &Hub, channel: &Arc<Channel>, address: SocketAddr) {
    let Some(cluster) = hub.cluster() else { return };
    let fed = cluster.fleet.feeds.feeding();
    match channel.subscribe(address).await {
        Ok(subscription) => {
            socket::serve_watcher(socket, subscription, channel.game(), &hub.metrics().game(channel.game().name()))
                .await;
        }
        Err(Some(why)) => socket::end(socket, why).await,
        // The page reconnects.
        Err(None) => {}
    }
    drop(fed);
}

type FeedSocket = WebSocketStream<TokioIo<Upgraded>>;

/// Ends when the room has no watchers, or on an error.
async fn follow(hub: Arc<Hub>, id: String, channel: Arc<Channel>, requests: mpsc::UnboundedReceiver<ChannelRequest>) {
    let Some(cluster) = hub.cluster() else { return };
    let counted = cluster.fleet.feeds.following();
    let ended = match (open(&hub, &id).await, id.parse()) {
        (Ok(feed), Ok(name)) => attend(feed, &name, &cluster.fleet.feeds, &channel, requests).await,
        (Err(error), _) => Err(format!("{error:#}")),
        (_, Err(error)) => Err(error.to_string()),
    };
    if let Err(why) = &ended {
        debug!(room = id, "spectators get separate sockets: {why}");
    }
    cluster.following.unfollow(&id, &channel, ended.is_err());
    drop(counted);
}

async fn open(hub: &Hub, id: &str) -> anyhow::Result<FeedSocket> {
    let cluster = hub.cluster().ok_or_else(|| anyhow::anyhow!("this arcade has no other hubs"))?;
    let node = cluster.fleet.owner_of(id).ok_or_else(|| anyhow::anyhow!("no other node owns it"))?;
    let stream = relay::upgrade(&cluster.fleet, &node, &format!("/rooms/{id}/feed")).await?;
    let config = WebSocketConfig::default().max_message_size(Some(MAX_LINE)).max_frame_size(Some(MAX_LINE));
    Ok(WebSocketStream::from_raw_socket(stream, tungstenite::protocol::Role::Client, Some(config)).await)
}

// Forwards requests and events. Fails if watchers need their own sockets.
async fn attend(
    mut feed: FeedSocket,
    room: &Name,
    feeds: &Feeds,
    channel: &Channel,
    mut requests: mpsc::UnboundedReceiver<ChannelRequest>,
) -> Result<(), String> {
    let mut waiting: BTreeMap<u64, oneshot::Sender<Result<(), CloseReason>>> = BTreeMap::new();
    let mut last_received = Instant::now();
    let mut idle: Option<Instant> = None;
    let mut going = false;
    let mut following = std::pin::pin!(take_events(room, feeds, channel));
    loop {
        if channel.is_empty() && waiting.is_empty() {
            idle.get_or_insert_with(Instant::now);
        } else {
            idle = None;
        }
        tokio::select! {
            Some(request) = requests.recv() => {
                let request = match request {
                    ChannelRequest::Subscribe { answer, .. } if answer.is_closed() => continue,
                    ChannelRequest::Subscribe { number, address, answer } => {
                        waiting.insert(number, answer);
                        WatchRequest::Come { come: number, address }
                    }
                    ChannelRequest::Unsubscribe(number) => {
                        waiting.remove(&number);
                        WatchRequest::Gone { gone: number }
                    }
                };
                let text = serde_json::to_string(&request).unwrap_or_default();
                let sent = timeout(connections::STALL, feed.send(tungstenite::Message::text(text))).await;
                if !matches!(sent, Ok(Ok(()))) {
                    return Err("the node of the room does not receive".to_owned());
                }
            }
            message = feed.next() => {
                last_received = Instant::now();
                let text = match message {
                    Some(Ok(tungstenite::Message::Text(text))) => text,
                    Some(Ok(tungstenite::Message::Ping(_) | tungstenite::Message::Pong(_))) => continue,
                    // The room is over, or closes the connection after a game; watchers reconnect.
                    _ if going => return Ok(()),
                    _ => return Err("the node of the room does not publish it".to_owned()),
                };
                match serde_json::from_str(&text) {
                    Ok(FeedMessage::Going { going: true }) => going = true,
                    Ok(FeedMessage::Going { going: false }) => return Err("the node of the room cannot publish it".to_owned()),
                    Ok(FeedMessage::Let { r#let: number }) => if let Some(answer) = waiting.remove(&number) {
                        let _ = answer.send(Ok(()));
                    },
                    Ok(FeedMessage::End { end: number, why }) => match waiting.remove(&number) {
                        Some(answer) => drop(answer.send(Err(why))),
                        None => channel.remove(number, why),
                    },
                    Ok(FeedMessage::Beat {}) => {}
                    Err(error) => return Err(format!("the node of the room sent an invalid event: {error}")),
                }
            }
            ended = &mut following, if going => return ended,
            () = sleep_until(last_received + SILENT * PERIOD) => return Err("the node of the room sends nothing".to_owned()),
            () = sleep_until(idle.unwrap_or(last_received) + LINGER), if idle.is_some() => return Ok(()),
        }
    }
}

async fn take_events(room: &Name, feeds: &Feeds, channel: &Channel) -> Result<(), String> {
    let mut last = None;
    let mut away: Option<Instant> = None;
    loop {
        let error = match feeds.follow(room, last).await {
            Ok(mut follow) => loop {
                match follow.next().await {
                    Ok(event) => {
                        (away, last) = (None, Some(event.sequence));
                        if channel.take(event.is_snapshot, event.body) {
                            continue;
                        }
                        if channel.is_over() {
                            return Ok(());
                        }
                        return Err("gap in the published events".to_owned());
                    }
                    Err(error) => break error,
                }
            },
            Err(error) => error,
        };
        if away.get_or_insert_with(Instant::now).elapsed() >= AWAY {
            warn!(room = %room, "cannot receive the published events: {error}");
            return Err(error.to_string());
        }
        debug!(room = %room, "{error}");
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feed_messages_have_their_documented_form() {
        for (answer, text) in [
            (FeedMessage::Let { r#let: 7 }, r#"{"let":7}"#),
            (FeedMessage::End { end: 7, why: CloseReason::RemovedByOwner }, r#"{"end":7,"why":"removed-by-owner"}"#),
            (FeedMessage::Going { going: true }, r#"{"going":true}"#),
            (FeedMessage::Beat {}, "{}"),
        ] {
            assert_eq!(serde_json::to_string(&answer).unwrap(), text);
            assert_eq!(serde_json::from_str::<FeedMessage>(text).unwrap(), answer);
        }
        let longest = WatchRequest::Come {
            come: u64::MAX,
            address: "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535".parse().unwrap(),
        };
        assert!(serde_json::to_string(&longest).unwrap().len() <= MAX_LINE);
    }
}
