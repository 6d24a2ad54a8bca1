//! The server under test on a map, and how scenarios are played with it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use super::{
    displays,
    map::MapFile,
    party::{Doubts, Party},
    rules,
    scenarios::moves,
    wire::Wire,
};
use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run, Values},
    terminal::Terminal,
    tester::Options,
};

/// The usual seed of each game.
pub(super) const SEED: u32 = 2021;
/// How often a server is looked at that does not listen yet.
const POLL: Duration = Duration::from_millis(10);

/// Plays with one game, on a map if it is known.
pub(super) type Scenario = fn(&mut Party<'_>, Option<&MapFile>) -> Played;

/// A server under test, on one map.
pub(super) struct Test<'a> {
    pub(super) launcher: &'a dyn Launcher,
    pub(super) options: &'a Options,
    pub(super) map: MapFile,
}

impl Test<'_> {
    pub(super) fn seed(&self) -> String {
        self.options.drawn(SEED).to_string()
    }

    pub(super) fn start(&self, judge: &mut Judge, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        judge.start_at(Terminal::Output, self.launcher, values)
    }

    /// Starts a server, if there is one with this seed, and finds its port.
    pub(super) fn server(&self, judge: &mut Judge, seed: Option<String>) -> Played<(Box<dyn Run>, SocketAddr)> {
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

    pub(super) fn anywhere(&self, judge: &mut Judge, doubts: &mut Doubts, scenario: Scenario) -> Played {
        match self.launcher.address() {
            Some(address) => {
                let mut party = Party::new(judge, self.options, doubts, Wire::new(address), false);
                scenario(&mut party, None)?;
                party.judge.require(&rules::RUNS, true, String::new)
            }
            None => self.alone(judge, doubts, |party, map, _| scenario(party, Some(map))),
        }
    }

    /// Plays with a server that is started for it.
    pub(super) fn alone<T>(
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

    pub(super) fn twice(&self, judge: &mut Judge, doubts: &mut Doubts) -> Played {
        let first = self.alone(judge, doubts, |party, map, _| moves::sample(party, map))?;
        let second = self.alone(judge, doubts, |party, map, _| moves::sample(party, map))?;
        judge.check(&rules::SEED, first == second, || {
            format!(
                "two games with the same seed and the same keys differ: the spectator was shown {} and {}, the purses held {} and {}",
                displays::shown(&first.0), displays::shown(&second.0), purses(&first.1), purses(&second.1)
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
