//! Connections of simulated clients, each from a chosen address of this machine.

use std::{
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    task::{self, Poll, ready},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, bail, ensure};
use bytes::{Bytes, BytesMut};
use futures_util::{SinkExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, Join, ReadBuf, join},
    net::{TcpSocket, UdpSocket, tcp},
    time::{error::Elapsed, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        self, Message, Utf8Bytes,
        protocol::{CloseFrame, frame::coding::CloseCode},
    },
};

const PATIENCE: Duration = Duration::from_secs(10);
/// In bytes. More than a nuggets datagram of the default map.
const BUFFER: usize = 1 << 12;
/// The player leaves permanently.
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

pub(crate) type Stream = Join<Stamped, tcp::OwnedWriteHalf>;

async fn connect(from: Ipv4Addr, to: SocketAddr) -> anyhow::Result<Stream> {
    let socket = TcpSocket::new_v4()?;
    // Allows the ports of connections that ended less than a minute ago.
    socket.set_reuseaddr(true)?;
    socket.bind((from, 0).into())?;
    let stream = timeout(PATIENCE, socket.connect(to)).await??;
    stream.set_nodelay(true)?;
    #[cfg(target_os = "linux")]
    nix::sys::socket::setsockopt(&stream, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?;
    let (half, writer) = stream.into_split();
    Ok(join(Stamped { half, arrived: SystemTime::now() }, writer))
}

/// Records the arrival of the last bytes: on Linux at the system, elsewhere when they are read.
#[derive(Debug)]
pub(crate) struct Stamped {
    half: tcp::OwnedReadHalf,
    arrived: SystemTime,
}

impl Stamped {
    #[cfg(target_os = "linux")]
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<SystemTime>)> {
        use nix::sys::{
            socket::{ControlMessageOwned, MsgFlags, recvmsg},
            time::TimeSpec,
        };
        use std::os::fd::AsRawFd as _;

        let (stream, mut control) = (self.half.as_ref(), nix::cmsg_space!(TimeSpec));
        stream.try_io(tokio::io::Interest::READABLE, || {
            let mut space = [io::IoSliceMut::new(buffer)];
            let received = recvmsg::<()>(stream.as_raw_fd(), &mut space, Some(&mut control), MsgFlags::empty())?;
            // Bytes that arrived before timestamps were enabled have none.
            let stamp = received.cmsgs().find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(stamp) => Some(SystemTime::UNIX_EPOCH + Duration::from(stamp)),
                _ => None,
            });
            Ok((received.bytes, stamp))
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn receive(&self, buffer: &mut [u8]) -> io::Result<(usize, Option<SystemTime>)> {
        Ok((self.half.try_read(buffer)?, None))
    }
}

impl AsyncRead for Stamped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.half.as_ref().poll_read_ready(context))?;
            match self.receive(buffer.initialize_unfilled()) {
                // The runtime waits again.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                received => {
                    let (count, stamp) = received?;
                    self.arrived = stamp.unwrap_or_else(SystemTime::now);
                    buffer.advance(count);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) from: Ipv4Addr,
    pub(crate) hub: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    pub(crate) patience: Duration,
}

impl Visitor {
    pub(crate) fn new(from: Ipv4Addr, hub: SocketAddr) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_local_address(Some(from.into()));
        connector.set_reuse_address(true);
        connector.set_nodelay(true);
        Self { from, hub, client: Client::builder(TokioExecutor::new()).build(connector), patience: PATIENCE }
    }

    /// Sends JSON if the body is not empty. A `Host` among the headers replaces the default. Returns status and body.
    pub(crate) async fn request(
        &self,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> anyhow::Result<(u16, Bytes)> {
        let mut request = Request::builder().method(method).uri(format!("http://{}{path}", self.hub));
        let json = [("Content-Type", "application/json")];
        for &(name, value) in headers.iter().chain(json.iter().filter(|_| !body.is_empty())) {
            request = request.header(name, value);
        }
        let request = request.body(Full::from(body.to_owned()))?;
        let exchange = async {
            let response = self.client.request(request).await?;
            Ok((response.status().as_u16(), response.into_body().collect().await?.to_bytes()))
        };
        timeout(self.patience, exchange).await?
    }

    pub(crate) async fn socket(&self, path: &str, first: Option<Value>) -> anyhow::Result<Wire> {
        let stream = connect(self.from, self.hub).await?;
        let (stream, _) = timeout(PATIENCE, client_async(format!("ws://{}{path}", self.hub), stream)).await??;
        let mut wire = Wire::Socket(Box::new(Socket { stream, is_binary: false, entry: None }));
        if let Some(first) = first {
            wire.send(first.to_string()).await?;
        }
        Ok(wire)
    }

    /// With an entry such as `{"watch": true}`, or as a player.
    pub(crate) async fn enter(&self, room: &str, entry: Option<Value>) -> anyhow::Result<Wire> {
        let query = if entry.is_some() { "?enter=true" } else { "" };
        self.socket(&format!("/rooms/{room}/socket{query}"), entry).await
    }
}

#[derive(Debug)]
pub(crate) enum Wire {
    Datagrams(UdpSocket),
    Stream(Stream),
    Socket(Box<Socket>),
}

#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) stream: WebSocketStream<Stream>,
    // Whether the game, which sends the first message, uses binary ones.
    is_binary: bool,
    /// Leads back to the player's seat.
    pub(crate) entry: Option<Value>,
}

impl Wire {
    pub(crate) async fn datagrams(from: Ipv4Addr, to: SocketAddr) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((from, 0)).await?;
        socket.connect(to).await?;
        Ok(Self::Datagrams(socket))
    }

    pub(crate) async fn stream(from: Ipv4Addr, to: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self::Stream(connect(from, to).await?))
    }

    pub(crate) async fn send(&mut self, message: impl Into<Bytes>) -> anyhow::Result<()> {
        let message = message.into();
        match self {
            Self::Datagrams(socket) => drop(socket.send(&message).await?),
            Self::Stream(stream) => stream.write_all(&message).await?,
            Self::Socket(socket) if socket.is_binary => socket.stream.send(Message::Binary(message)).await?,
            Self::Socket(socket) => socket.stream.send(Message::Text(message.try_into()?)).await?,
        }
        Ok(())
    }

    /// Returns a datagram, a part of the stream, or a message. The error describes the end of the connection.
    pub(crate) async fn receive(&mut self) -> anyhow::Result<Bytes> {
        let mut bytes = BytesMut::new();
        match self {
            Self::Datagrams(socket) => {
                bytes.reserve(BUFFER);
                // A refusal only reports that an earlier datagram was rejected.
                while let Err(error) = socket.recv_buf(&mut bytes).await {
                    ensure!(error.kind() == ErrorKind::ConnectionRefused, error);
                }
            }
            Self::Stream(stream) => {
                bytes.reserve(BUFFER);
                ensure!(stream.read_buf(&mut bytes).await? > 0, "closed");
            }
            Self::Socket(socket) => loop {
                let message = socket.stream.next().await.context("closed")??;
                if let Message::Close(close) = message {
                    bail!("close {}", close.map_or(1005_u16, |close| close.code.into()));
                }
                if message.is_text() || message.is_binary() {
                    socket.is_binary |= message.is_binary();
                    return Ok(message.into_data());
                }
            },
        }
        Ok(bytes.freeze())
    }

    /// Like [`Wire::receive`], without the JSON of a page about its room.
    pub(crate) async fn receive_game(&mut self) -> anyhow::Result<Bytes> {
        loop {
            let bytes = self.receive().await?;
            match self {
                Self::Socket(socket) if bytes.starts_with(b"{") => {
                    let hello: Value = serde_json::from_slice(&bytes)?;
                    if let Some(token) = hello["seat"].as_str() {
                        socket.entry = Some(json!({ "seat": token }));
                    }
                }
                _ => return Ok(bytes),
            }
        }
    }

    /// The first wanted text. The error describes the end of the connection or of `patience`.
    pub(crate) async fn find(&mut self, patience: Duration, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Bytes> {
        let wanted = async {
            loop {
                let bytes = self.receive().await?;
                if str::from_utf8(&bytes).is_ok_and(&is_wanted) {
                    return Ok(bytes);
                }
            }
        };
        timeout(patience, wanted).await?
    }

    pub(crate) fn arrived(&self) -> SystemTime {
        match self {
            Self::Datagrams(_) => SystemTime::now(),
            Self::Stream(stream) => stream.reader().arrived,
            Self::Socket(socket) => socket.stream.get_ref().reader().arrived,
        }
    }

    /// Permanently, so that no seat is retained.
    pub(crate) async fn leave(mut self) {
        if let Self::Socket(socket) = &mut self {
            // The hub may have closed it before.
            let _ = socket.stream.close(Some(CloseFrame { code: LEFT, reason: Utf8Bytes::default() })).await;
        }
        // As browsers do: a connection that ends with unread bytes is reset, and the hub may never read the close code.
        let _ = timeout(PATIENCE, async { while self.receive().await.is_ok() {} }).await;
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn timestamps_are_the_times_of_arrival_and_not_of_reading() -> anyhow::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let mut client = connect(Ipv4Addr::LOCALHOST, listener.local_addr()?).await?;
        let (mut server, _) = listener.accept().await?;
        // The system starts to record times some moments after the first request.
        loop {
            let sent = SystemTime::now();
            server.write_all(b"turn").await?;
            assert_eq!(client.reader().half.as_ref().peek(&mut [0; 16]).await?, 4);
            let seen = SystemTime::now();
            client.read_exact(&mut [0; 4]).await?;
            let arrived = client.reader().arrived;
            assert!(sent < arrived, "{sent:?} {arrived:?}");
            if arrived < seen {
                return Ok(());
            }
        }
    }
}
