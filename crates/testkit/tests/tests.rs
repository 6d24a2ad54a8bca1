//! Tests of the helpers, and tests that need only them.
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

/// An automatic client of any game.
mod bot;
/// A mastermind client played by a codebreaker.
mod breaker;
/// The fuzz corpus satisfies the properties of its targets.
mod corpus;
/// A nuggets client played by a bot.
mod explorer;
/// Whole games over every kind of link.
mod games;
/// A blackjack client with a policy.
mod guest;
/// A host with scripted transports.
mod host;
/// Nuggets over a network that loses, duplicates and reorders datagrams.
mod lossy;
/// Defects that the simulations must find.
mod mutants;
/// A recorded room and its replay decide the same, whatever is sent in whatever pieces.
mod recording;
/// A robots client played by a bot.
mod robot;
/// Servers that are killed and resumed from their journals.
mod simulation;
