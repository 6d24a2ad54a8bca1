use std::time::Duration;

/// How long a client may leave data unacknowledged until its connection is closed. Otherwise the system would
/// retransmit for some 15 minutes, during which keep-alive does not run and a vanished client keeps its seat. Also
/// applies to a client that accepts no data while its buffers are full.
pub const MAX_UNACKNOWLEDGED: Duration = Duration::from_secs(20);

use socket2::{SockRef, TcpKeepalive};

/// The idle time before a probe: a lobby may be silent for hours, and a machine that loses power does not close its
/// connections.
const KEEPALIVE: Duration = Duration::from_secs(60);

/// Makes a TCP connection send small messages immediately, and detect a vanished peer. A server uses [`tune_accepted`].
pub fn tune_stream<'a>(stream: impl Into<SockRef<'a>>) {
    let socket = stream.into();
    // Optional, so errors are ignored.
    let _ = socket.set_tcp_nodelay(true);
    let _ = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE));
}

/// As [`tune_stream`], for a server: closes the connection if data is unacknowledged for [`MAX_UNACKNOWLEDGED`].
///
/// Linux only; other systems have no such option, or one in other units.
pub fn tune_accepted<'a>(stream: impl Into<SockRef<'a>>) {
    let socket = stream.into();
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(MAX_UNACKNOWLEDGED));
    tune_stream(socket);
}
