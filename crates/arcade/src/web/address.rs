//! The address of this hub, as friends can open it.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{Extensions, HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde::Deserialize;
use serde_json::json;

use super::{answer::missing, caller::is_secure};
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
pub(super) fn shown(hub: &Hub, extensions: &Extensions, headers: &HeaderMap, path: &str) -> Option<String> {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let secure = is_secure(extensions, headers, &hub.resources().callers);
    Some(hub.address()?.for_friends(host, secure, path))
}

async fn address(
    State(hub): State<Arc<Hub>>,
    Query(Shown { path }): Query<Shown>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let open = hub.address().is_some_and(|address| address.friends.is_some());
    Json(json!({ "url": shown(&hub, &extensions, &headers, &path), "friends": open })).into_response()
}

async fn picture(State(hub): State<Arc<Hub>>, extensions: Extensions, headers: HeaderMap) -> Response {
    match shown(&hub, &extensions, &headers, "").and_then(|address| hub::address::picture(&address)) {
        Some(svg) => {
            ([(header::CONTENT_TYPE, "image/svg+xml"), (header::CACHE_CONTROL, "no-cache")], svg).into_response()
        }
        None => missing(),
    }
}
