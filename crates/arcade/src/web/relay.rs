//! Forwards requests for rooms of other nodes, so that a browser stays at its node. Nodes use no TLS; a header proves
//! which node forwards a request, and for which client: see [`seal`]. No request is forwarded twice.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    body::Body,
    extract::{FromRequestParts, Query, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse as _, Response},
    routing::post,
};
use futures_util::StreamExt as _;
use hyper::upgrade;
use hyper_util::rt::TokioIo;
use tokio::{
    io::copy_bidirectional_with_sizes,
    time::{sleep, timeout},
};
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tracing::debug;

use super::{
    caller::{self, SocketPermit, is_secure},
    event_stream,
    response::{error, later, no_such_room},
};
use crate::{
    fleet::{
        Fleet, NodeStatus,
        seal::{self, LeaseReply, PATH, Relayed, dial},
    },
    hub::Hub,
    message::message,
};

/// How long a request waits for a moving room, the interval of the checks, and the seconds until a retry.
const ARRIVAL: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);
const MOMENT: u64 = 1;
/// Timeout for opening a WebSocket to another node.
const OPENS: Duration = Duration::from_secs(5);
/// Seconds until a retry, if a node does not respond.
const SOON: u64 = 5;
/// Per direction of a socket, in bytes.
const AHEAD: usize = 4 << 10;
/// Hop-by-hop headers.
const OF_CONNECTION: [HeaderName; 6] = [
    header::CONNECTION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::PROXY_AUTHORIZATION,
];

/// An invalid proof is ignored.
pub(super) fn recognize(hub: &Hub, request: &mut Request) {
    if let Some(proof) = hub.cluster().and_then(|_| request.headers_mut().remove(seal::HEADER))
        && let Some(cluster) = hub.cluster()
        && let Ok(proof) = proof.to_str()
        && let Some(relayed) = cluster.fleet.unseal(proof, request.method().as_str(), path_of(request.uri()))
    {
        request.extensions_mut().insert(relayed);
    }
}

fn path_of(uri: &Uri) -> &str {
    uri.path_and_query().map_or("/", |path| path.as_str())
}

/// Forwards requests for the sockets and the API of rooms of other nodes.
pub(super) async fn forward_to_owner(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    if let Some(id) = room_of(request.uri().path())
        && !arrives(&hub, id).await
    {
        let moving = message!("room_moves", "the room is moving to another hub; try again in a moment");
        return later(error(StatusCode::SERVICE_UNAVAILABLE, &moving), MOMENT);
    }
    let is_new = request.extensions().get::<Relayed>().is_none();
    let node = if is_new { destination(&hub, &request) } else { None };
    let Some(node) = node else { return next.run(request).await };
    if !request.uri().path().ends_with("/socket") {
        return pass(&hub, &node, request).await;
    }
    let (mut parts, body) = request.into_parts();
    match SocketPermit::from_request_parts(&mut parts, &hub).await {
        Ok(permit) => pass_holding(&hub, &node, Request::from_parts(parts, body), Some(permit)).await,
        Err(refused) => refused,
    }
}

// Waits until the room is no longer moving. Returns `false` after a timeout.
async fn arrives(hub: &Hub, id: &str) -> bool {
    let moves = async {
        while hub.is_moving(id) {
            sleep(LOOK).await;
        }
    };
    timeout(ARRIVAL, moves).await.is_ok()
}

// The other node that has the room or the event stream.
fn destination(hub: &Hub, request: &Request) -> Option<NodeStatus> {
    if request.uri().path() != event_stream::PATH {
        return owner(hub, request.uri().path());
    }
    let fleet = &hub.cluster()?.fleet;
    let name = event_stream::node_of(request.headers()).filter(|name| *name != fleet.name())?;
    fleet.nodes().into_iter().find(|node| node.name.as_str() == name)
}

fn owner(hub: &Hub, path: &str) -> Option<NodeStatus> {
    let cluster = hub.cluster()?;
    let id = room_of(path).filter(|id| hub.rooms.get(id).is_none())?;
    cluster.fleet.owner_of(id)
}

/// `None` for the page of a room.
pub(super) fn room_of(path: &str) -> Option<&str> {
    if let Some(rest) = path.strip_prefix("/api/rooms/") {
        return rest.split('/').next().filter(|id| !id.is_empty());
    }
    path.strip_prefix("/rooms/")?.strip_suffix("/socket")
}

/// A copy of a request; empty if there are no other nodes.
pub(super) struct ForwardableRequest(Option<Box<Parts>>);

impl FromRequestParts<Arc<Hub>> for ForwardableRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Infallible> {
        Ok(Self(hub.cluster().map(|_| Box::new(parts.clone()))))
    }
}

impl ForwardableRequest {
    pub(super) fn is_relayed(&self) -> bool {
        self.0.as_ref().is_some_and(|parts| parts.extensions.get::<Relayed>().is_some())
    }

    pub(super) fn with(&self, body: impl Into<Body>) -> Request {
        let mut request = match &self.0 {
            Some(parts) => Request::from_parts(Parts::clone(parts), body.into()),
            None => Request::new(body.into()),
        };
        request.headers_mut().remove(header::CONTENT_LENGTH);
        request
    }
}

pub(super) async fn pass(hub: &Hub, node: &NodeStatus, request: Request) -> Response {
    pass_holding(hub, node, request, None).await
}

async fn pass_holding(hub: &Hub, node: &NodeStatus, request: Request, permit: Option<SocketPermit>) -> Response {
    let path = request.uri().path();
    let is_hidden = permit.is_none() && room_of(path).is_some_and(|id| hub.hides(id));
    match try_pass(hub, node, request, permit).await {
        Ok(answer) => answer,
        Err(why) => {
            debug!("the node {} does not respond: {why:#}", node.name);
            // Only that node can check whether the client may enter.
            if is_hidden {
                return no_such_room();
            }
            let silent = message!(
                "no_answer",
                "the hub '{node}', which has this room, does not answer; try again in a moment",
                node = node.name.to_string()
            );
            later(error(StatusCode::SERVICE_UNAVAILABLE, &silent), SOON)
        }
    }
}

/// Opens a WebSocket for this node itself.
pub(super) async fn upgrade(
    fleet: &Fleet,
    node: &NodeStatus,
    path: &str,
) -> anyhow::Result<TokioIo<upgrade::Upgraded>> {
    // The request is not relayed for a client.
    let relayed = Relayed { client: SocketAddr::from(([0; 4], 0)), secure: false };
    let proof = fleet.seal(&seal::SealedRequest { method: "GET", path, relayed });
    let proof = proof.ok_or_else(|| anyhow::anyhow!("the key of the arcade is not available yet"))?;
    let request = Request::get(path)
        .header(header::HOST, &node.address)
        .header(header::CONNECTION, "upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .header(header::SEC_WEBSOCKET_KEY, generate_key())
        .header(seal::HEADER, proof)
        .body(Body::empty())?;
    let opened = async {
        let mut answer = dial(&node.address).await?.send_request(request).await?;
        let status = answer.status();
        anyhow::ensure!(status == StatusCode::SWITCHING_PROTOCOLS, "the node {} responds with {status}", node.name);
        Ok(TokioIo::new(upgrade::on(&mut answer).await?))
    };
    timeout(OPENS, opened).await?
}

async fn try_pass(
    hub: &Hub,
    node: &NodeStatus,
    mut request: Request,
    permit: Option<SocketPermit>,
) -> anyhow::Result<Response> {
    let callers = &hub.resources().callers;
    let client = caller::of(request.extensions(), request.headers(), callers).0;
    let secure = is_secure(request.extensions(), request.headers(), callers);
    let fleet = &hub.cluster().ok_or_else(|| anyhow::anyhow!("this arcade has no other hubs"))?.fleet;
    let path = path_of(request.uri()).to_owned();
    let relayed = Relayed { client, secure };
    let proof = fleet.seal(&seal::SealedRequest { method: request.method().as_str(), path: &path, relayed });
    let proof =
        HeaderValue::try_from(proof.ok_or_else(|| anyhow::anyhow!("the key of the arcade is not available yet"))?)?;

    let mut sender = dial(&node.address).await?;
    let is_upgrade = request.headers().contains_key(header::UPGRADE);
    let upgraded = is_upgrade.then(|| upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    let mut onward = Request::new(body);
    *onward.method_mut() = parts.method;
    *onward.uri_mut() = path.parse()?;
    *onward.headers_mut() = parts.headers;
    let protocol = onward.headers().get(header::UPGRADE).cloned();
    strip(onward.headers_mut());
    if let Some(protocol) = protocol {
        onward.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        onward.headers_mut().insert(header::UPGRADE, protocol);
    }
    onward.headers_mut().insert(seal::HEADER, proof);

    let mut answer = sender.send_request(onward).await?;
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS {
        // An event stream counts as a socket until it ends.
        let mut answer = match permit.filter(|_| answer.status().is_success()) {
            Some(permit) => {
                let held = (fleet.relaying(), permit);
                answer.map(|body| Body::from_stream(Body::new(body).into_data_stream().inspect(move |_| _ = &held)))
            }
            None => answer.map(Body::new),
        };
        strip(answer.headers_mut());
        return Ok(answer.into_response());
    }
    let theirs = upgrade::on(&mut answer);
    let held = (fleet.relaying(), permit);
    tokio::spawn(async move {
        let Some(Ok((ours, theirs))) = (match upgraded {
            Some(ours) => Some(tokio::try_join!(ours, theirs)),
            None => None,
        }) else {
            return;
        };
        let (mut ours, mut theirs) = (TokioIo::new(ours), TokioIo::new(theirs));
        let _ = copy_bidirectional_with_sizes(&mut ours, &mut theirs, AHEAD, AHEAD).await;
        drop(held);
    });
    Ok(answer.map(|_| Body::empty()))
}

fn strip(headers: &mut HeaderMap) {
    for name in OF_CONNECTION {
        headers.remove(name);
    }
    headers.remove("keep-alive");
}

pub(super) fn routes() -> Router<Arc<Hub>> {
    Router::new().route(PATH, post(grant_lease))
}

async fn grant_lease(
    State(hub): State<Arc<Hub>>,
    proven: Option<Extension<Relayed>>,
    Query(query): Query<seal::LeaseQuery>,
) -> Response {
    let Some(cluster) = hub.cluster().filter(|_| proven.is_some()) else {
        return error(StatusCode::FORBIDDEN, &message!("nodes_only", "this is for other hubs of the arcade"));
    };
    match cluster.fleet.grant_lease(query.into()).await {
        Some(grant) => Json(LeaseReply::from(grant)).into_response(),
        None => error(StatusCode::SERVICE_UNAVAILABLE, &message!("busy", "the hub is busy")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_one_room_are_relayed() {
        for (path, room) in [
            ("/api/rooms/nuggets-1", Some("nuggets-1")),
            ("/api/rooms/nuggets-1/bots", Some("nuggets-1")),
            ("/rooms/nuggets-1/socket", Some("nuggets-1")),
            ("/rooms/nuggets-1", None),
            ("/api/rooms", None),
            ("/api/rooms/", None),
            ("/live", None),
        ] {
            assert_eq!(room_of(path), room, "{path}");
        }
    }
}
