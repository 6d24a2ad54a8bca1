//! The web server. A request passes four layers: [`observe`] counts it and sets headers, [`admit`] checks its caller,
//! [`limits::account`] bounds its time and memory, and [`relay`] forwards it to the hub of its room.

mod api;
mod caller;
mod classes;
pub(crate) mod connections;
mod daily;
mod devices;
mod event_stream;
mod feed;
pub(crate) mod film;
pub(crate) mod health;
mod keepalive;
mod ladder;
mod leaders;
mod learn;
mod limits;
mod live;
mod names;
mod page;
mod page_socket;
mod relay;
mod reports;
mod response;
mod room_api;
mod share;
mod socket;
pub(crate) mod tls;

use std::{sync::Arc, time::Instant};

use axum::{
    Extension, Router,
    extract::{DefaultBodyLimit, MatchedPath, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::get,
};

use self::{event_stream::EventStreams, page::Page, response::missing};
use crate::hub::{Hub, resources::MAX_BODY};

/// Pages load only resources of this hub, and have no inline scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; \
                      connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

pub(crate) fn router(hub: Arc<Hub>) -> Router {
    let public = hub.resources().callers.names.public.first().cloned();
    let settings = page::Settings {
        rooms_are_here: hub.rooms_are_here(),
        examples: hub.examples,
        has_ladder: hub.ladders().is_some(),
        public,
    };
    let page = Page::of(hub.lists(), settings);
    let router = Router::new()
        .route("/", get(serve_page))
        .route("/rooms/{id}", get(serve_page))
        .route("/class", get(serve_page))
        .route("/players", get(serve_page))
        .route("/ladder", get(serve_page))
        .route("/mastermind", get(serve_page))
        .route("/daily/{game}", get(serve_page))
        .route("/learn", get(serve_page))
        .route("/players/{name}", get(serve_page))
        .route("/players/{name}/against/{other}", get(serve_page))
        .route("/js/{*path}", get(asset))
        .route("/style/{*path}", get(asset))
        .route("/text/{*path}", get(asset))
        .route("/icon.svg", get(asset))
        .route("/icon-180.png", get(asset))
        .route("/icon-512.png", get(asset))
        .route("/manifest.webmanifest", get(asset))
        .route("/live", get(live::live))
        .route("/rooms/{id}/socket", get(socket::socket))
        .route("/rooms/{id}/feed", get(feed::feed))
        .merge(page_socket::routes())
        .merge(health::routes())
        .merge(room_api::routes())
        .merge(classes::routes())
        .merge(share::routes())
        .merge(api::routes())
        .merge(devices::routes())
        .merge(reports::routes())
        .merge(leaders::routes())
        .merge(ladder::routes())
        .merge(daily::routes())
        .merge(learn::routes())
        .merge(relay::routes())
        .fallback(not_found);
    let state = || Arc::clone(&hub);
    let router = if hub.cluster().is_some() {
        router
            .layer(from_fn_with_state(state(), relay::forward_to_owner))
            .layer(from_fn_with_state(state(), feed::watch_remote_room))
    } else {
        router
    };
    router
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(Arc::clone(hub.resources()), limits::account))
        .layer(from_fn_with_state(state(), admit))
        .layer(from_fn_with_state(state(), observe))
        .layer(Extension(page))
        .layer(Extension(EventStreams::new(hub.cluster().map(|cluster| cluster.fleet.name()))))
        .with_state(hub)
}

async fn observe(State(hub): State<Arc<Hub>>, request: Request, next: Next) -> Response {
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
    headers(response).await
}

async fn headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    // Browsers apply these to documents only. The page has some sixty scripts and style sheets.
    let is_part = |kind: &HeaderValue| {
        [&b"text/javascript"[..], b"text/css"].iter().any(|part| kind.as_bytes().starts_with(part))
    };
    if !headers.get(header::CONTENT_TYPE).is_some_and(is_part) {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    response
}

// Rejects foreign host names, banned hosts, excess requests, and requests that should have used TLS.
async fn admit(State(hub): State<Arc<Hub>>, mut request: Request, next: Next) -> Response {
    relay::recognize(&hub, &mut request);
    let refusal = caller::check_name(hub.resources(), &request)
        .and_then(|()| caller::check(&hub, &request))
        .and_then(|()| tls::check(&request, hub.resources().callers.names.base()));
    match refusal {
        Ok(()) => next.run(request).await,
        Err(response) => *response,
    }
}

async fn not_found(page: Extension<Arc<Page>>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") {
        return (StatusCode::NOT_FOUND, serve_page(page, headers).await).into_response();
    }
    missing()
}

async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    page::file(uri.path().trim_start_matches('/'), &headers)
}

async fn serve_page(Extension(page): Extension<Arc<Page>>, headers: HeaderMap) -> Response {
    page.answer(&headers).unwrap_or_else(missing)
}

#[cfg(test)]
mod tests;
