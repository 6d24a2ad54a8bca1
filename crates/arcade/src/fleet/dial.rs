//! Connections to other nodes. Between nodes there is no TLS.

use std::time::Duration;

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use netshell::tune_stream;
use tokio::{net::TcpStream, time::timeout};

/// How long another node may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(2);

/// Connects to a node at `HOST:PORT`.
///
/// # Errors
/// When that does not answer. If nobody listens there, the cause is an [`std::io::Error`] of that kind.
pub(crate) async fn dial<B>(address: &str) -> anyhow::Result<http1::SendRequest<B>>
where
    B: hyper::body::Body<Data: Send, Error: Into<Box<dyn std::error::Error + Send + Sync>>> + Send + 'static,
{
    let stream = timeout(CONNECT, TcpStream::connect(address)).await??;
    tune_stream(&stream);
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection.with_upgrades());
    Ok(sender)
}
