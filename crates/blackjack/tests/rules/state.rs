//! A dealer that is restored from its state continues without a visible difference.

use std::time::Duration;

use blackjack::{Config, Seed, Server};
use netcore::{Hosted, Recorded as _, Room as _};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use crate::{
    drive::Drive,
    room::{Recorded, state, take, written_and_read},
};

fn config(seed: u64) -> Config {
    let players = usize::try_from(seed % 3).unwrap() + 1;
    let forever = !seed.is_multiple_of(4);
    Config {
        players,
        tables: 2,
        forever,
        trace: seed.is_multiple_of(2),
        accounts: seed.is_multiple_of(5).then_some(Duration::from_secs(1)),
        delay: Duration::from_millis(if seed.is_multiple_of(7) { 0 } else { 50 }),
        ..Config::new(3, Seed::from_number(seed))
    }
}

// A random game that occasionally kills the dealer.
fn game(seed: u64, steps: usize) -> (Drive, Pcg64Mcg) {
    let mut drive = Drive::new(config(seed), seed);
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    for _ in 0..steps {
        if rng.random_range(0..60) == 0 {
            drive.interrupt();
        } else {
            drive.random();
        }
    }
    (drive, rng)
}

fn record(drive: &Drive) -> &[Recorded] {
    drive.room.record.as_deref().unwrap()
}

// The same steps lead to the same outputs.
#[track_caller]
fn check_again(again: &mut Hosted<Server>, record: &[Recorded], what: &str) {
    for (number, (now, step, outputs)) in record.iter().enumerate() {
        assert!(take(again, *now, step).0 == *outputs, "{what}, step {number}: {step:?}");
    }
    assert!(again.outcome().is_some());
}

#[test]
fn a_dealer_that_is_copied_or_read_again_goes_the_same_way() {
    for seed in 0..60 {
        let (mut drive, mut rng) = game(seed, 0);
        let mut kept: Vec<(usize, Hosted<Server>)> = vec![(0, written_and_read(&drive.room.hosted))];
        for _ in 0..400 {
            if rng.random_range(0..80) == 0 {
                drive.interrupt();
            } else {
                drive.random();
            }
            if rng.random_range(0..20) == 0 {
                let hosted = &drive.room.hosted;
                let again = if rng.random() { hosted.clone() } else { written_and_read(hosted) };
                kept.push((record(&drive).len(), again));
            }
        }
        drive.room.stop();
        for (from, mut again) in kept {
            check_again(&mut again, &record(&drive)[from..], &format!("seed {seed}, from {from}"));
            assert_eq!(again.deadline(), drive.room.hosted.deadline());
            assert_eq!(state(&again), state(&drive.room.hosted));
        }
    }
}

#[test]
fn a_dealer_that_is_set_up_again_is_a_new_one() {
    for seed in 0..20 {
        let server = Server::new(config(seed)).unwrap();
        let setup = serde_json::from_str(&serde_json::to_string(&server.setup()).unwrap()).unwrap();
        let again = Hosted::new(Server::from_setup(setup).unwrap());
        assert_eq!(state(&again), state(&Hosted::new(server)));
    }
    for (field, value) in [("players", json!(7)), ("tables", json!(0)), ("rounds", json!(0)), ("tables", json!(4_097))]
    {
        let mut setup = serde_json::to_value(config(0)).unwrap();
        setup[field] = value;
        assert!(Server::from_setup(serde_json::from_value(setup).unwrap()).is_err(), "{field}");
    }
}
