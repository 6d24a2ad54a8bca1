//! Whole matches with a journal, in one thread and from one seed.
//!
//! [`simulate`] runs a server, its clients and the network between them, and a disk on which the server writes its journal. The
//! server is killed, its machine loses its power, its disk fills up, fails or hangs, its clock is set; it goes on with its journal, again
//! and again. After each step the game checks what it knows, and after each crash everything that anybody was told is compared with
//! what follows from the journal.
//!
//! What goes wrong panics with what it is. The same seed gives the same run.

mod oracle;
mod planted;

use std::{fmt::Debug, net::SocketAddr, time::Duration};

use journal::{Head, JournalEnd, MAX_SIZE, Parts, Resumable, ResumeError, Scribe, SyncPolicy, Writing};
use netcore::{Client, Engine, Hosted, Recorded, Time};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub use self::oracle::follows;
use self::oracle::{Survived, check_files, check_told, is_damaged_and_cut};
use crate::{
    disk::{Crash, Fault, PretendDisk},
    net::{Again, Conditions, Net, Rough},
};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(86_400);
/// Who was closed so shortly before the end is told so again.
const FAREWELL: Duration = Duration::from_secs(1);

/// A game with servers `E` and clients `C`: who plays it, and what holds at any time.
pub trait Game<E: Engine, C>: Sized {
    /// A game and the server of a match.
    fn begin(seed: u64) -> (Self, E);

    /// Lets the first clients in.
    fn enter(&mut self, net: &mut Net<E, C>);

    /// After each step: checks what holds in the game, and lets clients come, go and come back.
    fn step(&mut self, net: &mut Net<E, C>);

    /// When it wants to have a step although nothing happens.
    fn wake(&self) -> Option<Time> {
        None
    }

    /// The server goes on. With `forked` somebody was told what the server does not know any more.
    fn resumed(&mut self, net: &mut Net<E, C>, forked: bool);
}

/// A fault that is put in on purpose, to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// The server goes on without one of the arrivals before.
    LostArrival,
    /// The disk says that it has synced, and has not.
    LyingSync,
}

/// How a match is simulated.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How long it goes on, if it does not end before.
    pub duration: Duration,
    /// A fault that is to be found.
    pub planted: Option<Planted>,
}

/// What has happened in a simulation, or in several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Matches.
    pub matches: u64,
    /// Moments at which something happened.
    pub steps: u64,
    /// Frames that were handed to peers and compared with what follows from a journal.
    pub frames: u64,
    /// Times that the server was killed.
    pub kills: u64,
    /// Times that its machine lost its power.
    pub power_cuts: u64,
    /// Times that it was stopped to go on later.
    pub suspends: u64,
    /// Times that it went on.
    pub resumes: u64,
    /// Of these, how often somebody had been told what was lost in a power cut.
    pub forks: u64,
    /// Snapshots in the journals that were gone on with.
    pub snapshots: u64,
    /// Journals that were given up because of their disk.
    pub cut: u64,
    /// Of these, how many do not say so, because the disk did not even take that.
    pub unmarked: u64,
    /// Matches that came to their end.
    pub over: u64,
    /// Times that the last message to somebody who was closed had not left, and is not repeated.
    pub unheard: u64,
    /// The time in all simulated worlds.
    pub simulated: Duration,
}

impl Report {
    /// Adds another.
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

/// Simulates a match. Panics with what went wrong.
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

/// How a crash ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoesOn,
    Ends,
}

struct Simulation<E: Engine, C, G> {
    game: G,
    net: Net<E, C>,
    disk: PretendDisk,
    writing: Writing,
    end: JournalEnd,
    rng: Pcg64,
    report: Report,
    planted: Option<Planted>,
    // Whether its disk fills up or fails some time.
    bad_disk: bool,
    // When the journal is written, synced, when something goes wrong, and when all this ends.
    write_at: Option<Time>,
    keep_at: Time,
    trouble_at: Time,
    ends_at: Time,
    // Something is wrong with the disk that is not a crash.
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
    fn new(seed: u64, Options { duration, planted }: Options) -> Self {
        let mut rng = Pcg64::seed_from_u64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let sync = match planted {
            Some(Planted::LyingSync) => SyncPolicy::Always,
            _ if rng.random_range(0..2) == 0 => SyncPolicy::Always,
            _ => SyncPolicy::Interval,
        };
        let (game, engine) = G::begin(seed);
        let disk = PretendDisk::new();
        // The file has the same length in each run.
        let mut head = Head::new(&engine, "0.0.0", vec![], 0);
        head.id = seed;
        disk.set_lies(planted == Some(Planted::LyingSync));
        // A small journal reaches its end.
        let max = if planted.is_none() && rng.random_range(0..25) == 0 { 40_000 } else { MAX_SIZE };
        let writing = Writing { scribe: Scribe::by_hand(), sync, max };
        let begun = writing.begin(disk.clone(), "pretend".to_owned(), Hosted::new(engine), &head);
        let (room, hold, end) = begun.expect("the disk is sound");
        let mut net = Net::journalled(seed, Conditions::CALM, room, hold);
        net.set_conditions(match rng.random_range(0..3) {
            0 => Conditions::CALM,
            1 => Conditions { loss_percent: 10, ..Conditions::CALM },
            _ => Conditions::STORM,
        });
        net.set_rough(match rng.random_range(0..3) {
            0 => Rough::CALM,
            1 => Rough { stall_percent: 0, ..Rough::ROUGH },
            _ => Rough { reset_permille: 1, ..Rough::ROUGH },
        });
        let bad_disk = planted.is_none() && rng.random_range(0..8) == 0;
        let mut simulation = Self {
            game,
            net,
            disk,
            writing,
            end,
            rng,
            report: Report::default(),
            planted,
            bad_disk,
            write_at: None,
            keep_at: Time::ZERO,
            trouble_at: Time::ZERO,
            ends_at: Time::ZERO.plus(duration),
            faulty: false,
        };
        simulation.trouble_at = simulation.soon(5 * SECOND);
        simulation
    }

    fn run(&mut self) {
        self.game.enter(&mut self.net);
        loop {
            if !self.net.is_up() {
                // The room is over, and everybody knows it.
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
                Next::Ends
            } else if self.write_at.is_some_and(|due| due <= now) {
                self.write()
            } else if self.keep_at <= now {
                self.keep()
            } else if self.trouble_at <= now {
                self.trouble_at = self.soon(5 * SECOND);
                self.trouble()
            } else {
                Next::GoesOn
            };
            if next == Next::Ends {
                return;
            }
        }
    }

    // A moment within that time.
    fn soon(&mut self, within: Duration) -> Time {
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
            self.write_at = Some(self.soon(within));
        }
    }

    fn write(&mut self) -> Next {
        self.write_at = None;
        let mut written = false;
        while self.writing.scribe.write() {
            written = true;
            if self.disk.is_dead() {
                return self.crash_anyhow();
            }
        }
        if written {
            // Between the write and what it lets out.
            if self.rng.random_range(0..2_000) == 0 {
                return self.crash_anyhow();
            }
            self.net.poke();
            self.game.step(&mut self.net);
            self.plan_write();
        }
        Next::GoesOn
    }

    fn keep(&mut self) -> Next {
        self.keep_at = self.soon(2 * SECOND);
        let kept = self.writing.scribe.keep();
        if self.disk.is_dead() {
            return self.crash_anyhow();
        }
        if kept {
            self.plan_write();
        }
        Next::GoesOn
    }

    fn trouble(&mut self) -> Next {
        match self.rng.random_range(0..100) {
            0..45 => return self.crash_anyhow(),
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
                let to = self.soon(within);
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
        Next::GoesOn
    }

    // It is stopped by a signal, and started again.
    fn suspend(&mut self) -> Next {
        self.report.suspends += 1;
        if !self.end.is_open() {
            return Next::GoesOn;
        }
        self.net.suspend();
        let until = self.net.now().plus(30 * SECOND);
        while self.net.is_up() && self.net.now() < until {
            self.net.step(self.net.now().plus(10 * MILLISECOND));
            while self.writing.scribe.write() {
                if self.disk.is_dead() {
                    return self.crash_anyhow();
                }
            }
            self.net.poke();
        }
        assert!(!self.net.is_up(), "the server does not stop");
        self.end.close();
        while self.writing.scribe.write() {
            if self.disk.is_dead() {
                return self.crash_anyhow();
            }
        }
        self.crash_anyhow()
    }

    // The room is over and its server ends.
    fn close(&mut self) {
        self.report.over += 1;
        self.end.close();
        while self.writing.scribe.write() {}
        self.disk.set_fault(None);
        self.crash(Crash::Kill);
    }

    fn crash_anyhow(&mut self) -> Next {
        let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
        let down = match self.rng.random_range(0..10) {
            0..7 => 2 * SECOND,
            7..9 => 20 * SECOND,
            _ => 90 * SECOND,
        };
        let until = self.soon(down);
        match self.crash(how) {
            // The world goes on without it.
            None => Next::Ends,
            Some(mut ready) => loop {
                while self.net.now() < until {
                    let next = self.game.wake().map_or(until, |wake| wake.min(until));
                    self.net.step(next);
                    self.game.step(&mut self.net);
                }
                // It may be killed while it takes up its journal.
                if self.rng.random_range(0..8) == 0 {
                    let die = self.rng.random_range(0..3);
                    self.disk.set_fault(Some(match self.rng.random_range(0..2) {
                        0 => Fault::DeathInWrite(self.rng.random_range(0..40)),
                        _ => Fault::DeathInSync(die, self.rng.random_range(0..2) == 0),
                    }));
                }
                let forked = ready.forked;
                if self.go_on(ready) {
                    self.report.resumes += 1;
                    self.report.forks += u64::from(forked);
                    self.game.resumed(&mut self.net, forked);
                    self.game.step(&mut self.net);
                    self.plan_write();
                    return Next::GoesOn;
                }
                let how = if self.rng.random_range(0..2) == 0 { Crash::Kill } else { Crash::PowerCut };
                match self.crash(how) {
                    None => return Next::Ends,
                    Some(again) => ready = Ready { forked: again.forked || forked, ..again },
                }
            },
        }
    }

    // Ends the server, and looks at what it left. None if it cannot be gone on with.
    fn crash(&mut self, how: Crash) -> Option<Ready<E>> {
        match how {
            Crash::Kill => self.report.kills += 1,
            Crash::PowerCut => self.report.power_cuts += 1,
        }
        let (written, synced) = (self.disk.written(), self.disk.synced());
        // It may have been given up where the disk could not be told so.
        let given_up = !self.end.is_open() && (self.faulty || self.write_at.is_some());
        self.net.crash(how);
        self.disk.crash(how, &mut self.rng);
        let faulty = std::mem::take(&mut self.faulty);
        self.write_at = None;
        if faulty && is_damaged_and_cut(&self.disk.written()) {
            // What a failed sync was about was lost, and the journal had been given up for that.
            let (reader, length) = self.disk.reader();
            assert!(Resumable::<E>::read(reader, length).is_err(), "a damaged journal is gone on with");
            self.report.cut += 1;
            return None;
        }
        check_files(&written, &synced, &self.disk.written());
        if self.planted == Some(Planted::LostArrival) {
            self.disk.replace(planted::leave_one_out::<E>(&self.disk.written(), &mut self.rng));
        }
        let strict = how == Crash::Kill || self.writing.sync == SyncPolicy::Always;
        let survived: Survived = check_told(&self.net, &self.disk.written(), strict, given_up);
        self.report.frames += survived.frames;
        self.report.snapshots += survived.snapshots;
        let (reader, length) = self.disk.reader();
        let resumable = Resumable::<E>::read(reader, length);
        if survived.cut {
            self.report.cut += 1;
            assert!(matches!(resumable, Err(ResumeError::Cut)), "a journal that was cut is gone on with");
            return None;
        }
        if survived.beyond {
            self.report.unmarked += 1;
            return None;
        }
        let resumable = match resumable {
            Ok(resumable) => resumable,
            Err(ResumeError::Over(_)) if survived.over => return None,
            Err(error) => panic!("it cannot be gone on with: {error}"),
        };
        survived.compare(&resumable);
        for peer in &survived.interrupted {
            let farewell = resumable.farewells.iter().find(|farewell| farewell.peer.peer == peer.peer);
            if resumable.time.since(peer.closed) <= FAREWELL {
                let frames = farewell.map(|farewell| &farewell.frames[..]);
                assert!(
                    frames.is_some_and(|frames| frames.ends_with(&peer.missing) || peer.missing.ends_with(frames)),
                    "{peer:?} is told no farewell"
                );
            } else {
                self.report.unheard += 1;
            }
        }
        self.net.set_follows(survived.follows);
        Some(Ready { resumable, forked: survived.forked })
    }

    // Starts the server again. Not if it is killed meanwhile.
    fn go_on(&mut self, Ready { resumable, .. }: Ready<E>) -> bool {
        self.writing.scribe = Scribe::by_hand();
        let (at, next_peer, peers) = (resumable.time, resumable.next_peer, resumable.peers.clone());
        let farewells = resumable.farewells.iter().map(|farewell| {
            let address: SocketAddr = farewell.peer.address.parse().expect("an address of the pretend network");
            (address, farewell.frames.clone())
        });
        let farewells = farewells.collect();
        let parts: std::io::Result<Parts<E>> = resumable.go_on(&self.writing, self.disk.clone(), "pretend".to_owned());
        if self.disk.is_dead() {
            return false;
        }
        let (room, hold, end) = parts.expect("the disk is sound");
        self.end = end;
        self.disk.set_fault(None);
        self.net.resume(Again { room, hold, at, next_peer, peers, farewells });
        true
    }
}

/// A match that can be gone on with.
struct Ready<E: Recorded> {
    resumable: Resumable<E>,
    forked: bool,
}
