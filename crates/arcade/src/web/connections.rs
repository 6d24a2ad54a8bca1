//! Connections to the page: how many there may be, and how long each may keep the hub waiting.
//!
//! A connection that becomes a WebSocket leaves this file: it has the limits of sockets from then on.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

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

use super::{answer::error, paced::Paced};
use crate::hub::limits::Limits;

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
const MAX_HEAD: usize = 32 << 10;
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
    limits: Arc<Limits>,
    router: Router,
    refusals: Arc<Semaphore>,
    // Every connection has a receiver, and ends when something is sent.
    ends: watch::Sender<()>,
}

impl Server {
    pub(crate) fn new(limits: Arc<Limits>, router: Router) -> Self {
        Self { limits, router, refusals: Arc::new(Semaphore::new(MAX_REFUSALS)), ends: watch::Sender::new(()) }
    }

    /// Accepts connections until the hub ends.
    pub(crate) async fn accept(self, listener: TcpListener) {
        let mut listener = listener.tap_io(|stream| tune_stream(&*stream));
        let mut end = self.ends.subscribe();
        loop {
            tokio::select! {
                (stream, peer) = listener.accept() => self.open(stream, peer),
                _ = end.changed() => return,
            }
        }
    }

    // Serves a connection in a task of its own, if it may have a place.
    fn open<S: AsyncRead + AsyncWrite + Send + 'static>(&self, stream: S, peer: SocketAddr) {
        if let Some(place) = self.limits.connection(peer) {
            let router = self.router.clone();
            let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(ConnectInfo(peer));
                router.clone().oneshot(request.map(Body::new))
            });
            tokio::spawn(serve(stream, answer, self.ends.subscribe(), place));
        } else if let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() {
            let answer = service_fn(async |_: hyper::Request<Incoming>| Ok::<_, Infallible>(too_many()));
            tokio::spawn(serve(stream, answer, self.ends.subscribe(), permit));
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
async fn serve<S, A>(stream: S, answer: A, mut ends: watch::Receiver<()>, held: impl Send)
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
        _ = ends.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
    drop(held);
}

fn too_many() -> Response {
    let text = "too many connections from your address, or to this hub, are open; close some pages and try again";
    let mut response = error(StatusCode::TOO_MANY_REQUESTS, text);
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::RETRY_AFTER, HeaderValue::from(HEAD.as_secs()));
    response
}

/// Answers in time, also when the rest of a request does not come.
pub(crate) async fn in_time(request: Request, next: Next) -> Response {
    match timeout(ANSWER, next.run(request)).await {
        Ok(response) => response,
        Err(_) => error(StatusCode::REQUEST_TIMEOUT, "this request took too long; try again"),
    }
}

#[cfg(test)]
mod tests {
    use axum::{middleware, routing::post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    use super::*;
    use crate::hub::limits::{CONNECTIONS_PER_HOST, Settings};

    /// Longer than anything here may take; the clock is not the real one.
    const FOR_EVER: Duration = Duration::from_hours(1);

    fn server() -> Server {
        let settings = Settings { sockets_per_host: 1, rooms_per_host: 1, proxies: vec![] };
        let large = || async { "x".repeat(1 << 20) };
        let router = Router::new()
            .route("/echo", post(async |body: String| body))
            .route("/large", axum::routing::get(large))
            .layer(middleware::from_fn(in_time));
        Server::new(Limits::new(settings), router)
    }

    fn connect(server: &Server) -> DuplexStream {
        let (here, there) = duplex(1 << 10);
        server.open(there, SocketAddr::from(([10, 0, 0, 1], 5)));
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
        assert!(server.ends.receiver_count() == 0 && server.limits.connection(([10, 0, 0, 1], 5).into()).is_some());
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
    async fn a_host_with_too_many_connections_is_told_so() {
        let server = server();
        let mut held: Vec<_> = (0..CONNECTIONS_PER_HOST).map(|_| connect(&server)).collect();
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
        assert!(server.limits.connection(([10, 0, 0, 1], 5).into()).is_some());
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
