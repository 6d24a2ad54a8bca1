//! How the hub is doing, for programs that look after it.

use std::{net::SocketAddr, sync::Arc, time::Instant};

use axum::{
    Json, Router,
    extract::{ConnectInfo, MatchedPath, Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use super::{
    answer::{error, missing},
    caller, connections,
};
use crate::hub::{Hub, metrics};

/// The routes.
pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/healthz", get(health)).route("/readyz", get(ready)).route("/metrics", get(numbers))
}

/// Counts requests.
pub(crate) async fn observe(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("other", MatchedPath::as_str).to_owned();
    let method = match request.method().as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "DELETE" => "DELETE",
        _ => "other",
    };
    let start = Instant::now();
    let response = next.run(request).await;
    hub.metrics().answered(method, route, response.status().as_u16(), start.elapsed());
    if let Some(kind) = response.extensions().get() {
        hub.resources().refusals.count(*kind);
    }
    response
}

/// The process works: it answers.
async fn health() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

/// New rooms and players are welcome, or the process is about to end, or results wait for their database, or other nodes cannot be heard.
async fn ready(State(hub): State<Arc<Hub>>) -> Response {
    let health = hub.results().health();
    let (status, text) = if hub.rooms.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if health.error.is_some() {
        (StatusCode::SERVICE_UNAVAILABLE, "results are not stored")
    } else if hub.elsewhere().is_some_and(|elsewhere| !elsewhere.fleet.copies.may_tell()) {
        let text = "the directory of the arcade does not answer, and another hub may have the rooms of this one, which stand still";
        (StatusCode::SERVICE_UNAVAILABLE, text)
    } else if hub.elsewhere().is_some_and(|elsewhere| !elsewhere.fleet.is_present()) {
        (StatusCode::SERVICE_UNAVAILABLE, "the directory of the arcade does not answer")
    } else {
        (StatusCode::OK, "ready")
    };
    let results = json!({ "waiting": health.waiting, "stored": health.stored, "error": health.error.map(|error| error.to_string()) });
    let (rooms, running, sockets) = (hub.rooms.counts(), hub.rooms.running(), hub.resources().sockets());
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
    all_numbers(State(hub), headers).await
}

fn is_local(peer: SocketAddr, headers: &HeaderMap) -> bool {
    let is_forwarded = ["forwarded", "x-forwarded-for", "x-real-ip"].iter().any(|name| headers.contains_key(*name));
    peer.ip().to_canonical().is_loopback() && !is_forwarded
}

/// The routes of the address for the numbers only.
pub(crate) fn only_numbers(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/metrics", get(all_numbers))
        .fallback(async || missing())
        .layer(middleware::from_fn(connections::in_time))
        .layer(middleware::from_fn_with_state(Arc::clone(hub.resources()), caller::named))
        .with_state(hub)
}

async fn all_numbers(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|accepts| accepts.to_str().ok());
    let is_open = accepts.into_iter().any(|accepts| accepts.contains("application/openmetrics-text"));
    let elsewhere = hub.elsewhere().map(Arc::as_ref);
    let health = hub.results().health();
    let open_metrics = hub.metrics().scrape(&hub.rooms, &health, hub.resources(), elsewhere, hub.ladders());
    let (kind, text) = if is_open {
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", open_metrics)
    } else {
        ("text/plain; version=0.0.4; charset=utf-8", metrics::classic(&open_metrics))
    };
    ([(header::CONTENT_TYPE, kind), (header::VARY, "accept")], text).into_response()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

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
}
