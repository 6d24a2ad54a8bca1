//! Connecting to the server.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use cmdkit::{Directory, HostPort};
use netshell::tune_stream;
use tokio::{net::TcpStream, task::spawn_blocking, time::timeout};
use tracing::debug;

/// The time that one address has to answer. The system would wait for minutes, and another address may work.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the server is, as far as one knows.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    server: Option<HostPort>,
    directory: Option<Arc<Directory>>,
}

impl Way {
    /// The way to a server at this address, or where the directory says; none without either.
    pub(crate) fn new(server: Option<HostPort>, directory: Option<Directory>) -> Option<Self> {
        (server.is_some() || directory.is_some()).then(|| Self { server, directory: directory.map(Arc::new) })
    }

    pub(crate) const fn to(server: HostPort) -> Self {
        Self { server: Some(server), directory: None }
    }

    /// Connects for the first time. The directory is asked only if there is no address.
    pub(crate) async fn first(&mut self) -> anyhow::Result<(TcpStream, SocketAddr)> {
        match &self.server {
            Some(server) => connect(server).await,
            None => self.again().await,
        }
    }

    /// Connects again, to where the directory says that the server is now, or without an answer to where it was.
    pub(crate) async fn again(&mut self) -> anyhow::Result<(TcpStream, SocketAddr)> {
        let Some(directory) = self.directory.clone() else {
            // There is an address if there is no directory.
            return connect(self.server.as_ref().context("no address")?).await;
        };
        // It waits for the answers of hubs, and logs them.
        match spawn_blocking(move || directory.find()).await.context("the search for the room broke")? {
            Ok(server) => connect(self.server.insert(server)).await,
            Err(why) => match &self.server {
                Some(server) => connect(server).await,
                None => anyhow::bail!("nobody tells where the room is: {why}"),
            },
        }
    }
}

/// Connects to the first address of the server that answers.
async fn connect(server: &HostPort) -> anyhow::Result<(TcpStream, SocketAddr)> {
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
