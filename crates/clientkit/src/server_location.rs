use std::{io::ErrorKind, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow, bail};
use cmdkit::{Directory, HostPort};
use tokio::{task::spawn_blocking, time::timeout};
use tracing::debug;

use crate::Wire;

/// The time limit for one address: the system would wait for minutes, and another address may work.
const ACCEPTS: Duration = Duration::from_secs(10);

/// The last known address of a server, and the directory that locates it after a move.
#[derive(Debug, Clone)]
pub struct ServerLocation {
    address: Option<HostPort>,
    directory: Option<Arc<Directory>>,
    hint: &'static str,
}

impl ServerLocation {
    /// `hint` is the end of the error message for an unreachable server.
    pub const fn new(address: Option<HostPort>, directory: Option<Arc<Directory>>, hint: &'static str) -> Self {
        Self { address, directory, hint }
    }

    pub const fn address(&self) -> Option<&HostPort> {
        self.address.as_ref()
    }

    pub const fn follows(&self) -> bool {
        self.directory.is_some()
    }

    /// Requests the current address from the directory.
    pub async fn locate(&mut self) -> Result<(), String> {
        let directory = self.directory.clone().ok_or("no directory")?;
        // The directory and the system's resolver block.
        let found = spawn_blocking(move || directory.find()).await;
        self.address = Some(found.unwrap_or_else(|error| Err(format!("the request failed: {error}")))?);
        Ok(())
    }

    pub async fn resolve(&self) -> anyhow::Result<Vec<SocketAddr>> {
        let address = self.address.clone().context("no address of a server")?;
        spawn_blocking(move || address.resolve()).await?
    }

    /// Connects over TCP to the last known address, or else to the one from the directory.
    pub async fn connect(&mut self) -> anyhow::Result<Wire> {
        if self.address.is_none() {
            self.locate().await.map_err(|why| anyhow!("the directory does not locate the room: {why}"))?;
        }
        self.dial().await
    }

    /// Connects over TCP to the address from the directory, or else to the last known one.
    pub async fn reconnect(&mut self) -> anyhow::Result<Wire> {
        let why = if self.follows() { self.locate().await.err() } else { None };
        match (self.connect().await, why) {
            (Err(error), Some(why)) if self.address.is_some() => {
                Err(anyhow!("{error:#}; the directory does not locate the room: {why}"))
            }
            (connected, _) => connected,
        }
    }

    async fn dial(&self) -> anyhow::Result<Wire> {
        let mut refusals = vec![];
        for server in self.resolve().await? {
            let connected = timeout(ACCEPTS, Wire::stream_to(server)).await;
            match connected.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
                Ok(wire) => return Ok(wire),
                Err(error) => {
                    debug!(%server, %error, "no connection");
                    refusals.push(format!("{server}: {error}"));
                }
            }
        }
        let address = self.address.as_ref().map(HostPort::to_string).unwrap_or_default();
        bail!("cannot connect to {address} ({}); {}", refusals.join("; "), self.hint)
    }
}
