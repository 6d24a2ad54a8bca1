//! Tests clients of robots.
//!
//! The tester is the server and the GUI of the client at once. What the client must show follows from what the server told it.

mod rules;
mod scenes;
mod script;
mod stage;

use std::cell::Cell;

use self::{
    rules::{EXIT_ONE, RULES},
    stage::Stage,
};
use crate::{
    judge::{Judge, Played},
    launch::Launcher,
    report::Report,
    robots::context::Context,
    tester::{Options, Tester},
};

/// The tester of clients.
pub static TESTER: Tester = Tester {
    kind: "robots-client",
    is_server: false,
    usual: "-d {gui} -n {name} -p {port} -s {server}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    test,
};

static PLACEHOLDERS: &[&str] = &["gui", "name", "port", "server"];

type Scene = fn(&mut Stage<'_>) -> Played;

/// Scenes with a client that goes on.
const SCENES: [(&str, Scene); 11] = [
    ("two games", scenes::two_games),
    ("inputs that are none", scenes::bad_inputs),
    ("inputs from elsewhere", scenes::elsewhere),
    ("inputs over IPv6", scenes::over_ipv6),
    ("byte by byte", scenes::pieces),
    ("a late joiner", scenes::late),
    ("a busy game", scenes::busy),
    ("explosions", scenes::explosions),
    ("explosions", scenes::long_explosion),
    ("two bombs and one robot", scenes::hit_twice),
    ("maps in another order", scenes::map_order),
];

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, RULES);
    let context = Context { launcher, options, who: "client", exit_one: &EXIT_ONE, hopeless: Cell::new(false) };
    for (name, scene) in SCENES {
        judge.play(name, |judge| scene(&mut Stage::open(&context, judge)?))?;
    }
    for (bytes, why) in scenes::MALFORMED_BYTES {
        judge.play("malformed bytes", |judge| scenes::malformed(&context, judge, bytes, why))?;
    }
    judge.play("a server that leaves", |judge| scenes::closed(&context, judge))?;
    judge.play("nobody there", |judge| scenes::unreachable(&context, judge))?;
    judge.play("a port that is taken", |judge| scenes::taken_port(&context, judge))?;
    judge.play("a port that is no number", |judge| scenes::no_port(&context, judge))?;
    Ok(judge.report())
}
