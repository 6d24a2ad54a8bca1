use axum::{extract::DefaultBodyLimit, middleware, routing::post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::*;
use crate::{
    hub::{
        callers::Callers,
        host_names::HostNames,
        resources::{MAX_BODY, MAX_CONNECTIONS, MAX_HANDSHAKES, Settings},
    },
    web::{answers, progress},
};

/// Longer than anything here may take; the clock is not the real one.
const FOR_EVER: Duration = Duration::from_hours(1);
const LARGE: usize = 4 << 20;

fn server() -> Server {
    server_with(None)
}

fn server_with(tls: Option<Arc<Tls>>) -> Server {
    let resources = Resources::new(&Settings::default(), Callers::new(vec![], HostNames::default()));
    let large = || async { "x".repeat(LARGE) };
    let router = Router::new()
        .route("/echo", post(async |body: String| body))
        .route("/large", axum::routing::get(large))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(middleware::from_fn(in_time))
        .layer(middleware::from_fn_with_state(Arc::clone(&resources), answers::account));
    Server::new(resources, router, tls)
}

fn connect(server: &Server) -> DuplexStream {
    connect_from(server, 1)
}

fn connect_from(server: &Server, host: u8) -> DuplexStream {
    let (here, there) = duplex(1 << 10);
    server.open(there, SocketAddr::from(([10, 0, 0, host], 5)), None);
    here
}

async fn rest(stream: &mut DuplexStream) -> String {
    let mut text = String::new();
    timeout(FOR_EVER, stream.read_to_string(&mut text)).await.expect("the connection is not closed").unwrap();
    text
}

#[tokio::test(start_paused = true)]
async fn half_a_head_and_silence_between_requests_end_a_connection() {
    let server = server();
    let mut half = connect(&server);
    half.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nX-Slow: ").await.unwrap();
    assert_eq!(rest(&mut half).await, "");
    let mut idle = connect(&server);
    idle.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
    assert!(rest(&mut idle).await.ends_with("\r\n\r\nhi"));
    assert!(server.ends.receiver_count() == 0 && server.resources.connection(([10, 0, 0, 1], 5).into()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_and_an_answer_that_nobody_takes_end_a_connection() {
    let server = server();
    let mut half = connect(&server);
    half.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf").await.unwrap();
    assert!(rest(&mut half).await.starts_with("HTTP/1.1 408 "));
    let mut deaf = connect(&server);
    deaf.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n").await.unwrap();
    timeout(FOR_EVER, server.ends.closed()).await.expect("the connection is not closed");
    assert!(rest(&mut deaf).await.len() <= 1 << 10, "only what was under way");
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_reads_are_few_and_go_after_a_while() {
    let server = server();
    let ask = b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let mut deaf: Vec<_> = (0..256).map(|_| connect(&server)).collect();
    let mut refused = 0;
    for stream in &mut deaf {
        stream.write_all(ask).await.unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).await.unwrap();
        if &start == b"HTTP/1.1 503" {
            let answer = rest(stream).await;
            assert!(answer.contains("retry-after: 5") && answer.contains("not read yet"), "{answer}");
            refused += 1;
        }
    }
    assert_eq!((refused, server.resources.answers.taken()), (256 - 8, 8 * LARGE), "half of 64 MB");
    let mut innocent = connect_from(&server, 2);
    innocent.write_all(ask).await.unwrap();
    assert!(rest(&mut innocent).await.len() > LARGE);
    // Their connections end, and what they held is free.
    tokio::time::sleep(2 * progress::PATIENCE).await;
    assert_eq!(server.resources.answers.taken(), 0);
    for stream in &mut deaf {
        rest(stream).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_read_slowly_arrives() {
    let server = server();
    let mut slow = connect(&server);
    slow.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut read = 0;
    loop {
        let mut piece = vec![0; 16 << 10];
        let length = slow.read(&mut piece).await.unwrap();
        read += length;
        if length == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert!(read > LARGE, "{read}");
    assert_eq!(server.resources.answers.taken(), 0);
}

#[tokio::test(start_paused = true)]
async fn bodies_that_do_not_come_are_few() {
    let server = server();
    let mut half: Vec<_> = (0..600).map(|_| connect(&server)).collect();
    for stream in &mut half {
        stream.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf").await.unwrap();
    }
    let answer = rest(&mut half[599]).await;
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after:"), "{answer}");
    assert_eq!(server.resources.bodies.taken(), 512);
    let mut innocent = connect_from(&server, 2);
    innocent
        .write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        .await
        .unwrap();
    assert!(rest(&mut innocent).await.ends_with("hi"));
    let mut long = connect_from(&server, 3);
    long.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n").await.unwrap();
    let piece = format!("400\r\n{}\r\n", "x".repeat(1 << 10));
    for _ in 0..16 {
        long.write_all(piece.as_bytes()).await.unwrap();
    }
    long.write_all(b"1\r\nx\r\n").await.unwrap();
    let mut answer = [0; 12];
    long.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test(start_paused = true)]
async fn a_host_with_too_many_connections_is_told_so() {
    let server = server();
    let mut held: Vec<_> = (0..MAX_CONNECTIONS / 2).map(|_| connect(&server)).collect();
    let request = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";
    let mut refused = connect(&server);
    refused.write_all(request).await.unwrap();
    let answer = rest(&mut refused).await;
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("connection: close"), "{answer}");
    assert!(answer.contains("retry-after: 30") && answer.contains("close some pages"), "{answer}");
    // Those that are open work, and one that ends makes room.
    held[0].write_all(request).await.unwrap();
    let mut answer = [0; 12];
    held[0].read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert!(rest(&mut held[0]).await.ends_with("hi"));
    assert!(server.resources.connection(([10, 0, 0, 1], 5).into()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn at_the_end_idle_connections_close_and_answers_are_finished() {
    let server = server();
    let (mut idle, mut busy) = (connect(&server), connect(&server));
    busy.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh").await.unwrap();
    let finish = tokio::spawn(server.finish());
    assert_eq!(rest(&mut idle).await, "");
    busy.write_all(b"i").await.unwrap();
    assert!(rest(&mut busy).await.ends_with("hi"));
    timeout(FOR_EVER, finish).await.unwrap().unwrap();
}

// A server with a certificate of its own.
fn secure_server() -> Server {
    let folder = testkit::TempDir::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = folder.file("certificate.pem", made.cert.pem()).into();
    let key = folder.file("key.pem", made.signing_key.serialize_pem()).into();
    server_with(Some(Arc::new(Tls::open(tls::Files { certificate, key }, vec![]).unwrap())))
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_does_not_come_ends_a_connection() {
    let server = secure_server();
    let start = tokio::time::Instant::now();
    let mut silent = connect(&server);
    assert_eq!(rest(&mut silent).await, "");
    // The head of a record with a ClientHello, and no more.
    let mut half = connect(&server);
    half.write_all(&[0x16, 3, 1, 0, 200, 1, 0, 0, 196]).await.unwrap();
    assert_eq!(rest(&mut half).await, "");
    let took = start.elapsed();
    assert!(took >= 2 * tls::HANDSHAKE && took < 3 * tls::HANDSHAKE, "{took:?}");
    // What is no handshake is told so at once, by an alert.
    let mut junk = connect(&server);
    junk.write_all(&[0x16, 3, 1, 0, 4, 99, 0, 0, 0]).await.unwrap();
    let mut alert = vec![];
    timeout(tls::HANDSHAKE / 2, junk.read_to_end(&mut alert)).await.unwrap().unwrap();
    assert_eq!(alert[0], 21);
}

#[tokio::test(start_paused = true)]
async fn handshakes_of_one_host_are_few_at_a_time_and_are_charged_like_requests() {
    let server = secure_server();
    let refused = |kind: &str| server.resources.refusals.all().find(|(name, _)| *name == kind).unwrap().1;
    let mut silent: Vec<_> = (0..=MAX_HANDSHAKES / 2).map(|_| connect(&server)).collect();
    assert_eq!(rest(silent.last_mut().unwrap()).await, "");
    assert_eq!((refused("handshakes"), refused("requests")), (1, 0));
    // Another host is served, which here begins without TLS.
    let ask = b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    let mut innocent = connect_from(&server, 2);
    innocent.write_all(ask).await.unwrap();
    let mut answer = [0; 12];
    innocent.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    // Handshakes that fail are charged all the same.
    for _ in 0..600 {
        drop(connect_from(&server, 3));
        tokio::task::yield_now().await;
    }
    assert_eq!((refused("handshakes"), refused("requests")), (1, 0));
    for _ in 0..2_000 {
        drop(connect_from(&server, 3));
        tokio::task::yield_now().await;
    }
    assert!(refused("requests") > 100, "{}", refused("requests"));
}
