//! Scenarios of the command line.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    hosting::{SEED, Test},
    map::MapFile,
    party::Party,
    rules::{ARGUMENTS, BAD_MAP, BAD_SEED, EXTRA_ARGUMENT, INPUT, NO_SEED, OTHER_SEED, SAYS_WHY},
    scenarios,
    wire::Wire,
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    launch::EXTRA,
    rule::Rule,
};

/// The number of starts of a server without a seed. Such a server uses the time in seconds as the seed.
const TRIALS: u32 = 3;
const SECOND: Duration = Duration::from_millis(1_100);
/// How long a server may take to detect the end of its standard input.
const NOTICE: Duration = Duration::from_millis(500);

/// The scenarios that start their own servers. `room` has a map on which a player sees all gold.
pub(super) fn scenes<'s>(test: &'s Test<'_>, room: &'s Test<'_>) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("the end of standard input", |judge| room.end_of_input(judge)).shows([&INPUT]),
        scene("a missing map", |judge| test.no_map(judge)).shows([&ARGUMENTS, &SAYS_WHY]),
        scene("an empty map", |judge| test.empty_map(judge)).shows([&BAD_MAP]),
    ];
    if test.launcher.takes("seed") {
        scenes.extend([
            scene("invalid seeds", |judge| test.bad_seeds(judge)).shows([&BAD_SEED]),
            scene("servers without a seed", |judge| room.without_seed(judge)).shows([&NO_SEED]),
            scene("two seeds", |judge| room.two_seeds(judge)).shows([&OTHER_SEED]),
        ]);
    }
    if test.launcher.takes(EXTRA) {
        scenes.push(scene("an extra argument", |judge| test.extra(judge)).shows([&EXTRA_ARGUMENT]));
    }
    scenes
}

impl Test<'_> {
    // Checks that a server with these values exits.
    fn refuses(&self, judge: &mut Judge, rule: &'static Rule, values: &[(&'static str, String)], how: &str) -> Played {
        let mut run = self.start(judge, values)?;
        // A crash is not a rejection, and one error breaks one rule.
        if judge.refuses(rule, &mut *run, self.options.deadline(), &format!("the server, started {how}")) {
            let says = !run.errors().is_empty() || run.line(Instant::now() + NOTICE).is_some();
            judge.check(&SAYS_WHY, says, || {
                format!("the server, started {how}: expected an error message, received none")
            });
        }
        Ok(())
    }

    fn no_map(&self, judge: &mut Judge) -> Played {
        let map = format!("{}.missing", self.map.path());
        let values = [("map", map.clone()), ("seed", self.seed())];
        self.refuses(judge, &ARGUMENTS, &values, &format!("with the missing map {map}"))
    }

    fn empty_map(&self, judge: &mut Judge) -> Played {
        let map = MapFile::empty()?;
        let values = [("map", map.display().to_string()), ("seed", self.seed())];
        self.refuses(judge, &BAD_MAP, &values, "with an empty map")
    }

    fn bad_seeds(&self, judge: &mut Judge) -> Played {
        for seed in ["0", "-3", "abc", "12x"] {
            let values = [("map", self.map.path()), ("seed", seed.to_owned())];
            self.refuses(judge, &BAD_SEED, &values, &format!("with the seed {seed}"))?;
        }
        Ok(())
    }

    fn extra(&self, judge: &mut Judge) -> Played {
        let values = [("map", self.map.path()), ("seed", self.seed()), (EXTRA, "extra".to_owned())];
        self.refuses(judge, &EXTRA_ARGUMENT, &values, "with an extra argument")
    }

    // The initial positions of the piles, as offsets in the DISPLAY of a spectator, or else of a player that sees
    // everything.
    fn piles(&self, judge: &mut Judge, seed: Option<String>) -> Played<Vec<usize>> {
        let is_drawn = seed.is_none();
        let (_run, address) = self.server(judge, seed)?;
        let mut party = Party::new(judge, self.options, Wire::new(address), true);
        // Only the results that the same seed reproduces are judged.
        party.is_strict = !is_drawn;
        scenarios::watch(&mut party, Some(&self.map))?;
        let number = match party.spectator() {
            Some(watcher) => watcher,
            None => party.join("Ann")?,
        };
        let display = party.clients[number].display.iter().enumerate();
        Ok(display.filter(|(_, byte)| **byte == b'*').map(|(at, _)| at).collect())
    }

    fn without_seed(&self, judge: &mut Judge) -> Played {
        let mut first = None;
        for _ in 0..TRIALS {
            let piles = self.piles(judge, None)?;
            if *first.get_or_insert_with(|| piles.clone()) != piles {
                judge.check(&NO_SEED, true, String::new);
                return Ok(());
            }
            thread::sleep(SECOND);
        }
        judge.broken(&NO_SEED, || {
            format!("expected different piles in {TRIALS} games without a seed, received the same")
        })
    }

    fn two_seeds(&self, judge: &mut Judge) -> Played {
        let other = self.options.drawn(SEED) + 1;
        let first = self.piles(judge, Some(self.seed()))?;
        let second = self.piles(judge, Some(other.to_string()))?;
        judge.require(&OTHER_SEED, first != second, || {
            "expected different piles for two seeds, received the same".to_owned()
        })
    }

    // A server that is started in the background has no input.
    fn end_of_input(&self, judge: &mut Judge) -> Played {
        let (mut run, address) = self.server(judge, Some(self.seed()))?;
        if !run.end_input() {
            return Ok(());
        }
        if let Some(exit) = run.exit(Instant::now() + NOTICE) {
            return judge.broken(&INPUT, || {
                format!("expected the server to continue after the end of standard input, but it ended with {exit}")
            });
        }
        let mut party = Party::new(judge, self.options, Wire::new(address), true);
        party.unwatched(&self.map.grid);
        party.join_as(b"Ann", &INPUT)?;
        party.judge.require(&INPUT, true, String::new)
    }
}
