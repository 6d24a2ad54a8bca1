//! The rules of the game of 21 as seen from outside, one named test each.
//!
//! | module | rules |
//! |--------|-------|
//! | [`wire`] | both codecs to the byte; any segmentation; bytes that are no messages |
//! | [`playing`] | transcripts of a dealer: rounds, tables of several, tables side by side, standings |
//! | [`pacing`] | who is told what when, and who is given how much time |
//! | [`trouble`] | clients that misbehave: they lose, and nobody else does |
//! | [`sharing`] | hosts get their share of places, turns and lines, and no more |
//! | [`watching`] | who looks on, who has lost track, and what nobody may see |
//! | [`interruption`] | the dealer is killed and goes on: whose seat is held, what counts, which cards come |
//! | [`kills`] | the same at random: what counts is what was told |
//! | [`state`] | the same inputs give the same outputs, also to a dealer that was restored from its state |
//! | [`cards`] | shuffles are fair, the dealer draws by the rules, two dealers differ |
//! | [`learning`] | training against exact values, and learning over the wire |
//! | [`document`] | the examples in docs/protocols/blackjack.md |
//! | [`page`] | what the page of the hub repeats of the rules, as vectors for its tests |
//!
//! [`room`] plays the network: it knows clients by name and hands bytes over as the TCP shell does. [`drive`] plays at random.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

mod cards;
mod document;
mod drive;
mod interruption;
mod kills;
mod learning;
mod pacing;
mod page;
mod playing;
mod room;
mod sharing;
mod state;
mod trouble;
mod watching;
mod wire;
