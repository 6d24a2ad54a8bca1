//! The address of this hub, as friends can open it.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::{ConnectInfo, Query, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::json;

use super::answer::missing;
use crate::hub::{self, Hub};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/api/address", get(address)).route("/qr.svg", get(picture))
}

/// A page of the hub whose address is asked for.
#[derive(Debug, Deserialize)]
struct Shown {
    #[serde(default)]
    path: String,
}

/// The address that friends can open.
pub(super) fn shown(hub: &Hub, peer: SocketAddr, headers: &HeaderMap, path: &str) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let secure = hub.resources().callers.is_proxy(peer) && header("x-forwarded-proto") == Some("https");
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
    match shown(&hub, peer, &headers, &path).and_then(|address| hub::address::picture(&address)) {
        Some(svg) => {
            ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-cache")], svg).into_response()
        }
        None => missing(),
    }
}
