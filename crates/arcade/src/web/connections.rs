//! Connections to the page: how many there may be, and how long each may keep the hub waiting.
//!
//! A connection that becomes a WebSocket leaves this file: it has the limits of sockets from then on.

use std::{
    convert::Infallible,
    future::ready,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

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
use netshell::tune_accepted;
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
    caller::{Arrived, Link},
    paced::Paced,
    progress::Progress,
    tls::{self, Tls},
};
use crate::hub::{refusal::Refusal, resources::Resources, shares::Share};

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
    tls: Option<Arc<Tls>>,
    refusals: Arc<Semaphore>,
    // Every connection has a receiver, and ends when something is sent.
    ends: watch::Sender<()>,
}

impl Server {
    /// Without `tls` it speaks plain HTTP.
    pub(crate) fn new(resources: Arc<Resources>, router: Router, tls: Option<Arc<Tls>>) -> Self {
        let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
        Self { resources, router, tls, refusals, ends: watch::Sender::new(()) }
    }

    /// Accepts connections until the hub ends.
    pub(crate) async fn accept(self, listener: TcpListener) {
        let mut listener = listener.tap_io(|stream| tune_accepted(&*stream));
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
        let door = match &self.tls {
            None => None,
            // Nothing can be said to anybody before the handshake.
            Some(tls) => match self.resources.handshake(peer) {
                Ok(share) => Some(Door { tls: Arc::clone(tls), share }),
                Err(kind) => return self.resources.refusals.count(kind),
            },
        };
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
                tokio::spawn(serve(stream, door, answer, self.ends.subscribe(), progress, held));
            }
            Err(refusal) => {
                self.resources.refusals.count(refusal.kind);
                let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
                let answer =
                    service_fn(move |_: hyper::Request<Incoming>| ready(Ok::<_, Infallible>(too_many(refusal))));
                tokio::spawn(serve(stream, door, answer, self.ends.subscribe(), progress, permit));
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

/// What a connection has to go through where there is TLS, with its share of all handshakes.
struct Door {
    tls: Arc<Tls>,
    share: Share,
}

// Serves one connection until either side ends it, or it becomes a WebSocket. `held` is given back then.
async fn serve<S, A>(
    stream: S,
    door: Option<Door>,
    answer: A,
    mut ends: watch::Receiver<()>,
    progress: Progress,
    held: impl Send,
) where
    S: AsyncRead + AsyncWrite + Send + 'static,
    A: Service<hyper::Request<Incoming>, Response = Response, Error = Infallible>,
{
    let mut stream = Paced::new(Box::pin(stream));
    let Some(Door { tls, share }) = door else {
        return serve_http(impatient(stream), Link::Open, answer, ends, progress).await;
    };
    let first = tokio::select! {
        first = timeout(tls::HANDSHAKE, stream.first()) => first,
        _ = ends.changed() => return,
    };
    let Ok(Ok(first)) = first else { return };
    if !tls::is_hello(first) {
        drop(share);
        return serve_http(impatient(stream), Link::Stray, answer, ends, progress).await;
    }
    let secure = tokio::select! {
        secure = tls.accept(impatient(stream)) => secure,
        _ = ends.changed() => return,
    };
    drop(share);
    if let Some(secure) = secure {
        serve_http(secure, Link::Secure, answer, ends, progress).await;
    }
    drop(held);
}

// A stream whose other end has to take what is written to it.
fn impatient<S: AsyncRead + AsyncWrite>(stream: S) -> Pin<Box<TimeoutWriter<S>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(STALL));
    Box::pin(stream)
}

async fn serve_http<S, A>(stream: S, link: Link, answer: A, mut ends: watch::Receiver<()>, progress: Progress)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    A: Service<hyper::Request<Incoming>, Response = Response, Error = Infallible>,
{
    let answer = service_fn(|mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(link);
        answer.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(stream), answer)
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
mod tests;
