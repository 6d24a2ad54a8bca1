//! Connections to the page: how many there may be, and how long each may keep the hub waiting.
//!
//! A connection that becomes a WebSocket leaves this file: it has the limits of sockets from then on.

use std::{convert::Infallible, future::ready, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request, ws::WebSocketUpgrade},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
    serve::{Listener as _, ListenerExt as _},
};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use netshell::tune_stream;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{Semaphore, watch},
    time::timeout,
};
use tokio_io_timeout::TimeoutWriter;
use tower::ServiceExt as _;

use super::{
    answer::{error, later, refused},
    caller::Arrived,
    paced::Paced,
    progress::Progress,
};
use crate::hub::{refusal::Refusal, resources::Resources};

/// How long a client may take to send the head of a request, and how long a connection stays open between two requests.
pub(crate) const HEAD: Duration = Duration::from_secs(30);
/// How long a request may take from its head to the head of the answer, including what the client sends after the head.
const ANSWER: Duration = Duration::from_mins(1);
/// How long a client may take nothing of what is written to it.
pub(crate) const STALL: Duration = Duration::from_secs(30);
/// The read buffer of a WebSocket, in bytes. The library clears it for each attempt to read, also when it wakes up to send. With its default of
/// 128 KiB this took 40 % of the time of a hub with 1,000 watchers.
const READ: usize = 4 << 10;
/// What is read ahead of one connection, in bytes; longer heads of requests are refused.
const MAX_HEAD: usize = 16 << 10;
/// Connections beyond the limits that are told so at the same time; others are closed without a word.
const MAX_REFUSALS: usize = 64;
/// How long an answer may take that is under way when the hub ends.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Limits the messages of a browser. A frame is refused by its header, before there is memory for it.
pub(crate) fn bounded(upgrade: WebSocketUpgrade, max_message: usize) -> WebSocketUpgrade {
    upgrade.max_message_size(max_message).max_frame_size(max_message).read_buffer_size(READ)
}

/// What serves the connections of all listeners.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    resources: Arc<Resources>,
    router: Router,
    refusals: Arc<Semaphore>,
    // Every connection has a receiver, and ends when something is sent.
    ends: watch::Sender<()>,
}

impl Server {
    pub(crate) fn new(resources: Arc<Resources>, router: Router) -> Self {
        Self { resources, router, refusals: Arc::new(Semaphore::new(MAX_REFUSALS)), ends: watch::Sender::new(()) }
    }

    /// Accepts connections until the hub ends.
    pub(crate) async fn accept(self, listener: TcpListener) {
        let mut listener = listener.tap_io(|stream| tune_stream(&*stream));
        let mut end = self.ends.subscribe();
        loop {
            tokio::select! {
                (stream, peer) = listener.accept() => {
                    let arrived = stream.local_addr().ok().map(|address| Arrived(address.ip()));
                    self.open(stream, peer, arrived);
                }
                _ = end.changed() => return,
            }
        }
    }

    // Serves a connection in a task of its own, if it may have a place.
    fn open<S>(&self, stream: S, peer: SocketAddr, arrived: Option<Arrived>)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let progress = Progress::default();
        match self.resources.connection(peer) {
            Ok(held) => {
                let (router, own) = (self.router.clone(), progress.clone());
                let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
                    let extensions = request.extensions_mut();
                    extensions.insert(ConnectInfo(peer));
                    extensions.insert(own.clone());
                    arrived.map(|arrived| extensions.insert(arrived));
                    router.clone().oneshot(request.map(Body::new))
                });
                tokio::spawn(serve(stream, answer, self.ends.subscribe(), progress, held));
            }
            Err(refusal) => {
                self.resources.refusals.count(refusal.kind);
                let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
                let answer =
                    service_fn(move |_: hyper::Request<Incoming>| ready(Ok::<_, Infallible>(too_many(refusal))));
                tokio::spawn(serve(stream, answer, self.ends.subscribe(), progress, permit));
            }
        }
    }

    /// Accepts no more connections, closes those that are idle, and waits a moment for answers that are under way.
    pub(crate) async fn finish(self) {
        self.ends.send_replace(());
        // Connections that take longer end with the process.
        let _ = timeout(LAST_ANSWERS, self.ends.closed()).await;
    }
}

// Serves one connection until either side ends it, or it becomes a WebSocket. `held` is given back then.
async fn serve<S, A>(stream: S, answer: A, mut ends: watch::Receiver<()>, progress: Progress, held: impl Send)
where
    S: AsyncRead + AsyncWrite + Send + 'static,
    A: Service<hyper::Request<Incoming>, Response = Response, Error = Infallible>,
{
    let mut stream = TimeoutWriter::new(Paced::new(Box::pin(stream)));
    stream.set_timeout(Some(STALL));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), answer)
        .with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        // What goes wrong with it is the client's business.
        _ = connection.as_mut() => {}
        () = progress.missed() => {}
        _ = ends.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(held);
}

fn too_many(refusal: Refusal) -> Response {
    let mut response = refused(refusal);
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Answers in time, also when the rest of a request does not come.
pub(crate) async fn in_time(request: Request, next: Next) -> Response {
    match timeout(ANSWER, next.run(request)).await {
        Ok(response) => response,
        Err(_) => later(error(StatusCode::REQUEST_TIMEOUT, "this request took too long; try again"), 1),
    }
}

#[cfg(test)]
mod tests {
    use axum::{extract::DefaultBodyLimit, middleware, routing::post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;
    use crate::{
        hub::{
            callers::Callers,
            host_names::HostNames,
            resources::{MAX_BODY, MAX_CONNECTIONS, Settings},
        },
        web::{answers, progress},
    };

    /// Longer than anything here may take; the clock is not the real one.
    const FOR_EVER: Duration = Duration::from_hours(1);
    const LARGE: usize = 4 << 20;

    fn server() -> Server {
        let resources = Resources::new(&Settings::default(), Callers::new(vec![], HostNames::default()));
        let large = || async { "x".repeat(LARGE) };
        let router = Router::new()
            .route("/echo", post(async |body: String| body))
            .route("/large", axum::routing::get(large))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(middleware::from_fn(in_time))
            .layer(middleware::from_fn_with_state(Arc::clone(&resources), answers::account));
        Server::new(resources, router)
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
}
