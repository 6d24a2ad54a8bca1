//! Starts the server under test on a map and plays scenarios with it.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use nuggets::game::MAX_PLAYERS;

use super::{
    displays,
    map::MapFile,
    party::Party,
    rules,
    scenarios::{leave_all, moves},
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
/// The interval at which to check whether a server listens.
const POLL: Duration = Duration::from_millis(10);

/// A scenario with one game, on a map if it is known.
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

    /// Starts a server, with this seed if there is one, and finds its port in any place where the server reports it.
    pub(super) fn server(&self, judge: &mut Judge, seed: Option<String>) -> Played<(Box<dyn Run>, SocketAddr)> {
        let mut run = self.start(judge, &self.values(seed))?;
        match self.options.port.or_else(|| self.find_port(&mut *run)) {
            Some(port) => Ok((run, (Ipv4Addr::LOCALHOST, port).into())),
            None => judge.broken(&rules::PORT, || silence(&mut *run)),
        }
    }

    fn values(&self, seed: Option<String>) -> Vec<(&'static str, String)> {
        [("map", self.map.path())].into_iter().chain(seed.map(|seed| ("seed", seed))).collect()
    }

    /// Judges where the server reports its port. Returns whether it has one.
    pub(super) fn announces(&self, judge: &mut Judge) -> Played<bool> {
        let mut run = self.start(judge, &self.values(Some(self.seed())))?;
        let printed = self.printed_port(&mut *run);
        let open = run.udp_ports();
        let is_right = printed.is_some_and(|printed| open.as_ref().is_none_or(|open| open.contains(&printed)));
        let found = self.options.port.or(printed.filter(|_| is_right)).or_else(|| self.find_port(&mut *run));
        judge.check(&rules::PORT, is_right, || match (printed, found, &open) {
            (Some(printed), _, Some(open)) if open.is_empty() => {
                format!(
                    "expected the server's UDP port, received {printed}, but the server listens on no UDP port{}",
                    run.obituary()
                )
            }
            (Some(printed), _, Some(open)) => {
                format!("expected {} as the first number on standard output, received {printed}", ports(open))
            }
            (_, Some(found), _) => {
                format!("expected a line with port {found} on standard output, received no number")
            }
            _ => silence(&mut *run),
        });
        Ok(found.is_some())
    }

    // The first port on standard output. A user can read it on the screen even without a line feed. Other programs may
    // slow down the start of a server.
    fn printed_port(&self, run: &mut dyn Run) -> Option<u16> {
        let mut by = self.options.deadline() + self.options.patience;
        let mut is_listening = false;
        loop {
            if !is_listening && run.udp_ports().is_some_and(|open| !open.is_empty()) {
                // It has started, so its first line needs no more time.
                is_listening = true;
                by = by.min(self.options.deadline());
            }
            let is_over = Instant::now() >= by || run.exit(Instant::now()).is_some();
            while let Some(line) = run.line(Instant::now() + POLL) {
                if let Some(printed) = port(&line) {
                    return Some(printed);
                }
            }
            let partial = port(&run.partial_line());
            let is_open = partial.zip(run.udp_ports()).is_some_and(|(port, open)| open.contains(&port));
            if is_open || is_over {
                return partial;
            }
        }
    }

    // The port on which the server receives: that of its only socket, or else the first number that it writes, which
    // may be late.
    fn find_port(&self, run: &mut dyn Run) -> Option<u16> {
        let by = self.options.deadline() + 3 * self.options.patience;
        let mut printed = None;
        loop {
            while let Some(line) = run.line(Instant::now() + POLL) {
                printed = printed.or_else(|| port(&line));
            }
            let written = printed.or_else(|| run.errors().iter().find_map(|line| port(line)));
            match (run.udp_ports().as_deref(), written) {
                (Some(&[port]), _) | (None, Some(port)) => return Some(port),
                (Some(several), Some(port)) if several.contains(&port) => return Some(port),
                _ => {}
            }
            if Instant::now() >= by || run.exit(Instant::now()).is_some() {
                // Without a socket, there is no server, whatever it writes.
                return run.udp_ports().map_or(written, |open| open.first().copied());
            }
        }
    }

    pub(super) fn anywhere(&self, judge: &mut Judge, scenario: Scenario) -> Played {
        self.alone(judge, |party, map, _| scenario(party, Some(map)))
    }

    /// Plays with a running server whose game has assigned that many letters. Returns the number of letters afterwards.
    /// Its sockets stay open in `former`: the server rejects a player who has quit, so no later client may have its
    /// port.
    pub(super) fn running(
        &self,
        judge: &mut Judge,
        address: SocketAddr,
        letters: usize,
        scenario: Scenario,
        former: &mut Vec<Wire>,
    ) -> (usize, Played) {
        let mut party = Party::new(judge, self.options, Wire::new(address), false);
        party.letters = letters;
        let played = scenario(&mut party, None);
        if played.is_ok() {
            party.judge.check(&rules::RUNS, true, String::new);
        } else if party.letters >= MAX_PLAYERS {
            // The players leave. The reason for the end of the scenario was recorded before.
            let _ = leave_all(&mut party);
        }
        let letters = party.letters;
        former.push(party.into_wire());
        (letters, played)
    }

    /// Starts a server and plays with it.
    pub(super) fn alone<T>(
        &self,
        judge: &mut Judge,
        scenario: impl FnOnce(&mut Party<'_>, &MapFile, &mut dyn Run) -> Played<T>,
    ) -> Played<T> {
        let (mut run, address) = self.server(judge, Some(self.seed()))?;
        let mut party = Party::new(judge, self.options, Wire::new(address), true);
        let played = scenario(&mut party, &self.map, &mut *run)?;
        party.judge.check(&rules::RUNS, true, String::new);
        Ok(played)
    }

    pub(super) fn twice(&self, judge: &mut Judge) -> Played {
        let first = self.alone(judge, |party, map, _| moves::sample(party, map))?;
        let second = self.alone(judge, |party, map, _| moves::sample(party, map))?;
        judge.check(&rules::SEED, first == second, || {
            format!(
                "expected equal games from the same seed and keys, received the DISPLAYs {} and {}, and the purses {} and {}",
                displays::shown(&first.0), displays::shown(&second.0), purses(&first.1), purses(&second.1)
            )
        });
        Ok(())
    }
}

fn silence(run: &mut dyn Run) -> String {
    match run.exit(Instant::now()) {
        Some(_) => format!("expected a UDP port, but the server listens on none{}", run.obituary()),
        None => "expected a UDP port, but found none; if the server has one, give it with --port".to_owned(),
    }
}

fn ports(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!("port {}", ports.join(", "))
}

fn purses(purses: &[u32]) -> String {
    purses.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

// The port in a line: the first number after the word, or else the first number that is a valid port.
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
    fn finds_port_in_line() {
        assert_eq!(port("Ready to play, waiting at port 12345"), Some(12345));
        assert_eq!(port("map 3: port=5000"), Some(5000));
        assert_eq!(port("40000"), Some(40000));
        assert_eq!(port("Welcome, 70000 times"), None);
    }
}
