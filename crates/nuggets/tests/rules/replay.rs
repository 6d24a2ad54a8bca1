//! The same map, seed and messages produce the same game, byte for byte, on every machine.

use std::time::Duration;

use nuggets::{Config, Rules, visibility::Vision};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::table::{Effect, NAMES, Table};

#[derive(Debug, Clone)]
enum Arrival {
    Datagram(String, Vec<u8>),
    Time(Duration),
    Gone(usize),
    Stop,
}

fn record(seed: u64, length: usize) -> Vec<Arrival> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut arrivals = vec![];
    for name in NAMES {
        arrivals.push(Arrival::Datagram(name.to_owned(), format!("PLAY {name}").into_bytes()));
        if name == "Frank" {
            arrivals.push(Arrival::Datagram("Sam".into(), b"SPECTATE".to_vec()));
        }
    }
    for _ in 0..length {
        let who = NAMES[rng.random_range(0..NAMES.len())].to_owned();
        arrivals.push(match rng.random_range(0..200) {
            0..3 => Arrival::Datagram(who, b"PLAY again".to_vec()),
            3 => Arrival::Datagram(who, b"KEY Q".to_vec()),
            4..12 => Arrival::Datagram(who, (0..rng.random_range(0..9)).map(|_| rng.random_range(0..=255)).collect()),
            12 => Arrival::Datagram("Mallory".into(), b"KEY h".to_vec()),
            13 => Arrival::Datagram("Tess".into(), b"SPECTATE".to_vec()),
            14 => Arrival::Datagram("Sam".into(), b"SPECTATE".to_vec()),
            15 => Arrival::Datagram("Sam".into(), b"KEY Q".to_vec()),
            16 => Arrival::Gone(rng.random_range(0..30)),
            17..60 => Arrival::Time(Duration::from_micros(rng.random_range(0..400_000))),
            _ => Arrival::Datagram(who, [b"KEY ", &[b"hjklyubnHJKLYUBN"[rng.random_range(0..16)]][..]].concat()),
        });
    }
    arrivals.push(Arrival::Stop);
    arrivals
}

fn play(map: &str, config: Config, arrivals: &[Arrival]) -> Vec<Vec<Effect>> {
    let mut table = Table::new(map, config);
    let mut effects = vec![];
    for arrival in arrivals {
        effects.push(match arrival {
            Arrival::Datagram(who, bytes) => table.send(who, bytes),
            Arrival::Time(time) => table.wait(*time),
            Arrival::Gone(number) => {
                let who = table.peers().nth(*number).map(str::to_owned);
                who.map_or_else(Vec::new, |who| table.disconnect(&who))
            }
            Arrival::Stop => table.stop(),
        });
    }
    effects
}

fn bytes(effects: &[Vec<Effect>]) -> usize {
    let frame = |effect: &Effect| if let Effect::Sent { frame, .. } = effect { frame.len() } else { 0 };
    effects.iter().flatten().map(frame).sum()
}

fn busy(seed: u64) -> Config {
    let rules = Rules {
        steal_percent: 10,
        drop_on_quit: true,
        vision: Vision { radius: Some(9) },
        gold: 40,
        max_piles: 20,
        ..Rules::default()
    };
    Config { rules, idle_timeout: Some(Duration::from_secs(20)), rematch: true, seed: seed.into(), ..Config::default() }
}

const MAIN: &str = include_str!("../../../../maps/main.txt");

/// [`Table`] checks the invariants after each input.
#[test]
fn random_inputs_keep_the_invariants() {
    for seed in 10..40 {
        play(CABIN, busy(seed), &record(seed, 300));
    }
}

#[test]
fn different_seeds_give_different_games() {
    let arrivals = record(1, 50);
    let games: Vec<_> = (1..6).map(|seed| play(MAIN, Config { seed, ..Config::default() }, &arrivals)).collect();
    for (one, game) in games.iter().enumerate() {
        for other in &games[..one] {
            assert!(game != other);
        }
    }
}

/// A map that never changes, unlike those in `maps`.
const CABIN: &str = "\
+-----+   +----+
|.....#####....|
|.....|   #....|
|.++..|   |....|
|.++..|   +-#--+
+---#-+     #   
    ####### #   
          ###   
";

/// Detects changes to the generator, the protocol or a rule.
#[test]
fn recorded_game_is_reproduced() {
    let rules = Rules { gold: 25, min_piles: 3, max_piles: 5, ..Rules::default() };
    let mut cabin = Table::new(CABIN, Config { rules, seed: 2021, ..Config::default() });
    cabin.check(include_str!("../data/game.txt"));
}

/// 64-bit FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Recorded as hashes.
#[test]
fn long_game_is_the_same_on_every_machine() {
    let mut wire = vec![];
    let arrivals = record(3, 800);
    let effects = play(CABIN, busy(3), &arrivals);
    for effect in effects.iter().flatten() {
        wire.extend(match effect {
            Effect::Sent { who, frame } => [who.as_bytes(), frame].concat(),
            Effect::Closed(who) => [who.as_bytes(), b"closed"].concat(),
            Effect::Printed(text) => [&b"printed"[..], text.as_bytes()].concat(),
        });
    }
    let expected = include_str!("../data/long-game.txt").lines().nth(1).unwrap();
    assert_eq!(format!("{} bytes, hash {:016x}", bytes(&effects), hash(&wire)), expected);
}
