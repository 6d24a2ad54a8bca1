use std::net::SocketAddr;

use axum::{
    body::{Body, BodyDataStream},
    extract::ConnectInfo,
    http::{HeaderName, Request},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::{FutureExt as _, StreamExt as _};
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

// Returns the name of a new event stream of the lobby, and its further events.
async fn event_stream(router: &Router) -> (String, BodyDataStream) {
    let mut request = Request::get("/live").header("Host", "localhost").header("Arcade-Stream", "open");
    request.extensions_mut().unwrap().insert(ConnectInfo(peer(1)));
    let response = router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut events = response.into_body().into_data_stream();
    let first = next_event(&mut events).await;
    let name = first.strip_prefix("event: open\ndata: ").unwrap();
    (serde_json::from_str(name).unwrap(), events)
}

async fn next_event(events: &mut BodyDataStream) -> String {
    let event = timeout(PATIENCE, events.next()).await.unwrap().unwrap().unwrap();
    String::from_utf8(event.to_vec()).unwrap()
}

async fn post_frames(router: &Router, from: u8, headers: &[(&str, &str)], body: String) -> (StatusCode, String) {
    let mut request = Request::post("/frames").header("Host", "localhost");
    for (name, value) in [("Content-Type", "application/json")].iter().chain(headers) {
        request.headers_mut().unwrap().insert(HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    request.extensions_mut().unwrap().insert(ConnectInfo(peer(from)));
    let response = router.clone().oneshot(request.body(Body::from(body)).unwrap()).await.unwrap();
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn event_stream_carries_the_lobby() {
    let data = TempDir::new();
    let (hub, _rooms) = hub(&data);
    let router = router(Arc::clone(&hub));
    let (name, mut events) = event_stream(&router).await;
    assert_eq!(hub.resources().sockets(), 1);
    let of = [("Arcade-Stream", &*name)];
    let look = |first: u64| json!({ "first": first, "frames": [r#"{"look":{}}"#] }).to_string();
    // A repeated frame is taken once, also from concurrent POSTs.
    let posts = (0..8).map(|_| {
        tokio::spawn({
            let (router, name) = (router.clone(), name.clone());
            async move { post_frames(&router, 1, &[("Arcade-Stream", &name)], look(0)).await }
        })
    });
    for post in posts.collect::<Vec<_>>() {
        assert_eq!(post.await.unwrap(), (StatusCode::OK, r#"{"next":1}"#.to_owned()));
    }
    while !next_event(&mut events).await.contains(r#"\"total\":0"#) {}
    for (from, headers) in
        [(2, &of[..]), (1, &[]), (1, &[("Arcade-Stream", "open")]), (1, &[("Arcade-Stream", "AAAAAAAAAAAAAAAAAAAAAA")])]
    {
        assert_eq!(post_frames(&router, from, headers, look(1)).await.0, StatusCode::NOT_FOUND, "{headers:?}");
    }
    let evil = [of[0], ("Origin", "http://evil.example")];
    assert_eq!(post_frames(&router, 1, &evil, look(1)).await.0, StatusCode::FORBIDDEN);
    let plain = [of[0], ("Content-Type", "text/plain")];
    assert!(post_frames(&router, 1, &plain, look(1)).await.0.is_client_error());
    assert_eq!(post_frames(&router, 1, &of, " ".repeat(MAX_BODY + 1)).await.0, StatusCode::PAYLOAD_TOO_LARGE);
    let answers = futures_util::future::join_all((0..100).map(|_| post_frames(&router, 1, &of, look(0)))).await;
    assert!(answers.iter().any(|(status, _)| *status == StatusCode::TOO_MANY_REQUESTS));
    assert_eq!(get(Arc::clone(&hub), 1, "/api/rooms").await.status(), StatusCode::OK);
    drop(events);
    let ended = async {
        while hub.resources().sockets() > 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, ended).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn too_long_frame_ends_an_event_stream() {
    let data = TempDir::new();
    let (hub, _rooms) = hub(&data);
    let router = router(hub);
    let (name, mut events) = event_stream(&router).await;
    let long = json!({ "first": 0, "frames": ["x".repeat(1025)] }).to_string();
    assert_eq!(post_frames(&router, 1, &[("Arcade-Stream", &name)], long).await.0, StatusCode::NOT_FOUND);
    while timeout(PATIENCE, events.next()).await.unwrap().is_some() {}
}
