//! The same map, seed and messages produce the same game, byte for byte, on every machine.

use std::time::Duration;

use bytes::Bytes;
use netcore::{Departure, DisconnectReason, GameEvent, Leave, Link, Output, PeerId, Role, Room};
use nuggets::{Config, Rules, visibility::Vision};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::{
    room::{MAP, RoomInput, TestRoom, config, events, large, sent},
    table::{Effect, NAMES, Table},
};

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

const NOTHING: [Bytes; 0] = [];

fn resumed(room: &TestRoom) -> TestRoom {
    let [setup, state] = room.written();
    room.restored(&setup, &state).unwrap()
}

#[test]
fn the_state_of_a_full_game_on_the_largest_map_is_small() {
    let mut room = TestRoom::new(
        &(".".repeat(254) + "\n").repeat(256),
        Config { rules: Rules { gold: 9_000, ..Rules::default() }, ..Config::default() },
    );
    for peer in 1..=26 {
        room.join(peer, Link::Message, format!("PLAY {}", "x".repeat(50)).as_bytes());
        for key in 0..40 {
            room.send(peer, Link::Message, [b"KEY H", b"KEY j", b"KEY L", b"KEY j"][key % 4]);
        }
    }
    let [_, state] = room.written();
    assert!(state.len() < 600_000, "{} bytes", state.len());
    assert_eq!(resumed(&room).state(), room.state());
}

fn joining(frames: &[Bytes]) -> Vec<&str> {
    frames.iter().map(|frame| core::str::from_utf8(frame).unwrap().split([' ', '\n']).next().unwrap()).collect()
}

// Ann (peer 1) has used up her budget and is owed a picture.
fn drained() -> TestRoom {
    let mut room = TestRoom::with(&large(), Config::default(), Link::Datagram, &["PLAY Ann", "PLAY Bob", "SPECTATE"]);
    room.send(1, Link::Datagram, b"KEY ?");
    room.runs(1, Link::Datagram, 1_040).for_each(drop);
    assert_eq!(sent(&room.send(1, Link::Datagram, b"KEY j"), 1), NOTHING, "nothing is left");
    room
}

#[test]
fn refresh_sends_the_whole_state_despite_an_empty_budget() {
    let before = drained();
    for room in [before.clone(), resumed(&before)] {
        for (peer, kinds) in [
            (1, &["OK", "GRID", "GOLD", "DISPLAY"][..]),
            (2, &["OK", "GRID", "GOLD", "DISPLAY"]),
            (3, &["GRID", "GOLD", "DISPLAY"]),
        ] {
            // Bob and the spectator have sent no key, so they are owed pictures of Ann's runs.
            let mut room = room.clone();
            let frames = sent(&room.input(&RoomInput::Refresh(peer)), peer);
            assert_eq!(joining(&frames), kinds, "peer {peer}");
            let shown = if peer == 3 { b'A' } else { [b'@', b'A'][usize::from(peer == 2)] };
            let stands = room.engine_room.engine().game().players()[0].cell.unwrap();
            assert_eq!(frames.last().unwrap()[8 + stands.index()], shown, "as it is now");
            // The picture was the newest, so it is not sent again.
            while room.engine_room.deadline().is_some() {
                assert_eq!(sent(&room.elapse(), peer), NOTHING, "peer {peer}");
            }
        }
    }
}

#[test]
fn owed_displays_are_sent_after_a_restore() {
    let mut room = drained();
    let mut again = resumed(&room);
    assert_eq!(again.state(), room.state());
    let mut frames = [0; 4];
    while room.engine_room.deadline().is_some() {
        let outputs = room.elapse();
        assert_eq!(again.elapse(), outputs);
        (1..4).for_each(|peer| frames[usize::try_from(peer).unwrap()] += sent(&outputs, peer).len());
    }
    assert_eq!(frames, [0, 1, 1, 1]);
    assert_eq!(again.engine_room.deadline(), None);
}

#[test]
fn skipped_moves_are_shown_after_a_restore() {
    let config = Config { idle_timeout: None, ..config(2) };
    let mut room = TestRoom::with(MAP, config, Link::Message, &["PLAY Ann", "PLAY Bob", "SPECTATE"]);
    let mut keys = 0;
    while room.engine_room.deadline().is_none() {
        room.send(1, Link::Message, [b"KEY H", b"KEY L"][keys % 2]);
        keys += 1;
        assert!(keys < 30_000);
    }
    let mut again = resumed(&room);
    assert_eq!(again.state(), room.state());
    assert_eq!(sent(&again.input(&RoomInput::Refresh(2)), 2).len(), 4);
    assert_eq!(sent(&again.elapse(), 2), NOTHING, "a refresh has shown it already");
    let caught_up = resumed(&room).elapse();
    assert_eq!(caught_up, room.elapse());
    assert_eq!(sent(&caught_up, 3).len(), 1);
}

#[test]
fn datagram_peer_without_a_message_is_forgotten_after_a_restore() {
    let mut room = TestRoom::new(MAP, config(1));
    let before = room.state();
    for (peer, link, forgotten) in [(1, Link::Datagram, true), (2, Link::Message, false), (3, Link::Stream, false)] {
        room.connect(peer, link);
        room = resumed(&room);
        let closed = if forgotten { vec![Output::Close { peer: PeerId(peer) }] } else { vec![] };
        assert_eq!(room.input(&RoomInput::Refresh(peer)), closed);
        assert_eq!(room.state() == before, forgotten, "{link:?}");
    }
    assert!(!sent(&room.send(2, Link::Message, b"PLAY Bob"), 2).is_empty(), "others may still speak");
}

#[test]
fn interrupted_connection_counts_as_broken() {
    let mut room = TestRoom::new(MAP, config(4));
    for (peer, message) in (1..).zip([b"PLAY Ann", b"PLAY Ann", b"PLAY Ann", b"SPECTATE"]) {
        room.join(peer, [Link::Message, Link::Stream][usize::from(peer % 2 == 1)], message);
    }
    room.connect(5, Link::Stream);
    room.input(&RoomInput::Connected(6, Role::Watcher, Link::Message));
    let mut again = resumed(&room);
    for peer in 1..=6 {
        let broken = room.input(&RoomInput::Gone(peer, DisconnectReason::Broken));
        let mut interrupted = again.input(&RoomInput::Gone(peer, DisconnectReason::Interrupted));
        let mut left = 0;
        for output in &mut interrupted {
            if let Output::Event(GameEvent::Left { why, .. }) = output {
                assert_eq!(*why, Departure::Disconnected(DisconnectReason::Interrupted));
                *why = Departure::Disconnected(DisconnectReason::Broken);
                left += 1;
            }
        }
        assert_eq!(interrupted, broken, "peer {peer}");
        assert_eq!(left, usize::from(peer != 5), "a stranger has no seat to leave");
        assert!(interrupted.contains(&Output::Close { peer: PeerId(peer) }));
        assert_eq!(again.state(), room.state());
    }
    assert_eq!(again.engine_room.status().taken, 0);
    assert_eq!(again.engine_room.engine().game().players().len(), 3, "their purses stand in the table at the end");
    let frames = events(&again.input(&RoomInput::Stop(Leave::Over)));
    assert!(frames.iter().any(|event| matches!(event, GameEvent::Ended { .. })));
}
