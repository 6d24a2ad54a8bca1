//! Tests of the rules of the game of 21 through the public interface.
//!
//! | module | rules |
//! |--------|-------|
//! | [`wire`] | both codecs to the byte; any segmentation; bytes that are not messages |
//! | [`games`] | transcripts of a dealer: rounds, tables of several players, parallel tables, standings; the timing of messages, and time limits |
//! | [`misbehaviour`] | clients that misbehave lose; other players do not |
//! | [`host_shares`] | each host gets at most its share of places, turns and printed lines |
//! | [`watchers`] | watchers, refreshed clients, and hidden information |
//! | [`interruption`] | a killed dealer resumes: held seats, counted results, dealt cards |
//! | [`state`] | a setup from a journal |
//! | [`cards`] | shuffles are fair, and the dealer draws by the rules |
//! | [`learning`] | training against exact values, and learning over the wire |
//! | [`document`] | the examples in docs/protocols/blackjack.md |
//! | [`page`] | the rules that the hub's page implements, as vectors for its tests |
//!
//! [`table`] simulates the network: it identifies clients by name and delivers bytes like the TCP shell. [`room`] adds
//! the parts that are specific to dealers, and plays at random.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

#[macro_use]
#[path = "../../../testkit/rules/transcript.rs"]
mod transcript;

mod cards;
mod document;
mod games;
mod host_shares;
mod interruption;
mod learning;
mod misbehaviour;
mod page;
mod room;
mod state;
#[path = "../../../testkit/rules/table.rs"]
mod table;
mod watchers;
mod wire;
