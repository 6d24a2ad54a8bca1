//! The web server: the page, its sockets, and the interface for programs.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::{
        ConnectInfo, Path, Query, State, WebSocketUpgrade,
        ws::{Message, WebSocket},
    },
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use netcore::Role;
use rand::{TryRng as _, rngs::SysRng};
use serde::Deserialize;
use serde_json::json;

use crate::{assets, games::Options, hub::Hub, pump};

/// The longest message that a browser may send: that of a datagram.
const MAX_MESSAGE: usize = 65_507;

/// What pages may load and do: everything from here and nothing from elsewhere, and no script in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/rooms/{id}", get(page))
        .route("/matches/{id}", get(page))
        .route("/players", get(page))
        .route("/players/{name}", get(page))
        .route("/players/{name}/against/{other}", get(page))
        .route("/js/{*path}", get(asset))
        .route("/style/{*path}", get(asset))
        .route("/icon.svg", get(asset))
        .route("/manifest.webmanifest", get(asset))
        .route("/api/rooms", get(rooms).post(new_room))
        .route("/live", get(live))
        .route("/rooms/{id}/socket", get(socket))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .fallback(not_found)
        .layer(middleware::from_fn(headers))
        .with_state(hub)
}

async fn headers(request: axum::extract::Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let set: [(_, &'static str); 4] = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ];
    for (name, value) in set {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// An address that leads nowhere: browsers get the page, which says so, and programs a line of text.
async fn not_found(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") {
        return (StatusCode::NOT_FOUND, page(State(hub), headers).await).into_response();
    }
    missing()
}

fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is no such page.\n").into_response()
}

async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    assets::file(uri.path().trim_start_matches('/'), &headers)
}

/// The one page of the hub.
async fn page(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    let lobby = serde_json::to_string(&hub.snapshot()).unwrap_or_default();
    assets::page(&lobby, &headers).unwrap_or_else(missing)
}

async fn rooms(State(hub): State<Arc<Hub>>) -> Response {
    Json(hub.snapshot()).into_response()
}

async fn new_room(State(hub): State<Arc<Hub>>, Json(options): Json<Options>) -> Response {
    match hub.open(&options) {
        Ok(room) => (StatusCode::CREATED, Json(room.info.borrow().clone())).into_response(),
        Err(error) => {
            (StatusCode::UNPROCESSABLE_ENTITY, Json(json!({ "error": format!("{error:#}") }))).into_response()
        }
    }
}

async fn ready(State(hub): State<Arc<Hub>>) -> Response {
    Json(hub.counts()).into_response()
}

/// Whether a request to open a socket comes from a page of this hub. Programs other than browsers send no origin.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    origin.is_some() && origin == host
}

async fn live(State(hub): State<Arc<Hub>>, headers: HeaderMap, upgrade: WebSocketUpgrade) -> Response {
    if !is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "Pages of other sites may not do this.\n").into_response();
    }
    upgrade.max_message_size(1024).on_upgrade(async move |socket| tell_lobby(socket, &hub).await)
}

async fn tell_lobby(mut socket: WebSocket, hub: &Hub) {
    let mut lobby = hub.lobby();
    loop {
        let text = lobby.borrow_and_update().to_string();
        if socket.send(Message::Text(text.into())).await.is_err() {
            return;
        }
        loop {
            tokio::select! {
                changed = lobby.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => return,
                },
                // Only to notice that the page is gone.
                message = socket.recv() => match message {
                    Some(Ok(_)) => {}
                    _ => return,
                },
            }
        }
    }
}

/// How a socket enters a room.
#[derive(Debug, Deserialize)]
struct Entry {
    /// Whether it only looks on.
    #[serde(default)]
    watch: bool,
    /// The token of its seat.
    seat: Option<String>,
}

async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    Query(entry): Query<Entry>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !is_same_origin(&headers) {
        return (StatusCode::FORBIDDEN, "Pages of other sites may not do this.\n").into_response();
    }
    let Some(room) = hub.room(&id) else { return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response() };
    let returns = entry.seat.as_deref().and_then(|token| hub.secret().verify(&id, token));
    if entry.seat.is_some() && returns.is_none() {
        return (StatusCode::FORBIDDEN, "This is not the token of a seat in this room.\n").into_response();
    }
    let role = if entry.watch { Role::Watcher } else { Role::Player };
    upgrade.max_message_size(MAX_MESSAGE).on_upgrade(async move |socket| {
        let seat = returns.unwrap_or_else(|| other_port(address));
        let Some(line) = room.gate.enter(role, seat, returns.is_some()).await else { return };
        let mut info = room.info.clone();
        let token = hub.secret().token(&id, seat);
        let hello = json!({ "seat": token, "room": *info.borrow_and_update() }).to_string();
        pump::run(socket, line, room.game.frames(), hello, info).await;
    })
}

/// An address for a seat: that of the browser with a random port, since a seat outlives its socket and another socket may get the
/// same port meanwhile.
fn other_port(address: SocketAddr) -> SocketAddr {
    let port =
        SysRng.try_next_u32().map_or(address.port(), |number| u16::try_from(number & 0xffff).unwrap_or_default());
    SocketAddr::new(address.ip(), port.max(1))
}
