//! Whole matches whose server is killed and resumed from its journal many times.

mod blackjack;
mod bot;
mod mastermind;
mod nuggets;
mod robots;
mod seats;

use std::{
    net::SocketAddr,
    num::NonZero,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use testkit::{
    seeds::{ONE, for_each_seed, number},
    simulation::{Report, simulate},
};

use self::{blackjack::Blackjack, mastermind::Mastermind, nuggets::Nuggets, robots::Robots};

const DURATION: Duration = Duration::from_secs(30);

fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5_000))
}

type Simulate = fn(u64, Duration) -> Report;

const GAMES: [(&str, Simulate); 4] = [
    ("nuggets", simulate::<Nuggets>),
    ("robots", simulate::<Robots>),
    ("blackjack", simulate::<Blackjack>),
    ("mastermind", simulate::<Mastermind>),
];

/// Seeds of each game in a release build.
const SEEDS: u64 = 40;
/// Events that occur at least once.
const ALWAYS: [&str; 16] = [
    "clients with the current state at the end",
    "calls that hung",
    "clocks set back",
    "clocks set forward",
    "copies resumed",
    "journals cut",
    "journals without their first segment",
    "killed",
    "killed while it was being resumed",
    "matches served to the end",
    "power cut",
    "readers",
    "resumed",
    "second servers refused",
    "segments after the first",
    "stopped in time",
];
/// Events that occur at least once in a long run.
const AT_LENGTH: [&str; 20] = [
    "connections half closed",
    "connections reset",
    "datagrams doubled",
    "datagrams truncated",
    "dishonest disks found out",
    "disks that are full",
    "disks that fail to change names",
    "disks that fail to sync",
    "disks that fail to write",
    "disks that lie about syncs",
    "disks that lose a write",
    "disks that misdirect a write",
    "disks that rot",
    "journals lost",
    "matches that ended",
    "resumed in spite of a disk that lies",
    "resumed without lost input",
    "segments of several messages",
    "snapshots",
    "socket errors",
];

fn many(name: &'static str, seeds: u64) -> Report {
    let (_, simulate) = GAMES.into_iter().find(|&(game, _)| game == name).unwrap();
    let mut report = Report::default();
    let mut played = 0;
    for_each_seed(seeds, |seed| {
        let _named = Named(name, seed);
        report.add(&simulate(seed, DURATION));
        eprintln!("{name}: seed {seed}");
        played += 1;
    });
    eprintln!("{name}: {report}");
    if played >= SEEDS {
        report.expect(&ALWAYS);
    }
    report
}

#[test]
fn nuggets_loses_nothing_that_was_delivered() {
    many("nuggets", SEEDS);
}

#[test]
fn robots_loses_nothing_that_was_delivered() {
    many("robots", SEEDS);
}

#[test]
fn blackjack_loses_nothing_that_was_delivered() {
    many("blackjack", SEEDS);
}

#[test]
fn mastermind_loses_nothing_that_was_delivered() {
    many("mastermind", SEEDS);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for (name, simulate) in GAMES {
        assert_eq!(simulate(3, DURATION), simulate(3, DURATION), "{name}");
    }
}

/// The seconds that [`simulate_for_long`] runs, and its first seed.
const SECONDS: &str = "SIMULATE_SECONDS";
const SEED: &str = "SIMULATE_SEED";

/// Prints how to repeat a match if it fails.
struct Named(&'static str, u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self(game, seed) = self;
            eprintln!("{game} failed with seed {seed}; play it again:");
            eprintln!(
                "{ONE}={seed} cargo test -p testkit --test tests simulation::{game}_loses_nothing_that_was_delivered"
            );
        }
    }
}

#[test]
#[ignore = "runs for ten minutes: just simulate"]
fn simulate_for_long() {
    let until = Instant::now() + Duration::from_secs(number(SECONDS).unwrap_or(600));
    // Different seeds each time, unless the variable is set.
    let clock = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() % 1_000_000 * 1_000);
    let first = number(SEED).unwrap_or_else(clock);
    let next = AtomicU64::new(first);
    let total = Mutex::new(Report::default());
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    eprintln!("seeds from {first} on, {threads} at a time; {SEED}={first} begins with the same");
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while Instant::now() < until {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    for (game, simulate) in GAMES {
                        let _named = Named(game, seed);
                        let report = simulate(seed, DURATION);
                        total.lock().unwrap_or_else(PoisonError::into_inner).add(&report);
                    }
                }
            });
        }
    });
    let report = total.into_inner().unwrap_or_else(PoisonError::into_inner);
    let seeds = next.into_inner() - first;
    eprintln!("{seeds} seeds of {} games each\n{report}", GAMES.len());
    report.expect(&ALWAYS);
    report.expect(&AT_LENGTH);
}
