//! Tests servers of nuggets.

mod displays;
mod ending;
mod hosting;
mod map;
mod options;
mod party;
mod reading;
mod rules;
mod scenarios;
mod settle;
mod views;
mod wire;
mod world;

use nuggets::game::MAX_PLAYERS;

use self::{
    hosting::{Scenario, Test},
    map::{CLOSET, HALL, MAP, MapFile, YARD, large},
    party::Party,
    scenarios::{game, hostile, joining, moves},
};
use crate::{
    judge::{Judge, Played, scene},
    launch::{Launcher, Run},
    rule::Rule,
    tester::{Options, Tester},
};

/// The tester of servers.
pub static TESTER: Tester = Tester {
    kind: "nuggets-server",
    is_server: true,
    usual: "{map} {seed}",
    known: &["map", "seed"],
    needed: &["map"],
    rules: rules::RULES,
    takes_part: &[&rules::WELCOME, &rules::WATCH, &rules::SHAPE, &rules::STEP],
    play,
};

/// The scenarios that also work with a running server: the name, the scenario, and the rules that it is designed to
/// observe, if not all.
const ANYWHERE: &[(&str, Scenario, &[&Rule])] = &[
    ("joining", joining::players, &[]),
    ("moves", moves::play, &[]),
    ("PLAY without a name", joining::nameless, &[&rules::NAMELESS]),
    ("names without letters", joining::names, &[&rules::ANY_NAME]),
    ("two players with the same name", joining::namesakes, &[&rules::EQUAL_NAMES]),
    ("PLAY of a player", joining::second_seat, &[&rules::ONCE]),
    ("PLAY of a player who has quit", joining::comes_back, &[&rules::RETURN]),
    ("a game without remaining players", joining::all_leave, &[&rules::RUNS]),
    ("spectators", joining::spectators, &[&rules::REPLACED, &rules::WATCH, &rules::BOARD]),
    ("a spectator who quits", joining::spectator_quits, &[&rules::SPECTATOR_QUITS]),
    ("SPECTATE of the spectator", joining::watches_again, &[&rules::WATCH_AGAIN]),
    ("SPECTATE of a player", joining::player_watches, &[&rules::PLAYER_WATCHES]),
    ("malformed messages", hostile::malformed, &[&rules::MALFORMED, &rules::RUNS]),
    ("answers to malformed messages", hostile::explained, &[&rules::MALFORMED_TOLD, &rules::UNKNOWN]),
    ("messages of another server", hostile::server_words, &[&rules::SILENT_WORDS, &rules::MALFORMED, &rules::RUNS]),
    ("an empty datagram", hostile::empty, &[&rules::EMPTY, &rules::RUNS]),
    ("zero bytes", hostile::zero_bytes, &[&rules::ZERO_BYTES, &rules::RUNS]),
    ("the longest datagram", hostile::longest, &[&rules::LONGEST, &rules::RUNS]),
    ("KEY q", hostile::small_q, &[&rules::SMALL_Q, &rules::RUNS]),
    ("keys of clients without a player", hostile::strangers, &[&rules::STRANGER, &rules::RUNS]),
    ("keys of the spectator", hostile::watcher_keys, &[&rules::WATCHER, &rules::RUNS]),
];

/// The maps of the scenarios.
#[derive(Clone, Copy)]
enum MapChoice {
    Usual,
    Hall,
    Yard,
    Closet,
    Large,
}

/// A scenario that starts its own server.
type Alone = fn(&mut Party<'_>, &MapFile, &mut dyn Run) -> Played;

/// The scenarios that need a separate server or another map.
const ALONE: &[(&str, MapChoice, &[&Rule], Alone)] = &[
    ("a full game", MapChoice::Usual, &[&rules::FULL, &rules::LETTERS, &rules::LETTER_KEPT], |party, map, _| {
        joining::full(party, map)
    }),
    ("a disconnected client", MapChoice::Usual, &[&rules::LOST], |party, map, _| hostile::lost(party, map)),
    (
        "runs in a room",
        MapChoice::Yard,
        &[&rules::DIAGONAL, &rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD, &rules::RUN_SWAP],
        moves::runs,
    ),
    ("sight across a hall", MapChoice::Hall, &[&rules::SIGHT, &rules::OWN, &rules::STALE], |party, map, _| {
        moves::look(party, map)
    }),
    ("a push in a passage", MapChoice::Usual, &[&rules::PUSHED], |party, map, _| moves::push(party, map)),
    ("the largest map", MapChoice::Large, &[&rules::LARGE_MAP], |party, map, _| scenarios::large(party, map)),
    ("a whole game", MapChoice::Usual, &[], game::play),
    ("a game of one player", MapChoice::Closet, &[], |party, map, run| {
        game::alone(party, map, run, (b"Ann", &rules::WELCOME))
    }),
    ("a name with unprintable bytes", MapChoice::Closet, &[&rules::NAMES], |party, map, run| {
        game::alone(party, map, run, (ODD_NAME, &rules::NAMES))
    }),
    ("a long name", MapChoice::Closet, &[&rules::NAME_LENGTH], |party, map, run| {
        game::alone(party, map, run, (&LONG_NAME, &rules::NAME_LENGTH))
    }),
];

/// A name with unprintable bytes.
const ODD_NAME: &[u8] = b"Zo\xc3\xab\x07\t !";
/// A name longer than any that servers keep. Some servers have small buffers for names.
const LONG_NAME: [u8; 200] = [b'b'; 200];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let on = |map: &str| anyhow::Ok(Test { launcher, options, map: MapFile::new(map)? });
    let (test, hall, yard, closet, large) = (&on(MAP)?, &on(HALL)?, &on(YARD)?, &on(CLOSET)?, &on(&large())?);
    if let Some(address) = launcher.address() {
        // They are played one after another on the same server, as long as its game has free letters.
        let (mut letters, mut former) = (0, Vec::new());
        for &(name, scenario, rules) in ANYWHERE {
            if letters < MAX_PLAYERS {
                judge.play(name, |judge| {
                    let (given, played) = test.running(judge, address, letters, scenario, &mut former);
                    letters = given;
                    played
                })?;
            }
            if letters >= MAX_PLAYERS {
                judge.leave_out(rules.iter().copied(), "the running server's game has no free letter");
            }
        }
        return Ok(());
    }
    let mut has_port = false;
    judge.play("the port", |judge| {
        has_port = test.announces(judge)?;
        Ok(())
    })?;
    if !has_port {
        return Ok(());
    }
    let mut scenes: Vec<_> = ANYWHERE
        .iter()
        .map(|&(name, scenario, rules)| {
            scene(name, move |judge| test.anywhere(judge, scenario)).shows(rules.iter().copied())
        })
        .collect();
    let tests = [test, hall, yard, closet, large];
    scenes.extend(ALONE.iter().map(|&(name, place, rules, run)| {
        scene(name, move |judge| tests[place as usize].alone(judge, run)).shows(rules.iter().copied())
    }));
    if launcher.takes("seed") {
        scenes.push(scene("the same seed twice", |judge| test.twice(judge)).shows([&rules::SEED]));
    }
    scenes.extend(options::scenes(test, closet));
    judge.side_by_side(scenes)
}
