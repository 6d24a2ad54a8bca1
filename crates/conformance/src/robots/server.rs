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

use self::rules::{EXIT_ONE, RULES};
use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
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
    judge.side_by_side(SCENES.map(|(name, play)| scene(name, move |judge| play(context, judge))).into())
}

type Play = fn(&Context<'_>, &mut Judge) -> Played;

/// What is played beside each other, each with another server.
const SCENES: [(&str, Play); 16] = [
    ("two Joins of one player", lobby::second_join),
    ("messages in pieces", lobby::pieces),
    ("wrong bytes", lobby::wrong_bytes),
    ("a name that is not UTF-8", lobby::bad_name),
    ("many clients", lobby::many),
    ("IPv6", lobby::over_ipv6),
    ("one robot", game::alone),
    ("a busy game", game::busy),
    ("a fast game", clock::fast),
    ("servers without a seed", clock::without_seed),
    ("players who leave", game::leaving),
    ("two games", game::twice),
    ("long turns", game::long_turns),
    ("a client that never reads", game::never_reading),
    ("a port that is no number", lobby::no_port),
    ("a port that is taken", lobby::taken_port),
];
