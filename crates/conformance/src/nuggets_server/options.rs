//! Scenarios of the command line.

use std::{thread, time::Duration};

use super::{
    hosting::{SEED, Test},
    map::MapFile,
    party::{Doubts, Party},
    rules::{ARGUMENTS, BAD_MAP, BAD_SEED, EXTRA_ARGUMENT, NO_SEED, OTHER_SEED, SAYS_WHY},
    scenarios,
    wire::Wire,
};
use crate::{
    judge::{Judge, Played, Scene, scene},
    launch::EXTRA,
    rule::Rule,
};

/// How often a server is started that takes the time for its seed, which goes on by seconds.
const TRIALS: u32 = 3;
const SECOND: Duration = Duration::from_millis(1_100);

/// What is played with servers that are started for it.
pub(super) fn scenes<'s>(test: &'s Test<'_>, doubts: Doubts) -> Vec<Scene<'s>> {
    let mut scenes = vec![
        scene("a map that is not there", |judge| test.no_map(judge)).shows([&ARGUMENTS, &SAYS_WHY]),
        scene("an empty map", |judge| test.empty_map(judge)).shows([&BAD_MAP]),
    ];
    if test.launcher.takes("seed") {
        scenes.extend([
            scene("seeds that are no numbers", |judge| test.bad_seeds(judge)).shows([&BAD_SEED]),
            scene("servers without a seed", move |judge| test.without_seed(judge, doubts)).shows([&NO_SEED]),
            scene("two seeds", move |judge| test.two_seeds(judge, doubts)).shows([&OTHER_SEED]),
        ]);
    }
    if test.launcher.takes(EXTRA) {
        scenes.push(scene("one argument too many", |judge| test.extra(judge)).shows([&EXTRA_ARGUMENT]));
    }
    scenes
}

impl Test<'_> {
    // A server with these values must end.
    fn refuses(&self, judge: &mut Judge, rule: &'static Rule, values: &[(&'static str, String)], how: &str) -> Played {
        let mut run = self.start(judge, values)?;
        let exit = run.exit(self.options.deadline());
        judge.refused(rule, exit.as_ref(), &format!("{how} the server"));
        if exit.is_some() {
            let says = !run.errors().is_empty();
            judge.check(&SAYS_WHY, says, || format!("{how} the server ended, and wrote nothing on standard error"));
        }
        Ok(())
    }

    fn no_map(&self, judge: &mut Judge) -> Played {
        let map = format!("{}.missing", self.map.path());
        let values = [("map", map.clone()), ("seed", self.seed())];
        self.refuses(judge, &ARGUMENTS, &values, &format!("with the map {map}, which is not there,"))
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
        self.refuses(judge, &EXTRA_ARGUMENT, &values, "with an argument too many")
    }

    // What a spectator is shown at first.
    fn first_display(&self, judge: &mut Judge, mut doubts: Doubts, seed: Option<String>) -> Played<Vec<u8>> {
        let (_run, address) = self.server(judge, seed)?;
        let mut party = Party::new(judge, self.options, &mut doubts, Wire::new(address), true);
        let watcher = scenarios::watch(&mut party, Some(&self.map))?;
        Ok(party.clients[watcher].display.clone())
    }

    fn without_seed(&self, judge: &mut Judge, doubts: Doubts) -> Played {
        let mut first = None;
        judge.under(&NO_SEED, |judge| {
            for _ in 0..TRIALS {
                let display = self.first_display(judge, doubts, None)?;
                if *first.get_or_insert_with(|| display.clone()) != display {
                    return Ok(());
                }
                thread::sleep(SECOND);
            }
            judge.broken(&NO_SEED, || format!("{TRIALS} games without a seed begin with the same piles"))
        })
    }

    fn two_seeds(&self, judge: &mut Judge, doubts: Doubts) -> Played {
        let other = self.options.drawn(SEED) + 1;
        let first = self.first_display(judge, doubts, Some(self.seed()))?;
        let second = self.first_display(judge, doubts, Some(other.to_string()))?;
        judge.require(&OTHER_SEED, first != second, || "games with two seeds begin with the same piles".to_owned())
    }
}
