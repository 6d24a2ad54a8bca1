//! When bytes reached a client's socket. A client that shares the processors with the hub reads them later, which is no fault of the
//! hub.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::SystemTime,
};

#[cfg(target_os = "linux")]
use nix::sys::time::TimeSpec;
#[cfg(not(target_os = "linux"))]
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest, ReadBuf},
    net::TcpStream,
};

/// Receives with a time: that at which the system queued the last of the received bytes. Elsewhere than on Linux it is the time at which
/// they are read.
#[derive(Debug)]
pub(crate) struct Receiver {
    #[cfg(target_os = "linux")]
    control: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl Receiver {
    pub(crate) fn new() -> Self {
        Self { control: nix::cmsg_space!(TimeSpec) }
    }

    /// Asks the system for times at `socket`.
    pub(crate) fn prepare(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
        Ok(nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?)
    }

    /// Receives what is there; no bytes at the end of the stream.
    pub(crate) fn receive(
        &mut self,
        socket: &impl std::os::fd::AsRawFd,
        buffer: &mut [u8],
    ) -> io::Result<(usize, SystemTime)> {
        use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

        let mut space = [io::IoSliceMut::new(buffer)];
        let received = recvmsg::<()>(socket.as_raw_fd(), &mut space, Some(&mut self.control), MsgFlags::empty())?;
        let stamp = received.cmsgs().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(SystemTime::UNIX_EPOCH + stamp.into()),
            _ => None,
        });
        // Bytes that arrived before the system was asked have none.
        Ok((received.bytes, stamp.unwrap_or_else(SystemTime::now)))
    }
}

#[cfg(not(target_os = "linux"))]
impl Receiver {
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Does nothing here.
    pub(crate) fn prepare<T>(_: &T) -> io::Result<()> {
        Ok(())
    }

    /// Receives what is there; no bytes at the end of the stream.
    pub(crate) fn receive<T>(&mut self, socket: &T, buffer: &mut [u8]) -> io::Result<(usize, SystemTime)>
    where
        for<'a> SockRef<'a>: From<&'a T>,
    {
        use io::Read as _;

        Ok(((&*SockRef::from(socket)).read(buffer)?, SystemTime::now()))
    }
}

/// A connection that knows when the bytes arrived that were read last.
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

    /// When the bytes arrived that were read last.
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
                // The runtime looks again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::Write as _,
        net::{Ipv4Addr, TcpListener},
        time::Duration,
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn bytes_have_the_time_of_their_arrival_and_not_that_of_reading() -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let client = std::net::TcpStream::connect(listener.local_addr()?)?;
        Receiver::prepare(&client)?;
        let (mut server, _) = listener.accept()?;
        let start = SystemTime::now();
        // The system begins to note times some moments after the first socket has asked for them.
        loop {
            let sent = SystemTime::now();
            server.write_all(b"turn")?;
            let mut buffer = [0; 16];
            assert_eq!(client.peek(&mut buffer)?, 4);
            let seen = SystemTime::now();
            let (count, stamp) = Receiver::new().receive(&client, &mut buffer)?;
            assert_eq!(&buffer[..count], b"turn");
            assert!(sent < stamp, "{sent:?} {stamp:?}");
            if stamp < seen {
                return Ok(());
            }
            let waited = seen.duration_since(start).unwrap_or_default();
            assert!(waited < PATIENCE, "the time is always that of reading: {seen:?} {stamp:?}");
        }
    }
}
