//! Tests of the programs as people run them: real processes, real sockets. The programs are built when the first test
//! needs one.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what helps a test fails as a test does")]

/// The dealer and the player of the game of 21.
mod blackjack;
/// What people are told to type: in the documents, in the help, by a server.
mod commands;
/// Journals of earlier versions.
mod data;
/// What the crates promise about each other: how many a server links, and which never.
mod dependencies;
/// Servers that are killed at random points of their matches and go on with them.
mod kills;
/// The nuggets server and its client.
mod nuggets;
/// Building the programs and finding them.
mod programs;
/// The robots programs.
mod robots;
