//! The way to the server.

use std::{io, net::SocketAddr, time::Duration};

use anyhow::Context;
use cmdkit::HostPort;
use socket2::{SockRef, TcpKeepalive};
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tracing::debug;

/// How long one address may take to answer: the system's own patience is minutes, and another may be there.
const PATIENCE: Duration = Duration::from_secs(10);
/// After how long without a word the system asks whether the other machine is still there: a lobby may be silent for
/// hours, and one that has lost its power does not say so.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Connects to the first address of the server that answers.
pub(crate) async fn connect(server: &HostPort) -> anyhow::Result<(TcpStream, SocketAddr)> {
    let there = server.clone();
    // The system's resolver waits for the network.
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
    // Where nobody listens, a connection can meet itself if the system gives it the port that it asks for.
    if stream.local_addr()? == stream.peer_addr()? {
        return Err(io::ErrorKind::ConnectionRefused.into());
    }
    stream.set_nodelay(true)?;
    // Without it, only the loss of the other machine stays unnoticed.
    let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
    Ok(stream)
}
