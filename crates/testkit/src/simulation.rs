//! Whole matches with a journal, in one thread and from one seed.
//!
//! [`simulate`] runs a server, its clients, the network between them, and the disk with the server's journal. The
//! server is killed or loses power, its disk fills up, fails or hangs, its clock is set, and it is resumed from its
//! journal, repeatedly. After each step the game checks its invariants. After each crash, everything that was delivered
//! is compared with a replay of the journal.
//!
//! Failures panic with a description. The same seed gives the same run.

mod injected;
mod oracle;

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use journal::{Head, JournalEnd, MAX_SIZE, Parts, Resumable, ResumeError, Scribe, SyncPolicy, Writing};
use netcore::{Client, Engine, Hosted, Recorded, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub use self::oracle::expected_deliveries;
use self::oracle::{Survived, check_delivered, check_files, is_damaged_and_cut};
use crate::{
    disk::{Crash, Fault, SimulatedDisk},
    net::{Conditions, Net, Restart, StreamConditions},
};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
/// A peer that was closed this shortly before a crash receives its last messages again.
const FAREWELL: Duration = Duration::from_secs(1);

/// A game with servers `E` and clients `C`: its players and its invariants.
pub trait Game<E: Engine, C>: Sized {
    /// Creates the game and the server of a match.
    fn begin(seed: u64) -> (Self, E);

    /// Connects the first clients.
    fn enter(&mut self, net: &mut Net<E, C>);

    /// After each step: checks the invariants, and connects, disconnects and reconnects clients.
    fn step(&mut self, net: &mut Net<E, C>);

    /// When it needs a step even if nothing happens.
    fn wake(&self) -> Option<Time> {
        None
    }

    /// The server was resumed. `forked` means that messages were delivered that the server lost in a power cut.
    fn resumed(&mut self, net: &mut Net<E, C>, forked: bool);
}

/// A bug that is injected on purpose and must be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedBug {
    /// The server is resumed without one of its arrivals.
    LostArrival,
    /// The disk reports a sync as done that it has not done.
    LyingSync,
}

/// Options of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Duration of the match if it does not end earlier.
    pub duration: Duration,
    /// The bug to inject.
    pub injected: Option<InjectedBug>,
}

/// Statistics of one or more simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Matches.
    pub matches: u64,
    /// Steps of the network.
    pub steps: u64,
    /// Frames that were delivered to peers and compared with a replay.
    pub frames: u64,
    /// Times that the server was killed.
    pub kills: u64,
    /// Times that the machine lost power.
    pub power_cuts: u64,
    /// Times that the server was stopped to be resumed later.
    pub suspends: u64,
    /// Times that it was resumed.
    pub resumes: u64,
    /// Resumes after which something was lost that had been delivered, due to a power cut.
    pub forks: u64,
    /// Snapshots in resumed journals.
    pub snapshots: u64,
    /// Journals that were given up because of the disk.
    pub cut: u64,
    /// Of these, those not marked as cut, because the disk failed on that too.
    pub unmarked: u64,
    /// Matches that ended.
    pub over: u64,
    /// Final messages to closed peers that were not sent and are too old to be repeated.
    pub unheard: u64,
    /// Simulated time in total.
    pub simulated: Duration,
}

impl Report {
    /// Adds the numbers of another report.
    pub fn add(&mut self, other: &Self) {
        self.matches += other.matches;
        self.steps += other.steps;
        self.frames += other.frames;
        self.kills += other.kills;
        self.power_cuts += other.power_cuts;
        self.suspends += other.suspends;
        self.resumes += other.resumes;
        self.forks += other.forks;
        self.snapshots += other.snapshots;
        self.cut += other.cut;
        self.unmarked += other.unmarked;
        self.over += other.over;
        self.unheard += other.unheard;
        self.simulated += other.simulated;
    }
}

/// Simulates a match. Panics if anything is wrong.
pub fn simulate<E, C, G>(seed: u64, options: Options) -> Report
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
    G: Game<E, C>,
{
    let mut simulation = Simulation::<E, C, G>::new(seed, options);
    simulation.run();
    simulation.report.matches = 1;
    simulation.report.simulated = simulation.net.now().since(Time::ZERO);
    simulation.report
}

/// How the simulation continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Continue,
    End,
}

struct Simulation<E: Engine, C, G> {
    game: G,
    net: Net<E, C>,
    disk: SimulatedDisk,
    writing: Writing,
    end: JournalEnd,
    rng: Pcg64,
    report: Report,
    injected: Option<InjectedBug>,
    // Whether its disk fills up or fails at some time.
    bad_disk: bool,
    // Times of the next write, the next sync and the next fault, and of the end.
    write_at: Option<Time>,
    keep_at: Time,
    trouble_at: Time,
    ends_at: Time,
    // The disk has a fault other than a death of the server.
    faulty: bool,
}

impl<E, C, G> Simulation<E, C, G>
where
    E: Recorded,
    Hosted<E>: Send + Sync + 'static,
    C: Client,
    C::Error: Debug,
    G: Game<E, C>,
{
    fn new(seed: u64, Options { duration, injected }: Options) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let sync = match injected {
            Some(InjectedBug::LyingSync) => SyncPolicy::Always,
            _ if rng.random_range(0..2) == 0 => SyncPolicy::Always,
            _ => SyncPolicy::Interval,
        };
        let (game, engine) = G::begin(seed);
        let disk = SimulatedDisk::new();
        // The file must have the same length in each run.
        let mut head = Head::new(&engine, "0.0.0", vec![], 0);
        head.id = seed;
        disk.set_lies(injected == Some(InjectedBug::LyingSync));
        // A small journal reaches its limit.
        let max = if injected.is_none() && rng.random_range(0..25) == 0 { 40_000 } else { MAX_SIZE };
        let writing = Writing { scribe: Scribe::by_hand(), sync, max };
        let begun = writing.begin(disk.clone(), "simulated".to_owned(), Hosted::new(engine), &head);
        let (room, hold, end) = begun.expect("the disk is sound");
        let mut net = Net::journalled(seed, Conditions::CALM, room, hold);
        net.set_conditions(match rng.random_range(0..3) {
            0 => Conditions::CALM,
            1 => Conditions { loss_percent: 10, ..Conditions::CALM },
            _ => Conditions::STORM,
        });
        net.set_stream_conditions(match rng.random_range(0..3) {
            0 => StreamConditions::CALM,
            1 => StreamConditions { stall_percent: 0, ..StreamConditions::ROUGH },
            _ => StreamConditions { reset_permille: 1, ..StreamConditions::ROUGH },
        });
        let bad_disk = injected.is_none() && rng.random_range(0..8) == 0;
        let mut simulation = Self {
            game,
            net,
            disk,
            writing,
            end,
            rng,
            report: Report::default(),
            injected,
            bad_disk,
            write_at: None,
            keep_at: Time::ZERO,
            trouble_at: Time::ZERO,
            ends_at: Time::ZERO.plus(duration),
            faulty: false,
        };
        simulation.trouble_at = simulation.random_time_within(5 * SECOND);
        simulation
    }

    fn run(&mut self) {
        self.game.enter(&mut self.net);
        loop {
            if !self.net.is_up() {
                // The room has ended, and all peers know it.
                return self.close();
            }
            let wakes = self.game.wake().into_iter().chain(self.write_at);
            let next = wakes.chain([self.keep_at, self.trouble_at, self.ends_at]).min().unwrap_or(self.ends_at);
            if self.net.step(next) {
                self.report.steps += 1;
                self.game.step(&mut self.net);
                self.plan_write();
                continue;
            }
            self.game.step(&mut self.net);
            let now = self.net.now();
            let next = if now >= self.ends_at {
                self.crash(Crash::Kill);
                Next::End
            } else if self.write_at.is_some_and(|due| due <= now) {
                self.write()
            } else if self.keep_at <= now {
                self.keep()
            } else if self.trouble_at <= now {
                self.trouble_at = self.random_time_within(5 * SECOND);
                self.inject_trouble()
            } else {
                Next::Continue
            };
            if next == Next::End {
                return;
            }
        }
    }

    // A random time within this duration.
    fn random_time_within(&mut self, within: Duration) -> Time {
        let nanos = u64::try_from(within.as_nanos()).unwrap_or(u64::MAX);
        self.net.now().plus(Duration::from_nanos(self.rng.random_range(0..=nanos)))
    }

    fn plan_write(&mut self) {
        if self.write_at.is_none() {
            let within = match self.rng.random_range(0..2_000) {
                0..1_200 => Duration::ZERO,
                1_200..1_980 => 10 * MILLISECOND,
                1_980..1_999 => SECOND,
                _ if self.bad_disk => 20 * SECOND,
                _ => 3 * SECOND,
            };
            self.write_at = Some(self.random_time_within(within));
        }
    }

    fn write(&mut self) -> Next {
        self.write_at = None;
        let mut written = false;
        while self.writing.scribe.write() {
            written = true;
            if self.disk.is_dead() {
                return self.crash_randomly();
            }
        }
        if written {
            // Between the write and the release of its outputs.
            if self.rng.random_range(0..2_000) == 0 {
                return self.crash_randomly();
            }
            self.net.poke();
            self.game.step(&mut self.net);
            self.plan_write();
        }
        Next::Continue
    }

    fn keep(&mut self) -> Next {
        self.keep_at = self.random_time_within(2 * SECOND);
        let kept = self.writing.scribe.keep();
        if self.disk.is_dead() {
            return self.crash_randomly();
        }
        if kept {
            self.plan_write();
        }
        Next::Continue
    }

    fn inject_trouble(&mut self) -> Next {
        match self.rng.random_range(0..100) {
            0..45 => return self.crash_randomly(),
            45..70 => {
                let fault = if self.rng.random_range(0..2) == 0 {
                    Fault::DeathInWrite(self.rng.random_range(0..2_000))
                } else {
                    Fault::DeathInSync(self.rng.random_range(0..4), self.rng.random_range(0..2) == 0)
                };
                if !self.faulty {
                    self.disk.set_fault(Some(fault));
                }
            }
            70..80 => return self.suspend(),
            80..90 => {
                let within = if self.rng.random_range(0..3) == 0 { DAY } else { 10 * SECOND };
                let to = self.random_time_within(within);
                self.net.jump(to.since(self.net.now()));
            }
            _ if self.bad_disk => {
                self.faulty = true;
                let more = self.rng.random_range(0..3_000);
                self.disk.set_fault(Some(match self.rng.random_range(0..3) {
                    0 => Fault::Full(self.disk.reader().1 + more),
                    1 => Fault::FailingWrites(more),
                    _ => Fault::FailingSyncs(more / 1_000),
                }));
            }
            _ => {}
        }
        Next::Continue
    }

    // Stopped by a signal, and started again.
    fn suspend(&mut self) -> Next {
        self.report.suspends += 1;
        if !self.end.is_open() {
            return Next::Continue;
        }
        self.net.suspend();
        let until = self.net.now().plus(30 * SECOND);
        while self.net.is_up() && self.net.now() < until {
            self.net.step(self.net.now().plus(10 * MILLISECOND));
            while self.writing.scribe.write() {
                if self.disk.is_dead() {
                    return self.crash_randomly();
                }
            }
            self.net.poke();
        }
        assert!(!self.net.is_up(), "the server does not stop");
        self.end.close();
        while self.writing.scribe.write() {
            if self.disk.is_dead() {
                return self.crash_randomly();
            }
        }
        self.crash_randomly()
    }

    // The room has ended and its server exits.
    fn close(&mut self) {
        self.report.over += 1;
        self.end.close();
        while self.writing.scribe.write() {}
        self.disk.set_fault(None);
        self.crash(Crash::Kill);
    }

    fn crash_randomly(&mut self) -> Next {
        let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
        let down = match self.rng.random_range(0..10) {
            0..7 => 2 * SECOND,
            7..9 => 20 * SECOND,
            _ => 90 * SECOND,
        };
        let until = self.random_time_within(down);
        match self.crash(how) {
            // The network continues without the server.
            None => Next::End,
            Some(mut ready) => loop {
                while self.net.now() < until {
                    let next = self.game.wake().map_or(until, |wake| wake.min(until));
                    self.net.step(next);
                    self.game.step(&mut self.net);
                }
                // It may be killed while it is being resumed.
                if self.rng.random_range(0..8) == 0 {
                    let die = self.rng.random_range(0..3);
                    self.disk.set_fault(Some(match self.rng.random_range(0..2) {
                        0 => Fault::DeathInWrite(self.rng.random_range(0..40)),
                        _ => Fault::DeathInSync(die, self.rng.random_range(0..2) == 0),
                    }));
                }
                let forked = ready.forked;
                if self.restart(ready) {
                    self.report.resumes += 1;
                    self.report.forks += u64::from(forked);
                    self.game.resumed(&mut self.net, forked);
                    self.game.step(&mut self.net);
                    self.plan_write();
                    return Next::Continue;
                }
                let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
                match self.crash(how) {
                    None => return Next::End,
                    Some(again) => ready = Restartable { forked: again.forked || forked, ..again },
                }
            },
        }
    }

    // Ends the server and checks what it left. `None` if the journal cannot be resumed.
    fn crash(&mut self, how: Crash) -> Option<Restartable<E>> {
        match how {
            Crash::Kill => self.report.kills += 1,
            Crash::PowerCut => self.report.power_cuts += 1,
        }
        let (written, synced) = (self.disk.written(), self.disk.synced());
        // It may have been given up without being able to mark that on the disk.
        let given_up = !self.end.is_open() && (self.faulty || self.write_at.is_some());
        self.net.crash(how);
        self.disk.crash(how, &mut self.rng);
        let faulty = std::mem::take(&mut self.faulty);
        self.write_at = None;
        if faulty && is_damaged_and_cut(&self.disk.written()) {
            // Data of a failed sync was lost, and the journal had been given up because of that.
            let (reader, length) = self.disk.reader();
            assert!(Resumable::<E>::read(reader, length).is_err(), "a damaged journal is resumed");
            self.report.cut += 1;
            return None;
        }
        check_files(&written, &synced, &self.disk.written());
        if self.injected == Some(InjectedBug::LostArrival) {
            self.disk.replace(injected::leave_one_out::<E>(&self.disk.written(), &mut self.rng));
        }
        let strict = how == Crash::Kill || self.writing.sync == SyncPolicy::Always;
        let survived: Survived = check_delivered(&self.net, &self.disk.written(), strict, given_up);
        self.report.frames += survived.frames;
        self.report.snapshots += survived.snapshots;
        let (reader, length) = self.disk.reader();
        let resumable = Resumable::<E>::read(reader, length);
        if survived.cut {
            self.report.cut += 1;
            assert!(matches!(resumable, Err(ResumeError::Cut)), "a journal that was cut is resumed");
            return None;
        }
        if survived.beyond {
            self.report.unmarked += 1;
            return None;
        }
        let resumable = match resumable {
            Ok(resumable) => resumable,
            Err(ResumeError::Over(_)) if survived.over => return None,
            Err(error) => panic!("it cannot be resumed: {error}"),
        };
        survived.compare(&resumable);
        for peer in &survived.interrupted {
            let farewell = resumable.farewells.iter().find(|farewell| farewell.peer.peer == peer.peer);
            if resumable.time.since(peer.closed) <= FAREWELL {
                let frames = farewell.map(|farewell| &farewell.frames[..]);
                assert!(
                    frames.is_some_and(|frames| frames.ends_with(&peer.missing) || peer.missing.ends_with(frames)),
                    "{peer:?} receives no farewell"
                );
            } else {
                self.report.unheard += 1;
            }
        }
        self.net.set_expected(survived.expected);
        Some(Restartable { resumable, forked: survived.forked })
    }

    // Restarts the server. Returns `false` if it is killed meanwhile.
    fn restart(&mut self, Restartable { resumable, .. }: Restartable<E>) -> bool {
        self.writing.scribe = Scribe::by_hand();
        let (at, next_peer, peers) = (resumable.time, resumable.next_peer, resumable.peers.clone());
        let farewells = resumable.farewells.iter().map(|farewell| {
            let address: SocketAddr = farewell.peer.address.parse().expect("an address of the simulated network");
            (address, farewell.frames.clone())
        });
        let farewells = farewells.collect();
        let parts: std::io::Result<Parts<E>> =
            resumable.resume(&self.writing, self.disk.clone(), "simulated".to_owned());
        if self.disk.is_dead() {
            return false;
        }
        let (room, hold, end) = parts.expect("the disk is sound");
        self.end = end;
        self.disk.set_fault(None);
        self.net.resume(Restart { room, hold, at, next_peer, peers, farewells });
        true
    }
}

/// A match that can be resumed.
struct Restartable<E: Recorded> {
    resumable: Resumable<E>,
    forked: bool,
}
