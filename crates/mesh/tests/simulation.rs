//! Simulates a fleet of nodes in one thread: lost, delayed and repeated messages, clocks of different speeds, nodes
//! that are paused, killed or lost, and outages of the broker. A seed determines the run.
//!
//! The checks: only the owner of a room publishes ([`oracle`]), published state is not lost, each result counts once,
//! watchers miss no change, and all matches finish after the faults stop.

mod broker;
mod faults;
mod hub;
mod machine;
mod oracle;
mod room;
mod world;

use self::world::{Options, World};

/// Seeds 1 to `count`, or `MESH_SEEDS` seeds from `MESH_SEED` on.
fn fleets(count: u64, options: Options) {
    let first = number("MESH_SEED");
    let count = number("MESH_SEEDS").unwrap_or(if first.is_some() { 1 } else { count });
    let first = first.unwrap_or(1);
    for seed in first..first + count {
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

#[test]
fn no_fleet_breaks_a_promise() {
    fleets(if cfg!(debug_assertions) { 10 } else { 400 }, Options::default());
}

#[test]
fn a_lossy_network_breaks_no_promise() {
    fleets(if cfg!(debug_assertions) { 5 } else { 100 }, Options { calm: true, ..Options::default() });
}

/// As in frozen virtual machines: leases are useless, and only the fences protect published state.
#[test]
fn frozen_clocks_lose_no_sent_state() {
    fleets(if cfg!(debug_assertions) { 5 } else { 100 }, Options { frozen: true, ..Options::default() });
}

/// Earlier versions ignore separate heartbeats, and find journals in one stream only.
#[test]
fn a_rolling_upgrade_breaks_no_promise() {
    fleets(if cfg!(debug_assertions) { 5 } else { 400 }, Options { mixed: true, ..Options::default() });
}

#[test]
fn a_seed_is_a_fleet() {
    let run = |seed| World::new(seed, Options::default()).run();
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// `MESH_FLEETS` fleets, 100,000 by default.
#[test]
#[ignore = "takes minutes; CONTRIBUTING.md has the command"]
fn simulate_for_long() {
    let count = number("MESH_FLEETS").unwrap_or(100_000);
    fleets(count, Options::default());
    fleets(count / 4, Options { frozen: true, ..Options::default() });
    fleets(count / 2, Options { mixed: true, ..Options::default() });
}
