//! The same again gives the same again; and what can go on differently is told apart.

use std::time::Duration;

use blackjack::{Config, Seed, Server, Table};
use netcore::{Gone, Hosted, Leave, Room as _};

use crate::drive::{Drive, Step, take};

fn server(seed: u64) -> Server {
    let players = usize::try_from(seed % 3).unwrap() + 1;
    let (tables, trace) = (2, seed.is_multiple_of(2));
    let accounts = seed.is_multiple_of(5).then_some(Duration::from_secs(1));
    Server::new(Config { players, tables, forever: true, trace, accounts, ..Config::new(3, Seed::from_number(seed)) })
        .unwrap()
}

#[test]
fn a_recorded_game_goes_the_same_way_again() {
    for seed in 0..60 {
        let mut drive = Drive::new(server(seed), seed);
        for _ in 0..400 {
            drive.random();
        }
        drive.step(Step::Stop(Leave::Over));
        let mut again = Hosted::new(server(seed));
        for (number, ((now, step), effect)) in drive.steps.iter().zip(&drive.effects).enumerate() {
            assert_eq!(take(&mut again, *now, step), *effect, "seed {seed}, step {number}: {step:?}");
        }
        assert!(again.outcome().is_some());
    }
}

#[test]
fn a_table_by_itself_goes_the_same_way_again() {
    for seed in 0..60 {
        let players = usize::try_from(seed % 3).unwrap() + 1;
        let table = || Table::new(Config { players, ..Config::new(5, Seed::from_number(seed)) }, 1).unwrap();
        let mut drive = Drive::new(table(), seed);
        for _ in 0..300 {
            drive.random();
        }
        drive.step(Step::Stop(Leave::Over));
        let mut again = Hosted::new(table());
        for ((now, step), effect) in drive.steps.iter().zip(&drive.effects) {
            assert_eq!(take(&mut again, *now, step), *effect, "seed {seed}: {step:?}");
        }
        assert!(again.outcome().is_some());
    }
}

#[test]
fn a_copy_goes_the_same_way_until_it_is_treated_differently() {
    for seed in 0..60 {
        let mut drive = Drive::new(server(seed), seed);
        for _ in 0..100 {
            drive.random();
        }
        let mut copy = drive.hosted.clone();
        assert_eq!(copy.digest(), drive.hosted.digest());
        let from = drive.steps.len();
        for _ in 0..100 {
            drive.random();
        }
        let mut other = copy.clone();
        for ((now, step), effect) in drive.steps.iter().zip(&drive.effects).skip(from) {
            assert_eq!(take(&mut copy, *now, step), *effect, "seed {seed}: {step:?}");
        }
        // Without any one of its steps that did something to the state, it is in another state.
        let steps: Vec<_> = drive.steps[from..].iter().collect();
        if let Some((now, step)) = steps.first() {
            let before = other.digest();
            let (outputs, after) = take(&mut other, *now, step);
            assert!(before != after || outputs.is_empty() || matches!(step, Step::Refresh(_)), "seed {seed}: {step:?}");
        }
        // Whoever is gone is missed, even if nobody is told.
        let (mut stays, mut goes) = (drive.hosted.clone(), drive.hosted.clone());
        if let Some(peer) = drive.anybody() {
            take(&mut goes, drive.now, &Step::Disconnected(peer, Gone::Broken));
            let asked = take(&mut stays, drive.now, &Step::Elapsed);
            assert_ne!(goes.digest(), asked.1, "seed {seed}: {peer}");
        }
    }
}

#[test]
fn other_cards_are_another_state_though_nobody_has_seen_them() {
    let digests = |seed: u64| {
        let config = Config { players: 1, ..Config::new(3, Seed::from_number(seed)) };
        let mut drive = Drive::new(Table::new(config, 1).unwrap(), 1);
        while drive.hosted.engine().game().is_none() {
            drive.random();
        }
        drive.hosted.digest()
    };
    assert_eq!(digests(1), digests(1));
    assert_ne!(digests(1), digests(2));
}
