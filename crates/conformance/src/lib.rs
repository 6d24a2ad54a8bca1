//! Tests programs that others wrote against the protocols of the games.
//!
//! A tester connects to a server, or lets a client connect to it, and plays scenarios in which each [`Rule`] of the protocol is observed.
//! It tells a judge of each observation; the [`Report`] then says which rules passed, which failed and where, and which were not
//! observed.
//!
//! A program under test is started anew for each scenario by a [`Launcher`]: [`Program`] is a command, [`Remote`] is a server that runs
//! already and allows only the scenarios that one run of it permits. A tester never blocks longer than the patience it is given, whatever
//! the program under test does.
//!
//! An executable that calls [`guard`] first has its programs run within [`Limits`]; [`confine`] takes them off the network,
//! and a [`Network`] keeps those in it from all others.

mod command;
mod dealer;
mod group;
#[cfg(target_os = "linux")]
mod guard;
mod holds;
mod judge;
mod launch;
mod limits;
mod mastermind;
mod net;
mod nuggets_client;
mod nuggets_server;
mod output;
mod pages;
mod player;
mod ports;
mod processes;
mod refusal;
mod report;
mod robots;
mod rule;
mod screen;
mod sockets;
mod tape;
mod terminal;
mod tester;
mod witness;
mod words;

pub use crate::{
    command::{CannotStart, Program},
    dealer::TESTER as DEALER,
    group::stop_on_signal,
    holds::{Network, confine},
    launch::{Exit, Launcher, Remote, Run, Values},
    limits::Limits,
    mastermind::{
        client::TESTER as MASTERMIND_CLIENT, server::TESTER as MASTERMIND_SERVER, text::TESTER as MASTERMIND_TEXT,
    },
    nuggets_client::TESTER as NUGGETS_CLIENT,
    nuggets_server::TESTER as NUGGETS_SERVER,
    pages::section,
    player::TESTER as PLAYER,
    report::{
        Breach, Escaped, Excerpt, Finding, Format, Message, Outcome, Report, Scenario, Sender, Style, Trouble, Verdict,
        WrongByte, clean, html_page, list,
    },
    robots::{client::TESTER as ROBOTS_CLIENT, server::TESTER as ROBOTS_SERVER},
    rule::{Basis, Rule},
    sockets::Owner,
    terminal::Terminal,
    tester::{Options, Plan, Seed, Tester, USUAL_SEED},
};

#[cfg(target_os = "linux")]
pub use crate::guard::guard;

/// Must be called first by the `main` of each executable that tests programs. On this system there are no guards, and it does nothing.
#[cfg(not(target_os = "linux"))]
pub fn guard() {}

/// One for each kind of program.
pub static TESTERS: [&Tester; 9] = [
    &DEALER,
    &PLAYER,
    &NUGGETS_SERVER,
    &NUGGETS_CLIENT,
    &ROBOTS_SERVER,
    &ROBOTS_CLIENT,
    &MASTERMIND_TEXT,
    &MASTERMIND_SERVER,
    &MASTERMIND_CLIENT,
];
