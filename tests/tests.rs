//! Tests of the programs as users run them: real processes and real sockets. The first test that needs a program builds
//! all of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod blackjack;
/// Commands in documents, in the help and in the output of servers.
mod commands;
mod conformance;
mod data;
/// How many crates a server links, and which are forbidden.
mod dependencies;
mod house;
/// Servers that are killed at random points of their matches.
mod kills;
mod league;
mod mastermind;
mod nuggets;
mod programs;
mod robots;
