//! Tests clients of robots.
//!
//! The tester is the server and the GUI of the client at once. What the client must show follows from what the server told it.

mod rules;
mod scenes;
mod script;
mod stage;

use self::rules::{EXIT_ONE, RULES};
use crate::{
    judge::Judge,
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

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, RULES);
    let context = Context::new(launcher, options, "client", &EXIT_ONE);
    judge.play("two games", |judge| scenes::two_games(&context, judge))?;
    judge.play("inputs that are none", |judge| scenes::bad_inputs(&context, judge))?;
    judge.play("inputs from elsewhere", |judge| scenes::elsewhere(&context, judge))?;
    judge.play("inputs over IPv6", |judge| scenes::over_ipv6(&context, judge))?;
    judge.play("byte by byte", |judge| scenes::pieces(&context, judge))?;
    judge.play("a late joiner", |judge| scenes::late(&context, judge))?;
    judge.play("a busy game", |judge| scenes::busy(&context, judge))?;
    judge.play("explosions", |judge| scenes::explosions(&context, judge))?;
    judge.play("two bombs and one robot", |judge| scenes::hit_twice(&context, judge))?;
    judge.play("maps in another order", |judge| scenes::map_order(&context, judge))?;
    for (bytes, why) in scenes::MALFORMED_BYTES {
        judge.play("malformed bytes", |judge| scenes::malformed(&context, judge, bytes, why))?;
    }
    judge.play("a server that leaves", |judge| scenes::closed(&context, judge))?;
    judge.play("nobody there", |judge| scenes::unreachable(&context, judge))?;
    judge.play("a port that is taken", |judge| scenes::taken_port(&context, judge))?;
    judge.play("a port that is no number", |judge| scenes::no_port(&context, judge))?;
    Ok(judge.report())
}
