//! The server loop over real sockets, with test engines and with the engine of `examples/chat.rs`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod example;
mod support;
mod tcp;
mod udp;
