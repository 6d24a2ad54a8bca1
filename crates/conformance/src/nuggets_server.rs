//! Tests servers of nuggets.

mod displays;
mod ending;
mod hosting;
mod map;
mod options;
mod party;
mod rules;
mod scenarios;
mod settle;
mod wire;
mod world;

use self::{
    hosting::{Scenario, Test},
    map::{HALL, MAP, MapFile, YARD, large},
    party::Doubts,
    scenarios::{game, hostile, joining, moves},
};
use crate::{
    judge::{Judge, scene},
    launch::Launcher,
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
    takes_part: &[&rules::WELCOME, &rules::WATCH, &rules::GRID],
    play,
};

/// What can also be played with a server that runs already.
const ANYWHERE: &[(&str, Scenario)] = &[
    ("joining", joining::players),
    ("moves", moves::play),
    ("spectators", joining::spectators),
    ("hostile messages", hostile::play),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let test = Test { launcher, options, map: MapFile::new(MAP)? };
    let hall = Test { launcher, options, map: MapFile::new(HALL)? };
    let yard = &Test { launcher, options, map: MapFile::new(YARD)? };
    let large = Test { launcher, options, map: MapFile::new(&large())? };
    let mut doubts = Doubts::default();
    if launcher.address().is_some() {
        // They are played one after the other with the one server.
        for &(name, scenario) in ANYWHERE {
            judge.play(name, |judge| test.anywhere(judge, &mut doubts, scenario))?;
        }
        return Ok(());
    }
    let (first, others) = ANYWHERE.split_at(1);
    for &(name, scenario) in first {
        judge.play(name, |judge| test.anywhere(judge, &mut doubts, scenario))?;
    }
    if judge.has_failed(&rules::PORT) {
        return Ok(());
    }
    let test = &test;
    let mut scenes: Vec<_> = others
        .iter()
        .map(|&(name, scenario)| scene(name, move |judge| test.anywhere(judge, &mut { doubts }, scenario)))
        .collect();
    scenes.push(
        scene("a full game", move |judge| {
            test.alone(judge, &mut { doubts }, |party, map, _| joining::full(party, map))
        })
        .shows([&rules::FULL, &rules::LETTERS, &rules::LETTER_KEPT]),
    );
    let hall = &hall;
    scenes.push(
        scene("runs in a room", move |judge| {
            yard.alone(judge, &mut { doubts }, |party, map, _| moves::runs(party, map))
        })
        .shows([&rules::DIAGONAL, &rules::RUN, &rules::RUN_DIAGONAL, &rules::RUN_GOLD, &rules::RUN_SWAP]),
    );
    scenes.push(
        scene("sight across a hall", move |judge| {
            hall.alone(judge, &mut { doubts }, |party, map, _| moves::look(party, map))
        })
        .shows([&rules::SIGHT, &rules::OWN, &rules::STALE]),
    );
    scenes.push(scene("a whole game", move |judge| test.alone(judge, &mut { doubts }, game::play)));
    if launcher.takes("seed") {
        scenes
            .push(scene("the same seed twice", move |judge| test.twice(judge, &mut { doubts })).shows([&rules::SEED]));
    }
    scenes.extend(options::scenes(test, doubts));
    judge.side_by_side(scenes)?;
    // What goes wrong here, and is not known yet, breaks the one rule.
    let push: Scenario = |party, map| map.map_or(Ok(()), |map| moves::push(party, map));
    let namesakes: Scenario = |party, map| map.map_or(Ok(()), |map| joining::namesakes(party, map));
    let size: Scenario = |party, map| scenarios::watch(party, map).map(drop);
    let details = [
        ("a push in a passage", &rules::PUSHED, test, push),
        ("two players of one name", &rules::EQUAL_NAMES, test, namesakes),
        ("the largest map", &rules::LARGE_MAP, &large, size),
    ];
    let details = details.map(|(name, rule, test, scenario)| {
        let play = move |judge: &mut Judge| test.anywhere(judge, &mut { doubts }, scenario);
        scene(name, move |judge| judge.under(rule, play)).shows([rule])
    });
    judge.side_by_side(details.into())
}
