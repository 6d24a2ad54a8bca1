//! A journalled room on a simulated disk.

use std::{path::Path, time::Duration};

use journal_core::{Head, SyncPolicy};
use netcore::Link;
use testkit::{adder::Adder, disk::SimulatedDisk, recording::Recording};

pub(crate) type Bench = Recording<Adder>;

pub(crate) const MAX: u64 = 1 << 20;
/// The directory of all journals.
pub(crate) const GAMES: &str = "/games";
/// Half a microsecond is rounded up.
const PAUSE: Duration = Duration::from_nanos(1_000_500);

pub(crate) fn head() -> Head {
    Head::new(&Adder::new(7), "1.2.3", vec![], 99)
}

/// A room on a disk.
pub(crate) fn on(disk: SimulatedDisk, sync: SyncPolicy, max: u64) -> Bench {
    let mut bench = Recording::begin(disk, Path::new(GAMES), Adder::new(7), head(), (sync, max));
    bench.pause = PAUSE;
    bench
}

/// A room whose outputs wait for the disk: there is no memory for a spool. Ann has connected.
pub(crate) fn begun(sync: SyncPolicy) -> Bench {
    let disk = SimulatedDisk::new();
    disk.set_memory(false);
    let mut bench = on(disk, sync, MAX);
    connect(&mut bench, Link::Stream);
    bench
}

/// Ann connects.
pub(crate) fn connect(bench: &mut Bench, link: Link) {
    bench.connect(0, link, "10.0.0.1:5");
}

/// The content of the first file of the journal.
pub(crate) fn content(bench: &Bench) -> Vec<u8> {
    bench.disk.written(&bench.journal)
}

pub(crate) fn total(bench: &Bench) -> u64 {
    bench.room.room().engine().sum
}
