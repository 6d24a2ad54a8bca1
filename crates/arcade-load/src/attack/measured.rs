//! What is measured.

use std::time::Duration;

use super::{
    attacks::{Answers, Attack},
    meter::Meter,
};

/// What the hub took in one phase.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) took: Duration,
    /// Bytes, at most.
    pub(super) memory: u64,
    /// Files and sockets, at most.
    pub(super) files: usize,
    /// Bytes written to the disk.
    pub(super) written: u64,
    pub(super) processors: f64,
    /// Those that the innocents and the attackers kept busy.
    pub(super) elsewhere: f64,
}

/// The results of an innocent, as the hub has stored them.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub(super) matches: usize,
    /// Of these, how often one is stored that was stored before.
    pub(super) again: usize,
}

/// Everything that was measured.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) seed: u64,
    pub(super) hosts: u8,
    pub(super) alone: Taken,
    pub(super) attacked: Taken,
    pub(super) meters: Vec<Meter>,
    pub(super) stored: Vec<Stored>,
    pub(super) attacks: Vec<(Attack, Answers)>,
}
