use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
    ops::Range,
    time::Duration,
};

use ladder::{FIXED, Forfeit, Input, Ladder, MatchId, Output, ProgramId, Rejection, Seat, Settings};
use netcore::{HostId, Level, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use skillratings::{
    MultiTeamOutcome,
    weng_lin::{WengLinConfig, WengLinRating, weng_lin_multi_team},
};

/// Displayed points per unit of the mean, as on the hub.
const POINTS: f64 = 40.0;
/// At this rating difference, the rating method expects the better of two players to win at odds of `e` to 1.
const SCALE: f64 = 236.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Sound,
    /// In one of about this many requests.
    Hangs(u32),
    /// Disconnects in one of about this many matches.
    Crashes(u32),
    Twice,
}

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) strength: f64,
    pub(crate) behaviour: Behaviour,
    rating: WengLinRating,
    pub(crate) played: u32,
    /// In the last two hours.
    pub(crate) lately: u32,
    pub(crate) forfeits: u32,
    pub(crate) longest: Duration,
}

impl Program {
    pub(crate) fn points(&self) -> f64 {
        self.rating.rating * POINTS
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Connects(usize),
    Crashes(ProgramId),
    Answers(ProgramId),
    Ends(MatchId),
    Elapsed,
}

#[derive(Debug)]
struct Connection {
    of: usize,
    since: Time,
    has_crashed: bool,
}

pub(crate) struct World {
    ladder: Ladder,
    now: Time,
    rng: Pcg64Mcg,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    numbers: u64,
    pub(crate) programs: Vec<Program>,
    connections: BTreeMap<ProgramId, Connection>,
    running: BTreeMap<MatchId, ([Seat; 2], Vec<ProgramId>)>,
    pub(crate) met: BTreeMap<&'static str, u32>,
    pub(crate) matches: u32,
    pub(crate) reconnected: u32,
    until: Time,
}

impl World {
    pub(crate) fn new(seed: u64, settings: Settings, programs: &[(f64, Behaviour)]) -> Self {
        let program = |(at, &(strength, behaviour)): (usize, &(f64, Behaviour))| Program {
            name: format!("program-{at}"),
            strength,
            behaviour,
            rating: WengLinRating::new(),
            played: 0,
            lately: 0,
            forfeits: 0,
            longest: Duration::ZERO,
        };
        let mut world = Self {
            ladder: Ladder::new(settings),
            now: Time::ZERO,
            rng: Pcg64Mcg::seed_from_u64(seed),
            events: BinaryHeap::new(),
            numbers: 0,
            programs: programs.iter().enumerate().map(program).collect(),
            connections: BTreeMap::new(),
            running: BTreeMap::new(),
            met: BTreeMap::new(),
            matches: 0,
            reconnected: 0,
            until: Time::ZERO,
        };
        for (at, (_, behaviour)) in programs.iter().enumerate() {
            world.schedule(0..10_000, Event::Connects(at));
            if *behaviour == Behaviour::Twice {
                world.schedule(0..10_000, Event::Connects(at));
            }
        }
        world
    }

    fn schedule(&mut self, millis: Range<u64>, event: Event) {
        let millis = self.rng.random_range(millis);
        self.numbers += 1;
        self.events.push(Reverse((self.now.plus(Duration::from_millis(millis)), self.numbers, event)));
    }

    /// Each deadline reaches the ladder exactly when it passes.
    pub(crate) fn run(&mut self, hours: u64) {
        self.until = Time::from_millis(hours * 3_600_000);
        loop {
            let due = self.ladder.deadline();
            let next = self.events.peek().map(|Reverse((time, ..))| *time);
            let event = if let Some(due) = due.filter(|due| next.is_none_or(|next| *due <= next)) {
                assert!(due >= self.now, "a deadline that has passed");
                self.now = due;
                Event::Elapsed
            } else {
                let Reverse((time, _, event)) = self.events.pop().expect("something happens");
                self.now = time;
                event
            };
            if self.now > self.until {
                return;
            }
            self.process(event);
            assert!(self.ladder.deadline().is_none_or(|due| due > self.now), "it has not done what was due");
            self.check();
        }
    }

    fn process(&mut self, event: Event) {
        match event {
            Event::Connects(at) => self.connect(at),
            Event::Crashes(program) => {
                let Some(connection) = self.connections.get_mut(&program) else { return };
                connection.has_crashed = true;
                let at = connection.of;
                self.input(Input::Disconnected(program));
                // Some are too late to reconnect.
                self.schedule(1_000..20_000, Event::Connects(at));
            }
            Event::Answers(program) => {
                self.input(Input::Answered(program));
                self.input(Input::Requested(program));
                let Some(&Connection { of, .. }) = self.connections.get(&program) else { return };
                let hangs = matches!(self.programs[of].behaviour, Behaviour::Hangs(many) if self.rng.random_range(0..many) == 0);
                if !hangs {
                    self.schedule(1_000..8_000, Event::Answers(program));
                }
            }
            Event::Ends(number) => self.end(number),
            Event::Elapsed => self.input(Input::Elapsed),
        }
    }

    fn connect(&mut self, at: usize) {
        self.numbers += 1;
        let program = ProgramId(self.numbers);
        self.connections.insert(program, Connection { of: at, since: self.now, has_crashed: false });
        #[expect(clippy::cast_possible_truncation, reason = "a rating stays within some thousands")]
        let rating = self.programs[at].points().round() as i64;
        let host = HostId::V4([10, 0, 0, u8::try_from(at % 7).expect("seven hosts")]);
        self.input(Input::Connected { program, name: self.programs[at].name.clone(), host, rating });
    }

    fn input(&mut self, input: Input) {
        for output in self.ladder.input(self.now, input) {
            match output {
                Output::Start { number, seats } => self.start(number, seats),
                Output::Rejected(program, why) => {
                    let connection = self.connections.remove(&program).expect("it is connected");
                    assert_eq!((why, self.programs[connection.of].behaviour), (Rejection::Replaced, Behaviour::Twice));
                    self.schedule(500..5_000, Event::Connects(connection.of));
                }
                Output::Forfeited(number, program, how) => {
                    let lost = &mut self.programs[self.connections[&program].of];
                    match (lost.behaviour, how) {
                        (Behaviour::Hangs(_), Forfeit::TimedOut) | (Behaviour::Crashes(_), Forfeit::Left) => {
                            lost.forfeits += 1;
                        }
                        wrong => panic!("{wrong:?}"),
                    }
                    self.running.get_mut(&number).expect("it is played").1.push(program);
                }
                Output::Reconnected { program, by } => {
                    let (new, old) = (self.connections.remove(&by), self.connections.get_mut(&program));
                    let (new, old) = (new.expect("it is connected"), old.expect("it plays"));
                    assert!(new.of == old.of && old.has_crashed, "{new:?} replaced {old:?}");
                    old.has_crashed = false;
                    self.reconnected += 1;
                }
                Output::Stop(number) => self.schedule(10..100, Event::Ends(number)),
            }
        }
    }

    fn start(&mut self, number: MatchId, seats: [Seat; 2]) {
        self.matches += 1;
        for seat in seats {
            match seat {
                Seat::Program(program) => {
                    let Connection { of, since, .. } = self.connections[&program];
                    let program_of = &mut self.programs[of];
                    program_of.longest = program_of.longest.max(self.now.since(since));
                    self.schedule(10..500, Event::Answers(program));
                    let behaviour = self.programs[of].behaviour;
                    if matches!(behaviour, Behaviour::Crashes(many) if self.rng.random_range(0..many) == 0) {
                        self.schedule(10..8_000, Event::Crashes(program));
                    }
                }
                Seat::Fixed(level) => *self.met.entry(name(level)).or_default() += 1,
            }
        }
        assert!(seats.iter().any(|seat| matches!(seat, Seat::Program(_))), "bots alone play for nobody");
        self.running.insert(number, (seats, vec![]));
        self.schedule(8_000..20_000, Event::Ends(number));
    }

    // As on the hub: the ratings of built-in bots are fixed, and a program that forfeits is last.
    fn end(&mut self, number: MatchId) {
        let Some((seats, lost)) = self.running.remove(&number) else { return };
        let before = seats.map(|seat| self.standing(seat));
        let chance = 1.0 / (1.0 + ((before[1].0 - before[0].0) / SCALE).exp());
        let first_wins = self.rng.random_bool(chance);
        let is_lost = seats.map(|seat| matches!(seat, Seat::Program(program) if lost.contains(&program)));
        let places = match (is_lost, first_wins) {
            ([true, true], _) => [1, 1],
            ([false, true], _) | ([false, false], true) => [1, 2],
            ([true, false], _) | ([false, false], false) => [2, 1],
        };
        let [one, two] = before.map(|(_, rating)| [rating]);
        let outcomes = places.map(MultiTeamOutcome::new);
        let after = weng_lin_multi_team(&[(&one[..], outcomes[0]), (&two[..], outcomes[1])], &WengLinConfig::new());
        self.input(Input::MatchEnded(number));
        for (seat, after) in seats.into_iter().zip(after) {
            let Seat::Program(program) = seat else { continue };
            let connection = self.connections.remove(&program).expect("it has played");
            let player = &mut self.programs[connection.of];
            player.rating = after[0];
            player.played += 1;
            player.lately += u32::from(self.until.since(self.now) < Duration::from_secs(7_200));
            if !connection.has_crashed {
                self.schedule(50..2_000, Event::Connects(connection.of));
            }
        }
    }

    fn standing(&self, seat: Seat) -> (f64, WengLinRating) {
        match seat {
            Seat::Program(program) => {
                let player = &self.programs[self.connections[&program].of];
                (player.strength, player.rating)
            }
            Seat::Fixed(level) => {
                #[expect(clippy::cast_precision_loss, reason = "some thousands")]
                let points = FIXED.iter().find(|(fixed, _)| *fixed == level).expect("there are three").1 as f64;
                (points, WengLinRating { rating: points / POINTS, uncertainty: 0.0 })
            }
        }
    }

    fn check(&self) {
        let settings = self.ladder.settings();
        let playing = self.ladder.playing();
        assert!(playing.len() <= settings.matches && playing.len() == self.running.len());
        let mut names: Vec<&String> = vec![];
        for seat in playing.values().flat_map(|playing| playing.seats) {
            let Seat::Program(program) = seat else { continue };
            let name = &self.programs[self.connections[&program].of].name;
            assert!(!names.contains(&name), "{name} plays twice at the same time");
            names.push(name);
        }
        if playing.len() == settings.matches {
            return;
        }
        // No program waits longer than `company`, except after a penalty.
        let idle = self.ladder.waiting().values().filter(|waiting| !names.contains(&&waiting.name));
        let most = |name: &String| {
            let program = self.programs.iter().find(|program| program.name == *name).expect("it is one of them");
            let misbehaves = matches!(program.behaviour, Behaviour::Hangs(_) | Behaviour::Crashes(_));
            settings.company + if misbehaves { settings.penalty.1 } else { Duration::ZERO }
        };
        let sound: Vec<_> = idle.filter(|waiting| most(&waiting.name) == settings.company).collect();
        for waiting in self.ladder.waiting().values().filter(|waiting| !names.contains(&&waiting.name)) {
            // A program whose copy played meanwhile may have waited longer.
            let is_twice =
                self.programs.iter().any(|one| one.name == waiting.name && one.behaviour == Behaviour::Twice);
            let waited = self.now.since(waiting.since);
            assert!(is_twice || waited <= most(&waiting.name), "{} is kept waiting for {waited:?}", waiting.name);
        }
        for (at, one) in sound.iter().enumerate() {
            for other in &sound[at + 1..] {
                let apart = (one.rating - other.rating).abs();
                assert!(apart > settings.close - settings.again, "{} and {} are a pair", one.name, other.name);
            }
        }
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Easy => "easy",
        Level::Normal => "normal",
        Level::Hard => "hard",
    }
}
