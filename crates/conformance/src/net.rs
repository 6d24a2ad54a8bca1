use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use bytes::BytesMut;

use crate::{launch::Run, report::Sender, sockets::unread, tape::Channel};

const RETRY: Duration = Duration::from_millis(10);
/// The interval of checks whether the program has ended.
const POLL: Duration = Duration::from_millis(200);
/// Lets the peer read a single byte.
const PAUSE: Duration = Duration::from_millis(1);
/// How long parts of a message wait for a peer that does not read.
const UNREAD: Duration = Duration::from_millis(500);
/// Without the NUL, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// Returns the next datagram; `None` if none arrives in time or the program has ended.
pub(crate) fn datagram(socket: &UdpSocket, run: &mut dyn Run, by: Instant) -> Option<(Vec<u8>, SocketAddr)> {
    let mut buffer = vec![0; 65_536];
    loop {
        let left = by.saturating_duration_since(Instant::now());
        // Checked before the read, since datagrams of an ended program have arrived.
        let ended = run.exit(Instant::now()).is_some();
        if left.is_zero() || socket.set_read_timeout(Some(left.min(POLL))).is_err() {
            return None;
        }
        // Possibly the report that an earlier datagram had no receiver.
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                buffer.truncate(length);
                return Some((buffer, from));
            }
            Err(_) if ended => return None,
            Err(_) => {}
        }
    }
}

pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Decoders consume it from the front.
    pub(crate) buffer: BytesMut,
    pub(crate) closed: bool,
    channel: Option<Channel>,
}

impl Connection {
    /// Retries until `by`.
    pub(crate) fn open(address: SocketAddr, by: Instant) -> io::Result<Self> {
        loop {
            let left = by.saturating_duration_since(Instant::now()).max(RETRY);
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Self::new(stream),
                Err(error) if Instant::now() + RETRY >= by => return Err(error),
                Err(_) => thread::sleep(RETRY),
            }
        }
    }

    /// Does not retry: a refused connection means that no server listens.
    pub(crate) fn once(address: SocketAddr, patience: Duration) -> io::Result<Self> {
        Self::new(TcpStream::connect_timeout(&address, patience)?)
    }

    /// Retries until `by`, unless the server ends before it listens.
    pub(crate) fn to_server(run: &mut dyn Run, address: SocketAddr, by: Instant) -> io::Result<Self> {
        loop {
            let opened = Self::open(address, by.min(Instant::now() + POLL));
            if opened.is_ok() || run.exit(Instant::now()).is_some() || Instant::now() >= by {
                return opened;
            }
        }
    }

    /// `None` if the program does not connect in time or has ended.
    pub(crate) fn accept(listener: &TcpListener, run: &mut dyn Run, by: Instant) -> io::Result<Option<Self>> {
        listener.set_nonblocking(true)?;
        loop {
            match listener.accept() {
                Ok((stream, _)) => return Self::new(stream).map(Some),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
                Err(_) if Instant::now() >= by || run.exit(Instant::now()).is_some() => return Ok(None),
                Err(_) => thread::sleep(RETRY),
            }
        }
    }

    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        // The flags that an accepted socket inherits depend on the system.
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::new(), closed: false, channel: None })
    }

    #[must_use]
    pub(crate) fn recorded(mut self, channel: Channel) -> Self {
        self.channel = Some(channel);
        self
    }

    pub(crate) fn rename(&self, name: &str) {
        self.channel.iter().for_each(|channel| channel.rename(name));
    }

    fn focus(&self) {
        self.channel.iter().for_each(Channel::focus);
    }

    pub(crate) fn mark_read(&self, messages: u64) {
        self.channel.iter().for_each(|channel| channel.mark_read(messages));
    }

    pub(crate) fn rest(&mut self) -> BytesMut {
        self.channel.iter().for_each(Channel::mark_all_read);
        self.buffer.split()
    }

    pub(crate) fn end_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.note(Sender::Tester, "ends its side of the connection");
    }

    pub(crate) fn reset(self) {
        #[cfg(unix)]
        // Otherwise, the connection is closed normally.
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        self.note(Sender::Tester, "resets the connection");
    }

    pub(crate) fn note(&self, sender: Sender, what: &str) {
        self.channel.iter().for_each(|channel| channel.note(sender, what));
    }

    /// The next read detects a disconnected peer.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.channel.iter().for_each(|channel| channel.sent(bytes));
        self.closed |= self.stream.write_all(bytes).is_err();
    }

    /// Sends bytes separately, with pauses in which a prompt peer reads each.
    pub(crate) fn send_in_bytes(&mut self, bytes: &[u8]) {
        self.send_in_parts(bytes.chunks(1));
    }

    /// Pauses after each part, if possible until the peer has read it, for at most [`UNREAD`] in total.
    pub(crate) fn send_in_parts<'b>(&mut self, parts: impl Iterator<Item = &'b [u8]>) {
        let by = Instant::now() + UNREAD;
        let ends = self.stream.peer_addr().ok().zip(self.stream.local_addr().ok());
        for part in parts.filter(|part| !part.is_empty()) {
            self.send(part);
            thread::sleep(PAUSE);
            let is_unread = || ends.and_then(|(peer, own)| unread(peer, own)).is_some_and(|bytes| bytes > 0);
            while Instant::now() < by && is_unread() {
                thread::sleep(PAUSE);
            }
        }
    }

    /// For a peer without `TCP_NODELAY` that waits for the acknowledgement.
    pub(crate) fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, true);
    }

    /// Delays acknowledgements, as many systems do, which reveals a peer that waits for them.
    pub(crate) fn delay_acknowledgements(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, false);
    }

    pub(crate) fn keep_little(&self) {
        // A smaller buffer fills after less data.
        #[cfg(unix)]
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 4096);
    }

    pub(crate) fn has_more(&self) -> bool {
        let is_set = self.stream.set_read_timeout(Some(PAUSE)).is_ok();
        !self.buffer.is_empty() || is_set && self.stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
    }

    pub(crate) fn more(&mut self, by: Instant) -> bool {
        let mut chunk = [0; 4096];
        loop {
            let left = by.saturating_duration_since(Instant::now());
            if self.closed || left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                self.focus();
                return false;
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => {
                    self.closed = true;
                    self.note(Sender::Program, "closes the connection");
                }
                Ok(read) => {
                    self.buffer.extend_from_slice(&chunk[..read]);
                    self.channel.iter().for_each(|channel| channel.received(&chunk[..read]));
                    return true;
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                }
                Err(_) => {
                    self.closed = true;
                    self.note(Sender::Program, "breaks the connection off");
                }
            }
        }
    }
}
