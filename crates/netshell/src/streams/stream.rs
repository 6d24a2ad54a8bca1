//! What a transport over streams needs of the system, so that a simulation can be in its place.

use std::{
    io::{self, IoSlice},
    net::{Shutdown, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};

/// After how long without a word the system asks whether the other machine is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);
/// Bytes that the system may hold of what was sent to one connection; Linux counts its own overhead as well and doubles it.
/// What lies there cannot be counted: with megabytes of it a slow reader looks as if it read nothing for minutes, and five
/// hundred who read nothing at all hold gigabytes.
pub const SEND_BUFFER: usize = 128 << 10;

/// One end of a connection that carries bytes in order. Nothing waits.
pub trait ByteStream {
    /// Appends at most `most` bytes of what has arrived; 0 is the end.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when nothing is there.
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize>;

    /// Hands over as much as is taken at once.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when nothing is taken.
    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Ready when there may be something to read; otherwise the task is woken once there is.
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when something may be taken; otherwise the task is woken once it is. After a [`ByteStream::try_write`] that would
    /// have blocked it is not ready before there is room, or whoever writes would try for ever.
    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Lets the other end see that nothing more comes.
    fn finish(&mut self);

    /// Makes the end abrupt: when the stream is dropped, the system forgets what it holds for the other end.
    fn abort(&mut self) {}
}

/// Where connections come in.
pub trait Listen {
    /// What comes in.
    type Stream: ByteStream;

    /// The next connection, and the address of its other end.
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Self::Stream, SocketAddr)>>;
}

impl ByteStream for TcpStream {
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        // A buffer may have room for more than was asked for.
        self.try_read_buf(&mut buffer.limit(most))
    }

    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match slices {
            [one] => Self::try_write(self, one),
            many => self.try_write_vectored(many),
        }
    }

    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(context)
    }

    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_write_ready(context)
    }

    fn finish(&mut self) {
        // It fails only if the connection is broken already, which reading tells.
        let _ = SockRef::from(&*self).shutdown(Shutdown::Write);
    }

    fn abort(&mut self) {
        // Where that fails, the system gives up by itself in the end.
        let _ = SockRef::from(&*self).set_linger(Some(Duration::ZERO));
    }
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        Self::poll_accept(self, context).map_ok(|(stream, address)| {
            // The connection works without any of these options, so an error is ignored.
            let _ = stream.set_nodelay(true);
            let socket = SockRef::from(&stream);
            let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
            let _ = socket.set_send_buffer_size(SEND_BUFFER);
            (stream, address)
        })
    }
}
