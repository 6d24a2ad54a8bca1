use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{Extensions, HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::Response,
};
use netcore::HostId;

use super::{
    event_stream::{self, EventStreams},
    names::KeyHash,
    page,
    response::{counted, error, in_time, later, refused},
};
use crate::hub::{
    Hub,
    callers::{self, Callers, Forwarding},
    resources::{Resources, Slot},
    shares::RefusalKind,
};
use crate::{fleet::seal::Relayed, message::message};

/// Characters of a hub's name in an error or a log line.
const MAX_SHOWN: usize = 80;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) SocketAddr);

impl Caller {
    pub(crate) fn host(self) -> HostId {
        self.0.into()
    }
}

impl FromRequestParts<Arc<Hub>> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Infallible> {
        Ok(of(&parts.extensions, &parts.headers, &hub.resources().callers))
    }
}

/// The address of this machine at which a connection arrived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived(pub(crate) IpAddr);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Open,
    Secure,
    /// A request without TLS at a port with TLS.
    Stray,
}

/// The request comes from a page of this hub, and its host may have one more socket.
#[derive(Debug)]
pub(crate) struct SocketPermit {
    pub(crate) caller: Caller,
    pub(crate) place: Slot,
}

impl FromRequestParts<Arc<Hub>> for SocketPermit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Response> {
        let callers = &hub.resources().callers;
        same_origin(&parts.extensions, &parts.headers, callers)?;
        let caller = of(&parts.extensions, &parts.headers, callers);
        let room = parts.uri.path().strip_prefix("/rooms/").and_then(|path| hub.rooms.get(path.split('/').next()?));
        let is_of_class = room.is_some_and(|room| room.access.class().is_some());
        let resources = hub.resources();
        let place = if is_of_class { resources.entering(caller.host()) } else { resources.socket(caller.host()) };
        let place = place.map_err(refused)?;
        Ok(Self { caller, place })
    }
}

pub(crate) fn of(extensions: &Extensions, headers: &HeaderMap, callers: &Callers) -> Caller {
    if let Some(relayed) = extensions.get::<Relayed>() {
        return Caller(relayed.client);
    }
    Caller(callers.client(peer(extensions), &Forwarding::of(headers)))
}

fn peer(extensions: &Extensions) -> SocketAddr {
    let connection = extensions.get::<ConnectInfo<SocketAddr>>();
    connection.map_or_else(|| SocketAddr::from(([0; 4], 0)), |ConnectInfo(peer)| *peer)
}

/// Whether the client uses TLS: with the hub itself, or with a trusted reverse proxy, as its header states.
pub(super) fn is_secure(extensions: &Extensions, headers: &HeaderMap, callers: &Callers) -> bool {
    if let Some(relayed) = extensions.get::<Relayed>() {
        return relayed.secure;
    }
    extensions.get() == Some(&Link::Secure) || callers.is_proxy(peer(extensions)) && Forwarding::of(headers).is_https()
}

/// The address of a page for other people.
pub(super) fn public_url(hub: &Hub, extensions: &Extensions, headers: &HeaderMap, path: &str) -> Option<String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let secure = is_secure(extensions, headers, &hub.resources().callers);
    Some(hub.address()?.for_friends(host, secure, path))
}

/// Rejects a foreign name of the hub: see [`HostNames`](crate::hub::callers::HostNames). Programs may send no name;
/// browsers always do.
pub(super) fn check_name(resources: &Resources, request: &Request) -> Result<(), Box<Response>> {
    // The forwarding node has checked the name. A load balancer or a kubelet probes by any name.
    let is_probe = matches!(request.uri().path(), "/healthz" | "/readyz");
    if is_probe || request.extensions().get::<Relayed>().is_some() {
        return Ok(());
    }
    let arrived = request.extensions().get::<Arrived>().map(|arrived| arrived.0);
    let names = &resources.callers.names;
    // The request line may also contain the name of the hub.
    let called = request.headers().get_all(header::HOST).iter().map(header::HeaderValue::as_bytes);
    let called = called.chain(request.uri().authority().map(|authority| authority.as_str().as_bytes()));
    let strange = called.into_iter().find(|name| !str::from_utf8(name).is_ok_and(|name| names.contains(name, arrived)));
    let Some(name) = strange else { return Ok(()) };
    let unknown = message!(
        "unknown_host",
        "this hub has no host name '{name}'; its operator can add it, as in --public-url https://play.example.org",
        name = printable_header(name)
    );
    resources.callers.complain(RefusalKind::Name, &unknown.to_string());
    Err(Box::new(counted(RefusalKind::Name, error(StatusCode::MISDIRECTED_REQUEST, &unknown))))
}

/// The only layer of read-only pages.
pub(super) async fn named(State(resources): State<Arc<Resources>>, request: Request, next: Next) -> Response {
    match check_name(&resources, &request) {
        Ok(()) => in_time(next.run(request)).await,
        Err(response) => *response,
    }
}

/// Rejects banned hosts, hosts that exceed their rate, and changes that pages of other sites request.
pub(super) fn check(hub: &Hub, request: &Request) -> Result<(), Box<Response>> {
    let callers = &hub.resources().callers;
    let caller = of(request.extensions(), request.headers(), callers);
    if hub.bans().has(caller.host()) {
        return Err(Box::new(counted(
            RefusalKind::Banned,
            error(StatusCode::FORBIDDEN, &RefusalKind::Banned.message()),
        )));
    }
    if let Some(wait) = wait(hub, caller.host(), request) {
        let response = error(StatusCode::TOO_MANY_REQUESTS, &RefusalKind::Requests.message());
        return Err(Box::new(later(counted(RefusalKind::Requests, response), wait.as_secs().saturating_add(1))));
    }
    if request.method().is_safe() {
        return Ok(());
    }
    same_origin(request.extensions(), request.headers(), callers).map_err(Box::new)
}

// The delay until a request of a host that exceeds its rate. Frames count for their stream instead, as those of a WebSocket.
fn wait(hub: &Hub, host: HostId, request: &Request) -> Option<Duration> {
    let path = request.uri().path();
    let cost = match path {
        event_stream::PATH => {
            let streams = request.extensions().get::<Arc<EventStreams>>();
            if let Some(charged) = streams.and_then(|streams| streams.charge(request.headers(), host)) {
                return charged.err();
            }
            // The node of the stream rejects excess frames.
            if event_stream::node_of(request.headers()).is_some() { callers::FRAMES } else { callers::REQUEST }
        }
        _ if page::is_file(path) => callers::FILE,
        _ => callers::REQUEST,
    };
    // Requests of a class are charged to the browser.
    let code = class_code(request.headers()).filter(|_| path.starts_with("/api/class"));
    let in_class = code.zip(bearer(request.headers())).and_then(|(code, token)| {
        let key = KeyHash::of(token).map(|key| key.0);
        hub.class_caller(code, token, key.as_ref())
    });
    hub.resources().callers.request(in_class.unwrap_or(host), cost)
}

/// The token in the header `Authorization`.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let shown = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    shown.strip_prefix("Bearer ").map(str::trim)
}

/// The code in the header `Class-Code`.
pub(super) fn class_code(headers: &HeaderMap) -> Option<&str> {
    headers.get("class-code")?.to_str().ok()
}

// The origin must be that of a public URL, or match the host name in the request, which the hub must know. Programs other
// than browsers send no origin. A hub with TLS rejects pages without TLS, since they could be forged.
#[expect(clippy::result_large_err, reason = "it is sent at once")]
fn same_origin(extensions: &Extensions, headers: &HeaderMap, callers: &Callers) -> Result<(), Response> {
    let Some(origin) = headers.get(header::ORIGIN) else { return Ok(()) };
    // The forwarding node has checked this.
    if extensions.get::<Relayed>().is_some() {
        return Ok(());
    }
    let host = headers.get(header::HOST).map_or(&[][..], header::HeaderValue::as_bytes);
    let text = origin.to_str().unwrap_or_default();
    let is_public = callers.names.public.iter().any(|url| url.origin() == text);
    let is_same = is_public
        || text.split_once("://").is_some_and(|(scheme, authority)| {
            let port = if scheme == "https" { ":443" } else { ":80" };
            let name = str::from_utf8(host).unwrap_or_default();
            let is_good = scheme == "https" || !is_secure(extensions, headers, callers);
            is_good && name.strip_suffix(port).unwrap_or(name).eq_ignore_ascii_case(authority)
        });
    if is_same {
        return Ok(());
    }
    let text = format!(
        "rejected a request of a page at '{}' to the hub as '{}'; if the page belongs to the hub, its reverse proxy \
         must forward Host unchanged, with the port (nginx: proxy_set_header Host $http_host)",
        printable_header(origin.as_bytes()),
        printable_header(host)
    );
    callers.complain(RefusalKind::Origin, &text);
    Err(counted(RefusalKind::Origin, error(StatusCode::FORBIDDEN, &RefusalKind::Origin.message())))
}

// Escapes a sent value for a log or an error.
fn printable_header(sent: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(sent).chars().take(MAX_SHOWN).collect();
    start.escape_debug().to_string()
}
