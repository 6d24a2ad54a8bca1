//! Tests clients of robots.
//!
//! The tester is the server and the GUI of the client at once. What the client must show follows from what the server told it.

mod rules;
mod scenes;
mod script;
mod stage;

use std::sync::atomic::AtomicBool;

use self::{
    rules::{
        ANY_ADDRESS, BAD_INPUT, BIG_TURN, CLOSED, EXIT_ONE, GUI_IPV6, LATE, MALFORMED, MAP_ORDER, PIECES, RULES,
        SCORE_ONCE, TAKEN_PORT, UNREACHABLE, WRONG_ARGUMENTS,
    },
    stage::Stage,
};
use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
    robots::context::Context,
    rule::Rule,
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

/// Rules that a scene is meant to show. One without such rules may show any.
type Meant = &'static [&'static Rule];

/// Scenes with a client that goes on.
const SCENES: [(&str, Meant, Scene); 12] = [
    ("two games", &[], scenes::two_games),
    ("inputs that are none", &[&BAD_INPUT], scenes::bad_inputs),
    ("inputs from elsewhere", &[&ANY_ADDRESS], scenes::elsewhere),
    ("inputs over IPv6", &[&GUI_IPV6], scenes::over_ipv6),
    ("byte by byte", &[&PIECES], scenes::pieces),
    ("a late joiner", &[&LATE], scenes::late),
    ("a busy game", &[], scenes::busy),
    ("a big turn", &[&BIG_TURN], scenes::big_turn),
    ("explosions", &[], scenes::explosions),
    ("explosions", &[], scenes::long_explosion),
    ("two bombs and one robot", &[&SCORE_ONCE], scenes::hit_twice),
    ("maps in another order", &[&MAP_ORDER], scenes::map_order),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = Context { launcher, options, who: "client", exit_one: &EXIT_ONE, hopeless: AtomicBool::new(false) };
    let (first, others) = SCENES.split_at(1);
    for &(name, _, play) in first {
        judge.play(name, |judge| play(&mut Stage::open(&context, judge)?))?;
    }
    let context = &context;
    let goes_on = |&(name, meant, play): &(&'static str, Meant, Scene)| {
        scene(name, move |judge| play(&mut Stage::open(context, judge)?)).shows(meant.iter().copied())
    };
    let malformed = scenes::MALFORMED_BYTES
        .into_iter()
        .map(|(bytes, why)| scene("malformed bytes", move |judge| scenes::malformed(context, judge, bytes, why)))
        .map(|scene| scene.shows([&MALFORMED, &EXIT_ONE]));
    let ends = ENDS.map(|(name, rule, play)| scene(name, move |judge| play(context, judge)).shows([rule, &EXIT_ONE]));
    judge.side_by_side(others.iter().map(goes_on).chain(malformed).chain(ends).collect())
}

type Ending = fn(&Context<'_>, &mut Judge) -> Played;

/// Scenes after which the client has ended.
const ENDS: [(&str, &Rule, Ending); 4] = [
    ("a server that leaves", &CLOSED, scenes::closed),
    ("nobody there", &UNREACHABLE, scenes::unreachable),
    ("a port that is taken", &TAKEN_PORT, scenes::taken_port),
    ("a port that is no number", &WRONG_ARGUMENTS, scenes::no_port),
];
