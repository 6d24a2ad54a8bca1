//! The rules of bombing robots, one named test each.
//!
//! | module | rules |
//! |--------|-------|
//! | [`vectors`] | the worked examples of the protocol, to the byte |
//! | [`gathering`] | the lobby: who becomes a player, what a newcomer is told |
//! | [`starting`] | turn 0 and the generator |
//! | [`turning`] | turns: when they come, which actions count, what they do |
//! | [`exploding`] | explosions, as pictures |
//! | [`ending`] | the end of a game, and the next one |
//! | [`network`] | wrong bytes, leaving, histories, the server's end |
//! | [`knowing`] | what a client makes of it: pictures, timers, scores, its own robot, nonsense |
//! | [`bot`] | the player that plays by itself |
//! | [`levels`] | how often a person beats each level of it |
//! | [`telling`] | what a host is told: events, results, status |
//! | [`lasting`] | histories: how long they get, and what happens when one is too long |
//! | [`resuming`] | recorded inputs lead to the same outputs, also in a server that was killed; damaged states are refused |
//! | [`driving`] | a client as whoever drives it sees it |
//! | [`model`] | long random games against a slow and obvious second implementation |
//! | [`streams`] | any message, whole, cut, cut off and damaged |
//! | [`page`] | what the page of the hub repeats of the rules, as vectors for its tests |
//!
//! Most are transcripts of a server; [`table`] plays the network and lets a client fold whatever each
//! peer is told. After every step all clients must show what the server holds.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed, in a helper as well")]

#[macro_use]
mod table;

mod bot;
mod driving;
mod effort;
mod ending;
mod exploding;
mod gathering;
mod knowing;
mod lasting;
mod levels;
mod model;
mod network;
mod page;
mod recorder;
mod resuming;
mod runs;
mod starting;
mod streams;
mod telling;
mod turning;
mod vectors;
