//! Whole matches with a journal, in one thread and from one seed.
//!
//! [`simulate`] runs a server, its clients, the network between them, and the disk with the server's journal. The
//! server is killed or loses power, its disk fills up, fails or hangs, its clock is set, and it is resumed from its
//! journal, repeatedly. After each step the game checks its invariants. After each crash, everything that was delivered
//! is compared with a replay of the journal.
//!
//! Failures panic with a description. The same seed gives the same run.

mod crashes;
mod injected;
mod oracle;
mod report;

use std::{fmt::Debug, time::Duration};

use journal::{Head, JournalEnd, MAX_SIZE, Scribe, SyncPolicy, Writing};
use netcore::{Client, Engine, Hosted, Recorded, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub use self::{
    oracle::expected_deliveries,
    report::{InjectedBug, Options, Report},
};
use crate::{
    disk::{Crash, Fault, SimulatedDisk},
    net::{Conditions, Net, StreamConditions},
};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);

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

    // The room has ended and its server exits.
    fn close(&mut self) {
        self.report.over += 1;
        self.end.close();
        while self.writing.scribe.write() {}
        self.disk.set_fault(None);
        self.crash(Crash::Kill);
    }
}
