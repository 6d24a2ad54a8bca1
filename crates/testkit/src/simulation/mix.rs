use journal_core::{MAX_SIZE, SyncPolicy};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::{
    disk::Latency,
    machine::Pace,
    net::{Conditions, StreamConditions},
};

pub(super) struct Mix {
    /// They share a scribe.
    pub(super) rooms: u64,
    pub(super) sync: SyncPolicy,
    /// Maximum size of each journal in bytes.
    pub(super) max: u64,
    pub(super) latency: Latency,
    pub(super) conditions: Conditions,
    pub(super) streams: StreamConditions,
    pub(super) pace: Pace,
    pub(super) bad_disk: bool,
    /// The disk loses, misplaces and changes data that it has reported as written.
    pub(super) dishonest: bool,
}

impl Mix {
    pub(super) fn draw(rng: &mut Pcg64) -> Self {
        let rooms = [1, 1, 1, 1, 1, 1, 2, 3][rng.random_range(0..8)];
        let disk = rng.random_range(0..10);
        Self {
            rooms,
            sync: [SyncPolicy::Always, SyncPolicy::Interval][rng.random_range(0..2)],
            // Keeps some journals completely, in few or in many segments, and only the end of others.
            max: [MAX_SIZE, 100_000, 16_000, 6_000][rng.random_range(0..4)],
            latency: [Latency::NONE, Latency::CALM, Latency::CALM, Latency::ROUGH][rng.random_range(0..4)].clone(),
            conditions: match rng.random_range(0..3) {
                0 => Conditions::CALM,
                1 => Conditions { loss_percent: 10, ..Conditions::CALM },
                _ => Conditions { truncate_percent: 2, ..Conditions::STORM },
            },
            streams: match rng.random_range(0..3) {
                0 => StreamConditions::CALM,
                1 => StreamConditions { stall_percent: 0, ..StreamConditions::ROUGH },
                _ => StreamConditions { reset_permille: 1, half_close_permille: 2, ..StreamConditions::ROUGH },
            },
            pace: if rng.random_range(0..3) == 0 { Pace::ROUGH } else { Pace::CALM },
            bad_disk: disk < 3,
            dishonest: disk == 9,
        }
    }
}
