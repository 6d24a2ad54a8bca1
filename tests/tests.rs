//! Tests of the programs as users run them, with real processes and sockets. The first test that needs a program builds
//! all of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod blackjack;
/// Commands in documents, in the help and in the output of servers.
mod commands;
mod conformance;
mod data;
/// The number of crates that a server links, and forbidden ones.
mod dependencies;
mod house;
mod kills;
mod league;
mod mastermind;
mod nuggets;
mod programs;
mod robots;
