//! Who makes a request, and whether it may.

use std::{convert::Infallible, net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, FromRequestParts, Request, State},
    http::{HeaderMap, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use netcore::HostId;

use super::{answer::error, assets};
use crate::hub::{
    Hub,
    limits::{self, Place},
};

/// The client that makes a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller(pub(crate) SocketAddr);

impl Caller {
    /// Its host.
    pub(crate) fn host(self) -> HostId {
        self.0.into()
    }
}

impl FromRequestParts<Arc<Hub>> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Infallible> {
        Ok(of(parts.extensions.get::<ConnectInfo<SocketAddr>>(), &parts.headers, hub))
    }
}

/// Leave to open a socket: the request comes from a page of this hub, and its host may have one more socket.
#[derive(Debug)]
pub(crate) struct SocketPermit {
    pub(crate) caller: Caller,
    /// Held as long as the socket is open.
    pub(crate) place: Place,
}

impl FromRequestParts<Arc<Hub>> for SocketPermit {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Response> {
        if !is_same_origin(&parts.headers) {
            return Err((StatusCode::FORBIDDEN, "Pages of other sites may not do this.\n").into_response());
        }
        let caller = of(parts.extensions.get::<ConnectInfo<SocketAddr>>(), &parts.headers, hub);
        let place = hub.limits().socket(caller.host()).ok_or_else(|| {
            error(StatusCode::TOO_MANY_REQUESTS, "too many sockets from your address are open; close some pages")
        })?;
        Ok(Self { caller, place })
    }
}

fn of(connection: Option<&ConnectInfo<SocketAddr>>, headers: &HeaderMap, hub: &Hub) -> Caller {
    let peer = connection.map_or_else(|| SocketAddr::from(([0; 4], 0)), |ConnectInfo(peer)| *peer);
    // A proxy may append a line of its own, and a client may send bytes that are not ASCII; neither may hide the last entry.
    let lines = headers.get_all("x-forwarded-for").iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
    let forwarded = lines.collect::<Vec<_>>().join(",");
    Caller(hub.limits().client(peer, Some(&forwarded)))
}

/// Turns away hosts that are banned or ask too often.
pub(crate) async fn admit(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let caller = of(request.extensions().get(), request.headers(), &hub);
    if hub.bans().has(caller.host()) {
        return error(StatusCode::FORBIDDEN, "the host of this hub has banned your address");
    }
    let cost = if assets::is_file(request.uri().path()) { limits::FILE } else { limits::REQUEST };
    if let Some(wait) = hub.limits().request(caller.host(), cost) {
        let seconds = wait.as_secs().saturating_add(1).to_string();
        return (
            [(header::RETRY_AFTER, seconds)],
            error(StatusCode::TOO_MANY_REQUESTS, "too many requests; wait a moment"),
        )
            .into_response();
    }
    // Pages of other sites must not change anything here in the name of their visitors.
    if !request.method().is_safe() && !is_same_origin(request.headers()) {
        return error(StatusCode::FORBIDDEN, "pages of other sites may not do this");
    }
    next.run(request).await
}

/// Whether a request to open a socket comes from a page of this hub. Programs other than browsers send no origin.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    origin.is_some() && origin == host
}
