//! Connecting to the server.

use std::{io, net::SocketAddr, time::Duration};

use anyhow::Context;
use cmdkit::HostPort;
use socket2::{SockRef, TcpKeepalive};
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tracing::debug;

/// The time that one address has to answer. The system would wait for minutes, and another address may work.
const PATIENCE: Duration = Duration::from_secs(10);
/// The idle time after which the system probes the other machine. A lobby may be silent for hours, and a machine that has
/// lost its power closes no connection.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Connects to the first address of the server that answers.
pub(crate) async fn connect(server: &HostPort) -> anyhow::Result<(TcpStream, SocketAddr)> {
    let there = server.clone();
    // The system's resolver blocks.
    let addresses = spawn_blocking(move || there.resolve()).await.context("the resolver broke")??;
    let mut refusals = vec![];
    for address in addresses {
        let connected = timeout(PATIENCE, TcpStream::connect(address)).await;
        match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).and_then(prepared) {
            Ok(stream) => return Ok((stream, address)),
            Err(error) => {
                debug!(%address, %error, "no connection");
                refusals.push(format!("{address}: {error}"));
            }
        }
    }
    let refusals = refusals.join("; ");
    anyhow::bail!("cannot connect to {server} ({refusals}); is a robots server running there?")
}

fn prepared(stream: TcpStream) -> io::Result<TcpStream> {
    // Without a listener, a connection can reach itself if the system gives it the port that it connects to.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    stream.set_nodelay(true)?;
    // If this fails, only the loss of the other machine stays unnoticed.
    let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
    Ok(stream)
}
