//! The server loop over real sockets, with test engines.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

#[path = "real/support.rs"]
mod support;
#[path = "real/tcp.rs"]
mod tcp;
#[path = "real/udp.rs"]
mod udp;
