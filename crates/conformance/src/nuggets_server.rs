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

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use self::{
    map::{HALL, MAP, MapFile},
    party::{Doubts, Party},
    scenarios::{game, hostile, joining, moves},
    wire::Wire,
};
use crate::{
    judge::{Judge, Played, scene},
    launch::{Launcher, Run},
    terminal::Terminal,
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
    play,
};

/// The usual seed of each game.
const SEED: u32 = 2021;
/// How often a server is looked at that does not listen yet.
const POLL: Duration = Duration::from_millis(10);

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
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let test = Test { launcher, options, map: MapFile::new(MAP)? };
    let hall = Test { launcher, options, map: MapFile::new(HALL)? };
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
        .shows([&rules::FULL, &rules::LETTERS]),
    );
    scenes.push(
        scene("a push in a passage", move |judge| {
            test.alone(judge, &mut { doubts }, |party, map, _| moves::push(party, map))
        })
        .shows([&rules::MEMORY, &rules::SWAP]),
    );
    let hall = &hall;
    scenes.push(
        scene("sight across a hall", move |judge| {
            hall.alone(judge, &mut { doubts }, |party, map, _| moves::look(party, map))
        })
        .shows([&rules::SIGHT, &rules::OWN, &rules::MEMORY, &rules::STALE]),
    );
    scenes.push(scene("a whole game", move |judge| test.alone(judge, &mut { doubts }, game::play)));
    if launcher.takes("seed") {
        scenes
            .push(scene("the same seed twice", move |judge| test.twice(judge, &mut { doubts })).shows([&rules::SEED]));
    }
    scenes.push(scene("wrong arguments", |judge| test.arguments(judge)).shows([&rules::ARGUMENTS]));
    judge.side_by_side(scenes)
}

impl Test<'_> {
    fn seed(&self) -> String {
        self.options.drawn(SEED).to_string()
    }

    fn start(&self, judge: &mut Judge, map: String, seed: &str) -> anyhow::Result<Box<dyn Run>> {
        judge.start_at(Terminal::Output, self.launcher, &[("map", map), ("seed", seed.to_owned())])
    }

    // Starts a server and finds its port.
    fn server(&self, judge: &mut Judge) -> Played<(Box<dyn Run>, SocketAddr)> {
        let mut run = self.start(judge, self.map.path(), &self.seed())?;
        let port = self.options.port.or_else(|| self.find_port(&mut *run));
        let Some(port) = port else {
            return judge.broken(&rules::PORT, || match run.exit(Instant::now()) {
                Some(_) => format!("the server listened at no port{}", run.obituary()),
                None => "the server listens at no UDP port and prints none; if it does listen, say where with --port"
                    .to_owned(),
            });
        };
        judge.check(&rules::PORT, true, String::new);
        Ok((run, (Ipv4Addr::LOCALHOST, port).into()))
    }

    // The one port at which it receives. Where the system does not tell, or there are several, a line of standard output names it, which
    // may come late: what is printed into a pipe waits in a buffer.
    fn find_port(&self, run: &mut dyn Run) -> Option<u16> {
        let by = self.options.deadline();
        let mut printed = None;
        loop {
            while let Some(line) = run.line(Instant::now() + POLL) {
                printed = printed.or_else(|| port(&line));
            }
            match (run.udp_ports().as_deref(), printed) {
                (Some(&[port]), _) | (None, Some(port)) => return Some(port),
                (Some(several), Some(port)) if several.contains(&port) => return Some(port),
                _ => {}
            }
            if Instant::now() >= by || run.exit(Instant::now()).is_some() {
                return printed;
            }
        }
    }

    fn anywhere(&self, judge: &mut Judge, doubts: &mut Doubts, scenario: Scenario) -> Played {
        match self.launcher.address() {
            Some(address) => {
                let mut party = Party::new(judge, self.options, doubts, Wire::new(address), false);
                scenario(&mut party, None)?;
                party.judge.require(&rules::RUNS, true, String::new)
            }
            None => self.alone(judge, doubts, |party, map, _| scenario(party, Some(map))),
        }
    }

    // Plays with a server that is started for it.
    fn alone<T>(
        &self,
        judge: &mut Judge,
        doubts: &mut Doubts,
        scenario: impl FnOnce(&mut Party<'_>, &MapFile, &mut dyn Run) -> Played<T>,
    ) -> Played<T> {
        let (mut run, address) = self.server(judge)?;
        let mut party = Party::new(judge, self.options, doubts, Wire::new(address), true);
        let played = scenario(&mut party, &self.map, &mut *run)?;
        party.judge.check(&rules::RUNS, true, String::new);
        Ok(played)
    }

    fn twice(&self, judge: &mut Judge, doubts: &mut Doubts) -> Played {
        let first = self.alone(judge, doubts, |party, map, _| moves::sample(party, map))?;
        let second = self.alone(judge, doubts, |party, map, _| moves::sample(party, map))?;
        judge.check(&rules::SEED, first == second, || {
            format!(
                "two games with seed {} and the same keys differ: the spectator was shown {} and {}, the purses held {} and {}",
                self.seed(), displays::shown(&first.0), displays::shown(&second.0), purses(&first.1), purses(&second.1)
            )
        });
        Ok(())
    }

    fn arguments(&self, judge: &mut Judge) -> Played {
        let seed = self.seed();
        let mut trials = vec![(format!("{}.missing", self.map.path()), &*seed)];
        if self.launcher.takes("seed") {
            trials.extend(["0", "-3", "abc", "12x"].map(|seed| (self.map.path(), seed)));
        }
        for (map, seed) in trials {
            let exit = self.start(judge, map.clone(), seed)?.exit(self.options.deadline());
            judge.refused(&rules::ARGUMENTS, exit.as_ref(), &format!("with map {map} and seed {seed} the server"));
        }
        Ok(())
    }
}

fn purses(purses: &[u32]) -> String {
    purses.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
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
