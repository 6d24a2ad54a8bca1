//! The interface between the stream transport and the system, which a simulation can implement too.

use std::{
    io::{self, IoSlice},
    net::{Shutdown, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use socket2::SockRef;
use tokio::{
    io::Interest,
    net::{TcpListener, TcpStream},
};

use crate::tune_accepted;

/// The size of the system's send buffer in bytes, which Linux doubles. Its content cannot be measured: with megabytes,
/// a slow reader would look stalled for minutes, and five hundred peers that never read would occupy gigabytes.
pub(crate) const SEND_BUFFER: usize = 128 << 10;

/// One end of an ordered stream of bytes. No method blocks.
pub trait ByteStream {
    /// Appends at most `most` bytes that have arrived; 0 at the end of the stream.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if no bytes have arrived.
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize>;

    /// Writes the bytes that are accepted without blocking.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if no bytes are accepted.
    fn try_write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize>;

    /// Ready when there may be something to read.
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Ready when a write may succeed. After a [`ByteStream::try_write`] that returned `WouldBlock` it must not be
    /// ready before there is space, or the writer would loop forever.
    fn poll_writable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Shuts down the sending half.
    fn finish(&mut self);

    /// Makes dropping the stream reset the connection.
    fn abort(&mut self) {}
}

/// A listener for connections.
pub trait Listen {
    /// The type of an accepted connection.
    type Stream: ByteStream;

    /// The next connection, and the address of the peer.
    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(Self::Stream, SocketAddr)>>;
}

impl ByteStream for TcpStream {
    fn try_read(&mut self, buffer: &mut BytesMut, most: usize) -> io::Result<usize> {
        let mut read = Ok(0);
        // A read that would block clears readiness, but costs a second system call per message. With edge-triggered
        // events, a short read also shows that the stream is drained.
        let drained = self.try_io(Interest::READABLE, || {
            // The buffer may have more spare capacity than `most`.
            read = self.try_read_buf(&mut buffer.limit(most));
            match read {
                Ok(count) if cfg!(unix) && 0 < count && count < most => Err(io::ErrorKind::WouldBlock.into()),
                _ => Ok(()),
            }
        });
        // If the stream was not ready, the closure did not run.
        match (read, drained) {
            (Ok(0), Err(error)) => Err(error),
            (read, _) => read,
        }
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
        // Fails only if the connection failed, which the next read reports.
        let _ = SockRef::from(&*self).shutdown(Shutdown::Write);
    }

    fn abort(&mut self) {
        // If this fails, the system eventually times out.
        let _ = SockRef::from(&*self).set_linger(Some(Duration::ZERO));
    }
}

impl Listen for TcpListener {
    type Stream = TcpStream;

    fn poll_accept(&mut self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        Self::poll_accept(self, context).map_ok(|(stream, address)| {
            tune_accepted(&stream);
            let _ = SockRef::from(&stream).set_send_buffer_size(SEND_BUFFER);
            (stream, address)
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::MAX_UNACKNOWLEDGED;

    #[tokio::test]
    async fn accepted_connection_limits_unacknowledged_data() {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = poll_fn(|context| Listen::poll_accept(&mut listener, context)).await.unwrap();
        let socket = SockRef::from(&stream);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(MAX_UNACKNOWLEDGED));
        assert!(socket.keepalive().unwrap(), "idle connections");
    }
}
