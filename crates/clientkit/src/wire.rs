use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, ErrorKind},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use bytes::{Buf, Bytes, BytesMut};
use socket2::{Domain, SockRef, Type};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, Interest},
    net::{TcpSocket, TcpStream, UdpSocket},
    time::timeout,
};
use tracing::{debug, warn};

/// Bytes of the queue. A full queue drops the oldest datagrams; a connection with a full queue is lost, because its
/// server does not read.
pub const MAX_UNSENT: usize = 64 << 10;
const MAX_DATAGRAMS: usize = 256;
/// The requested size for a UDP socket: some sixty of the largest datagrams.
const RECEIVE_BUFFER: usize = 4 << 20;
/// Larger than any datagram, so that none is truncated.
const BUFFER: usize = 1 << 16;
/// Bytes of a connection that are received at a time: up to hundreds of messages, each of which may be drawn.
const CHUNK: usize = 4 << 10;
/// Limits on reading the rest of a connection that the client closes.
const CLOSING: Duration = Duration::from_secs(1);
const CLOSING_BYTES: u64 = 64 << 10;

thread_local! {
    // Shared by all clients of a thread.
    static SCRATCH: RefCell<Box<[u8]>> = RefCell::new(vec![0; BUFFER].into_boxed_slice());
}

/// The socket of a client, connected to one address of its server at a time, with a queue of unsent messages.
///
/// Sending never fails: the next [`receive`](Self::receive) reports a failure after the data that the server sent
/// before.
#[derive(Debug)]
pub struct Wire {
    socket: Socket,
    // The addresses of the server, and the index of the one in use.
    servers: Vec<SocketAddr>,
    current: usize,
    unsent: VecDeque<Bytes>,
    unsent_bytes: usize,
    // A fault that was detected while sending.
    fault: Option<Received>,
    // The connection can no longer send.
    broken: bool,
}

#[derive(Debug)]
enum Socket {
    Datagrams(UdpSocket),
    Stream(TcpStream),
}

#[derive(Debug)]
pub enum Received {
    Bytes,
    Nothing,
    /// No server currently listens at this address; only for datagrams.
    Refused,
    Closed,
    Failed(io::Error),
}

impl Wire {
    /// Binds a UDP socket to `own` and connects it to the server. Must be called within a runtime.
    pub fn datagrams(own: SocketAddr, server: SocketAddr) -> io::Result<Self> {
        let socket = std::net::UdpSocket::bind(own)?;
        socket.connect(server)?;
        socket.set_nonblocking(true)?;
        Ok(Self::new(Socket::Datagrams(UdpSocket::from_std(socket)?), vec![server], 0))
    }

    /// Connects a UDP socket to the first of `servers` that the system has a route to. Must be called within a runtime.
    ///
    /// # Errors
    /// The last address, and the reason why the socket could not be connected to it.
    pub fn datagrams_to(servers: Vec<SocketAddr>) -> Result<Self, (Option<SocketAddr>, io::Error)> {
        let mut failed = (None, ErrorKind::AddrNotAvailable.into());
        for (current, &server) in servers.iter().enumerate() {
            match datagram_socket(server) {
                Ok(socket) => return Ok(Self::new(Socket::Datagrams(socket), servers, current)),
                Err(error) => failed = (Some(server), error),
            }
        }
        Err(failed)
    }

    /// Binds a TCP socket to `own`, passes its address to `bound`, and connects it: the caller knows the address before
    /// the server does.
    pub async fn stream(own: SocketAddr, server: SocketAddr, bound: impl FnOnce(SocketAddr)) -> io::Result<Self> {
        let socket = if server.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.bind(own)?;
        bound(socket.local_addr()?);
        Ok(Self::connected(socket.connect(server).await?, server))
    }

    pub async fn stream_to(server: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(server).await?;
        // Without a listener, a connection can reach itself if the system gives it the port that it connects to.
        if stream.local_addr()? == stream.peer_addr()? {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        Ok(Self::connected(stream, server))
    }

    fn connected(stream: TcpStream, server: SocketAddr) -> Self {
        netshell::tune_stream(&stream);
        Self::new(Socket::Stream(stream), vec![server], 0)
    }

    const fn new(socket: Socket, servers: Vec<SocketAddr>, current: usize) -> Self {
        Self { socket, servers, current, unsent: VecDeque::new(), unsent_bytes: 0, fault: None, broken: false }
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.socket {
            Socket::Datagrams(socket) => socket.local_addr(),
            Socket::Stream(stream) => stream.local_addr(),
        }
    }

    pub fn server(&self) -> SocketAddr {
        self.servers[self.current]
    }

    pub fn servers(&self) -> &[SocketAddr] {
        &self.servers
    }

    /// Connects a UDP socket to the next address of the server, and drops unsent messages. Returns `false` if there is
    /// none.
    pub fn try_next(&mut self) -> bool {
        for step in 1..self.servers.len() {
            let next = (self.current + step) % self.servers.len();
            match datagram_socket(self.servers[next]) {
                Ok(socket) => {
                    debug!(from = %self.server(), to = %self.servers[next], "trying another address");
                    *self = Self::new(Socket::Datagrams(socket), std::mem::take(&mut self.servers), next);
                    return true;
                }
                Err(error) => debug!(address = %self.servers[next], %error, "no route to this address"),
            }
        }
        false
    }

    /// Connects a UDP socket to the first of these addresses that the system has a route to, if possible from the same
    /// port: a server identifies its players by their addresses. Drops unsent messages. Returns `false`, without a
    /// change, if no address can be used.
    pub fn move_to(&mut self, servers: Vec<SocketAddr>) -> bool {
        let Socket::Datagrams(socket) = &self.socket else { return false };
        for (current, &server) in servers.iter().enumerate() {
            let moved = match SockRef::from(socket).connect(&server.into()) {
                Ok(()) => None,
                // The route starts at another address of this machine, which a socket cannot change.
                Err(error) => {
                    debug!(%server, %error, "this socket has no route to the address");
                    let Ok(socket) = datagram_socket(server) else { continue };
                    Some(Socket::Datagrams(socket))
                }
            };
            debug!(from = %self.server(), to = %server, "the server has moved");
            if let Some(socket) = moved {
                self.socket = socket;
            }
            (self.servers, self.current, self.fault) = (servers, current, None);
            self.drop_unsent();
            return true;
        }
        false
    }

    /// Waits until [`Wire::receive`] or [`Wire::flush`] can make progress. Cancel safe.
    pub async fn ready(&self) {
        if self.fault.is_some() {
            return;
        }
        let interest =
            if self.unsent.is_empty() { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
        // The next operation reports an error.
        let _ = match &self.socket {
            // The report of a closed port does not make a socket readable or writable.
            Socket::Datagrams(socket) => socket.ready(interest | Interest::ERROR).await,
            Socket::Stream(stream) => stream.ready(interest).await,
        };
    }

    /// Passes one datagram or one part of the stream to `take`, if one has arrived.
    pub fn receive(&mut self, take: impl FnOnce(&[u8])) -> Received {
        SCRATCH.with_borrow_mut(|buffer| {
            let received = match &self.socket {
                Socket::Datagrams(socket) => match socket.try_recv(buffer) {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => socket.try_io(Interest::ERROR, || {
                        Err(socket.take_error()?.unwrap_or_else(|| ErrorKind::WouldBlock.into()))
                    }),
                    received => received,
                },
                Socket::Stream(stream) => stream.try_read(&mut buffer[..CHUNK]),
            };
            match (received, &self.socket) {
                (Err(error), _) if error.kind() == ErrorKind::WouldBlock => {
                    self.fault.take().unwrap_or(Received::Nothing)
                }
                (Err(error), Socket::Datagrams(_)) if is_refused(&error) => Received::Refused,
                (Err(error), _) => Received::Failed(error),
                (Ok(0), Socket::Stream(_)) => Received::Closed,
                (Ok(bytes), _) => {
                    take(&buffer[..bytes]);
                    Received::Bytes
                }
            }
        })
    }

    /// Waits for a part of the stream and appends it, and sends the queue meanwhile. Returns 0 at the end of the
    /// stream. Cancel safe.
    pub async fn read(&mut self, bytes: &mut BytesMut) -> io::Result<usize> {
        loop {
            self.ready().await;
            self.flush();
            let before = bytes.len();
            match self.receive(|part| bytes.extend_from_slice(part)) {
                Received::Bytes => return Ok(bytes.len() - before),
                Received::Nothing | Received::Refused => {}
                Received::Closed => return Ok(0),
                Received::Failed(error) => return Err(error),
            }
        }
    }

    pub fn is_flushed(&self) -> bool {
        self.unsent.is_empty()
    }

    /// Sends a message when the system has room for it.
    pub fn send(&mut self, message: Bytes) {
        if self.broken {
            return;
        }
        self.unsent_bytes += message.len();
        self.unsent.push_back(message);
        match &self.socket {
            Socket::Datagrams(_) => {
                while self.unsent.len() > MAX_DATAGRAMS || self.unsent_bytes > MAX_UNSENT && self.unsent.len() > 1 {
                    self.unsent_bytes -= self.unsent.pop_front().map_or(0, |oldest| oldest.len());
                }
            }
            Socket::Stream(_) if self.unsent_bytes > MAX_UNSENT => {
                self.fault = Some(Received::Failed(io::Error::new(ErrorKind::TimedOut, "the server does not read")));
                self.drop_unsent();
                self.broken = true;
            }
            Socket::Stream(_) => {}
        }
        self.flush();
    }

    /// Sends until the system's buffer is full.
    pub fn flush(&mut self) {
        while let Some(message) = self.unsent.front_mut() {
            let sent = match &self.socket {
                Socket::Datagrams(socket) => match socket.try_send(message) {
                    // The error is about an earlier datagram, and this one was not sent.
                    Err(error) if is_refused(&error) => {
                        self.fault = Some(Received::Refused);
                        socket.try_send(message)
                    }
                    sent => sent,
                },
                Socket::Stream(stream) => stream.try_write(message),
            };
            match (sent, &self.socket) {
                (Err(error), _) if error.kind() == ErrorKind::WouldBlock => return,
                (Ok(sent), Socket::Stream(_)) if sent < message.len() => {
                    message.advance(sent);
                    self.unsent_bytes -= sent;
                    continue;
                }
                (Ok(_), _) => {}
                (Err(error), Socket::Datagrams(_)) if is_refused(&error) => self.fault = Some(Received::Refused),
                (Err(error), Socket::Datagrams(_)) => warn!(%error, "cannot send a datagram"),
                // The last data from the server is still read, and then the error or the end of the stream.
                (Err(error), Socket::Stream(_)) => {
                    debug!(%error, "the server no longer receives data");
                    self.broken = true;
                    return self.drop_unsent();
                }
            }
            self.unsent_bytes -= self.unsent.pop_front().map_or(0, |sent| sent.len());
        }
    }

    fn drop_unsent(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
    }

    pub(crate) async fn flushed(&mut self) {
        while !self.unsent.is_empty() {
            let writable = match &self.socket {
                Socket::Datagrams(socket) => socket.writable().await,
                Socket::Stream(stream) => stream.writable().await,
            };
            if writable.is_err() {
                return;
            }
            self.flush();
        }
    }

    /// Reads the connection to its end, within bounds: unread bytes would reset it, and the server might not have sent
    /// its last messages to other clients.
    pub async fn close(self) {
        let Socket::Stream(mut stream) = self.socket else { return };
        let _ = stream.shutdown().await;
        let mut rest = vec![];
        let _ = timeout(CLOSING, stream.take(CLOSING_BYTES).read_to_end(&mut rest)).await;
        if !rest.is_empty() {
            debug!(bytes = rest.len(), "ignored bytes after the last message");
        }
    }

    /// Acknowledges the received part of a stream immediately; systems wait some 40 ms to save packets. Linux only.
    ///
    /// A server without `TCP_NODELAY` holds back its next small message until the last one is acknowledged. If that
    /// message is a question, the time limit for the answer starts before the question is sent.
    pub fn acknowledge(&self) {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Socket::Stream(stream) = &self.socket {
            let _ = SockRef::from(stream).set_tcp_quickack(true);
        }
    }
}

fn datagram_socket(server: SocketAddr) -> io::Result<UdpSocket> {
    let socket = socket2::Socket::new(Domain::for_address(server), Type::DGRAM, None)?;
    let _ = socket.set_recv_buffer_size(RECEIVE_BUFFER);
    let any: SocketAddr = match server {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    socket.bind(&any.into())?;
    socket.connect(&server.into())?;
    socket.set_nonblocking(true)?;
    UdpSocket::from_std(socket.into())
}

// Windows reports a reset.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn full_queue_drops_oldest_datagram() {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut wire = Wire::datagrams((Ipv4Addr::LOCALHOST, 0).into(), server.local_addr().unwrap()).unwrap();
        // Without a poll of the runtime, the socket does not count as writable, and all messages are queued.
        for number in 0..=MAX_DATAGRAMS {
            wire.send(Bytes::from(format!("KEY {number}")));
        }
        assert_eq!((wire.unsent.len(), &wire.unsent[0][..]), (MAX_DATAGRAMS, &b"KEY 1"[..]));
        wire.send(Bytes::from(vec![b'x'; MAX_UNSENT]));
        assert_eq!((wire.unsent.len(), wire.unsent_bytes), (1, MAX_UNSENT));
        wire.send(Bytes::from_static(b"KEY Q"));
        timeout(PATIENCE, wire.flushed()).await.unwrap();
        let mut buffer = [0; 16];
        let length = timeout(PATIENCE, server.recv(&mut buffer)).await.unwrap().unwrap();
        assert_eq!(&buffer[..length], b"KEY Q");
    }

    #[tokio::test]
    async fn data_is_received_before_the_loss_of_a_server_that_does_not_read() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut wire = Wire::stream_to(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        server.write_all(b"hello").await.unwrap();
        while wire.fault.is_none() {
            wire.send(Bytes::from(vec![0; 32 << 10]));
            tokio::task::yield_now().await;
        }
        let mut bytes = BytesMut::new();
        let read = timeout(PATIENCE, wire.read(&mut bytes)).await.unwrap();
        assert_eq!((read.unwrap(), &bytes[..]), (5, &b"hello"[..]));
        assert_eq!(wire.read(&mut bytes).await.unwrap_err().to_string(), "the server does not read");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn acknowledges_immediately_after_any_number_of_answers() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let mut wire = Wire::stream_to(listener.local_addr().unwrap()).await.unwrap();
        let (mut dealer, _) = listener.accept().await.unwrap();
        let quick = |wire: &Wire| match &wire.socket {
            Socket::Stream(stream) => SockRef::from(stream).tcp_quickack().unwrap(),
            Socket::Datagrams(_) => unreachable!(),
        };
        // After quick answers the system switches to delayed acknowledgements, which it sends with the answers.
        let delayed = async {
            while quick(&wire) {
                dealer.write_all(b"?").await.unwrap();
                wire.read(&mut BytesMut::new()).await.unwrap();
                wire.send(Bytes::from_static(b"!"));
                dealer.read_exact(&mut [0]).await.unwrap();
            }
        };
        timeout(PATIENCE, delayed).await.expect("the system switches to delayed acknowledgements");
        dealer.write_all(b".").await.unwrap();
        wire.read(&mut BytesMut::new()).await.unwrap();
        wire.acknowledge();
        assert!(quick(&wire));
    }
}
