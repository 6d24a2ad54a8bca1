//! A connection that is read at a bounded rate.
//!
//! A budget of messages does not see what a client sends before a message is whole, such as fragments without content.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use netcore::{Rate, Time, TokenBucket};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// Bytes that are read from one connection: more than the messages of a browser may have.
pub(crate) const READ_BYTES: Rate = Rate { per_second: 64 << 10, burst: 512 << 10 };

/// A stream that is read at [`READ_BYTES`]. What exceeds it stays in the buffers of the system, and then with the client.
pub(crate) struct Paced<S> {
    stream: S,
    // What was looked at and not read.
    first: Option<u8>,
    start: Instant,
    bucket: TokenBucket,
    pause: Pin<Box<Sleep>>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S) -> Self {
        let start = Instant::now();
        let (bucket, pause) = (TokenBucket::new(READ_BYTES, Time::ZERO), Box::pin(sleep_until(start)));
        Self { stream, first: None, start, bucket, pause }
    }
}

impl<S: AsyncRead + Unpin> Paced<S> {
    /// The next byte, which stays to be read.
    pub(crate) async fn first(&mut self) -> io::Result<u8> {
        let first = self.read_u8().await?;
        self.first = Some(first);
        Ok(first)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        // Nothing is lost if there is no room.
        if buffer.remaining() > 0
            && let Some(first) = this.first.take()
        {
            buffer.put_slice(&[first]);
            return Poll::Ready(Ok(()));
        }
        loop {
            let now = Time::ZERO.plus(this.start.elapsed());
            let Some(paid) = this.bucket.ready_at(now, 1).filter(|paid| *paid > now) else { break };
            this.pause.as_mut().reset(this.start + paid.since(Time::ZERO));
            ready!(this.pause.as_mut().poll(context));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.stream).poll_read(context, buffer))?;
        let length = u32::try_from(buffer.filled().len() - before).unwrap_or(u32::MAX);
        this.bucket.charge(Time::ZERO.plus(this.start.elapsed()), length);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
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
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::{
        io::{AsyncReadExt as _, repeat},
        time::timeout,
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_read_at_its_rate_and_a_pause_pays_for_a_burst() {
        let mut flood = Paced::new(repeat(0));
        let (mut buffer, mut read) = ([0; 4_096], 0);
        let most = (READ_BYTES.burst + 10 * READ_BYTES.per_second) as usize + buffer.len();
        let reading = async {
            while read <= most {
                read += flood.read(&mut buffer).await.unwrap();
            }
        };
        let ended = timeout(Duration::from_secs(10), reading).await;
        assert!(ended.is_err() && read <= most && read > most - 2 * buffer.len(), "{read} of {most} bytes");
        tokio::time::sleep(Duration::from_secs(10)).await;
        let burst = timeout(Duration::from_millis(1), flood.read_exact(&mut vec![0; 500 << 10])).await;
        assert!(burst.is_ok());
    }
}
