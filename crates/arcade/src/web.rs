//! The web server: the page, its sockets, and the interface for programs.

use std::{
    net::SocketAddr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

use axum::{
    Json, Router,
    extract::{ConnectInfo, Path, Query, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use netcore::Role;
use rand::{TryRng as _, rngs::SysRng};
use serde::Deserialize;
use serde_json::json;

use crate::{
    api, assets,
    caller::{self, SocketPermit},
    connections,
    hub::Hub,
    learn, live, metrics,
    names::{self, KeyHash},
    pump,
    room::Room,
    rooms::{self, error},
};

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
        .route("/mastermind", get(page))
        .route("/learn", get(page))
        .route("/players/{name}", get(page))
        .route("/players/{name}/against/{other}", get(page))
        .route("/js/{*path}", get(asset))
        .route("/style/{*path}", get(asset))
        .route("/api/rooms", get(rooms::list).post(rooms::open))
        .route("/api/games", get(rooms::games))
        .route("/api/play/{game}", post(rooms::play))
        .route("/api/rooms/{id}/bots", post(rooms::add_bot).delete(rooms::remove_bots))
        .route("/icon.svg", get(asset))
        .route("/manifest.webmanifest", get(asset))
        .route("/live", get(live::live))
        .route("/rooms/{id}/socket", get(socket))
        .route("/api/address", get(address))
        .route("/qr.svg", get(picture))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
        .route("/metrics", get(numbers))
        .merge(api::routes())
        .merge(learn::routes())
        .fallback(not_found)
        .layer(middleware::from_fn(connections::in_time))
        .layer(middleware::from_fn_with_state(Arc::clone(&hub), caller::admit))
        .layer(middleware::from_fn_with_state(Arc::clone(&hub), metrics::observe))
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

/// The process works: it answers.
async fn health() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

/// New rooms and players are welcome, or the process is about to end, or results wait for their database.
async fn ready(State(hub): State<Arc<Hub>>) -> Response {
    let health = hub.results().health();
    let (status, text) = if hub.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if health.error.is_some() {
        (StatusCode::SERVICE_UNAVAILABLE, "results are not stored")
    } else {
        (StatusCode::OK, "ready")
    };
    let results = json!({ "waiting": health.waiting, "stored": health.stored, "error": health.error.map(|error| error.to_string()) });
    let (rooms, running, sockets) = (hub.counts(), hub.running(), hub.limits().sockets());
    (
        status,
        Json(json!({ "status": text, "rooms": rooms, "running": running, "sockets": sockets, "results": results })),
    )
        .into_response()
}

/// The numbers for Prometheus, for programs on this machine. A proxy in between says so in a header.
async fn numbers(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if !is_local(peer, &headers) {
        let text = "the numbers are for programs on the machine of the hub; --metrics serves them to others";
        return error(StatusCode::FORBIDDEN, text);
    }
    all_numbers(State(hub)).await
}

fn is_local(peer: SocketAddr, headers: &HeaderMap) -> bool {
    let is_forwarded = ["forwarded", "x-forwarded-for", "x-real-ip"].iter().any(|name| headers.contains_key(*name));
    peer.ip().to_canonical().is_loopback() && !is_forwarded
}

/// The routes of the address for the numbers only.
pub(crate) fn numbers_router(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/metrics", get(all_numbers))
        .fallback(async || missing())
        .layer(middleware::from_fn(connections::in_time))
        .with_state(hub)
}

async fn all_numbers(State(hub): State<Arc<Hub>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(header::CONTENT_TYPE, kind)], hub.metrics().scrape(&hub)).into_response()
}

/// A page of the hub whose address is asked for.
#[derive(Debug, Deserialize)]
struct Shown {
    #[serde(default)]
    path: String,
}

/// The address that friends can open.
fn shown(hub: &Hub, peer: SocketAddr, headers: &HeaderMap, path: &str) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let secure = hub.limits().is_proxy(peer) && header("x-forwarded-proto") == Some("https");
    Some(hub.address()?.for_friends(header("host"), secure, path))
}

async fn address(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Query(Shown { path }): Query<Shown>,
    headers: HeaderMap,
) -> Response {
    let open = hub.address().is_some_and(|address| address.friends.is_some());
    Json(json!({ "url": shown(&hub, peer, &headers, &path), "friends": open })).into_response()
}

async fn picture(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Query(Shown { path }): Query<Shown>,
    headers: HeaderMap,
) -> Response {
    match shown(&hub, peer, &headers, &path).and_then(|address| crate::address::picture(&address)) {
        Some(svg) => {
            ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-cache")], svg).into_response()
        }
        None => missing(),
    }
}

/// Whether a request to open a socket comes from a page of this hub. Programs other than browsers send no origin.
pub(crate) fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    origin.is_some() && origin == host
}

/// How a socket enters a room.
#[derive(Debug, Deserialize)]
struct Entry {
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

async fn socket(
    State(hub): State<Arc<Hub>>,
    Path(id): Path<String>,
    Query(entry): Query<Entry>,
    SocketPermit { caller, place }: SocketPermit,
    upgrade: WebSocketUpgrade,
) -> Response {
    let Some(room) = hub.room(&id) else { return (StatusCode::NOT_FOUND, "There is no such room.\n").into_response() };
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
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_are_for_this_machine_only() {
        let asks = |peer: &str, header: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(name) = header {
                headers.insert(name, HeaderValue::from_static("127.0.0.1"));
            }
            is_local(peer.parse().unwrap(), &headers)
        };
        assert!(asks("127.0.0.1:5", None) && asks("[::1]:5", None) && asks("[::ffff:127.0.0.1]:5", None));
        assert!(!asks("10.0.0.1:5", None) && !asks("[2001:db8::1]:5", None));
        for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            assert!(!asks("127.0.0.1:5", Some(header)), "{header}");
        }
    }

    #[test]
    fn the_seats_of_one_host_have_addresses_of_their_own() {
        let browser = SocketAddr::from(([127, 0, 0, 1], 4_000));
        let seats: BTreeSet<SocketAddr> = (0..2_000).map(|_| other_port(browser)).collect();
        assert_eq!(seats.len(), 2_000);
    }
}
