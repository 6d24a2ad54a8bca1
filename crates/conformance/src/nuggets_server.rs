//! Tests servers of nuggets.

mod displays;
mod ending;
mod map;
mod party;
mod rules;
mod scenarios;
mod settle;
mod wire;
mod world;

use std::net::{Ipv4Addr, SocketAddr};

use self::{
    map::MapFile,
    party::{Doubts, Party},
    scenarios::{game, hostile, joining, moves},
    wire::Wire,
};
use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run},
    report::Report,
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
    test,
};

/// The seed of each game.
const SEED: &str = "2021";
/// Lines in which the port may stand.
const LINES: usize = 100;

type Scenario = fn(&mut Party<'_>, Option<&MapFile>) -> Played;

/// What can also be played with a server that runs already.
const ANYWHERE: &[(&str, Scenario)] = &[
    ("joining", joining::players),
    ("moves", moves::play),
    ("spectators", joining::spectators),
    ("hostile messages", hostile::play),
];

struct Test<'a> {
    launcher: &'a dyn Launcher,
    options: &'a Options,
    map: MapFile,
    doubts: Doubts,
}

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, TESTER.rules);
    let mut test = Test { launcher, options, map: MapFile::new()?, doubts: Doubts::default() };
    for &(name, scenario) in ANYWHERE {
        judge.play(name, |judge| test.anywhere(judge, scenario))?;
    }
    if launcher.address().is_none() {
        judge.play("a full game", |judge| test.alone(judge, |party, map, _| joining::full(party, map)))?;
        judge.play("a whole game", |judge| test.alone(judge, game::play))?;
        if launcher.takes("seed") {
            judge.play("the same seed twice", |judge| test.twice(judge))?;
        }
        judge.play("wrong arguments", |judge| test.arguments(judge))?;
    }
    Ok(judge.report())
}

impl Test<'_> {
    fn start(&self, map: String, seed: &str) -> anyhow::Result<Box<dyn Run>> {
        self.launcher.start(&[("map", map), ("seed", seed.to_owned())])
    }

    // Starts a server and reads its port.
    fn server(&self, judge: &mut Judge) -> Played<(Box<dyn Run>, SocketAddr)> {
        let mut run = self.start(self.map.path(), SEED)?;
        let by = self.options.deadline();
        for _ in 0..LINES {
            let Some(line) = run.line(by) else { break };
            if let Some(port) = port(&line) {
                judge.check(&rules::PORT, true, String::new);
                return Ok((run, (Ipv4Addr::LOCALHOST, port).into()));
            }
        }
        judge.broken(&rules::PORT, || match run.exit(by) {
            Some(_) => format!("the server printed no line with a port{}", run.obituary()),
            None => "the server printed no line with a port; is standard output flushed?".to_owned(),
        })
    }

    fn anywhere(&mut self, judge: &mut Judge, scenario: Scenario) -> Played {
        match self.launcher.address() {
            Some(address) => {
                let mut party = Party::new(judge, self.options, &mut self.doubts, Wire::new(address), false);
                scenario(&mut party, None)?;
                party.judge.require(&rules::RUNS, true, String::new)
            }
            None => self.alone(judge, |party, map, _| scenario(party, Some(map))),
        }
    }

    // Plays with a server that is started for it.
    fn alone<T>(
        &mut self,
        judge: &mut Judge,
        scenario: impl FnOnce(&mut Party<'_>, &MapFile, &mut dyn Run) -> Played<T>,
    ) -> Played<T> {
        let (mut run, address) = self.server(judge)?;
        let mut party = Party::new(judge, self.options, &mut self.doubts, Wire::new(address), true);
        let played = scenario(&mut party, &self.map, &mut *run)?;
        party.judge.check(&rules::RUNS, true, String::new);
        Ok(played)
    }

    fn twice(&mut self, judge: &mut Judge) -> Played {
        let first = self.alone(judge, |party, map, _| moves::sample(party, map))?;
        let second = self.alone(judge, |party, map, _| moves::sample(party, map))?;
        judge.check(&rules::SEED, first == second, || {
            format!(
                "two games with seed {SEED} and the same keys differ: the spectator was shown {} and {}, the purses held {:?} and {:?}",
                displays::shown(&first.0), displays::shown(&second.0), first.1, second.1
            )
        });
        Ok(())
    }

    fn arguments(&self, judge: &mut Judge) -> Played {
        let mut trials = vec![(format!("{}.missing", self.map.path()), SEED)];
        if self.launcher.takes("seed") {
            trials.extend(["0", "-3", "abc", "12x"].map(|seed| (self.map.path(), seed)));
        }
        for (map, seed) in trials {
            let exit = self.start(map.clone(), seed)?.exit(self.options.deadline());
            judge.refused(&rules::ARGUMENTS, exit, &format!("with map {map} and seed {seed} the server"));
        }
        Ok(())
    }
}

// The port in a line: the first number behind the word, or else the first that can be one.
fn port(line: &str) -> Option<u16> {
    let number = |text: &str| {
        let mut numbers = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
        numbers.find(|&port: &u16| port > 0)
    };
    let behind = line.to_ascii_lowercase().find("port").and_then(|at| line.get(at..)).and_then(number);
    behind.or_else(|| number(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_stands_in_the_line() {
        assert_eq!(port("Ready to play, waiting at port 12345"), Some(12345));
        assert_eq!(port("map 3: port=5000"), Some(5000));
        assert_eq!(port("40000"), Some(40000));
        assert_eq!(port("Welcome, 70000 times"), None);
    }
}
