//! The rules of bombing robots, one named test each.
//!
//! Most tests are transcripts of a server. `table` simulates the network and lets a client fold the messages sent to
//! each peer. After every step all clients must agree with the server's state.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

#[macro_use]
#[path = "../../../testkit/rules/transcript.rs"]
mod transcript;

mod bot;
mod build;
mod driving;
mod ending;
mod exploding;
mod gathering;
mod knowing;
mod lasting;
mod levels;
mod network;
mod page;
mod resuming;
mod starting;
mod streams;
mod table;
mod telling;
mod turning;
mod vectors;
mod wording;
