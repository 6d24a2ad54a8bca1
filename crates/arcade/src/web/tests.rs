use std::net::SocketAddr;

use axum::{body::Body, extract::ConnectInfo, http::Request};
use futures_util::FutureExt as _;
use netcore::HostId;
use testkit::{PATIENCE, TempDir};
use tokio::time::timeout;
use tower::ServiceExt as _;

use super::*;
use crate::hub::tests::hub;

fn peer(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5))
}

async fn get(hub: Arc<Hub>, from: u8, path: &str) -> Response {
    let mut request = Request::get(path).header("Host", "localhost").body(Body::empty()).unwrap();
    request.extensions_mut().insert(ConnectInfo(peer(from)));
    router(hub).oneshot(request).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn queries_are_bounded_and_hosts_take_turns() {
    let data = TempDir::new();
    let (hub, _rooms) = hub(&data);
    hub.results().prepared().await;
    let queries = &hub.resources().queries;
    let greedy = HostId::from(peer(1));
    let held: Vec<_> = [1, 1, 2, 3].iter().filter_map(|&host| queries.take(peer(host).into(), 1).ok()).collect();
    assert_eq!(held.len(), 4, "half of them are of one host");
    // The queue of this host is full.
    let mut waiting: Vec<_> = (0..128).map(|_| Box::pin(queries.wait(greedy))).collect();
    assert!(waiting.iter_mut().all(|waiter| waiter.as_mut().now_or_never().is_none()));
    let refused = timeout(PATIENCE, get(Arc::clone(&hub), 1, "/api/matches")).await.unwrap();
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key(header::RETRY_AFTER));
    // Another host waits for one turn only.
    let innocent = tokio::spawn(get(Arc::clone(&hub), 4, "/api/matches"));
    let other = tokio::spawn(get(Arc::clone(&hub), 5, "/api/players/Ann"));
    drop(held);
    assert_eq!(timeout(PATIENCE, innocent).await.unwrap().unwrap().status(), StatusCode::OK);
    assert_eq!(timeout(PATIENCE, other).await.unwrap().unwrap().status(), StatusCode::NOT_FOUND);
    drop(waiting);
    assert_eq!(queries.in_use(), 0);
}
