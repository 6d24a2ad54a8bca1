//! A fleet of nodes in one thread: lossy, slow and repeated messages, clocks that run differently, nodes that are paused, killed or lost,
//! and a broker that is away. All of it follows from a seed.
//!
//! The checks, each with its own message: no two nodes tell anything of a room ([`oracle`]), what was told is not lost, a result counts
//! once, whoever watches misses nothing, and when the faults stop everything comes to its end.

mod broker;
mod checks;
mod faults;
mod hub;
mod machine;
mod oracle;
mod planted;
mod room;
mod world;

use self::world::{Options, World};

/// Runs fleets of the seeds 1 to `count`, or of the one in `MESH_SEED`; the seed of one that fails is said.
fn fleets(count: u64, options: Options) {
    let one = number("MESH_SEED");
    for seed in one.unwrap_or(1)..=one.unwrap_or(count) {
        let _named = Named(seed);
        World::new(seed, options).run();
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("failed with seed {0}; repeat it with MESH_SEED={0}", self.0);
        }
    }
}

/// Each seed is another fleet with other faults. A debug build runs a quarter of them.
#[test]
fn no_fleet_breaks_a_promise() {
    fleets(if cfg!(debug_assertions) { 100 } else { 400 }, Options::default());
}

/// Clocks that stand still while a machine is paused, as those of frozen virtual machines do: a lease is worth nothing then, and the
/// fences alone keep what was told.
#[test]
fn frozen_clocks_lose_nothing_that_was_told() {
    fleets(100, Options { frozen: true, ..Options::default() });
}

/// Some nodes are of the former version, whose heartbeats are writes of their entries and who know no others.
#[test]
fn a_rolling_upgrade_breaks_no_promise() {
    fleets(if cfg!(debug_assertions) { 100 } else { 400 }, Options { mixed: true, ..Options::default() });
}

/// Two runs of a seed are the same.
#[test]
fn a_seed_is_a_fleet() {
    let run = |seed| World::new(seed, Options::default()).run();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// The long run: `MESH_FLEETS` of them, 100,000 by default.
#[test]
#[ignore = "takes minutes; CONTRIBUTING.md has the command"]
fn simulate_for_long() {
    let count = number("MESH_FLEETS").unwrap_or(100_000);
    fleets(count, Options::default());
    fleets(count / 4, Options { frozen: true, ..Options::default() });
    fleets(count / 2, Options { mixed: true, ..Options::default() });
}
