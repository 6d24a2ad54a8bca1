//! Tests servers of nuggets.

mod displays;
mod ending;
mod map;
mod options;
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
    map::{HALL, MAP, MapFile, YARD, large},
    party::{Doubts, Party},
    scenarios::{game, hostile, joining, moves},
    wire::Wire,
};
use crate::{
    judge::{Judge, Played, scene},
    launch::{Launcher, Run, Values},
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

impl Test<'_> {
    fn seed(&self) -> String {
        self.options.drawn(SEED).to_string()
    }

    fn start(&self, judge: &mut Judge, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        judge.start_at(Terminal::Output, self.launcher, values)
    }

    // Starts a server, if there is one with this seed, and finds its port.
    fn server(&self, judge: &mut Judge, seed: Option<String>) -> Played<(Box<dyn Run>, SocketAddr)> {
        let map = [("map", self.map.path())];
        let values: Vec<_> = map.into_iter().chain(seed.map(|seed| ("seed", seed))).collect();
        let mut run = self.start(judge, &values)?;
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
        let (mut run, address) = self.server(judge, Some(self.seed()))?;
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
