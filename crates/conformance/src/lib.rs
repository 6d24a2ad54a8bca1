//! Tests programs of other authors against the protocols of the games.
//!
//! A tester plays scenarios that observe each [`Rule`] of the protocol. The [`Report`] lists which rules passed, which
//! failed and where, and which were not observed. A [`Launcher`] starts the program for each scenario. A tester never
//! blocks longer than its patience.
//!
//! After a call of [`guard`], programs run within [`Limits`]. [`confine`] disconnects them from the network, and a
//! [`Network`] isolates its programs from all others.

#![allow(missing_docs, reason = "names of fields and functions are clear")]

mod command;
mod confinement;
mod dealer;
mod group;
#[cfg(target_os = "linux")]
mod guard;
mod judge;
mod launch;
mod limits;
mod mastermind;
mod net;
mod nuggets_client;
mod nuggets_server;
mod player;
mod ports;
mod processes;
mod refusal;
mod report;
mod robots;
mod rule;
mod sockets;
mod tape;
mod terminal;
mod tester;
mod words;

pub use crate::{
    command::{CannotStart, Program},
    confinement::{Network, confine},
    dealer::TESTER as DEALER,
    group::stop_on_signal,
    launch::{Exit, Launcher, Remote, Run, Values},
    limits::Limits,
    mastermind::{
        client::TESTER as MASTERMIND_CLIENT, server::TESTER as MASTERMIND_SERVER, text::TESTER as MASTERMIND_TEXT,
    },
    nuggets_client::TESTER as NUGGETS_CLIENT,
    nuggets_server::TESTER as NUGGETS_SERVER,
    player::TESTER as PLAYER,
    report::{
        Breach, Escaped, Excerpt, Finding, Format, Message, Outcome, Report, Scenario, Sender, Style, Trouble, Verdict,
        WrongByte, clean, html_page, list,
    },
    robots::{client::TESTER as ROBOTS_CLIENT, server::TESTER as ROBOTS_SERVER},
    rule::{Basis, Rule, section},
    sockets::Owner,
    terminal::Terminal,
    tester::{Options, Plan, Seed, Tester, USUAL_SEED},
};

#[cfg(target_os = "linux")]
pub use crate::guard::guard;

#[cfg(not(target_os = "linux"))]
pub fn guard() {}

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
