//! Connections of simulated clients, each from a chosen address of this machine.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    task::{self, Poll, ready},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail};
use bytes::Bytes;
use futures_util::{SinkExt as _, Stream, StreamExt as _};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::Request;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpSocket, TcpStream},
    time::{error::Elapsed, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        self, Message, Utf8Bytes,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
/// In bytes.
const MAX_BODY: usize = 64 << 20;
/// A player leaves permanently.
const LEFT: CloseCode = CloseCode::Library(4000);

/// Why an exchange failed, if possible in a word for a table.
pub(crate) fn word(error: &anyhow::Error) -> String {
    for cause in error.chain() {
        if let Some(tungstenite::Error::Http(response)) = cause.downcast_ref() {
            return response.status().as_u16().to_string();
        }
        let ended = cause.downcast_ref().is_some_and(hyper::Error::is_incomplete_message);
        let kind = cause.downcast_ref().map(io::Error::kind).or(ended.then_some(ErrorKind::UnexpectedEof));
        let word = match kind.or(cause.is::<Elapsed>().then_some(ErrorKind::TimedOut)) {
            Some(ErrorKind::ConnectionRefused) => "refused",
            Some(ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionAborted) => "reset",
            Some(ErrorKind::UnexpectedEof) => "closed",
            Some(ErrorKind::TimedOut) => "no answer",
            Some(ErrorKind::AddrNotAvailable | ErrorKind::AddrInUse) => "no port left here",
            _ => continue,
        };
        return word.to_owned();
    }
    error.root_cause().to_string()
}

pub(crate) async fn connect(from: Ipv4Addr, to: SocketAddr) -> anyhow::Result<Stamped> {
    let socket = TcpSocket::new_v4()?;
    // Allows the ports of connections that ended less than a minute ago.
    socket.set_reuseaddr(true)?;
    socket.bind((from, 0).into())?;
    let stream = timeout(PATIENCE, socket.connect(to)).await??;
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?;
    Ok(Stamped { stream, arrived: SystemTime::now() })
}

/// Records when the last read bytes arrived: on Linux when the system received them, elsewhere when they are read.
#[derive(Debug)]
pub(crate) struct Stamped {
    pub(crate) stream: TcpStream,
    pub(crate) arrived: SystemTime,
}

impl Stamped {
    #[cfg(target_os = "linux")]
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use nix::sys::{
            socket::{ControlMessageOwned, MsgFlags, recvmsg},
            time::TimeSpec,
        };
        use std::os::fd::AsRawFd as _;

        let mut control = nix::cmsg_space!(TimeSpec);
        let received = self.stream.try_io(tokio::io::Interest::READABLE, || {
            let mut space = [io::IoSliceMut::new(buffer)];
            let received = recvmsg::<()>(self.stream.as_raw_fd(), &mut space, Some(&mut control), MsgFlags::empty())?;
            let stamp = received.cmsgs().find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(stamp) => Some(SystemTime::UNIX_EPOCH + stamp.into()),
                _ => None,
            });
            Ok((received.bytes, stamp))
        });
        let (count, stamp) = received?;
        // Bytes that arrived before timestamps were enabled have none.
        self.arrived = stamp.unwrap_or_else(SystemTime::now);
        Ok(count)
    }

    #[cfg(not(target_os = "linux"))]
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.try_read(buffer)?;
        self.arrived = SystemTime::now();
        Ok(count)
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.receive(buffer.initialize_unfilled()) {
                // The runtime waits again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                received => {
                    buffer.advance(received?);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut task::Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut task::Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[derive(Debug)]
pub(crate) struct Http {
    hub: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    pub(crate) patience: Duration,
}

impl Http {
    pub(crate) fn new(from: Ipv4Addr, hub: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_local_address(Some(from.into()));
        connector.set_reuse_address(true);
        connector.set_nodelay(true);
        Self { hub, client: Client::builder(TokioExecutor::new()).build(connector), patience: PATIENCE }
    }

    /// Sends JSON if the body is not empty. A `Host` among the headers replaces the default. Returns status and body.
    pub(crate) async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> anyhow::Result<(u16, Bytes)> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.hub));
        if !body.is_empty() {
            request = request.header("Content-Type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::from(body.to_owned()))?;
        let exchange = async {
            let (head, body) = self.client.request(request).await?.into_parts();
            let body = Limited::new(body, MAX_BODY).collect().await.map_err(anyhow::Error::from_boxed)?;
            Ok((head.status.as_u16(), body.to_bytes()))
        };
        timeout(self.patience, exchange).await?
    }
}

pub(crate) type Browser = WebSocketStream<Stamped>;

pub(crate) async fn socket(from: Ipv4Addr, hub: SocketAddr, path: &str) -> anyhow::Result<Browser> {
    let stream = connect(from, hub).await?;
    let (browser, _) = timeout(PATIENCE, client_async(format!("ws://{hub}{path}"), stream)).await??;
    Ok(browser)
}

/// Sends an entry such as `{"watch": true}`; without one it enters as a player.
pub(crate) async fn enter(
    from: Ipv4Addr,
    hub: SocketAddr,
    room: &str,
    entry: Option<Value>,
) -> anyhow::Result<Browser> {
    let query = if entry.is_some() { "?enter=true" } else { "" };
    let mut browser = socket(from, hub, &format!("/rooms/{room}/socket{query}")).await?;
    if let Some(entry) = entry {
        send(&mut browser, entry.to_string()).await?;
    }
    Ok(browser)
}

pub(crate) async fn lobby(from: Ipv4Addr, hub: SocketAddr, look: &Value) -> anyhow::Result<Browser> {
    let mut browser = socket(from, hub, "/live").await?;
    send(&mut browser, look.to_string()).await?;
    Ok(browser)
}

pub(crate) async fn send(browser: &mut Browser, text: impl Into<Utf8Bytes>) -> anyhow::Result<()> {
    Ok(browser.send(Message::text(text)).await?)
}

pub(crate) trait Messages: Stream<Item = Result<Message, tungstenite::Error>> + Unpin {}

impl<S: Stream<Item = Result<Message, tungstenite::Error>> + Unpin> Messages for S {}

/// The error is how the socket ended.
pub(crate) async fn next(socket: &mut impl Messages) -> anyhow::Result<Message> {
    match socket.next().await.context("closed")?? {
        Message::Close(close) => bail!("close {}", close.map_or(1005_u16, |close| close.code.into())),
        message => Ok(message),
    }
}

/// Returns how the socket ended.
pub(crate) async fn ended(socket: &mut impl Messages) -> String {
    loop {
        if let Err(error) = next(socket).await {
            return word(&error);
        }
    }
}

/// The first wanted text. The error is how the socket ended.
pub(crate) async fn receive(browser: &mut Browser, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Utf8Bytes> {
    loop {
        if let Message::Text(text) = next(browser).await?
            && is_wanted(&text)
        {
            return Ok(text);
        }
    }
}

/// Leaves permanently, so that no seat is retained.
pub(crate) async fn leave(mut browser: Browser) {
    // The hub may have closed it before.
    let _ = browser.close(Some(CloseFrame { code: LEFT, reason: Utf8Bytes::default() })).await;
    // As browsers do: a connection that ends with unread bytes is reset, and the hub may never read the close code.
    let _ = timeout(PATIENCE, ended(&mut browser)).await;
}

pub(crate) fn token(text: &[u8]) -> Option<String> {
    let hello: Value = serde_json::from_slice(text).ok()?;
    Some(hello["seat"].as_str()?.to_owned())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    #[tokio::test]
    async fn timestamps_are_the_times_of_arrival_and_not_of_reading() -> anyhow::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let mut client = connect(Ipv4Addr::LOCALHOST, listener.local_addr()?).await?;
        let (mut server, _) = listener.accept().await?;
        // The system starts to record times some moments after the first socket has requested them.
        loop {
            let sent = SystemTime::now();
            server.write_all(b"turn").await?;
            assert_eq!(client.stream.peek(&mut [0; 16]).await?, 4);
            let seen = SystemTime::now();
            client.read_exact(&mut [0; 4]).await?;
            assert!(sent < client.arrived, "{sent:?} {:?}", client.arrived);
            if client.arrived < seen {
                return Ok(());
            }
        }
    }
}
