use std::{future::pending, io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, UdpSocket},
    sync::mpsc,
    time::timeout,
};

use crate::proxied::Proxied;

/// The timeout of everything but a program's turn: its first message, a query, the end of a room.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
const DATAGRAM: usize = 1 << 16;
const READ: usize = 4 << 10;

#[derive(Debug)]
pub(super) enum ProgramLink {
    /// A stream connection.
    Stream(Proxied<TcpStream>),
    /// A UDP socket whose reader forwards the datagrams of this address.
    Shared { socket: Arc<UdpSocket>, peer: SocketAddr, inbox: mpsc::Receiver<Bytes> },
    /// A WebSocket. A frame is a datagram, or any piece of the stream.
    Tunnel { inbox: mpsc::Receiver<Bytes>, outbox: mpsc::Sender<Bytes>, datagrams: bool },
    /// Connected to a room.
    Own(UdpSocket),
    /// The connection has ended. Output is discarded.
    Lost,
}

impl ProgramLink {
    /// Appends bytes of a stream, or one datagram. Returns `false` at the end of a connection. Cancel safe.
    pub(super) async fn read(&mut self, into: &mut BytesMut) -> io::Result<bool> {
        match self {
            Self::Stream(stream) => {
                into.reserve(READ);
                Ok(stream.read_buf(into).await? > 0)
            }
            Self::Shared { inbox, .. } | Self::Tunnel { inbox, .. } => match inbox.recv().await {
                Some(datagram) => {
                    into.extend_from_slice(&datagram);
                    Ok(true)
                }
                None => Ok(false),
            },
            Self::Own(socket) => {
                into.reserve(DATAGRAM);
                socket.recv_buf(into).await.map(|_| true)
            }
            Self::Lost => pending().await,
        }
    }

    /// Sends bytes, or one datagram. Fails if a stream does not accept the bytes in time.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Stream(stream) => {
                timeout(PATIENCE, stream.write_all(bytes)).await.map_err(|_| io::ErrorKind::TimedOut)?
            }
            Self::Shared { socket, peer, .. } => socket.send_to(bytes, *peer).await.map(drop),
            Self::Tunnel { outbox, .. } => {
                let sent = timeout(PATIENCE, outbox.send(Bytes::copy_from_slice(bytes))).await;
                sent.map_err(|_| io::ErrorKind::TimedOut)?.map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
            Self::Own(socket) => socket.send(bytes).await.map(drop),
            Self::Lost => Ok(()),
        }
    }

    /// Closes a stream after the written data.
    pub(super) async fn end(mut self) {
        if let Self::Stream(stream) = &mut self {
            let _ = timeout(PATIENCE, stream.shutdown()).await;
        }
    }

    /// Aborts a stream, so that the room immediately notices that its messages are not read.
    pub(super) fn cut(self) {
        if let Self::Stream(stream) = self {
            // A plain close may leave the connection half open, and the room would assume that the player still reads.
            let _ = stream.get_ref().set_zero_linger();
        }
    }

    pub(super) const fn is_datagrams(&self) -> bool {
        match self {
            Self::Stream(_) | Self::Lost => false,
            Self::Shared { .. } | Self::Own(_) => true,
            Self::Tunnel { datagrams, .. } => *datagrams,
        }
    }
}
