//! Options and statistics of simulations.

use std::time::Duration;

/// A bug that is injected on purpose and must be detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InjectedBug {
    /// The server is resumed without one of its arrivals.
    LostArrival,
    /// The disk reports a sync as done that it has not done.
    LyingSync,
}

/// Options of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Duration of the match if it does not end earlier.
    pub duration: Duration,
    /// The bug to inject.
    pub injected: Option<InjectedBug>,
}

/// Statistics of one or more simulations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Report {
    /// Matches.
    pub matches: u64,
    /// Steps of the network.
    pub steps: u64,
    /// Frames that were delivered to peers and compared with a replay.
    pub frames: u64,
    /// Times that the server was killed.
    pub kills: u64,
    /// Times that the machine lost power.
    pub power_cuts: u64,
    /// Times that the server was stopped to be resumed later.
    pub suspends: u64,
    /// Times that it was resumed.
    pub resumes: u64,
    /// Resumes after which something was lost that had been delivered, due to a power cut.
    pub forks: u64,
    /// Snapshots in resumed journals.
    pub snapshots: u64,
    /// Journals that were given up because of the disk.
    pub cut: u64,
    /// Of these, those not marked as cut, because the disk failed on that too.
    pub unmarked: u64,
    /// Matches that ended.
    pub over: u64,
    /// Final messages to closed peers that were not sent and are too old to be repeated.
    pub unheard: u64,
    /// Simulated time in total.
    pub simulated: Duration,
}

impl Report {
    /// Adds the numbers of another report.
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
