//! Tests servers of robots.
//!
//! Each scenario starts a server with its own options, connects players and observers, and folds the events. Since the seed is known, so is
//! every turn, up to what the protocol leaves open: the ids of bombs, the order of explosions, and in which of two turns an action falls that
//! is sent as a turn ends.

mod diagnosis;
mod explanation;
mod game;
mod lobby;
mod mirror;
mod rules;
mod running;
mod setup;
mod table;

use std::cell::Cell;

use self::rules::{EXIT_ONE, RULES};
use crate::{
    judge::Judge,
    launch::Launcher,
    report::Report,
    robots::context::Context,
    tester::{Options, Tester},
};

/// The tester of servers.
pub static TESTER: Tester = Tester {
    kind: "robots-server",
    is_server: true,
    usual: "-b {bomb-timer} -c {players} -d {turn} -e {radius} -k {blocks} -l {length} -n {name} -p {port} -s {seed} \
            -x {x} -y {y}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    test,
};

static PLACEHOLDERS: &[&str] =
    &["bomb-timer", "players", "turn", "radius", "blocks", "length", "name", "port", "seed", "x", "y"];

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, RULES);
    let context = Context { launcher, options, who: "server", exit_one: &EXIT_ONE, hopeless: Cell::new(false) };
    if let Some(address) = launcher.address() {
        judge.play("the server that runs", |judge| running::play(&context, judge, address))?;
        return Ok(judge.report());
    }
    judge.play("a lobby", |judge| lobby::gathering(&context, judge))?;
    judge.play("two Joins of one player", |judge| lobby::second_join(&context, judge))?;
    judge.play("messages in pieces", |judge| lobby::pieces(&context, judge))?;
    judge.play("wrong bytes", |judge| lobby::wrong_bytes(&context, judge))?;
    judge.play("a name that is not UTF-8", |judge| lobby::bad_name(&context, judge))?;
    judge.play("many clients", |judge| lobby::many(&context, judge))?;
    judge.play("IPv6", |judge| lobby::over_ipv6(&context, judge))?;
    judge.play("one robot", |judge| game::alone(&context, judge))?;
    judge.play("a busy game", |judge| game::busy(&context, judge))?;
    judge.play("players who leave", |judge| game::leaving(&context, judge))?;
    judge.play("two games", |judge| game::twice(&context, judge))?;
    judge.play("long turns", |judge| game::long_turns(&context, judge))?;
    judge.play("a client that never reads", |judge| game::never_reading(&context, judge))?;
    judge.play("a port that is no number", |judge| lobby::no_port(&context, judge))?;
    judge.play("a port that is taken", |judge| lobby::taken_port(&context, judge))?;
    Ok(judge.report())
}
