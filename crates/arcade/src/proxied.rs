//! Trusted reverse proxies, and the PROXY protocol, versions 1 and 2: a connection starts with the address of the
//! client.
//!
//! Source: <https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt>.

use std::{
    fmt, io,
    io::IoSlice,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, BufMut as _, BytesMut};
use futures_util::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use ipnet::IpNet;
use netshell::{ByteStream, Listen};
use proxy_header::{Error, ParseConfig, Protocol, ProxiedAddress, ProxyHeader};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tracing::warn;

/// The longest header in bytes, with its additional fields. It should fit into one segment.
const MAX_HEADER: usize = 536;
/// The timeout of a header, which a proxy sends immediately.
const PATIENCE: Duration = Duration::from_secs(5);
/// Connections of one listener with incomplete headers. Further ones are not accepted.
pub(crate) const MAX_PENDING: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct Proxies {
    networks: Arc<[IpNet]>,
    send_headers: bool,
}

impl Proxies {
    /// `send_headers` states that they use the PROXY protocol.
    pub(crate) fn new(networks: &[IpNet], send_headers: bool) -> Self {
        Self { networks: networks.into(), send_headers }
    }

    pub(crate) fn contains(&self, ip: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&ip.to_canonical()))
    }

    pub(crate) const fn send_headers(&self) -> bool {
        self.send_headers
    }
}

/// An address, or a network as in `172.18.0.0/16`.
pub(crate) fn network(typed: &str) -> Result<IpNet, String> {
    let address = || cmdkit::ip_address(typed).map(|ip| IpNet::from(ip.to_canonical()));
    typed
        .parse()
        .or_else(|_| address())
        .map_err(|_| "expected an IP address without a port or a network, as in 127.0.0.1 or 172.18.0.0/16".to_owned())
}

/// A stream after the header.
#[derive(Debug)]
pub(crate) struct Proxied<S> {
    stream: S,
    // Bytes that arrived with the header.
    front: BytesMut,
}

impl<S> From<S> for Proxied<S> {
    fn from(stream: S) -> Self {
        Self { stream, front: BytesMut::new() }
    }
}

impl<S> Proxied<S> {
    pub(crate) const fn get_ref(&self) -> &S {
        &self.stream
    }
}

/// Returns the stream after the header, and the addresses in it; `None` for a connection of the proxy itself.
pub(crate) async fn read_header<S: AsyncRead + Unpin>(
    mut stream: S,
) -> io::Result<(Proxied<S>, Option<ProxiedAddress>)> {
    let config = ParseConfig { include_tlvs: false, ..ParseConfig::default() };
    let mut front = BytesMut::new();
    let read = async {
        loop {
            match ProxyHeader::parse(&front, config) {
                Ok((header, length)) => {
                    let addresses = header.proxied_address().cloned();
                    front.advance(length);
                    return Ok(addresses);
                }
                Err(Error::BufferTooShort) if front.len() < MAX_HEADER => {}
                Err(_) => return Err(io::Error::from(io::ErrorKind::InvalidData)),
            }
            let free = MAX_HEADER - front.len();
            if stream.read_buf(&mut (&mut front).limit(free)).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    };
    let addresses = timeout(PATIENCE, read).await.map_err(|_| io::ErrorKind::TimedOut)??;
    if addresses.as_ref().is_some_and(|addresses| addresses.protocol != Protocol::Stream) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((Proxied { stream, front }, addresses))
}

pub(crate) fn no_header(proxy: SocketAddr) -> String {
    let ip = proxy.ip().to_canonical();
    format!("closed a connection of the proxy {ip} without a valid header of the PROXY protocol")
}

type Reading = BoxFuture<'static, (SocketAddr, io::Result<(Proxied<TcpStream>, Option<ProxiedAddress>)>)>;

/// Accepts connections at a port for native clients.
pub(crate) struct ProxiedListener {
    listener: TcpListener,
    sends_header: Box<dyn Fn(SocketAddr) -> bool + Send>,
    reading: FuturesUnordered<Reading>,
    has_warned: bool,
}

impl ProxiedListener {
    pub(crate) fn new(listener: TcpListener, sends_header: impl Fn(SocketAddr) -> bool + Send + 'static) -> Self {
        let sends_header = Box::new(sends_header);
        Self { listener, sends_header, reading: FuturesUnordered::new(), has_warned: false }
    }
}

impl fmt::Debug for ProxiedListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxiedListener").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl Listen for ProxiedListener {
    type Stream = Proxied<TcpStream>;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Self::Stream, SocketAddr)>> {
        loop {
            while let Poll::Ready(Some((proxy, read))) = self.reading.poll_next_unpin(context) {
                match read {
                    Ok((stream, addresses)) => {
                        let client = addresses.map_or(proxy, |addresses| addresses.source);
                        return Poll::Ready(Ok((stream, client)));
                    }
                    Err(_) if self.has_warned => {}
                    Err(_) => {
                        self.has_warned = true;
                        warn!("{}", no_header(proxy));
                    }
                }
            }
            if self.reading.len() >= MAX_PENDING {
                return Poll::Pending;
            }
            let (stream, peer) = ready!(Listen::poll_accept(&mut self.listener, context))?;
            if !(self.sends_header)(peer) {
                return Poll::Ready(Ok((stream.into(), peer)));
            }
            self.reading.push(Box::pin(async move { (peer, read_header(stream).await) }));
        }
    }
}

impl ByteStream for Proxied<TcpStream> {
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        if self.front.is_empty() {
            return ByteStream::try_read(&mut self.stream, buffer, most);
        }
        let front = self.front.split_to(most.min(self.front.len()));
        buffer.extend_from_slice(&front);
        Ok(front.len())
    }

    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        ByteStream::try_write(&mut self.stream, slices)
    }

    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.front.is_empty() { self.stream.poll_readable(context) } else { Poll::Ready(Ok(())) }
    }

    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.poll_writable(context)
    }

    fn finish(&mut self) {
        self.stream.finish();
    }

    fn abort(&mut self) {
        self.stream.abort();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Proxied<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.front.is_empty() {
            return Pin::new(&mut this.stream).poll_read(context, buffer);
        }
        let front = this.front.split_to(buffer.remaining().min(this.front.len()));
        buffer.put_slice(&front);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Proxied<S> {
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
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, duplex};

    use super::*;

    const VERSION_1: &[u8] = b"PROXY TCP4 198.51.100.7 203.0.113.1 5000 443\r\n";
    const VERSION_2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24\
        \x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x07\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01\x13\x88\x01\xbb";
    const LOCAL: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0";

    // The client in the header, and the bytes after it.
    async fn parse(pieces: &[&[u8]]) -> io::Result<(Option<SocketAddr>, Vec<u8>)> {
        let (mut proxy, hub) = duplex(1 << 10);
        let send = async {
            for piece in pieces {
                let _ = proxy.write_all(piece).await;
                tokio::task::yield_now().await;
            }
            drop(proxy);
        };
        let receive = async {
            let (mut stream, addresses) = read_header(hub).await?;
            let mut rest = vec![];
            stream.read_to_end(&mut rest).await?;
            Ok((addresses.map(|addresses| addresses.source), rest))
        };
        tokio::join!(send, receive).1
    }

    #[tokio::test]
    async fn header_may_arrive_in_two_pieces_and_with_data() {
        for (header, client) in [
            (VERSION_1, Some("198.51.100.7:5000")),
            (VERSION_2, Some("[2001:db8::7]:5000")),
            (LOCAL, None),
            (b"PROXY UNKNOWN\r\n", None),
        ] {
            let client = client.map(|client| client.parse().unwrap());
            let all = [header, b"hello"].concat();
            for at in 0..=all.len() {
                let (first, second) = all.split_at(at);
                assert_eq!(parse(&[first, second]).await.unwrap(), (client, b"hello".to_vec()), "{header:?} at {at}");
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn hostile_headers_are_bounded() {
        let long = [&VERSION_2[..14], b"\xff\xff", &[0; 2 * MAX_HEADER]].concat();
        let datagrams = [&VERSION_2[..13], b"\x12\0\x0c\x01\x02\x03\x04\x01\x02\x03\x04\0\x01\0\x02"].concat();
        let endless = [&b"PROXY TCP4 "[..], &[b'1'; 200]].concat();
        for wrong in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"\x16\x03\x01",
            b"PROXY TCP4 198.51.100.7 203.0.113.1 5000 99999\r\n",
            b"PROXY TCP4 198.51.100.7",
            b"",
            &long,
            &datagrams,
            &endless,
        ] {
            assert!(parse(&[wrong]).await.is_err(), "{wrong:?}");
        }
        let (_silent, hub) = duplex(1);
        assert_eq!(read_header(hub).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn proxies_are_addresses_and_networks() {
        let typed = ["127.0.0.1", "[::1]", "172.18.0.0/16", "fd00::/8"].map(|typed| network(typed).unwrap());
        let proxies = Proxies::new(&typed, false);
        let contains = |ip: &str| proxies.contains(ip.parse().unwrap());
        for trusted in ["127.0.0.1", "::ffff:127.0.0.1", "::1", "172.18.255.3", "::ffff:172.18.0.9", "fd12::1"] {
            assert!(contains(trusted), "{trusted}");
        }
        for other in ["127.0.0.2", "172.19.0.1", "fe80::1", "::2"] {
            assert!(!contains(other), "{other}");
        }
        for wrong in ["", "172.18.0.0/33", "172.18.0.0:80", "proxy", "172.18.0.0/", "fd00::/129"] {
            assert!(network(wrong).is_err(), "{wrong}");
        }
    }
}
