use std::net::SocketAddr;

use axum::{body::Body, extract::ConnectInfo, http::Request};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::FutureExt as _;
use netcore::HostId;
use serde_json::json;
use store::Claim;
use testkit::{PATIENCE, TempDir};
use tokio::time::timeout;
use tower::ServiceExt as _;

use super::{names::KeyHash, *};
use crate::hub::tests::hub;

fn peer(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5))
}

async fn get(hub: Arc<Hub>, from: u8, path: &str) -> Response {
    send(hub, from, Request::get(path).header("Host", "localhost").body(Body::empty()).unwrap()).await
}

async fn send(hub: Arc<Hub>, from: u8, mut request: Request<Body>) -> Response {
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

#[tokio::test(flavor = "multi_thread")]
async fn owned_names_of_an_earlier_version_stay_valid() {
    let data = TempDir::new();
    let (hub, _rooms) = hub(&data);
    hub.results().prepared().await;
    let [own, other] = [1, 2].map(|byte| URL_SAFE_NO_PAD.encode([byte; 32]));
    let claim = async |name: &str, key: &str| {
        let request =
            Request::post("/api/names").header("Host", "localhost").header("Content-Type", "application/json");
        let body = format!(r#"{{"name":{name},"key":"{key}"}}"#);
        send(Arc::clone(&hub), 1, request.body(body.into()).unwrap()).await.status()
    };
    for name in [&"x".repeat(64), "Half \u{1f1f5}", "z\u{316}\u{317}\u{318}\u{319}\u{31c}", ".."] {
        let json = json!(name).to_string();
        assert_eq!(claim(&json, &own).await, StatusCode::BAD_REQUEST, "{name}");
        let hash = KeyHash::of(&own).unwrap();
        assert_eq!(hub.results().store.claim(name, &hash.0, 1).await.unwrap(), Claim::Own, "{name}");
        assert_eq!(claim(&json, &own).await, StatusCode::NO_CONTENT, "{name}");
        assert_eq!(claim(&json, &other).await, StatusCode::BAD_REQUEST, "{name}");
    }
    for name in ["Łukasz", "שרה", "🎲"] {
        assert_eq!(claim(&json!(name).to_string(), &other).await, StatusCode::NO_CONTENT, "{name}");
    }
    for half in [r#""A\ud83c""#, r#""\udfb2A""#] {
        assert!(claim(half, &other).await.is_client_error(), "{half}");
    }
}
