//! A TCP connection whose every wait has an end.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use bytes::BytesMut;

use crate::{launch::Run, report::Sender, tape::Line};

/// How often a server that does not listen yet is tried.
const RETRY: Duration = Duration::from_millis(10);
/// How often to look whether a program that is waited for has ended.
const GLANCE: Duration = Duration::from_millis(200);
/// How long a peer has to read a single byte before the next.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest text without its NUL, in bytes.
pub(crate) const MAX_TEXT: usize = 256;

/// The next datagram of at most 65,536 bytes, and who sent it. There is none if none comes by then, or when the program has ended.
pub(crate) fn datagram(socket: &UdpSocket, run: &mut dyn Run, by: Instant) -> Option<(Vec<u8>, SocketAddr)> {
    let mut buffer = vec![0; 65_536];
    loop {
        let left = by.saturating_duration_since(Instant::now());
        // What it sent before it ended has arrived.
        let ended = run.exit(Instant::now()).is_some();
        if left.is_zero() || socket.set_read_timeout(Some(left.min(GLANCE))).is_err() {
            return None;
        }
        // An error may also be the report of an earlier message that found nobody.
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

/// A TCP connection with the bytes that have arrived and are not used yet.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// What has arrived. Decoders take from its front.
    pub(crate) buffer: BytesMut,
    /// Whether the peer has closed its side, or the connection is lost.
    pub(crate) closed: bool,
    line: Option<Line>,
}

impl Connection {
    /// Connects, and tries again until `by` while nobody listens.
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

    /// Connects to an address where a server listens or not. A connection that is refused shows that it does not.
    pub(crate) fn once(address: SocketAddr, patience: Duration) -> io::Result<Self> {
        Self::new(TcpStream::connect_timeout(&address, patience)?)
    }

    /// As [`Connection::open`], to a server that may end before it listens.
    pub(crate) fn to_server(run: &mut dyn Run, address: SocketAddr, by: Instant) -> io::Result<Self> {
        loop {
            let opened = Self::open(address, by.min(Instant::now() + GLANCE));
            if opened.is_ok() || run.exit(Instant::now()).is_some() || Instant::now() >= by {
                return opened;
            }
        }
    }

    /// Waits until a program connects that was started. There is none if it has not by then, or has ended.
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

    /// Takes over an accepted stream.
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        // What an accepted socket inherits differs between systems.
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: BytesMut::new(), closed: false, line: None })
    }

    /// Has what it carries from now on recorded.
    #[must_use]
    pub(crate) fn recorded(mut self, line: Line) -> Self {
        self.line = Some(line);
        self
    }

    /// Gives it another name in the recording.
    pub(crate) fn rename(&self, name: &str) {
        self.line.iter().for_each(|line| line.rename(name));
    }

    /// That nothing comes is judged.
    fn attend(&self) {
        self.line.iter().for_each(Line::attend);
    }

    /// Tells the recording that so many messages were taken from the front of the buffer.
    pub(crate) fn took(&self, messages: u64) {
        self.line.iter().for_each(|line| line.took(messages));
    }

    /// Takes all that has come.
    pub(crate) fn rest(&mut self) -> BytesMut {
        self.line.iter().for_each(Line::took_all);
        self.buffer.split()
    }

    /// Ends the sending side. A connection that is lost is closed already.
    pub(crate) fn end_sending(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        self.note(Sender::Tester, "ends its side of the connection");
    }

    /// Ends the connection with a reset, as when the computer of a peer loses its power and comes back.
    pub(crate) fn reset(self) {
        #[cfg(unix)]
        // Without it the connection is closed.
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        self.note(Sender::Tester, "resets the connection");
    }

    /// Records something else that happens.
    pub(crate) fn note(&self, sender: Sender, what: &str) {
        self.line.iter().for_each(|line| line.note(sender, what));
    }

    /// Sends all bytes. A peer that has gone is found when one reads.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.line.iter().for_each(|line| line.sent(bytes));
        self.closed |= self.stream.write_all(bytes).is_err();
    }

    /// Sends each byte by itself, with a pause in which a prompt peer reads it.
    pub(crate) fn send_in_bytes(&mut self, bytes: &[u8]) {
        self.send_in_parts(bytes.chunks(1));
    }

    /// Sends each part by itself, with such a pause.
    pub(crate) fn send_in_parts<'b>(&mut self, parts: impl Iterator<Item = &'b [u8]>) {
        for part in parts.filter(|part| !part.is_empty()) {
            self.send(part);
            thread::sleep(PAUSE);
        }
    }

    /// Lets the system acknowledge at once what has arrived, so that a peer that waits for it without `TCP_NODELAY` goes on.
    pub(crate) fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, true);
    }

    /// Lets the system acknowledge what arrives next as late as it may, as it does for many programs.
    pub(crate) fn delay_acknowledgements(&self) {
        // Without it, nothing is seen of a peer that waits for acknowledgements.
        #[cfg(target_os = "linux")]
        let _ = rustix::net::sockopt::set_tcp_quickack(&self.stream, false);
    }

    /// Lets the system keep as little as it may of what arrives and is not read.
    pub(crate) fn keep_little(&self) {
        // Without it a peer has more to send until it notices.
        #[cfg(unix)]
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 4096);
    }

    /// Whether bytes have arrived that were not taken.
    pub(crate) fn has_more(&self) -> bool {
        let is_set = self.stream.set_read_timeout(Some(PAUSE)).is_ok();
        !self.buffer.is_empty() || is_set && self.stream.peek(&mut [0]).is_ok_and(|bytes| bytes > 0)
    }

    /// Waits for more bytes until `by`. Returns whether any came.
    pub(crate) fn more(&mut self, by: Instant) -> bool {
        let mut chunk = [0; 4096];
        loop {
            let left = by.saturating_duration_since(Instant::now());
            if self.closed || left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
                self.attend();
                return false;
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => {
                    self.closed = true;
                    self.note(Sender::Program, "closes the connection");
                }
                Ok(read) => {
                    self.buffer.extend_from_slice(&chunk[..read]);
                    self.line.iter().for_each(|line| line.came(&chunk[..read]));
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
