use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::json;

use super::response::{error, in_time, missing};
use crate::{
    hub::{Hub, metrics},
    message::message,
};

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/healthz", get(health)).route("/readyz", get(ready)).route("/metrics", get(numbers))
}

async fn health() -> Response {
    Json(json!({ "status": "ok" })).into_response()
}

/// Not ready if the hub is ending, its disk fails, or other nodes may take its rooms. An outage of a shared dependency
/// only degrades it: otherwise a load balancer would remove all nodes at once.
async fn ready(State(hub): State<Arc<Hub>>) -> Response {
    let health = hub.results().health();
    let is_shared = hub.results().store.is_server();
    let fleet = hub.cluster().map(|cluster| &cluster.fleet);
    let (status, text) = if hub.rooms.is_draining() {
        (StatusCode::SERVICE_UNAVAILABLE, "draining")
    } else if health.error.is_some() && !is_shared {
        (StatusCode::SERVICE_UNAVAILABLE, "results are not stored")
    } else if fleet.is_some_and(|fleet| !fleet.copies.may_publish()) {
        let text = "the directory of the arcade does not answer, and another hub may have the rooms of this one, which stand still";
        (StatusCode::SERVICE_UNAVAILABLE, text)
    } else if hub.rooms.is_stalled() {
        (StatusCode::SERVICE_UNAVAILABLE, "journals are not written")
    // A journal stays cut after the disk has recovered.
    } else if hub.rooms.has_cut_journal() && !hub.disk_works().await {
        (StatusCode::SERVICE_UNAVAILABLE, "the disk is full or fails, and some matches have no journal")
    } else {
        (StatusCode::OK, "ready")
    };
    let dependencies = [
        ("database", health.error.is_some() && is_shared),
        ("brokers", fleet.is_some_and(|fleet| !fleet.is_present())),
    ];
    let degraded: Vec<_> = dependencies.iter().filter(|(_, is_away)| *is_away).map(|(name, _)| name).collect();
    let results = json!({ "waiting": health.waiting, "stored": health.stored, "error": health.error.map(|error| error.to_string()) });
    let (rooms, running, sockets) = (hub.rooms.counts(), hub.rooms.running(), hub.resources().sockets());
    (
        status,
        Json(json!({
            "status": text,
            "degraded": degraded,
            "rooms": rooms,
            "running": running,
            "sockets": sockets,
            "results": results,
        })),
    )
        .into_response()
}

/// Only for programs on this machine. A header reveals a proxy in between.
async fn numbers(
    State(hub): State<Arc<Hub>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
) -> Response {
    if !is_local(peer, &headers) {
        let local = message!(
            "local_only",
            "metrics are for programs on the machine of the hub; --metrics serves them to others"
        );
        return error(StatusCode::FORBIDDEN, &local);
    }
    all_numbers(State(hub), headers).await
}

fn is_local(peer: SocketAddr, headers: &HeaderMap) -> bool {
    let is_forwarded = ["forwarded", "x-forwarded-for", "x-real-ip"].iter().any(|name| headers.contains_key(*name));
    peer.ip().to_canonical().is_loopback() && !is_forwarded
}

pub(crate) fn only_numbers(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/metrics", get(all_numbers))
        .fallback(async || missing())
        .layer(middleware::from_fn(async |request, next: Next| in_time(next.run(request)).await))
        .with_state(hub)
}

async fn all_numbers(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|accepts| accepts.to_str().ok());
    let is_open = accepts.into_iter().any(|accepts| accepts.contains("application/openmetrics-text"));
    let cluster = hub.cluster().map(Arc::as_ref);
    let health = hub.results().health();
    let open_metrics = hub.metrics().scrape(&hub.rooms, &health, hub.resources(), cluster, hub.ladders());
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
    use journal_core::{MAX_SIZE, Scribe, SyncPolicy, Writing};
    use testkit::{
        TempDir,
        disk::{Fault, SimulatedDisk},
        peer::Peer,
    };

    use super::*;
    use crate::hub::tests::hub_with;

    #[tokio::test(flavor = "multi_thread")]
    async fn hub_is_not_ready_while_players_wait_for_its_disk() {
        let (data, scribe) = (TempDir::new(), Scribe::by_hand());
        let disk = Arc::new(SimulatedDisk::new());
        let writing = Writing { disk, scribe: scribe.clone(), sync: SyncPolicy::Interval, max: MAX_SIZE, copy: None };
        let (hub, [room, _]) = hub_with(&data, writing);
        let answers = async |expected: StatusCode| {
            let status = async || ready(State(Arc::clone(&hub))).await.status();
            testkit::poll_until(expected.as_str(), async || (status().await == expected).then_some(())).await;
        };
        answers(StatusCode::OK).await;
        let ann = Peer::new(room.address);
        ann.send("PLAY Ann");
        answers(StatusCode::SERVICE_UNAVAILABLE).await;
        assert!(ann.pending().is_empty());
        while scribe.write() {}
        ann.expect("OK A");
        answers(StatusCode::OK).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn hub_is_not_ready_while_its_disk_is_full() {
        let (data, scribe) = (TempDir::new(), Scribe::by_hand());
        let disk = Arc::new(SimulatedDisk::new());
        let shared = Arc::clone(&disk);
        let writing =
            Writing { disk: shared, scribe: scribe.clone(), sync: SyncPolicy::Interval, max: MAX_SIZE, copy: None };
        let (hub, [room, _]) = hub_with(&data, writing);
        let status = async || ready(State(Arc::clone(&hub))).await.status();
        disk.set_fault(Some(Fault::Full(0)));
        let ann = Peer::new(room.address);
        ann.send("PLAY Ann");
        testkit::poll_until("the journal is cut", async || {
            scribe.write();
            hub.rooms.has_cut_journal().then_some(())
        })
        .await;
        // The match continues without its journal.
        ann.expect("OK A");
        assert_eq!(status().await, StatusCode::SERVICE_UNAVAILABLE);
        disk.set_fault(None);
        assert_eq!(status().await, StatusCode::OK);
    }

    #[test]
    fn metrics_are_for_this_machine_only() {
        let allows = |peer: &str, header: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(name) = header {
                headers.insert(name, HeaderValue::from_static("127.0.0.1"));
            }
            is_local(peer.parse().unwrap(), &headers)
        };
        assert!(allows("127.0.0.1:5", None) && allows("[::1]:5", None) && allows("[::ffff:127.0.0.1]:5", None));
        assert!(!allows("10.0.0.1:5", None) && !allows("[2001:db8::1]:5", None));
        for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            assert!(!allows("127.0.0.1:5", Some(header)), "{header}");
        }
    }
}
