//! The web server: the page, its sockets, and the interface for programs.

mod address;
mod answer;
mod answers;
mod api;
mod asides;
mod assets;
mod beats;
mod caller;
pub(crate) mod connections;
mod devices;
mod feed;
pub(crate) mod film;
mod follow;
pub(crate) mod health;
mod join;
mod ladder_api;
mod ladder_socket;
mod leaders;
mod learn;
mod live;
mod names;
mod owner_api;
mod paced;
mod page;
mod progress;
mod promise;
mod pump;
mod relay;
mod reports;
mod room_api;
mod share;
mod socket;
pub(crate) mod tls;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::DefaultBodyLimit,
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};

use self::{answer::missing, page::Page};
use crate::hub::{Hub, resources::MAX_BODY};

/// What pages may load and do: everything from here and nothing from elsewhere, and no script in the page itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The routes.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    let page = Page::of(hub.lists(), hub.rooms_are_here());
    let router = Router::new()
        .route("/", get(shown))
        .route("/rooms/{id}", get(shown))
        .route("/players", get(shown))
        .route("/ladder", get(shown))
        .route("/mastermind", get(shown))
        .route("/learn", get(shown))
        .route("/players/{name}", get(shown))
        .route("/players/{name}/against/{other}", get(shown))
        .route("/js/{*path}", get(asset))
        .route("/style/{*path}", get(asset))
        .route("/text/{*path}", get(asset))
        .route("/icon.svg", get(asset))
        .route("/manifest.webmanifest", get(asset))
        .route("/live", get(live::live))
        .route("/rooms/{id}/socket", get(socket::socket))
        .route("/rooms/{id}/feed", get(feed::feed))
        .merge(address::routes())
        .merge(health::routes())
        .merge(room_api::routes())
        .merge(owner_api::routes())
        .merge(join::routes())
        .merge(share::routes())
        .merge(api::routes())
        .merge(devices::routes())
        .merge(reports::routes())
        .merge(leaders::routes())
        .merge(ladder_api::routes())
        .merge(ladder_socket::routes())
        .merge(learn::routes())
        .merge(promise::routes())
        .fallback(not_found);
    // Without other nodes a request costs nothing more.
    let is_node = hub.elsewhere().is_some();
    let router = if is_node {
        let relayed = middleware::from_fn_with_state(Arc::clone(&hub), relay::elsewhere);
        router.layer(relayed).layer(middleware::from_fn_with_state(Arc::clone(&hub), follow::elsewhere))
    } else {
        router
    };
    let router = router
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(connections::in_time))
        .layer(middleware::from_fn_with_state(Arc::clone(hub.resources()), answers::account))
        .layer(middleware::from_fn(tls::elsewhere))
        .layer(middleware::from_fn_with_state(Arc::clone(&hub), caller::admit))
        .layer(middleware::from_fn_with_state(Arc::clone(hub.resources()), caller::named))
        .layer(middleware::from_fn_with_state(Arc::clone(&hub), health::observe));
    let router =
        if is_node { router.layer(middleware::from_fn_with_state(Arc::clone(&hub), relay::recognize)) } else { router };
    router.layer(middleware::from_fn(headers)).layer(Extension(page)).with_state(hub)
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
async fn not_found(page: Extension<Arc<Page>>, headers: HeaderMap) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|accepts| accepts.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/html") {
        return (StatusCode::NOT_FOUND, shown(page, headers).await).into_response();
    }
    missing()
}

async fn asset(uri: Uri, headers: HeaderMap) -> Response {
    assets::file(uri.path().trim_start_matches('/'), &headers)
}

/// The one page of the hub.
async fn shown(Extension(page): Extension<Arc<Page>>, headers: HeaderMap) -> Response {
    page.answer(&headers).unwrap_or_else(missing)
}

#[cfg(test)]
mod tests;
