//! Whole matches whose server is killed and resumed from its journal many times.

mod blackjack;
mod mastermind;
mod nuggets;
mod robots;

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

use bytes::Bytes;
use netcore::{Client, DisconnectReason, Time};
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

trait Strategy<C: Client> {
    fn next_action(&mut self, client: &C) -> Option<C::Action>;
}

/// Acts after each pause if it plays; otherwise observes.
#[derive(Debug)]
struct Bot<C, S> {
    client: C,
    plays: bool,
    strategy: S,
    pause: Duration,
    next: Time,
    gone: bool,
}

impl<C, S> Bot<C, S> {
    fn new(client: C, plays: bool, strategy: S, now: Time, pause: Duration) -> Self {
        Self { client, plays, strategy, pause, next: now.plus(pause), gone: false }
    }
}

impl<C: Client, S: Strategy<C>> Client for Bot<C, S> {
    type Action = C::Action;
    type Error = C::Error;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), C::Error> {
        self.client.receive(now, bytes)
    }

    fn act(&mut self, now: Time, action: C::Action) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        let own = (self.plays && !self.is_over()).then_some(self.next);
        self.client.deadline(now).into_iter().chain(own).min()
    }

    fn elapsed(&mut self, now: Time) {
        if self.client.deadline(now).is_some_and(|due| due <= now) {
            self.client.elapsed(now);
        }
        if self.plays && now >= self.next {
            self.next = now.plus(self.pause);
            if let Some(action) = self.strategy.next_action(&self.client) {
                self.client.act(now, action);
            }
        }
    }

    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

// Stream clients that reconnect under a new number.

/// The client at each seat, and when it reconnects.
struct Seats {
    away: Duration,
    clients: Vec<(u8, Option<Time>)>,
    next: u8,
}

struct Reconnect {
    seat: u8,
    before: u8,
    number: u8,
}

impl Seats {
    /// Clients reconnect after `away`, and are numbered from 1.
    fn new(count: u8, away: Duration) -> Self {
        Self { away, clients: (1..=count).map(|number| (number, None)).collect(), next: count + 1 }
    }

    fn numbers(&self) -> impl Iterator<Item = u8> {
        self.clients.iter().map(|&(number, _)| number)
    }

    fn number(&self, seat: u8) -> u8 {
        self.clients[usize::from(seat)].0
    }

    /// Records lost connections, and returns the clients that reconnect now.
    fn reconnecting(&mut self, now: Time, is_gone: impl Fn(u8) -> bool) -> Vec<Reconnect> {
        let mut reconnecting = vec![];
        for seat in 0..self.clients.len() {
            let (before, back_at) = self.clients[seat];
            if !is_gone(before) {
                continue;
            }
            match back_at {
                None => self.clients[seat].1 = Some(now.plus(self.away)),
                Some(at) if at <= now => {
                    let number = self.free_number();
                    self.clients[seat] = (number, None);
                    reconnecting.push(Reconnect { seat: u8::try_from(seat).unwrap(), before, number });
                }
                Some(_) => {}
            }
        }
        reconnecting
    }

    fn times(&self) -> impl Iterator<Item = Time> {
        self.clients.iter().filter_map(|&(_, back_at)| back_at)
    }

    fn free_number(&mut self) -> u8 {
        loop {
            let number = self.next;
            self.next = self.next.checked_add(1).unwrap_or(1);
            if self.numbers().all(|taken| taken != number) {
                return number;
            }
        }
    }
}
