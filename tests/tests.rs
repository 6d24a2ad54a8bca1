//! Tests of the programs as users run them: real processes and real sockets. The first test that needs a program builds
//! all of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

/// The dealer and the player of blackjack.
mod blackjack;
/// Commands in documents, in the help and in the output of servers.
mod commands;
/// Our own programs under the conformance tests.
mod conformance;
/// Journals of earlier versions.
mod data;
/// The dependencies of crates: how many a server links, and which are forbidden.
mod dependencies;
mod house;
/// Servers that are killed at random points of their matches and resumed.
mod kills;
/// Leagues with real programs.
mod league;
/// The text game and the panel game of mastermind.
mod mastermind;
/// The nuggets server and its client.
mod nuggets;
/// Builds the programs and finds their executables.
mod programs;
/// The robots programs.
mod robots;
