//! Connections to the page: their number, time limits and read rate. The rate also covers incomplete messages of web
//! sockets, which a limit on messages does not count.

use std::{
    convert::Infallible,
    future::ready,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, ws::WebSocketUpgrade},
    http::{HeaderValue, header},
    response::Response,
    serve::{Listener as _, ListenerExt as _},
};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use netcore::{Rate, Time, TokenBucket};
use netshell::tune_accepted;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    time::{Instant, Sleep, sleep_until, timeout},
};
use tokio_io_timeout::TimeoutWriter;
use tower::ServiceExt as _;

use super::{
    caller::{Arrived, Link},
    limits::Progress,
    response::refused,
    tls::{self, Tls},
};
use crate::{
    hub::{
        resources::Resources,
        shares::{Refusal, RefusalKind, Share},
    },
    proxied::{self, MAX_PENDING},
};

/// Timeout for the head of a request, and between two requests.
pub(crate) const HEAD: Duration = Duration::from_secs(30);
/// Timeout for sending to a client that does not read.
pub(crate) const STALL: Duration = Duration::from_secs(30);
/// The library clears this buffer for each attempt to read, also when it wakes up to send. Its default of 128 KiB
/// took 40 % of the time of a hub with 1,000 watchers.
const READ: usize = 4 << 10;
/// Of a request, in bytes.
const MAX_HEAD: usize = 16 << 10;
/// Excess connections that receive an error at the same time; others are closed without one.
const MAX_REFUSALS: usize = 64;
/// Timeout for responses that have begun when the hub ends.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Rejects a frame by its header, before memory is allocated for it.
pub(crate) fn bounded(upgrade: WebSocketUpgrade, max_message: usize) -> WebSocketUpgrade {
    upgrade.max_message_size(max_message).max_frame_size(max_message).read_buffer_size(READ)
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    resources: Arc<Resources>,
    router: Router,
    tls: Option<Arc<Tls>>,
    refusals: Arc<Semaphore>,
    // Incomplete headers of the PROXY protocol.
    headers: Arc<Semaphore>,
    // Every connection has a receiver, and ends when a value is sent.
    ends: watch::Sender<()>,
}

impl Server {
    /// Plain HTTP without `tls`.
    pub(crate) fn new(resources: Arc<Resources>, router: Router, tls: Option<Arc<Tls>>) -> Self {
        let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
        let headers = Arc::new(Semaphore::new(MAX_PENDING));
        Self { resources, router, tls, refusals, headers, ends: watch::Sender::new(()) }
    }

    pub(crate) async fn accept(self, listener: TcpListener) {
        let mut listener = listener.tap_io(|stream| tune_accepted(&*stream));
        let mut end = self.ends.subscribe();
        loop {
            tokio::select! {
                (stream, peer) = listener.accept() => {
                    let arrived = stream.local_addr().ok().map(|address| Arrived(address.ip()));
                    let callers = &self.resources.callers;
                    if callers.proxies.send_headers() && callers.is_proxy(peer) {
                        self.read_header(stream, peer, arrived);
                    } else {
                        self.open(stream, peer, arrived);
                    }
                }
                _ = end.changed() => return,
            }
        }
    }

    // Closes the connection if too many headers are incomplete.
    fn read_header(&self, stream: TcpStream, proxy: SocketAddr, arrived: Option<Arrived>) {
        let refuse = |resources: &Resources| resources.refusals.count(RefusalKind::Connections);
        let Ok(permit) = Arc::clone(&self.headers).try_acquire_owned() else { return refuse(&self.resources) };
        let server = self.clone();
        tokio::spawn(async move {
            let read = proxied::read_header(stream).await;
            drop(permit);
            match read {
                Ok((stream, Some(addresses))) => {
                    let arrived = Arrived(addresses.destination.ip());
                    server.open(stream, addresses.source, Some(arrived));
                }
                Ok((stream, None)) => server.open(stream, proxy, arrived),
                Err(_) => {
                    refuse(&server.resources);
                    server.resources.callers.complain(RefusalKind::Connections, &proxied::no_header(proxy));
                }
            }
        });
    }

    fn open<S>(&self, stream: S, peer: SocketAddr, arrived: Option<Arrived>)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let handshake = match &self.tls {
            None => None,
            // No error can be sent before the handshake.
            Some(tls) => match self.resources.handshake(peer) {
                Ok(share) => Some(TlsHandshake { tls: Arc::clone(tls), share }),
                Err(kind) => return self.resources.refusals.count(kind),
            },
        };
        let progress = Progress::default();
        match self.resources.connection(peer) {
            Ok(held) => {
                let (router, own) = (self.router.clone(), progress.clone());
                let public = self.resources.callers.names.public.first().cloned();
                let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
                    // Before the router selects a route.
                    if let Some(public) = &public {
                        public.strip_base(request.uri_mut());
                    }
                    let extensions = request.extensions_mut();
                    extensions.insert(ConnectInfo(peer));
                    extensions.insert(own.clone());
                    arrived.map(|arrived| extensions.insert(arrived));
                    router.clone().oneshot(request.map(Body::new))
                });
                tokio::spawn(serve(stream, handshake, answer, self.ends.subscribe(), progress, held));
            }
            Err(refusal) => {
                self.resources.refusals.count(refusal.kind);
                let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
                let answer =
                    service_fn(move |_: hyper::Request<Incoming>| ready(Ok::<_, Infallible>(too_many(refusal))));
                tokio::spawn(serve(stream, handshake, answer, self.ends.subscribe(), progress, permit));
            }
        }
    }

    /// Stops accepting, closes idle connections, and waits for responses that have begun.
    pub(crate) async fn finish(self) {
        self.ends.send_replace(());
        let _ = timeout(LAST_ANSWERS, self.ends.closed()).await;
    }
}

struct TlsHandshake {
    tls: Arc<Tls>,
    share: Share,
}

// Drops `held` when either side ends the connection, or it becomes a WebSocket.
async fn serve<S, A>(
    stream: S,
    handshake: Option<TlsHandshake>,
    answer: A,
    mut ends: watch::Receiver<()>,
    progress: Progress,
    held: impl Send,
) where
    S: AsyncRead + AsyncWrite + Send + 'static,
    A: Service<hyper::Request<Incoming>, Response = Response, Error = Infallible>,
{
    let mut stream = Paced::new(Box::pin(stream));
    let Some(TlsHandshake { tls, share }) = handshake else {
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

// Fails if the other end stops reading.
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
        // Errors of a connection affect only its client.
        _ = connection.as_mut() => {}
        () = progress.deadline_missed() => {}
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

/// Bytes of one connection: more than a browser may send.
pub(crate) const READ_BYTES: Rate = Rate { per_second: 64 << 10, burst: 512 << 10 };

/// A stream that is read at [`READ_BYTES`]. The excess stays in the buffers of the system and the client.
pub(crate) struct Paced<S> {
    stream: S,
    first: Option<u8>,
    start: Instant,
    bucket: TokenBucket,
    pause: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S) -> Self {
        let start = Instant::now();
        let (bucket, pause) = (TokenBucket::new(READ_BYTES, Time::ZERO), Box::pin(sleep_until(start)));
        Self { stream, first: None, start, bucket, pause }
    }
}

impl<S: AsyncRead + Unpin> Paced<S> {
    /// Peeks the next byte.
    pub(crate) async fn first(&mut self) -> io::Result<u8> {
        let first = self.read_u8().await?;
        self.first = Some(first);
        Ok(first)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // The byte stays if the buffer is full.
        if buffer.remaining() > 0
            && let Some(first) = this.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        loop {
            let now = Time::ZERO.plus(this.start.elapsed());
            let Some(paid) = this.bucket.ready_at(now, 1).filter(|paid| *paid > now) else { break };
            this.pause.as_mut().reset(this.start + paid.since(Time::ZERO));
            ready!(this.pause.as_mut().poll(context));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let length = u32::try_from(buffer.filled().len() - before).unwrap_or(u32::MAX);
        this.bucket.charge(Time::ZERO.plus(this.start.elapsed()), length);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::{extract::DefaultBodyLimit, middleware, routing::post};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex, repeat},
        time::timeout,
    };

    use crate::{
        hub::{
            callers::{Callers, HostNames},
            resources::{MAX_BODY, MAX_CONNECTIONS, MAX_HANDSHAKES, Settings},
        },
        proxied::Proxies,
        web::limits,
    };

    use super::*;

    /// Longer than any operation here; the tests use a paused clock.
    const FOR_EVER: Duration = Duration::from_hours(1);
    const LARGE: usize = 4 << 20;

    fn server() -> Server {
        server_with(None)
    }

    fn server_with(tls: Option<Arc<Tls>>) -> Server {
        let resources = Resources::new(&Settings::default(), Callers::new(Proxies::default(), HostNames::default()));
        let large = || async { "x".repeat(LARGE) };
        let router = Router::new()
            .route("/echo", post(async |body: String| body))
            .route("/large", axum::routing::get(large))
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .layer(middleware::from_fn_with_state(Arc::clone(&resources), limits::account));
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
    async fn incomplete_head_and_idle_connection_time_out() {
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
    async fn missing_body_and_unread_response_end_a_connection() {
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
    async fn unread_responses_are_bounded_and_expire() {
        let server = server();
        let request = b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        let mut deaf: Vec<_> = (0..256).map(|_| connect(&server)).collect();
        let mut refused = 0;
        for stream in &mut deaf {
            stream.write_all(request).await.unwrap();
            let mut start = [0; 12];
            stream.read_exact(&mut start).await.unwrap();
            if &start == b"HTTP/1.1 503" {
                let answer = rest(stream).await;
                assert!(answer.contains("retry-after: 5") && answer.contains("too_many_requests"), "{answer}");
                refused += 1;
            }
        }
        assert_eq!((refused, server.resources.answers.in_use()), (256 - 8, 8 * LARGE), "half of 64 MB");
        let mut innocent = connect_from(&server, 2);
        innocent.write_all(request).await.unwrap();
        assert!(rest(&mut innocent).await.len() > LARGE);
        tokio::time::sleep(2 * limits::PATIENCE).await;
        assert_eq!(server.resources.answers.in_use(), 0);
        for stream in &mut deaf {
            rest(stream).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slowly_read_response_arrives() {
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
        assert_eq!(server.resources.answers.in_use(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn pending_bodies_are_bounded() {
        let server = server();
        let mut half: Vec<_> = (0..600).map(|_| connect(&server)).collect();
        for stream in &mut half {
            stream.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nhalf").await.unwrap();
        }
        let answer = rest(&mut half[599]).await;
        assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after:"), "{answer}");
        assert_eq!(server.resources.bodies.in_use(), 512);
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
    async fn host_with_too_many_connections_receives_an_error() {
        let server = server();
        let mut held: Vec<_> = (0..MAX_CONNECTIONS / 2).map(|_| connect(&server)).collect();
        let request = b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi";
        let mut refused = connect(&server);
        refused.write_all(request).await.unwrap();
        let answer = rest(&mut refused).await;
        assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("connection: close"), "{answer}");
        assert!(answer.contains("retry-after: 30") && answer.contains("close some pages"), "{answer}");
        held[0].write_all(request).await.unwrap();
        let mut answer = [0; 12];
        held[0].read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
        assert!(rest(&mut held[0]).await.ends_with("hi"));
        assert!(server.resources.connection(([10, 0, 0, 1], 5).into()).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_closes_idle_connections_and_finishes_responses() {
        let server = server();
        let (mut idle, mut busy) = (connect(&server), connect(&server));
        busy.write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nh").await.unwrap();
        let finish = tokio::spawn(server.finish());
        assert_eq!(rest(&mut idle).await, "");
        busy.write_all(b"i").await.unwrap();
        assert!(rest(&mut busy).await.ends_with("hi"));
        timeout(FOR_EVER, finish).await.unwrap().unwrap();
    }

    fn secure_server() -> Server {
        let folder = testkit::TempDir::new();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let certificate = folder.file("certificate.pem", made.cert.pem()).into();
        let key = folder.file("key.pem", made.signing_key.serialize_pem()).into();
        server_with(Some(Arc::new(Tls::open(tls::Files { certificate, key }, vec![]).unwrap())))
    }

    #[tokio::test(start_paused = true)]
    async fn missing_handshake_times_out() {
        let server = secure_server();
        let start = Instant::now();
        let mut silent = connect(&server);
        assert_eq!(rest(&mut silent).await, "");
        // Only the head of a record with a ClientHello.
        let mut half = connect(&server);
        half.write_all(&[0x16, 3, 1, 0, 200, 1, 0, 0, 196]).await.unwrap();
        assert_eq!(rest(&mut half).await, "");
        let took = start.elapsed();
        assert!(took >= 2 * tls::HANDSHAKE && took < 3 * tls::HANDSHAKE, "{took:?}");
        // Other data is answered immediately by an alert.
        let mut junk = connect(&server);
        junk.write_all(&[0x16, 3, 1, 0, 4, 99, 0, 0, 0]).await.unwrap();
        let mut alert = vec![];
        timeout(tls::HANDSHAKE / 2, junk.read_to_end(&mut alert)).await.unwrap().unwrap();
        assert_eq!(alert[0], 21);
    }

    #[tokio::test(start_paused = true)]
    async fn handshakes_are_bounded_per_host_and_charged_like_requests() {
        let server = secure_server();
        let refused = |kind: &str| server.resources.refusals.all().find(|(name, _)| *name == kind).unwrap().1;
        let mut silent: Vec<_> = (0..=MAX_HANDSHAKES / 2).map(|_| connect(&server)).collect();
        assert_eq!(rest(silent.last_mut().unwrap()).await, "");
        assert_eq!((refused("handshakes"), refused("requests")), (1, 0));
        let request = b"GET /large HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        let mut innocent = connect_from(&server, 2);
        innocent.write_all(request).await.unwrap();
        let mut answer = [0; 12];
        innocent.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200");
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

    #[tokio::test(start_paused = true)]
    async fn flood_is_read_at_its_rate_and_idle_time_allows_a_burst() {
        let mut flood = Paced::new(repeat(0));
        let (mut buffer, mut read) = ([0; 4_096], 0);
        let most = (READ_BYTES.burst + 10 * READ_BYTES.per_second) as usize + buffer.len();
        let reading = async {
            while read <= most {
                read += flood.read(&mut buffer).await.unwrap();
            }
        };
        let ended = timeout(Duration::from_secs(10), reading).await;
        assert!(ended.is_err() && read <= most && read > most - 2 * buffer.len(), "{read} of {most} bytes");
        tokio::time::sleep(Duration::from_secs(10)).await;
        let burst = timeout(Duration::from_millis(1), flood.read_exact(&mut vec![0; 500 << 10])).await;
        assert!(burst.is_ok());
    }
}
