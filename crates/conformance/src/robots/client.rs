//! Tests clients of robots.
//!
//! The tester is the server and the GUI of the client at once. What the client must show follows from what the server told it.

mod rules;
mod scenes;
mod script;
mod stage;

use std::sync::atomic::AtomicBool;

use self::{
    rules::{EXIT_ONE, RULES},
    stage::Stage,
};
use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
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
    play,
};

static PLACEHOLDERS: &[&str] = &["gui", "name", "port", "server"];

type Scene = fn(&mut Stage<'_>) -> Played;

/// Scenes with a client that goes on.
const SCENES: [(&str, Scene); 12] = [
    ("two games", scenes::two_games),
    ("inputs that are none", scenes::bad_inputs),
    ("inputs from elsewhere", scenes::elsewhere),
    ("inputs over IPv6", scenes::over_ipv6),
    ("byte by byte", scenes::pieces),
    ("a late joiner", scenes::late),
    ("a busy game", scenes::busy),
    ("a big turn", scenes::big_turn),
    ("explosions", scenes::explosions),
    ("explosions", scenes::long_explosion),
    ("two bombs and one robot", scenes::hit_twice),
    ("maps in another order", scenes::map_order),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = Context { launcher, options, who: "client", exit_one: &EXIT_ONE, hopeless: AtomicBool::new(false) };
    let (first, others) = SCENES.split_at(1);
    for &(name, play) in first {
        judge.play(name, |judge| play(&mut Stage::open(&context, judge)?))?;
    }
    let context = &context;
    let goes_on =
        |&(name, play): &(&'static str, Scene)| scene(name, move |judge| play(&mut Stage::open(context, judge)?));
    let malformed = scenes::MALFORMED_BYTES
        .into_iter()
        .map(|(bytes, why)| scene("malformed bytes", move |judge| scenes::malformed(context, judge, bytes, why)));
    let ends = ENDS.map(|(name, play)| scene(name, move |judge| play(context, judge)));
    judge.side_by_side(others.iter().map(goes_on).chain(malformed).chain(ends).collect())
}

type Ending = fn(&Context<'_>, &mut Judge) -> Played;

/// Scenes after which the client has ended.
const ENDS: [(&str, Ending); 4] = [
    ("a server that leaves", scenes::closed),
    ("nobody there", scenes::unreachable),
    ("a port that is taken", scenes::taken_port),
    ("a port that is no number", scenes::no_port),
];
