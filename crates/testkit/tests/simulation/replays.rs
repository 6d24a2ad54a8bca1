//! What a journal says that was sent, compared with what was.

use std::{path::Path, sync::Arc};

use journal_core::{Head, Journal, MAX_SIZE, Scribe, SyncPolicy, Writing};
use netcore::{Hosted, Time};
use testkit::{
    disk::SimulatedDisk,
    net::{Conditions, Net},
    seeds::for_each_seed,
    simulation::{Game, expected_deliveries},
};

use super::{blackjack::Blackjack, nuggets::Nuggets, robots::Robots};

fn replays_alike<G: Game>() {
    for_each_seed(5, |seed| {
        let (mut game, engine) = G::begin(seed);
        let head = Head::new(&engine, "0.0.0", vec![], 0);
        let (disk, scribe) = (SimulatedDisk::new(), Scribe::by_hand());
        // All that counts is in the file.
        disk.set_memory(false);
        let (sync, max) = (SyncPolicy::Interval, MAX_SIZE);
        let writing = Writing { disk: Arc::new(disk.clone()), scribe: scribe.clone(), sync, max, copy: None };
        let (journal, (room, hold, _)) = writing.create(Path::new("/games"), Hosted::new(engine), head).unwrap();
        let mut net = Net::journalled(seed, Conditions::CALM, room, hold);
        game.enter(&mut net);
        let until = Time::from_millis(10_000);
        while net.now() < until {
            net.step(game.wake().map_or(until, |wake| wake.min(until)));
            while scribe.write() {
                net.poke();
            }
            game.step(&mut net);
        }
        let delivered = net.delivered();
        assert!(delivered.values().map(Vec::len).sum::<usize>() > 100);
        let written = Journal::open_on(&disk.other_process(), &journal).unwrap();
        assert_eq!(expected_deliveries::<G::Server>(&written), delivered);
    });
}

#[test]
fn a_replay_sends_everybody_the_same_bytes() {
    replays_alike::<Nuggets>();
    replays_alike::<Robots>();
    replays_alike::<Blackjack>();
}
