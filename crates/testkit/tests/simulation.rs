//! Whole matches whose server is killed and resumed from its journal many times.

mod blackjack;
mod cuts;
mod mastermind;
mod nuggets;
mod robots;
mod seats;

use std::{
    env,
    net::SocketAddr,
    num::NonZero,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use testkit::{
    seeds::{ONE, for_each_seed},
    simulation::{InjectedBug, Options, Report, simulate},
};

use self::{blackjack::Blackjack, mastermind::Mastermind, nuggets::Nuggets, robots::Robots};

/// Duration of each match.
const DURATION: Duration = Duration::from_secs(30);
/// The most seeds that it may take to detect an injected bug.
const SEEDS: u64 = 40;

/// The address of the client with this number.
fn address(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 5_000))
}

type Simulate = fn(u64, Options) -> Report;

/// Each game with its name.
const GAMES: [(&str, Simulate); 4] = [
    ("nuggets", |seed, options| simulate::<_, _, Nuggets>(seed, options)),
    ("robots", |seed, options| simulate::<_, _, Robots>(seed, options)),
    ("blackjack", |seed, options| simulate::<_, _, Blackjack>(seed, options)),
    ("mastermind", |seed, options| simulate::<_, _, Mastermind>(seed, options)),
];

const SOUND: Options = Options { duration: DURATION, injected: None };

fn many(name: &str, seeds: u64) -> Report {
    let (_, simulate) = GAMES.into_iter().find(|&(game, _)| game == name).unwrap();
    let mut report = Report::default();
    for_each_seed(seeds, |seed| report.add(&simulate(seed, SOUND)));
    eprintln!("{name}: {report:#?}");
    report
}

#[test]
fn nuggets_loses_nothing_that_was_delivered() {
    many("nuggets", 80);
}

#[test]
fn robots_loses_nothing_that_was_delivered() {
    many("robots", 80);
}

#[test]
fn blackjack_loses_nothing_that_was_delivered() {
    many("blackjack", 80);
}

#[test]
fn mastermind_loses_nothing_that_was_delivered() {
    many("mastermind", 80);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for (name, simulate) in GAMES {
        for seed in [3, 4] {
            assert_eq!(simulate(seed, SOUND), simulate(seed, SOUND), "{name}");
        }
    }
}

/// Environment variables: how many seconds [`simulate_for_long`] runs, and its first seed.
const SECONDS: &str = "SIMULATE_SECONDS";
const SEED: &str = "SIMULATE_SEED";

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text:?}, expected a number")))
}

/// Prints how to repeat a match if it fails.
struct Named(&'static str, u64);

impl Drop for Named {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self(game, seed) = self;
            eprintln!(
                "{game} failed with seed {seed}; play it again with {ONE}={seed} cargo test -p testkit --test tests \
                 simulation::in_{game}"
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
    // One match per thread at a time.
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while Instant::now() < until {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    for (game, simulate) in GAMES {
                        let _named = Named(game, seed);
                        let report = simulate(seed, SOUND);
                        total.lock().unwrap_or_else(PoisonError::into_inner).add(&report);
                    }
                }
            });
        }
    });
    let report = *total.lock().unwrap_or_else(PoisonError::into_inner);
    let hours = report.simulated.as_secs_f64() / 3_600.0;
    eprintln!(
        "{} seeds of {} games each: {hours:.1} simulated hours, {} crashes, {} resumes\n{report:#?}",
        next.into_inner() - first,
        GAMES.len(),
        report.kills + report.power_cuts,
        report.resumes,
    );
    assert!(report.resumes > 0);
}

/// The first seed that detects an injected bug.
fn found(simulate: Simulate, injected: InjectedBug) -> Option<u64> {
    let options = Options { injected: Some(injected), ..SOUND };
    (1..=SEEDS).find(|&seed| catch_unwind(AssertUnwindSafe(|| simulate(seed, options))).is_err())
}

#[test]
fn a_server_that_loses_an_arrival_is_detected() {
    for (name, simulate) in GAMES {
        let seed = found(simulate, InjectedBug::LostArrival);
        eprintln!("{name}: found with seed {seed:?}");
        assert!(seed.is_some(), "{name}");
    }
}

#[test]
fn a_lying_sync_is_detected() {
    for (name, simulate) in GAMES {
        let seed = found(simulate, InjectedBug::LyingSync);
        eprintln!("{name}: found with seed {seed:?}");
        assert!(seed.is_some(), "{name}");
    }
}
