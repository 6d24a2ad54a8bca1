//! Tests programs that others wrote against the protocols of the games.
//!
//! A tester connects to a server, or lets a client connect to it, and plays scenarios in which each [`Rule`] of the protocol is observed.
//! It tells a judge of each observation; the [`Report`] then says which rules passed, which failed and where, and which were not
//! observed.
//!
//! A program under test is started anew for each scenario by a [`Launcher`]: [`Program`] is a command, [`Remote`] is a server that runs
//! already and allows only the scenarios that one run of it permits. A tester never blocks longer than the patience it is given, whatever
//! the program under test does.

pub mod dealer;
mod judge;
mod launch;
mod net;
pub mod nuggets_client;
pub mod nuggets_server;
pub mod player;
mod report;
mod robots;
mod tester;

pub use crate::{
    launch::{Exit, Launcher, Program, Remote, Run, Values},
    report::{Report, Rule, Verdict},
    robots::{client as robots_client, server as robots_server},
    tester::{Options, Tester},
};

/// One for each kind of program.
pub static TESTERS: [&Tester; 6] = [
    &dealer::TESTER,
    &player::TESTER,
    &nuggets_server::TESTER,
    &nuggets_client::TESTER,
    &robots_server::TESTER,
    &robots_client::TESTER,
];
