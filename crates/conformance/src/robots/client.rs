//! The tester is both the server and the GUI of the client.

mod blasts;
mod command_line;
mod extremes;
mod picture;
mod rules;
mod scenes;
mod script;
mod session;

use self::{
    rules::{
        ANY_ADDRESS, ANY_TEXT, BAD_DIRECTION, BAD_INPUT, BIG_INPUT, BIG_TURN, BLAST_BEFORE, BLAST_EDGE, BLAST_ON_BLOCK,
        BLAST_OVER, BLAST_STOPS, BLOCK_AGAIN, CLOSED, CUT_INPUT, CUT_OFF, EMPTY_INPUT, EXIT_ONE, EXPLAINS, FORWARDS,
        GUI_IPV6, LARGE_NUMBERS, LARGE_POSITIONS, LATE, LATE_GUI, LONG_INPUT, LONG_NAMES, MANY_GAMES, MANY_PLAYERS,
        MAP_ORDER, NO_DELAY, OBSERVES, PIECES, RADIUS_0, RADIUS_MAX, RESET, RULES, SCORE_ONCE, SERVER_NAMES,
        STRADDLING, TAKEN_PORT, TO_GUI, TOO_BIG, TWIN_BOMBS, UNKNOWN_INPUT, UNREACHABLE, ZERO_BYTES,
    },
    session::{CommandLine, Session, USUAL},
};
use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    refusal::RefusalTest,
    robots::context::Context,
    rule::Rule,
    tester::{Options, Tester},
};

pub static TESTER: Tester = Tester {
    kind: "robots-client",
    is_server: false,
    usual: "-d {gui} -n {name} -p {port} -s {server}",
    known: PLACEHOLDERS,
    needed: PLACEHOLDERS,
    rules: RULES,
    takes_part: &[&rules::JOIN, &rules::LOBBY, &rules::GAME, &rules::ENDED, &rules::FORWARDED],
    play,
};

static PLACEHOLDERS: &[&str] = &["gui", "name", "port", "server"];

type Scene = fn(&mut Session<'_>) -> ScenarioResult;

/// If empty, the scene may observe any rule.
type Meant = &'static [&'static Rule];

/// The client still runs afterwards.
const SCENES: [(&str, Meant, Scene); 34] = [
    ("two games", &[], scenes::two_games),
    ("invalid inputs in the lobby", &[&BAD_INPUT], scenes::bad_inputs_in_lobby),
    ("inputs from another port", &[&ANY_ADDRESS], scenes::from_other_port),
    ("inputs over IPv6", &[&GUI_IPV6], scenes::over_ipv6),
    ("inputs of an observer", &[&OBSERVES, &FORWARDS], scenes::observer),
    ("pictures after inputs from another port", &[&TO_GUI], command_line::to_gui),
    ("two inputs in one batch", &[&NO_DELAY], extremes::no_delay),
    ("byte by byte", &[&PIECES], scenes::pieces),
    ("segments that split messages", &[&STRADDLING], extremes::straddling),
    ("a late joiner", &[&LATE], scenes::late),
    ("a busy game", &[], scenes::busy),
    ("many games", &[&MANY_GAMES], extremes::many_games),
    ("a big turn", &[&BIG_TURN], scenes::big_turn),
    ("a turn too big for a picture", &[&TOO_BIG], extremes::too_big),
    ("large numbers", &[&LARGE_NUMBERS], extremes::large_numbers),
    ("large positions", &[&LARGE_POSITIONS], extremes::large_positions),
    ("a server without a name", &[&SERVER_NAMES], |session| extremes::server_names(session, 0)),
    ("a server with a long name", &[&SERVER_NAMES], |session| extremes::server_names(session, 255)),
    ("long names", &[&LONG_NAMES], extremes::long_names),
    ("an arbitrary text as an address", &[&ANY_TEXT], extremes::any_text),
    ("names with zero bytes", &[&ZERO_BYTES], extremes::zero_bytes),
    ("255 players", &[&MANY_PLAYERS], extremes::many_players),
    ("explosions", &[], blasts::explosions),
    ("an arm and a block", &[&BLAST_STOPS], |session| blasts::single_blast(session, &BLAST_STOPS)),
    ("an arm and the edge", &[&BLAST_EDGE], |session| blasts::single_blast(session, &BLAST_EDGE)),
    ("a bomb on a block", &[&BLAST_ON_BLOCK], |session| blasts::single_blast(session, &BLAST_ON_BLOCK)),
    ("radius 0", &[&RADIUS_0], |session| blasts::single_blast(session, &RADIUS_0)),
    ("radius 65535", &[&RADIUS_MAX], blasts::long_explosion),
    ("two bombs and one block", &[&BLAST_BEFORE], blasts::blast_before),
    ("a turn after an explosion", &[&BLAST_OVER], blasts::blast_over),
    ("two bombs and one robot", &[&SCORE_ONCE], blasts::hit_twice),
    ("two bombs and one field", &[&TWIN_BOMBS], blasts::twin_bombs),
    ("a block that is placed again", &[&BLOCK_AGAIN], blasts::block_again),
    ("maps in another order", &[&MAP_ORDER], scenes::map_order),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let context = Context::new(launcher, options, "client", &EXIT_ONE);
    let (first, others) = SCENES.split_at(1);
    for &(name, _, play) in first {
        judge.play(name, |judge| play(&mut Session::open(&context, judge)?))?;
    }
    let context = &context;
    let scene_of = |&(name, meant, play): &(&'static str, Meant, Scene)| {
        let crash_counts = meant.is_empty() || meant.iter().any(|rule| rule.is_required());
        let command_line = CommandLine { crash_counts, ..USUAL };
        scene(name, move |judge| play(&mut Session::launch(context, judge, command_line)?)).shows(meant.iter().copied())
    };
    let malformed = scenes::MALFORMED_BYTES.into_iter().map(|(bytes, why, rule)| {
        scene("invalid bytes", move |judge| scenes::malformed(context, judge, bytes, why, rule))
            .shows([rule, &EXIT_ONE])
    });
    let inconsistent = extremes::INCONSISTENT.into_iter().map(|rule| {
        let command_line = CommandLine { crash_counts: false, ..USUAL };
        scene("inconsistent events", move |judge| {
            extremes::inconsistent(&mut Session::launch(context, judge, command_line)?, rule)
        })
        .shows([rule])
    });
    let inputs = BAD_INPUTS.into_iter().map(|rule| {
        let command_line = CommandLine { crash_counts: rule.is_required(), ..USUAL };
        scene("invalid inputs", move |judge| {
            scenes::bad_input(&mut Session::launch(context, judge, command_line)?, rule)
        })
        .shows([rule])
    });
    let names = command_line::NAMES.into_iter().map(|(what, rule, name)| {
        scene(what, move |judge| command_line::named(context, judge, rule, name)).shows([rule])
    });
    let addresses = command_line::ADDRESSES.into_iter().map(|(what, rule, command_line)| {
        scene(what, move |judge| command_line::addressed(context, judge, rule, command_line)).shows([rule])
    });
    let late_gui =
        scene("a GUI that starts late", move |judge| command_line::late_gui(context, judge)).shows([&LATE_GUI]);
    let ends = ENDS.map(|(name, rule, play)| scene(name, move |judge| play(context, judge)).shows([rule, &EXIT_ONE]));
    let refusals = RefusalTest { launcher, options: *options, explains: &EXPLAINS, values: command_line::values }
        .scenes(&command_line::REFUSALS);
    let scenes =
        others.iter().map(scene_of).chain(inputs).chain(malformed).chain(inconsistent).chain(names).chain(addresses);
    judge.side_by_side(scenes.chain([late_gui]).chain(ends).chain(refusals).collect())
}

const BAD_INPUTS: [&Rule; 6] = [&EMPTY_INPUT, &UNKNOWN_INPUT, &BAD_DIRECTION, &CUT_INPUT, &LONG_INPUT, &BIG_INPUT];

type EndCheck = fn(&Context<'_>, &mut Judge) -> ScenarioResult;

/// The client has ended afterwards.
const ENDS: [(&str, &Rule, EndCheck); 5] = [
    ("a server that leaves", &CLOSED, scenes::closed),
    ("a server that leaves within a message", &CUT_OFF, scenes::cut_off),
    ("a connection that is reset", &RESET, scenes::reset),
    ("no server", &UNREACHABLE, scenes::unreachable),
    ("a port in use", &TAKEN_PORT, scenes::taken_port),
];
