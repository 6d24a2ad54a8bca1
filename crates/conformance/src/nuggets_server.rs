mod effects;
mod game;
mod model;
mod rules;
mod scenarios;
mod wire;

use std::{
    net::{Ipv4Addr, SocketAddr},
    thread,
    time::{Duration, Instant},
};

use nuggets::game::MAX_PLAYERS;

use self::{
    game::Game,
    model::{CLOSET, MAP, MapFile},
    rules::{ARGUMENTS, BAD_MAP, BAD_SEED, EXTRA_ARGUMENT, INPUT, NO_SEED, OTHER_SEED, SAYS_WHY},
    scenarios::{SEPARATE, SHARED, Shared, leave_all, play_shared, sample, watch},
    wire::Wire,
};
use crate::{
    judge::{Judge, ScenarioResult, Scene, scene},
    launch::{EXTRA, Launcher, Run, Values},
    rule::Rule,
    terminal::Terminal,
    tester::{Options, Tester},
};

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

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let on = |map: &str| anyhow::Ok(Subject { launcher, options, map: MapFile::new(map)? });
    let (test, closet) = (&on(MAP)?, &on(CLOSET)?);
    if let Some(address) = launcher.address() {
        // One after another on the same server, while its game has free letters.
        let (mut letters, mut former) = (0, Vec::new());
        for &(name, rules, scenario) in SHARED {
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
    let shared = SHARED.iter().map(|&(name, rules, scenario)| {
        scene(name, move |judge| test.alone(judge, |game, map, _| play_shared(game, Some(map), scenario)))
            .shows(rules.iter().copied())
    });
    let separate = SEPARATE.iter().map(|&(name, map, rules, scenario)| {
        scene(name, move |judge| on(&map())?.alone(judge, scenario)).shows(rules.iter().copied())
    });
    let mut scenes: Vec<_> = shared.chain(separate).collect();
    if launcher.takes("seed") {
        scenes.push(scene("the same seed twice", |judge| test.twice(judge)).shows([&rules::SEED]));
    }
    scenes.extend(option_scenes(test, closet));
    judge.side_by_side(scenes)
}

const SEED: u32 = 2021;
const POLL: Duration = Duration::from_millis(10);

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: &'a Options,
    map: MapFile,
}

// Returns the port of the only socket, or else the first printed number, which may be late.
fn find_port(run: &mut dyn Run, by: Instant) -> Option<u16> {
    let mut printed = None;
    loop {
        while let Some(line) = run.line(Instant::now() + POLL) {
            printed = printed.or_else(|| ports(&line).next());
        }
        let written = printed.or_else(|| run.errors().iter().find_map(|line| ports(line).next()));
        match (run.udp_ports().as_deref(), written) {
            (Some(&[port]), _) | (None, Some(port)) => return Some(port),
            (Some(several), Some(port)) if several.contains(&port) => return Some(port),
            _ => {}
        }
        if Instant::now() >= by || run.exit(Instant::now()).is_some() {
            // Without a socket, there is no server.
            return run.udp_ports().map_or(written, |open| open.first().copied());
        }
    }
}

impl Subject<'_> {
    fn seed(&self) -> String {
        self.options.drawn(SEED).to_string()
    }

    fn start(&self, judge: &mut Judge, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        judge.start_at(Terminal::Output, self.launcher, values)
    }

    fn server(&self, judge: &mut Judge, seed: Option<String>) -> ScenarioResult<(Box<dyn Run>, SocketAddr)> {
        let mut run = self.start(judge, &self.values(seed))?;
        match self.options.port.or_else(|| find_port(&mut *run, self.options.start_deadline())) {
            Some(port) => Ok((run, (Ipv4Addr::LOCALHOST, port).into())),
            None => judge.broken(&rules::PORT, || silence(&mut *run)),
        }
    }

    fn values(&self, seed: Option<String>) -> Vec<(&'static str, String)> {
        [("map", self.map.path())].into_iter().chain(seed.map(|seed| ("seed", seed))).collect()
    }

    fn announces(&self, judge: &mut Judge) -> ScenarioResult<bool> {
        let mut run = self.start(judge, &self.values(Some(self.seed())))?;
        let printed = self.printed_port(&mut *run);
        let open = run.udp_ports();
        let is_right = printed.is_some_and(|printed| open.as_ref().is_none_or(|open| open.contains(&printed)));
        // The program has had the time to start.
        let by = self.options.deadline();
        let found = self.options.port.or(printed.filter(|_| is_right)).or_else(|| find_port(&mut *run, by));
        judge.check(&rules::PORT, is_right, || match (printed, found, &open) {
            (Some(printed), _, Some(open)) if open.is_empty() => {
                format!(
                    "expected the server's UDP port, received {printed}, but the server listens on no UDP port{}",
                    run.exit_clause()
                )
            }
            (Some(printed), _, Some(open)) => {
                format!("expected {} on standard output, received {printed}", port_list(open))
            }
            (_, Some(found), _) => {
                format!("expected a line with port {found} on standard output, received no number")
            }
            _ => silence(&mut *run),
        });
        Ok(found.is_some())
    }

    // Returns the printed port, or else the first printed number. The output need not end with a line feed.
    fn printed_port(&self, run: &mut dyn Run) -> Option<u16> {
        let mut by = self.options.start_deadline();
        let mut is_listening = false;
        let mut printed = Vec::new();
        loop {
            let open = run.udp_ports();
            if !is_listening && open.as_ref().is_some_and(|open| !open.is_empty()) {
                // It has started, so its output is due.
                is_listening = true;
                by = by.min(self.options.deadline());
            }
            let is_over = Instant::now() >= by || run.exit(Instant::now()).is_some();
            while let Some(line) = run.line(Instant::now() + POLL) {
                printed.extend(ports(&line));
            }
            let partial = run.partial_line();
            let mut numbers = printed.iter().copied().chain(ports(&partial));
            let port = match &open {
                Some(open) => numbers.find(|port| open.contains(port)),
                None => printed.first().copied(),
            };
            if port.is_some() || is_over {
                return port.or_else(|| printed.first().copied()).or_else(|| ports(&partial).next());
            }
        }
    }

    /// Returns the number of assigned letters. Sockets stay open in `former`: the server rejects a player that has
    /// quit, so no client may reuse its port.
    fn running(
        &self,
        judge: &mut Judge,
        address: SocketAddr,
        letters: usize,
        scenario: Shared,
        former: &mut Vec<Wire>,
    ) -> (usize, ScenarioResult) {
        let mut game = Game::new(judge, self.options, Wire::new(address), false);
        game.letters = letters;
        let played = play_shared(&mut game, None, scenario);
        if played.is_ok() {
            game.judge.check(&rules::RUNS, true, String::new);
        } else if game.letters >= MAX_PLAYERS {
            // The reason for the early end is already recorded.
            let _ = leave_all(&mut game);
        }
        let letters = game.letters;
        former.push(game.into_wire());
        (letters, played)
    }

    fn alone<T>(
        &self,
        judge: &mut Judge,
        scenario: impl FnOnce(&mut Game<'_>, &MapFile, &mut dyn Run) -> ScenarioResult<T>,
    ) -> ScenarioResult<T> {
        let (mut run, address) = self.server(judge, Some(self.seed()))?;
        let mut game = Game::new(judge, self.options, Wire::new(address), true);
        let played = scenario(&mut game, &self.map, &mut *run)?;
        game.judge.check(&rules::RUNS, true, String::new);
        Ok(played)
    }

    fn twice(&self, judge: &mut Judge) -> ScenarioResult {
        let first = self.alone(judge, |game, map, _| sample(game, map))?;
        let second = self.alone(judge, |game, map, _| sample(game, map))?;
        judge.check(&rules::SEED, first == second, || {
            format!(
                "expected equal games from the same seed and keys, received the DISPLAYs {} and {}, and the purses {} and {}",
                wire::quoted_bytes(&first.0), wire::quoted_bytes(&second.0), purses(&first.1), purses(&second.1)
            )
        });
        Ok(())
    }
}

fn silence(run: &mut dyn Run) -> String {
    match run.exit(Instant::now()) {
        Some(_) => format!("expected a UDP port, but the server listens on none{}", run.exit_clause()),
        None => "expected a UDP port, but found none; if the server has one, give it with --port".to_owned(),
    }
}

fn port_list(ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!("port {}", ports.join(", "))
}

fn purses(purses: &[u32]) -> String {
    purses.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

// The numbers after the word `port`, then those before it.
fn ports(line: &str) -> impl Iterator<Item = u16> {
    let at = line.to_ascii_lowercase().find("port").unwrap_or(0);
    [line.get(at..), line.get(..at)].into_iter().flatten().flat_map(|part| {
        let numbers = part.split(|letter: char| !letter.is_ascii_digit()).filter_map(|digits| digits.parse().ok());
        numbers.filter(|&port: &u16| port > 0)
    })
}

/// Starts of a server without a seed, which uses the time in seconds.
const TRIALS: u32 = 3;
const SECOND: Duration = Duration::from_millis(1_100);
/// How long a server may take to detect the end of its input.
const NOTICE: Duration = Duration::from_millis(500);

/// On the map of `room`, a player sees all gold.
fn option_scenes<'s>(test: &'s Subject<'_>, room: &'s Subject<'_>) -> Vec<Scene<'s>> {
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

impl Subject<'_> {
    fn rejects(
        &self,
        judge: &mut Judge,
        rule: &'static Rule,
        values: &[(&'static str, String)],
        how: &str,
    ) -> ScenarioResult {
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

    fn no_map(&self, judge: &mut Judge) -> ScenarioResult {
        let map = format!("{}.missing", self.map.path());
        let values = [("map", map.clone()), ("seed", self.seed())];
        self.rejects(judge, &ARGUMENTS, &values, &format!("with the missing map {map}"))
    }

    fn empty_map(&self, judge: &mut Judge) -> ScenarioResult {
        let map = MapFile::empty()?;
        let values = [("map", map.display().to_string()), ("seed", self.seed())];
        self.rejects(judge, &BAD_MAP, &values, "with an empty map")
    }

    fn bad_seeds(&self, judge: &mut Judge) -> ScenarioResult {
        for seed in ["0", "-3", "abc", "12x"] {
            let values = [("map", self.map.path()), ("seed", seed.to_owned())];
            self.rejects(judge, &BAD_SEED, &values, &format!("with the seed {seed}"))?;
        }
        Ok(())
    }

    fn extra(&self, judge: &mut Judge) -> ScenarioResult {
        let values = [("map", self.map.path()), ("seed", self.seed()), (EXTRA, "extra".to_owned())];
        self.rejects(judge, &EXTRA_ARGUMENT, &values, "with an extra argument")
    }

    // The initial piles, as offsets in the DISPLAY of a spectator, or else of a player that sees everything.
    fn piles(&self, judge: &mut Judge, seed: Option<String>) -> ScenarioResult<Vec<usize>> {
        let is_drawn = seed.is_none();
        let (_run, address) = self.server(judge, seed)?;
        let mut game = Game::new(judge, self.options, Wire::new(address), true);
        // Only results that the same seed reproduces are judged.
        game.is_strict = !is_drawn;
        watch(&mut game, Some(&self.map))?;
        let number = match game.spectator() {
            Some(watcher) => watcher,
            None => game.join("Ann")?,
        };
        let display = game.clients[number].display.iter().enumerate();
        Ok(display.filter(|(_, byte)| **byte == b'*').map(|(at, _)| at).collect())
    }

    fn without_seed(&self, judge: &mut Judge) -> ScenarioResult {
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

    fn two_seeds(&self, judge: &mut Judge) -> ScenarioResult {
        let other = self.options.drawn(SEED) + 1;
        let first = self.piles(judge, Some(self.seed()))?;
        let second = self.piles(judge, Some(other.to_string()))?;
        judge.require(&OTHER_SEED, first != second, || {
            "expected different piles for two seeds, received the same".to_owned()
        })
    }

    // A server in the background has no input.
    fn end_of_input(&self, judge: &mut Judge) -> ScenarioResult {
        let (mut run, address) = self.server(judge, Some(self.seed()))?;
        if !run.end_input() {
            return Ok(());
        }
        if let Some(exit) = run.exit(Instant::now() + NOTICE) {
            return judge.broken(&INPUT, || {
                format!("expected the server to continue after the end of standard input, but it ended with {exit}")
            });
        }
        let mut game = Game::new(judge, self.options, Wire::new(address), true);
        game.unwatched(&self.map.grid);
        game.join_as(b"Ann", &INPUT)?;
        game.judge.require(&INPUT, true, String::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_port_in_line() {
        assert_eq!(ports("Ready to play, waiting at port 12345").collect::<Vec<_>>(), [12345]);
        assert_eq!(ports("map 3: port=5000").collect::<Vec<_>>(), [5000, 3]);
        assert_eq!(ports("40000").collect::<Vec<_>>(), [40000]);
        assert_eq!(ports("Welcome, 70000 times").next(), None);
    }
}
