//! Options of TCP connections.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};

/// The idle time after which the system probes the other machine. A lobby may be silent for hours, and a machine that has lost
/// its power closes no connection.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Makes a TCP connection send small messages at once, and notice a peer whose machine is gone.
pub fn tune_stream<'a>(stream: impl Into<SockRef<'a>>) {
    let socket = stream.into();
    // The connection works without these options, so errors are ignored.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
}
