//! Plays random games, and searches every line for secret codes.

use std::{collections::BTreeMap, time::Duration};

use mastermind::{Config, Mode, config::FirstDay};
use netcore::DisconnectReason;
use rand::{RngExt, seq::IndexedRandom};
use rand_pcg::Pcg64;

use crate::{rng, server::Room};

const EVERYBODY: [&str; 8] = ["Ann", "bob", "Cyd", "dee", "Eve", "fay", "w1", "w2"];
const PLAYERS: usize = 6;

fn some_config(seed: u64) -> Config {
    let mode = match seed % 3 {
        0 => Mode::Solo,
        1 => Mode::Race(u8::try_from(2 + seed % 4).unwrap()),
        _ => Mode::Daily,
    };
    let first_day = (mode == Mode::Daily).then_some(FirstDay { day: 20_000, lasts: Duration::from_secs(40) });
    Config { mode, first_day, limit: Duration::from_secs(60), ..Config::new(6, seed.is_multiple_of(2), seed) }
}

fn some_words(rng: &mut Pcg64, code: Option<&str>) -> String {
    let digits = |rng: &mut Pcg64, length: usize| (0..length).map(|_| rng.random_range(1..9).to_string()).collect();
    let guess: String = digits(rng, 6);
    match rng.random_range(0..30) {
        0..3 => "PLAY somebody".into(),
        3..5 => "NEW".into(),
        5 => format!("NEW {} {}", rng.random_range(4..9), if rng.random_bool(0.5) { "yes" } else { "no" }),
        6 => "RESIGN".into(),
        7 if rng.random_range(0..4) == 0 => "QUIT".into(),
        8 => "HINT".into(),
        9..12 => format!("LIFELINE {}", rng.random_range(1..3)),
        12 => "GUESS 1".into(),
        13..15 => code.map_or_else(|| "HINT".into(), |code| format!("GUESS {code}")),
        15 => format!("GUESS {}", digits(rng, 4)),
        _ => format!("GUESS {guess}"),
    }
}

/// The code of each seat, from a copy of the room in which all players give up.
fn codes(room: &Room, seats: &BTreeMap<String, u8>) -> BTreeMap<u8, String> {
    let mut fork = room.clone();
    for who in seats.keys() {
        fork.received(who);
    }
    for who in seats.keys() {
        fork.send_line(who, "RESIGN");
    }
    let mut codes = BTreeMap::new();
    for (who, seat) in seats {
        let over = format!("OVER {seat} resigned ");
        let heard = fork.received(who);
        if let Some(line) = heard.iter().rev().find(|line| line.starts_with(&over)) {
            codes.insert(*seat, line.rsplit(' ').next().unwrap().to_owned());
        }
    }
    codes
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

#[test]
fn codes_stay_secret() {
    let (mut shown, mut hidden, mut looked) = (0, 0, 0);
    for seed in 0..30 {
        let config = some_config(seed);
        let rng = &mut rng(seed);
        let mut room = Room::new(config);
        let mut seats: BTreeMap<String, u8> = BTreeMap::new();
        for who in EVERYBODY {
            room.connect(who);
        }
        let mut there: Vec<&str> = EVERYBODY.to_vec();
        for _ in 0..250 {
            let before = codes(&room, &seats);
            let who = *there.choose(rng).unwrap();
            let own = seats.get(who).and_then(|seat| before.get(seat)).cloned();
            match rng.random_range(0..25) {
                0 => room.refresh(who),
                1 => room.wait(Duration::from_secs(rng.random_range(1..30))),
                2 if rng.random_range(0..5) == 0 => {
                    room.disconnect(who, DisconnectReason::Broken);
                    there.retain(|&other| other != who);
                    seats.remove(who);
                }
                _ => room.send_line(who, &some_words(rng, own.as_deref())),
            }
            for who in &EVERYBODY[..PLAYERS] {
                for line in room.peek(who) {
                    if let ["OK", seat] = words(&line)[..] {
                        seats.insert((*who).to_owned(), seat.parse().unwrap());
                    }
                }
            }
            let after = codes(&room, &seats);
            let still: BTreeMap<u8, &String> =
                before.iter().filter(|(seat, _)| after.contains_key(seat)).map(|(seat, code)| (*seat, code)).collect();
            for listener in EVERYBODY {
                let own = seats.get(listener).copied();
                for line in room.received(listener) {
                    looked += 1;
                    let parts = words(&line);
                    let about: Option<u8> = parts.get(1).and_then(|seat| seat.parse().ok());
                    let is_own = own.is_some() && about == own;
                    // The player's own hints follow from the answers.
                    if ["HINT", "POSSIBLE"].contains(&parts[0]) {
                        continue;
                    }
                    for (seat, code) in &still {
                        let of_day = config.mode == Mode::Daily && own.is_some_and(|own| !after.contains_key(&own));
                        let found_it = is_own && about != Some(*seat);
                        assert!(
                            !line.contains(code.as_str()) || of_day || found_it && config.mode != Mode::Solo,
                            "seed {seed}: {listener} hears '{line}' while seat {seat} looks for {code}"
                        );
                    }
                    let foreign_and_running = !is_own && about.is_some_and(|seat| still.contains_key(&seat));
                    if config.mode != Mode::Solo && foreign_and_running {
                        let open = match parts[0] {
                            "ROW" => !parts[3].starts_with('*'),
                            "LIFELINE" => parts[5] != "*",
                            _ => continue,
                        };
                        hidden += 1;
                        assert!(!open, "seed {seed}: {listener} hears '{line}'");
                    } else if ["ROW", "OVER"].contains(&parts[0]) && !line.contains('*') {
                        shown += 1;
                    }
                }
            }
            there.retain(|who| !room.is_closed(who));
            seats.retain(|who, _| there.contains(&who.as_str()));
        }
    }
    println!("{looked} lines, {hidden} with something hidden, {shown} open");
    assert!(looked > 10_000 && hidden > 1_000 && shown > 1_000);
}
