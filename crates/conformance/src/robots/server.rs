//! Tests servers of robots.
//!
//! Each scenario starts a server with its own options, connects players and observers, and folds the events. Since the seed is known, so is
//! every turn, up to what the protocol leaves open: the ids of bombs, the order of explosions, and in which of two turns an action falls that
//! is sent as a turn ends.

mod clock;
mod diagnosis;
mod explanation;
mod game;
mod lobby;
mod mirror;
mod rules;
mod running;
mod setup;
mod table;

use std::sync::atomic::AtomicBool;

use self::rules::{
    BAD_BYTES, BAD_NAME, ENDED, EXIT_ONE, GAME_STARTED, IPV6, MANY_CLIENTS, NEVER_READS, NO_DELAY, NO_DRIFT, NO_SEED,
    PIECES, RULES, SECOND_JOIN, TAKEN_PORT, TURN_DURATION, UNDISTURBED, WRONG_ARGUMENTS,
};
use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
    robots::context::Context,
    rule::Rule,
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
    play,
};

static PLACEHOLDERS: &[&str] =
    &["bomb-timer", "players", "turn", "radius", "blocks", "length", "name", "port", "seed", "x", "y"];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = Context { launcher, options, who: "server", exit_one: &EXIT_ONE, hopeless: AtomicBool::new(false) };
    if let Some(address) = launcher.address() {
        judge.play("the server that runs", |judge| running::play(&context, judge, address))?;
        return Ok(());
    }
    judge.play("a lobby", |judge| lobby::gathering(&context, judge))?;
    let context = &context;
    let scenes =
        SCENES.map(|(name, meant, play)| scene(name, move |judge| play(context, judge)).shows(meant.iter().copied()));
    judge.side_by_side(scenes.into())
}

type Play = fn(&Context<'_>, &mut Judge) -> Played;

/// Rules that a scenario is meant to show. One without such rules may show any.
type Meant = &'static [&'static Rule];

/// What is played beside each other, each with another server.
const SCENES: [(&str, Meant, Play); 16] = [
    ("two Joins of one player", &[&SECOND_JOIN], lobby::second_join),
    ("messages in pieces", &[&PIECES], lobby::pieces),
    ("wrong bytes", &[&BAD_BYTES, &UNDISTURBED], lobby::wrong_bytes),
    ("a name that is not UTF-8", &[&BAD_NAME], lobby::bad_name),
    ("many clients", &[&MANY_CLIENTS], lobby::many),
    ("IPv6", &[&IPV6], lobby::over_ipv6),
    ("one robot", &[], game::alone),
    ("a busy game", &[], game::busy),
    ("a fast game", &[&NO_DRIFT, &NO_DELAY], clock::fast),
    ("servers without a seed", &[&NO_SEED], clock::without_seed),
    ("players who leave", &[], game::leaving),
    ("two games", &[], game::twice),
    ("long turns", &[&TURN_DURATION, &GAME_STARTED, &ENDED], game::long_turns),
    ("a client that never reads", &[&NEVER_READS], game::never_reading),
    ("a port that is no number", &[&WRONG_ARGUMENTS, &EXIT_ONE], lobby::no_port),
    ("a port that is taken", &[&TAKEN_PORT, &EXIT_ONE], lobby::taken_port),
];
