//! Whole matches with journals, in virtual time and from one seed.
//!
//! [`simulate`] runs the released code: rooms with their hosts, transports and server loops, and one scribe whose two
//! threads write the journals of all rooms. Only clients, network, clocks and the disk are simulated. The process is
//! repeatedly killed and resumed from its journals. Its machine loses power, its disk fills up, fails, hangs or lies,
//! its clocks are set, and other processes read, copy or try to resume its journals. The game checks its invariants
//! after each step, and after each crash all delivered output is compared with a replay. At the end, in a calm period
//! without faults, all clients must be served again.

mod oracle;
mod trouble;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Debug},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use journal_core::{Clock, Head, JournalEnd, MAX_SIZE, Scribe, Step, SyncPolicy, Writing};
use netcore::{Client, EngineRoom, Recorded, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{
    disk::{Crash, Latency, SimulatedDisk},
    machine::{Machine, Pace, SimulatedClock, TaskId, ThreadContext},
    net::{Conditions, Hostable, Net, StreamConditions, Traffic},
};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
/// The longest hang of a disk call.
const HANG: Duration = Duration::from_secs(30);
/// Without faults, each client must receive the state within this time.
const CALM: Duration = Duration::from_secs(10);
/// Clients that connect in this first part of `CALM` must be served by its end.
const HALF: Duration = Duration::from_secs(5);
const GAMES: &str = "/arcade/games";

pub trait Game: Sized {
    type Server: Recorded + Hostable;
    type Client: Client<Error: Debug>;

    fn begin(seed: u64) -> (Self, Self::Server);

    fn enter(&mut self, net: &mut NetOf<Self>);

    /// Checks the invariants, and connects, disconnects and reconnects clients.
    fn step(&mut self, net: &mut NetOf<Self>);

    /// When the game needs a step even without an event.
    fn wake(&self) -> Option<Time> {
        None
    }

    /// `forked`: messages were delivered that the server lost in a power cut.
    fn resumed(&mut self, net: &mut NetOf<Self>, forked: bool);

    /// Whether the client has the state that its role may see. Without faults, this holds every few seconds.
    fn is_current(&self, net: &NetOf<Self>, client: &Self::Client) -> bool;
}

pub type NetOf<G> = Net<<G as Game>::Server, <G as Game>::Client>;

/// Simulates faults for this duration, unless the matches end earlier, and then a calm period. Panics if a check fails.
pub fn simulate<G: Game>(seed: u64, duration: Duration) -> Report {
    let mut simulation = Simulation::<G>::new(seed, duration);
    simulation.run();
    let mut report = std::mem::take(&mut simulation.report);
    report.simulated = simulation.scribes.machine.now().since(Time::ZERO);
    report.add_to("calls that hung", simulation.disk.hangs());
    report
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    Restarted,
    End,
}

struct Match<G: Game> {
    game: G,
    net: NetOf<G>,
    journal: PathBuf,
    end: JournalEnd,
    over: bool,
    // Whether messages were delivered that the server lost: since the last resume, and at any time.
    forked: bool,
    ever_forked: bool,
}

struct Simulation<G: Game> {
    matches: Vec<Match<G>>,
    scribes: Scribes,
    disk: SimulatedDisk,
    writing: Writing,
    mix: Mix,
    rng: Pcg64,
    report: Report,
    // The next fault, and the end of all faults.
    trouble_at: Time,
    calm_at: Time,
    // The disk has a fault other than a death of the server, and loses data that it could not sync.
    faulty: bool,
    forgetful: bool,
    // The disk has a fault that no program can repair.
    dishonest: bool,
}

impl<G: Game> Simulation<G> {
    fn new(seed: u64, duration: Duration) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mix = Mix::draw(&mut rng);
        let disk = SimulatedDisk::new();
        disk.set_latency(mix.latency.clone(), seed);
        let mut scribes = Scribes::new(seed);
        let scribe = scribes.start();
        let writing = Writing { disk: Arc::new(disk.clone()), scribe, sync: mix.sync, max: mix.max, copy: None };
        let matches = (0..mix.rooms).map(|room| Self::begin(seed + (room << 40), &mix, &writing)).collect();
        let mut report = Report::default();
        report.add_to("matches", mix.rooms);
        let mut simulation = Self {
            matches,
            scribes,
            disk,
            writing,
            mix,
            rng,
            report,
            trouble_at: Time::ZERO,
            calm_at: Time::ZERO.plus(duration),
            faulty: false,
            forgetful: false,
            dishonest: false,
        };
        simulation.trouble_at = simulation.random_time_within(5 * SECOND);
        simulation
    }

    fn begin(seed: u64, mix: &Mix, writing: &Writing) -> Match<G> {
        let (game, engine) = G::begin(seed);
        // The file must have the same length in each run.
        let mut head = Head::new(&engine, "0.0.0", vec![], 0);
        head.id = seed;
        let begun = writing.create(Path::new(GAMES), EngineRoom::new(engine), head);
        let (journal, (room, hold, end)) = begun.expect("the disk is sound");
        let first = journal_core::digest(room.room());
        let mut net = Net::new(seed, Conditions::CALM, room, hold);
        net.note_state(first);
        net.set_conditions(mix.conditions.clone());
        net.set_stream_conditions(mix.streams.clone());
        net.set_pace(mix.pace.clone());
        Match { game, net, journal, end, over: false, forked: false, ever_forked: false }
    }

    fn run(&mut self) {
        for each in &mut self.matches {
            each.game.enter(&mut each.net);
        }
        while self.now() < self.calm_at {
            if self.turn(self.trouble_at.min(self.calm_at)) == Next::End {
                return;
            }
            if self.trouble_at <= self.now() {
                self.trouble_at = self.random_time_within(5 * SECOND);
                if self.inject_trouble() == Next::End {
                    return;
                }
            }
        }
        self.calm_down();
    }

    fn now(&self) -> Time {
        self.scribes.machine.now()
    }

    fn random_time_within(&mut self, within: Duration) -> Time {
        let nanos = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
        self.now().plus(Duration::from_nanos(self.rng.random_range(0..=nanos)))
    }

    fn turn(&mut self, until: Time) -> Next {
        self.step(until);
        if self.disk.is_dead() {
            return self.crash_randomly();
        }
        let mut lost = false;
        for each in self.matches.iter_mut().filter(|each| !each.over && !each.net.is_up()) {
            match each.net.outcome() {
                Some(_) => {
                    each.over = true;
                    each.end.close();
                    self.report.count("matches that ended");
                }
                None => lost = true,
            }
        }
        if lost {
            // A server that cannot write its journal ends with an error.
            self.report.count("journals lost");
            return self.crash_randomly();
        }
        if self.matches.iter().all(|each| each.over && each.end.finish(Duration::ZERO)) {
            self.crash(Crash::Kill);
            return Next::End;
        }
        Next::Continue
    }

    // Advances to the next event of a room or of the scribe, unless that is after `until`.
    fn step(&mut self, until: Time) {
        let due = |each: &mut Match<G>| each.net.next_due().into_iter().chain(each.game.wake()).min();
        let dues: Vec<Option<Time>> = self.matches.iter_mut().map(due).collect();
        let rooms = dues.iter().enumerate().filter_map(|(index, due)| Some((due.as_ref()?, Some(index))));
        let scribes = self.scribes.machine.next_due();
        let next = rooms.chain(scribes.as_ref().map(|due| (due, None))).min_by_key(|&(due, _)| due);
        let (now, next) = match next {
            Some((&due, next)) if due <= until => (due, next),
            _ => (until, None),
        };
        // A match with an event at this time processes the event first.
        for (each, _) in self.matches.iter_mut().zip(&dues).filter(|(_, due)| due.is_none_or(|due| due > now)) {
            each.net.advance(now);
        }
        self.scribes.machine.advance(now);
        self.report.count("steps");
        self.scribes.check();
        let Some(index) = next else {
            self.scribes.machine.run();
            return;
        };
        let each = &mut self.matches[index];
        if self.disk.is_hanging() || self.faulty {
            // The server reads no input while too much output waits for the disk.
            each.net.excuse();
        }
        each.net.step(now);
        each.game.step(&mut each.net);
    }

    // Each match ends or continues, and every client receives the state.
    fn calm_down(&mut self) {
        let lied = self.dishonest;
        self.disk.set_fault(None);
        self.disk.set_lies(false);
        self.disk.set_latency(Latency::CALM, 0);
        for each in &mut self.matches {
            each.net.set_conditions(Conditions::CALM);
            each.net.set_stream_conditions(StreamConditions::CALM);
            each.net.set_pace(Pace::CALM);
        }
        let settled = self.now().plus(HANG + 5 * SECOND);
        while self.disk.is_hanging() && self.now() < settled {
            if self.turn(settled) == Next::End {
                return;
            }
        }
        // Clocks that were set back catch up, and clients reconnect.
        let behind = self.matches.iter().map(|each| each.net.behind).max().unwrap_or(Time::ZERO);
        let mut from = self.now().max(behind).plus(3 * SECOND);
        let mut current = BTreeSet::new();
        while self.now() < from.plus(CALM) {
            match self.turn(from.plus(CALM)) {
                Next::Continue => {}
                Next::Restarted => {
                    from = self.now().plus(3 * SECOND);
                    current.clear();
                }
                Next::End => return,
            }
            let now = self.now();
            for (index, each) in self.matches.iter().enumerate().filter(|_| now >= from) {
                let fresh = each.net.connected().filter(|(_, client)| each.game.is_current(&each.net, client));
                current.extend(fresh.map(|(address, _)| (index, address)));
            }
        }
        for (index, each) in self.matches.iter().enumerate() {
            if !each.net.is_up() || each.net.outcome().is_some() {
                continue;
            }
            for (address, _) in each.net.connected().filter(|&(at, _)| each.net.since(at) < from.plus(HALF)) {
                let (now, is_current) = (self.now(), current.contains(&(index, address)));
                assert!(is_current, "{address} has no current state although nothing fails, until {now:?}");
                self.report.count("clients with the current state at the end");
            }
        }
        self.report.count("matches served to the end");
        self.dishonest = lied;
        self.crash(Crash::Kill);
        for each in std::mem::take(&mut self.matches) {
            self.count_traffic(&each);
        }
    }

    fn count_traffic(&mut self, each: &Match<G>) {
        let Traffic { truncated, socket_errors, resets, half_closed, corked, doubled, lost, .. } = each.net.traffic();
        for (what, more) in [
            ("datagrams truncated", truncated),
            ("datagrams doubled", doubled),
            ("datagrams lost", lost),
            ("socket errors", socket_errors),
            ("connections reset", resets),
            ("connections half closed", half_closed),
            ("segments of several messages", corked),
        ] {
            self.report.add_to(what, more);
        }
    }
}

fn start_over(scribes: &mut Scribes, writing: &mut Writing, disk: &SimulatedDisk) {
    let scribe: Scribe = scribes.start();
    *writing = Writing { disk: Arc::new(disk.clone()), scribe, copy: None, ..*writing };
}

struct Mix {
    /// They share a scribe.
    rooms: u64,
    sync: SyncPolicy,
    /// Maximum size of each journal in bytes.
    max: u64,
    latency: Latency,
    conditions: Conditions,
    streams: StreamConditions,
    pace: Pace,
    bad_disk: bool,
    /// The disk loses, misplaces and changes data that it has reported as written.
    dishonest: bool,
}

impl Mix {
    fn draw(rng: &mut Pcg64) -> Self {
        let rooms = [1, 1, 1, 1, 1, 1, 2, 3][rng.random_range(0..8)];
        let disk = rng.random_range(0..10);
        Self {
            rooms,
            sync: [SyncPolicy::Always, SyncPolicy::Interval][rng.random_range(0..2)],
            // Keeps some journals completely, in few or in many segments, and only the end of others.
            max: [MAX_SIZE, 100_000, 16_000, 6_000][rng.random_range(0..4)],
            latency: [Latency::NONE, Latency::CALM, Latency::CALM, Latency::ROUGH][rng.random_range(0..4)].clone(),
            conditions: match rng.random_range(0..3) {
                0 => Conditions::CALM,
                1 => Conditions { loss_percent: 10, ..Conditions::CALM },
                _ => Conditions { truncate_percent: 2, ..Conditions::STORM },
            },
            streams: match rng.random_range(0..3) {
                0 => StreamConditions::CALM,
                1 => StreamConditions { stall_percent: 0, ..StreamConditions::ROUGH },
                _ => StreamConditions { reset_permille: 1, half_close_permille: 2, ..StreamConditions::ROUGH },
            },
            pace: if rng.random_range(0..3) == 0 { Pace::ROUGH } else { Pace::CALM },
            bad_disk: disk < 3,
            dishonest: disk == 9,
        }
    }
}

/// Statistics of one or more simulations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    counts: BTreeMap<&'static str, u64>,
    pub simulated: Duration,
}

impl Report {
    pub fn count(&mut self, what: &'static str) {
        self.add_to(what, 1);
    }

    pub fn add_to(&mut self, what: &'static str, more: u64) {
        *self.counts.entry(what).or_default() += more;
    }

    pub fn add(&mut self, other: &Self) {
        other.counts.iter().for_each(|(what, &more)| self.add_to(what, more));
        self.simulated += other.simulated;
    }

    /// Panics if an event never happened.
    pub fn expect(&self, all: &[&str]) {
        let never = |what: &&&str| self.counts.get(**what).is_none_or(|&count| count == 0);
        let missing: Vec<_> = all.iter().filter(never).collect();
        assert!(missing.is_empty(), "this never happened: {missing:?}\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:.2} simulated hours", self.simulated.as_secs_f64() / 3_600.0)?;
        self.counts.iter().try_for_each(|(what, count)| writeln!(f, "{count:>12} {what}"))
    }
}

// The scribe of a simulated server: two threads on a machine of their own.

/// How early a scribe may do its work, to wake once for many journals.
const SLACK: Duration = Duration::from_millis(20);
/// Checks for lost wake-ups, one in this many steps.
const CHECKS: u32 = 16;

/// The machine with the threads of one scribe at a time.
struct Scribes {
    machine: Machine,
    threads: Vec<TaskId>,
    steps: u32,
}

/// The time of the machine, which is never set.
struct MachineClock(SimulatedClock);

impl Clock for MachineClock {
    fn elapsed(&self) -> Duration {
        self.0.world_now().since(Time::ZERO)
    }

    fn unix_seconds(&self) -> u64 {
        self.elapsed().as_secs()
    }
}

impl Scribes {
    fn new(seed: u64) -> Self {
        Self { machine: Machine::new(seed), threads: vec![], steps: 0 }
    }

    fn start(&mut self) -> Scribe {
        let scribe = Scribe::with_clock(MachineClock(self.machine.clock()));
        let writer = scribe.clone();
        let write = move |turns: &ThreadContext| repeat(turns, |waker| writer.write_step(waker));
        let keeper = scribe.clone();
        let keep = move |turns: &ThreadContext| repeat(turns, |waker| keeper.keep_step(waker));
        self.threads.push(self.machine.spawn_thread("thread that writes journals", write));
        self.threads.push(self.machine.spawn_thread("thread that syncs journals", keep));
        scribe
    }

    /// Their process must be dead, so that their remaining actions have no effect.
    fn kill(&mut self) {
        self.threads.drain(..).for_each(|thread| self.machine.kill(thread));
    }

    fn check(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(CHECKS) {
            self.machine.check_sleepers();
        }
    }
}

fn repeat(turns: &ThreadContext, step: impl Fn(&std::task::Waker) -> Step) {
    while let Some(waker) = turns.waker() {
        match step(&waker) {
            Step::Done => turns.note_progress(),
            Step::Until(due) => turns.wait(Some(Time::ZERO.plus(due.saturating_sub(SLACK)))),
            Step::Idle => turns.wait(None),
        }
    }
}
