//! The interface between the stream transport and the system, which a simulation can implement too.

use std::{
    io::{self, IoSlice},
    net::{Shutdown, SocketAddr},
    task::{Context, Poll},
    time::Duration,
};

use bytes::{BufMut, BytesMut};
use netcore::Time;
use socket2::SockRef;
use tokio::{
    io::Interest,
    net::{TcpListener, TcpStream},
};

use super::ready::Source;
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

const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Listener<L> {
    socket: L,
    source: Source,
    paused: Option<Time>,
}

#[derive(Debug)]
pub(super) enum Accepted<S> {
    Connection(S, SocketAddr),
    Nothing,
    Full(io::Error),
}

impl<L: Listen> Listener<L> {
    pub(super) const fn new(socket: L, source: Source) -> Self {
        Self { socket, source, paused: None }
    }

    /// Accepts one connection. If there may be more, wakes the source again.
    pub(super) fn accept(&mut self, now: Time) -> Accepted<L::Stream> {
        if self.paused.is_some_and(|until| now < until) {
            return Accepted::Nothing;
        }
        self.paused = None;
        let Poll::Ready(accepted) = self.socket.poll_accept(&mut self.source.context()) else {
            return Accepted::Nothing;
        };
        match accepted {
            Ok((stream, address)) => {
                self.source.wake();
                Accepted::Connection(stream, address)
            }
            Err(error) if is_about_one_connection(&error) => {
                self.source.wake();
                Accepted::Nothing
            }
            Err(error) => {
                self.paused = Some(now.plus(PAUSE));
                Accepted::Full(error)
            }
        }
    }

    /// Wakes the source during a back-off, so that [`Listener::accept`] detects its end. Returns whether there is a
    /// back-off.
    pub(super) fn elapsed(&self) -> bool {
        if self.paused.is_some() {
            self.source.wake();
        }
        self.paused.is_some()
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    use std::future::poll_fn;
    use std::{collections::VecDeque, task::Context};

    use tokio::net::TcpStream;

    use super::*;
    #[cfg(target_os = "linux")]
    use crate::MAX_UNACKNOWLEDGED;
    use crate::streams::ready::ReadyList;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn accepted_connection_limits_unacknowledged_data() {
        let mut listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = poll_fn(|context| Listen::poll_accept(&mut listener, context)).await.unwrap();
        let socket = SockRef::from(&stream);
        assert_eq!(socket.tcp_user_timeout().unwrap(), Some(MAX_UNACKNOWLEDGED));
        assert!(socket.keepalive().unwrap(), "idle connections");
    }

    struct Scripted(VecDeque<io::ErrorKind>);

    impl Listen for Scripted {
        type Stream = TcpStream;

        fn poll_accept(&mut self, _: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
            self.0.pop_front().map_or(Poll::Pending, |kind| Poll::Ready(Err(kind.into())))
        }
    }

    #[test]
    fn errors_of_one_connection_are_skipped_and_errors_of_the_system_cause_a_back_off() {
        let ready = ReadyList::new();
        let answers = [io::ErrorKind::ConnectionAborted, io::ErrorKind::OutOfMemory, io::ErrorKind::OutOfMemory];
        let mut listener = Listener::new(Scripted(answers.into()), ready.source('l'));
        assert_eq!(ready.next(), Some('l'));
        let at = Time::from_millis;
        assert!(matches!(listener.accept(at(0)), Accepted::Nothing));
        assert_eq!(ready.next(), Some('l'), "there may be another one");
        assert!(matches!(listener.accept(at(0)), Accepted::Full(_)));
        assert_eq!(ready.next(), None, "no busy loop");
        assert!(listener.elapsed() && ready.next() == Some('l'));
        assert!(matches!(listener.accept(at(99)), Accepted::Nothing), "the system is not asked");
        assert!(matches!(listener.accept(at(100)), Accepted::Full(_)));
        assert!(matches!(listener.accept(at(200)), Accepted::Nothing));
        assert!(!listener.elapsed(), "the pause is over");
    }
}
