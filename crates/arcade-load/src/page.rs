//! A browser: requests, the sockets of the lobby and of rooms, and their messages besides those of games. Each comes from a chosen
//! address of this machine.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{self, Sender},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, anyhow};
use bytes::Bytes;
use futures_util::{SinkExt as _, Stream, StreamExt as _};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, Interest, ReadBuf},
    net::{TcpSocket, TcpStream},
    task::JoinSet,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{ClientRequestBuilder, Error, Message, Utf8Bytes, protocol::CloseFrame},
};

use crate::{driver::Worker, robots::Receiver};

/// How long a connection or an answer may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// The longest body of an answer that is read.
const MAX_BODY: usize = 16 << 20;
/// The socket of the learner of blackjack.
pub(crate) const LEARNER: &str = "/learn/socket";
/// The close code by which a player leaves permanently.
const LEFT: u16 = 4000;
/// How long pages are open before their bytes are counted.
pub(crate) const SETTLE: Duration = Duration::from_secs(1);
/// Rooms that a page lists at once, and those of them whose pictures are in view.
pub(crate) const SHOWN: u32 = 60;
const IN_VIEW: usize = 12;

/// Connects from this address.
pub(crate) async fn connect(from: Ipv4Addr, to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    // Otherwise the ports of connections that ended a minute ago could not be used.
    socket.set_reuseaddr(true)?;
    socket.bind((from, 0).into())?;
    let stream = timeout(PATIENCE, socket.connect(to)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The kind of an error, in a word for a table.
pub(crate) fn word(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::ConnectionRefused => "refused",
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted => "reset",
        ErrorKind::UnexpectedEof => "closed",
        ErrorKind::TimedOut => "no answer",
        ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse => "no port left here",
        _ => "other error",
    }
}

/// Reads until the connection ends. Returns how, or that it was kept for this long.
pub(crate) async fn read_to_end(stream: &mut TcpStream, at_most: Duration) -> &'static str {
    let mut buffer = [0; 1024];
    let end = async {
        loop {
            match stream.read(&mut buffer).await {
                Ok(0) => return "closed",
                Ok(_) => {}
                Err(error) => return word(&error),
            }
        }
    };
    timeout(at_most, end).await.unwrap_or("kept")
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// A client for requests, which keeps its connection.
#[derive(Debug)]
pub(crate) struct Http {
    from: Ipv4Addr,
    hub: SocketAddr,
    sender: Option<http1::SendRequest<Full<Bytes>>>,
}

impl Http {
    pub(crate) const fn new(from: Ipv4Addr, hub: SocketAddr) -> Self {
        Self { from, hub, sender: None }
    }

    /// Gets a page.
    pub(crate) async fn get(&mut self, path: &str) -> io::Result<Answer> {
        self.request("GET", path, &[], "").await
    }

    /// Posts JSON.
    pub(crate) async fn post(&mut self, path: &str, body: &str) -> io::Result<Answer> {
        self.request("POST", path, &[], body).await
    }

    /// Makes a request with these headers. A `Host` among them replaces the usual one.
    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Answer> {
        let mut request = Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request = request.header("Host", self.hub.to_string());
        }
        if !body.is_empty() {
            request = request.header("Content-Type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).map_err(io::Error::other)?;
        let kept = self.sender.is_some();
        match timeout(PATIENCE, self.exchange(request.clone())).await? {
            // The hub may have closed the connection since the last answer.
            Err(error) if kept && word(&error) != "other error" => timeout(PATIENCE, self.exchange(request)).await?,
            done => done,
        }
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> io::Result<Answer> {
        let mut sender = if let Some(sender) = self.sender.take().filter(|sender| !sender.is_closed()) {
            sender
        } else {
            let stream = connect(self.from, self.hub).await?;
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| fault(&error))?;
            // Its errors are reported to the sender.
            tokio::spawn(async { drop(connection.await) });
            sender
        };
        sender.ready().await.map_err(|error| fault(&error))?;
        let (head, body) = sender.send_request(request).await.map_err(|error| fault(&error))?.into_parts();
        let body = Limited::new(body, MAX_BODY).collect().await.map_err(io::Error::other)?.to_bytes();
        self.sender = Some(sender);
        Ok(Answer { status: head.status.as_u16(), body })
    }
}

fn fault(error: &hyper::Error) -> io::Error {
    use std::error::Error as _;
    let kind = error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
    let ended = error.is_incomplete_message() || error.is_closed() || error.is_canceled();
    kind.unwrap_or(if ended { ErrorKind::UnexpectedEof } else { ErrorKind::InvalidData }).into()
}

/// The socket of a page.
pub(crate) type Browser<S = TcpStream> = WebSocketStream<S>;

/// Opens a socket at this path, with a header besides the usual ones.
pub(crate) async fn socket(
    from: Ipv4Addr,
    hub: SocketAddr,
    path: &str,
    header: Option<(&str, &str)>,
) -> Result<Browser, String> {
    let stream = connect(from, hub).await.map_err(|error| word(&error).to_owned())?;
    socket_over(stream, hub, path, header).await
}

/// Opens a socket at this path of the hub on this machine.
pub(crate) async fn open(hub: SocketAddr, path: &str) -> anyhow::Result<Browser> {
    socket(Ipv4Addr::LOCALHOST, hub, path, None).await.map_err(|why| anyhow!("no socket at {path}: {why}"))
}

async fn socket_over<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    hub: SocketAddr,
    path: &str,
    header: Option<(&str, &str)>,
) -> Result<Browser<S>, String> {
    let url = format!("ws://{hub}{path}").parse().map_err(|_| "no address".to_owned())?;
    let mut request = ClientRequestBuilder::new(url);
    if let Some((name, value)) = header {
        request = request.with_header(name, value);
    }
    match timeout(PATIENCE, client_async(request, stream)).await {
        Ok(Ok((browser, _))) => Ok(browser),
        Ok(Err(error)) => Err(failure(&error)),
        Err(_) => Err("no answer".into()),
    }
}

/// How a page enters a room.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entry {
    /// Whether it only watches.
    pub(crate) watch: bool,
    /// The token of a former seat.
    pub(crate) seat: Option<String>,
    /// The key of its name.
    pub(crate) key: Option<String>,
}

/// Opens a socket of a room.
pub(crate) async fn enter(from: Ipv4Addr, hub: SocketAddr, room: &str, entry: &Entry) -> Result<Browser, String> {
    let Entry { watch, seat, key } = entry;
    if seat.is_none() && key.is_none() {
        return socket(from, hub, &format!("/rooms/{room}/socket?watch={watch}"), None).await;
    }
    let mut browser = socket(from, hub, &format!("/rooms/{room}/socket?enter=true"), None).await?;
    say(&mut browser, json!({ "seat": seat, "key": key, "watch": watch }).to_string()).await?;
    Ok(browser)
}

/// Opens a socket of the lobby and looks for rooms with this text, with an `Origin` if there is one.
pub(crate) async fn lobby(
    from: Ipv4Addr,
    hub: SocketAddr,
    text: &str,
    origin: Option<&str>,
) -> Result<Browser, String> {
    let mut browser = socket(from, hub, "/live", origin.map(|origin| ("Origin", origin))).await?;
    say(&mut browser, json!({ "look": { "text": text } }).to_string()).await?;
    Ok(browser)
}

/// Sends a text.
pub(crate) async fn say(browser: &mut Browser, text: String) -> Result<(), String> {
    browser.send(Message::text(text)).await.map_err(|error| failure(&error))
}

/// Receives until a text is wanted, and returns it. The error is how the socket ended.
pub(crate) async fn receive(
    browser: &mut Browser,
    mut is_wanted: impl FnMut(&str) -> bool,
) -> Result<Utf8Bytes, String> {
    loop {
        let message = browser.next().await;
        if let Some(end) = end(message.as_ref()) {
            return Err(end);
        }
        if let Some(Ok(Message::Text(text))) = message
            && is_wanted(&text)
        {
            return Ok(text);
        }
    }
}

/// The token of a seat, if this text of the hub has one.
pub(crate) fn token(text: &str) -> Option<String> {
    let hello: Value = serde_json::from_str(text).ok()?;
    Some(hello["seat"].as_str()?.to_owned())
}

/// Whether this text is from the hub itself and not from the game.
pub(crate) fn is_from_hub(text: &str) -> bool {
    text.starts_with('{')
}

/// Whether a player of this name is in a room, if this text of the lobby describes the room.
pub(crate) fn has_player(text: &str, room: &str, name: &str) -> Option<bool> {
    let lobby: Value = serde_json::from_str(text).ok()?;
    let row = lobby["rooms"].as_array()?.iter().find(|row| row["id"] == room)?;
    Some(row["players"].as_array()?.iter().any(|player| player["name"] == name))
}

/// Leaves a room permanently, so that no seat is retained.
pub(crate) async fn leave(mut browser: Browser) {
    // The hub may have closed it before.
    let _ = browser.close(Some(CloseFrame { code: LEFT.into(), reason: Utf8Bytes::default() })).await;
    // As browsers do: a connection that ends with unread bytes is reset, and the hub may never read the close code.
    let _ = timeout(PATIENCE, async { while let Some(Ok(_)) = browser.next().await {} }).await;
}

/// How a socket ended, in a word for a table; `None` if it continues after this.
pub(crate) fn end(message: Option<&Result<Message, Error>>) -> Option<String> {
    match message {
        None => Some("closed".into()),
        Some(Err(error)) => Some(failure(error)),
        Some(Ok(Message::Close(Some(close)))) => Some(format!("close {}", u16::from(close.code))),
        Some(Ok(Message::Close(None))) => Some("close".into()),
        Some(Ok(_)) => None,
    }
}

/// Reads until a socket ends. Returns how.
pub(crate) async fn ended(socket: &mut (impl Stream<Item = Result<Message, Error>> + Unpin)) -> String {
    loop {
        if let Some(end) = end(socket.next().await.as_ref()) {
            return end;
        }
    }
}

/// The kind of an error of a socket, in a word for a table.
pub(crate) fn failure(error: &Error) -> String {
    match error {
        Error::Http(answer) => answer.status().as_u16().to_string(),
        Error::Io(error) => word(error).into(),
        Error::ConnectionClosed | Error::AlreadyClosed => "closed".into(),
        Error::Protocol(_) => "reset".into(),
        _ => "other error".into(),
    }
}

/// Pages that show the lobby, on a thread of their own.
#[derive(Debug)]
pub(crate) struct Pages {
    bytes: Arc<AtomicU64>,
    since: Instant,
    count: u32,
    worker: Worker<()>,
}

impl Pages {
    /// Opens pages, which show the first rooms and the pictures of some of them.
    pub(crate) fn open(hub: SocketAddr, count: u32, rooms: Vec<String>) -> anyhow::Result<Self> {
        let bytes = Arc::<AtomicU64>::default();
        let (opened, is_open) = mpsc::channel();
        let counter = Arc::clone(&bytes);
        let worker = Worker::start("pages", move |stopped| async move {
            let mut pages = JoinSet::new();
            for page in 0..count {
                // Different pages show different rooms.
                let rooms: Vec<String> =
                    rooms.iter().cycle().skip(page as usize).take(IN_VIEW.min(rooms.len())).cloned().collect();
                pages.spawn(look(hub, rooms, Arc::clone(&counter), opened.clone()));
            }
            drop(opened);
            tokio::select! {
                _ = stopped => Ok(()),
                // They end only if they fail.
                Some(page) = pages.join_next() => page?,
            }
        })?;
        for _ in 0..count {
            if is_open.recv().is_err() {
                break;
            }
        }
        bytes.store(0, Ordering::Relaxed);
        Ok(Self { bytes, since: Instant::now(), count, worker })
    }

    /// Closes them. Returns the bytes that each received after its first view, per second.
    pub(crate) fn close(self) -> anyhow::Result<f64> {
        let seconds = self.since.elapsed().as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "far from the limits of a float")]
        let bytes = self.bytes.load(Ordering::Relaxed) as f64;
        self.worker.stop()?;
        Ok(bytes / seconds / f64::from(self.count.max(1)))
    }
}

// One page.
async fn look(hub: SocketAddr, rooms: Vec<String>, bytes: Arc<AtomicU64>, opened: Sender<()>) -> anyhow::Result<()> {
    let mut page = open(hub, "/live").await?;
    let look = json!({ "look": { "game": null, "text": "", "from": 0, "count": SHOWN }, "pictures": rooms });
    say(&mut page, look.to_string()).await.map_err(anyhow::Error::msg)?;
    let mut opened = Some(opened);
    loop {
        let message = page.next().await.context("the hub closed the socket of a page")??;
        if let Message::Close(close) = &message {
            anyhow::bail!("the hub closed the socket of a page: {close:?}");
        }
        bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
        // The first view.
        if let Some(opened) = opened.take() {
            let _ = opened.send(());
        }
    }
}

/// A connection that records when the last read bytes arrived.
#[derive(Debug)]
pub(crate) struct Stamped {
    stream: TcpStream,
    receiver: Receiver,
    last: SystemTime,
}

impl Stamped {
    /// A connection over `stream`.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        Receiver::prepare(&stream)?;
        Ok(Self { stream, receiver: Receiver::new(), last: SystemTime::now() })
    }

    /// When the last read bytes arrived.
    pub(crate) fn last(&self) -> SystemTime {
        self.last
    }
}

impl AsyncRead for Stamped {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Self { stream, receiver, last } = self.get_mut();
        loop {
            ready!(stream.poll_read_ready(context))?;
            let space = buffer.initialize_unfilled();
            match stream.try_io(Interest::READABLE, || receiver.receive(stream, space)) {
                Ok((count, stamp)) => {
                    *last = stamp;
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
                // The runtime waits again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Opens a socket of a watcher, whose messages have the times of their arrival.
pub(crate) async fn watch(hub: SocketAddr, room: &str) -> anyhow::Result<Browser<Stamped>> {
    let stream = Stamped::new(TcpStream::connect(hub).await?)?;
    let opened = socket_over(stream, hub, &format!("/rooms/{room}/socket?watch=true"), None).await;
    opened.map_err(|why| anyhow!("a browser is not let in: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{io::AsyncWriteExt as _, net::TcpListener};

    #[tokio::test]
    async fn requests_share_a_connection_until_the_hub_closes_it() -> anyhow::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let hub = listener.local_addr()?;
        let server = tokio::spawn(async move {
            let mut buffer = vec![0; 1024];
            let (mut first, _) = listener.accept().await?;
            for body in ["hi", "ho"] {
                let _ = first.read(&mut buffer).await?;
                first.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{body}").as_bytes()).await?;
            }
            drop(first);
            let (mut second, peer) = listener.accept().await?;
            let count = second.read(&mut buffer).await?;
            second.write_all(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n").await?;
            buffer.truncate(count);
            io::Result::Ok((peer, buffer))
        });
        let mut http = Http::new(Ipv4Addr::new(127, 0, 0, 7), hub);
        for body in ["hi", "ho"] {
            let answer = http.get("/").await?;
            assert_eq!((answer.status, &answer.body[..]), (200, body.as_bytes()));
        }
        assert_eq!(http.request("POST", "/y", &[("Host", "evil.example")], "{}").await?.status, 429);
        let (peer, received) = server.await??;
        assert_eq!(peer.ip().to_string(), "127.0.0.7");
        let received = String::from_utf8(received)?.to_ascii_lowercase();
        assert!(
            received.starts_with("post /y http/1.1\r\n") && received.contains("host: evil.example\r\n"),
            "{received}"
        );
        Ok(())
    }

    #[test]
    fn lobby_names_the_players_of_a_room() {
        let text =
            r#"{"ids": ["a-1"], "rooms": [{"id": "a-1", "players": []}, {"id": "b-2", "players": [{"name": "Ann"}]}]}"#;
        assert_eq!((has_player(text, "a-1", "Ann"), has_player(text, "b-2", "Ann")), (Some(false), Some(true)));
        for other in [r#"{"total": 3}"#, "{}", "[]", "", r#"{"id": "c-3"}"#, text] {
            assert_eq!(has_player(other, "c-3", "Ann"), None, "{other}");
        }
    }

    #[test]
    fn only_the_first_message_of_the_hub_has_a_token() {
        assert_eq!(token(r#"{"seat": "abc", "room": {}}"#).as_deref(), Some("abc"));
        assert!(token(r#"{"room": {}}"#).is_none() && token("OK A").is_none());
    }
}
