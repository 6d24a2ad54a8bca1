//! Connecting to the server.

use std::{io, net::SocketAddr, time::Duration};

use anyhow::Context;
use cmdkit::HostPort;
use netshell::tune_stream;
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tracing::debug;

/// The time that one address has to answer. The system would wait for minutes, and another address may work.
const PATIENCE: Duration = Duration::from_secs(10);

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
    tune_stream(&stream);
    Ok(stream)
}
