//! The way to the dealer.

use std::{
    io::{self, ErrorKind},
    net::TcpStream,
    time::Duration,
};

use anyhow::Context;
use socket2::{SockRef, TcpKeepalive};

/// After how long without a word the system asks whether the dealer's machine is still there.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Connects to the first address of `host` where somebody listens.
pub(crate) fn open(host: &str, port: u16) -> anyhow::Result<TcpStream> {
    let addresses = cmdkit::resolve(host, port)?;
    let stream = TcpStream::connect(&addresses[..]).with_context(|| format!("cannot reach {host} port {port}"));
    let stream = stream.map_err(|error| match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(ErrorKind::ConnectionRefused) => {
            anyhow::anyhow!("nobody listens at {host} port {port}; is that the dealer's port?")
        }
        _ => error,
    })?;
    // A connection that is slower or outlives its machine is still a connection.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
    Ok(stream)
}
