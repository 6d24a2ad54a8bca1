//! The program as a process of its own, against a client that sends what a test wants it to send.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

// Without a terminal: wrong usage, ports that are taken.
mod arguments;
// In a terminal: what is on the screen after which pictures, and what is sent after which keys.
mod screen;
mod support;
#[allow(dead_code, reason = "not all of it is used here")]
#[path = "../../src/testing.rs"]
mod testing;
