//! Compares the sent output with the output according to the journal.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use journal_core::{Head, Journal, JournalEnd, MAX_SIZE, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Time};
use testkit::{
    disk::SimulatedDisk,
    net::{Conditions, Net},
    seeds::for_each_seed,
    simulation::{Game, NetOf, expected_deliveries},
};

use super::{blackjack::Blackjack, nuggets::Nuggets, robots::Robots};

/// A match whose journal is written only when the test does it.
struct Written<G: Game> {
    game: G,
    net: NetOf<G>,
    disk: SimulatedDisk,
    scribe: Scribe,
    journal: PathBuf,
    end: JournalEnd,
}

impl<G: Game> Written<G> {
    fn begin(seed: u64) -> Self {
        let (mut game, engine) = G::begin(seed);
        let head = Head::new(&engine, "0.0.0", vec![], 0);
        let (disk, scribe) = (SimulatedDisk::new(), Scribe::by_hand());
        let (sync, max) = (SyncPolicy::Interval, MAX_SIZE);
        let writing = Writing { disk: Arc::new(disk.clone()), scribe: scribe.clone(), sync, max, copy: None };
        let (journal, (room, hold, end)) = writing.create(Path::new("/games"), Hosted::new(engine), head).unwrap();
        let mut net = Net::journalled(seed, Conditions::CALM, room, hold);
        game.enter(&mut net);
        Self { game, net, disk, scribe, journal, end }
    }

    fn play(&mut self, until: Time, writes: bool) {
        while self.net.now() < until {
            self.net.step(self.game.wake().map_or(until, |wake| wake.min(until)));
            while writes && self.scribe.write() {
                self.net.poke();
            }
            self.game.step(&mut self.net);
        }
    }

    /// Checks that all delivered output follows from the journal, and returns the number of messages.
    fn check(&self) -> usize {
        let delivered = self.net.delivered();
        let written = Journal::open_on(&self.disk.other_process(), &self.journal).unwrap();
        assert_eq!(expected_deliveries::<G::Server>(&written), delivered);
        delivered.values().map(Vec::len).sum()
    }
}

fn replays_alike<G: Game>() {
    for_each_seed(5, |seed| {
        let mut written = Written::<G>::begin(seed);
        written.play(Time::from_millis(10_000), true);
        assert!(written.check() > 100);
    });
}

#[test]
fn disk_that_does_not_respond_delays_outputs_and_loses_none() {
    let mut written = Written::<Robots>::begin(1);
    written.play(Time::from_millis(5_000), true);
    // Output whose inputs are written by then is sent.
    written.play(Time::from_millis(6_000), false);
    let before = written.check();
    written.play(Time::from_millis(14_000), false);
    let watch = written.end.watch();
    assert!(!watch.is_stalled(), "nine seconds");
    written.play(Time::from_millis(20_000), false);
    assert!(watch.is_stalled(), "fifteen seconds");
    assert_eq!(written.check(), before, "nothing is delivered");
    written.play(Time::from_millis(30_000), true);
    assert!(!watch.is_stalled() && written.end.is_open());
    assert!(written.check() > before);
}

#[test]
fn replay_sends_the_same_bytes() {
    replays_alike::<Nuggets>();
    replays_alike::<Robots>();
    replays_alike::<Blackjack>();
}
