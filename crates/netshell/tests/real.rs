//! The server loop over real sockets, driving engines that are not games.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "real/support.rs"]
mod support;
#[path = "real/tcp.rs"]
mod tcp;
#[path = "real/udp.rs"]
mod udp;
