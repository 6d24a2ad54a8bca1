//! The rules of bombing robots.
//!
//! Most tests are transcripts of a server. `table` simulates the network and passes each peer's messages to a client.
//! After every step, all clients must agree with the server.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

#[macro_use]
#[path = "../../../testkit/rules/transcript.rs"]
mod transcript;

mod bot;
mod build;
mod client;
mod explosions;
mod games;
mod history;
mod levels;
mod network;
mod page;
mod reports;
mod restore;
mod streams;
mod table;
mod turns;
mod vectors;
