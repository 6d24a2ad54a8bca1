//! Time and randomness of the simulated network.

use netcore::Time;
use rand_pcg::Pcg64;

use super::conditions::{Conditions, StreamConditions, Traffic};

/// The time, and the random decisions.
#[derive(Debug)]
pub(super) struct Chance {
    pub(super) now: Time,
    pub(super) rng: Pcg64,
    pub(super) conditions: Conditions,
    pub(super) rough: StreamConditions,
    pub(super) traffic: Traffic,
}
