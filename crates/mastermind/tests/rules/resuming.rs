//! Rooms that are recorded, replayed and restored; states that no room can be in.

use std::time::Duration;

use mastermind::{Config, Server};
use netcore::{
    DecoderOf, Gone, Hosted, HostedState, Input, Leave, Link, Outbox, Output, PeerId, Progress, Recorded, Role,
    Room as _, StateError, Time,
};
use rand::RngExt;
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use crate::{
    rng,
    room::written_and_read,
    secrets::{some_config, some_words},
    serving,
};

#[derive(Debug, Clone)]
enum Entry {
    Connected(u64, Role, Link),
    Bytes(u64, String),
    Refresh(u64),
    Gone(u64, Gone),
    Elapsed,
    Stop(Leave),
}

// Hands one thing to a room; what goes out, and the digest then.
fn enter(room: &mut Hosted<Server>, now: Time, entry: &Entry) -> (Vec<Output>, u64) {
    let mut out = Outbox::new();
    let input = match entry {
        Entry::Bytes(peer, text) => {
            let progress = room.receive(now, PeerId(*peer), &mut text.as_bytes().into(), &mut out);
            assert_ne!(progress, Progress::Incomplete, "{entry:?}");
            return (out.drain().collect(), room.digest());
        }
        Entry::Connected(peer, role, link) => {
            let address = format!("192.0.2.1:{peer}").into();
            Input::Connected { peer: PeerId(*peer), role: *role, link: *link, address }
        }
        Entry::Refresh(peer) => Input::Refresh { peer: PeerId(*peer) },
        Entry::Gone(peer, why) => Input::Disconnected { peer: PeerId(*peer), why: *why },
        Entry::Elapsed => Input::Elapsed,
        Entry::Stop(leave) => Input::Stop(*leave),
    };
    room.input(now, input, &mut out);
    (out.drain().collect(), room.digest())
}

fn record(seed: u64, steps: usize) -> Vec<(Time, Entry, Vec<Output>, u64)> {
    let rng: &mut Pcg64 = &mut rng(seed + 100);
    let mut room = Hosted::new(Server::new(some_config(seed)).unwrap());
    let (mut log, mut now, mut next) = (vec![], Time::ZERO, 1_u64);
    let mut there: Vec<(u64, Link)> = vec![];
    for step in 0..=steps {
        now = now.plus(Duration::from_millis(rng.random_range(0..400)));
        let due = room.deadline().is_some_and(|due| due <= now);
        let entry = if step == steps {
            Entry::Stop(Leave::Over)
        } else if due {
            Entry::Elapsed
        } else if there.len() < 3 || rng.random_range(0..20) == 0 {
            let link = if rng.random_bool(0.5) { Link::Stream } else { Link::Message };
            let role = if rng.random_range(0..4) == 0 { Role::Watcher } else { Role::Player };
            there.push((next, link));
            next += 1;
            Entry::Connected(next - 1, role, link)
        } else {
            let (peer, link) = there[rng.random_range(0..there.len())];
            match rng.random_range(0..30) {
                0 => Entry::Gone(peer, [Gone::Left, Gone::Broken, Gone::Interrupted][rng.random_range(0..3)]),
                1 => Entry::Refresh(peer),
                2 => Entry::Bytes(peer, format!("{}\n", "x".repeat(80))),
                _ => {
                    let end = if link == Link::Stream { "\n" } else { "" };
                    Entry::Bytes(peer, format!("{}{end}", some_words(rng, None)))
                }
            }
        };
        let (outputs, digest) = enter(&mut room, now, &entry);
        there.retain(|&(peer, _)| !outputs.iter().any(|out| *out == Output::Close { peer: PeerId(peer) }));
        log.push((now, entry, outputs, digest));
    }
    log
}

#[test]
fn a_recorded_room_is_the_same_again_and_so_is_one_that_is_restored_at_each_step() {
    for seed in 0..12 {
        let log = record(seed, 400);
        let begin = || Hosted::new(Server::new(some_config(seed)).unwrap());
        let (mut again, mut chain) = (begin(), begin());
        for (now, entry, outputs, digest) in &log {
            assert_eq!(&enter(&mut again, *now, entry), &(outputs.clone(), *digest), "{seed}: {entry:?}");
            assert_eq!(&enter(&mut chain, *now, entry), &(outputs.clone(), *digest), "{seed}: {entry:?}");
            chain = written_and_read(&chain);
        }
    }
}

#[test]
fn what_nobody_sees_is_in_the_digest() {
    let digest = |config: Config, inputs: &[(u64, &str)]| {
        let mut room = Hosted::new(Server::new(config).unwrap());
        for peer in 1..=2 {
            enter(&mut room, Time::ZERO, &Entry::Connected(peer, Role::Player, Link::Message));
        }
        for (second, text) in inputs {
            enter(&mut room, Time::from_millis(second * 1_000), &Entry::Bytes(1, (*text).to_owned()));
        }
        room.digest()
    };
    let solo = serving::solo();
    let digests = [
        digest(solo, &[]),
        digest(Config { seed: 1, ..solo }, &[]),
        digest(Config { repeats: true, ..solo }, &[]),
        digest(Config { length: 5, ..solo }, &[]),
        digest(serving::race(2), &[]),
        digest(serving::race(3), &[]),
        digest(Config { limit: Duration::from_secs(9), ..serving::race(3) }, &[]),
        digest(serving::daily(), &[]),
        digest(solo, &[(0, "PLAY Ann")]),
        digest(solo, &[(0, "PLAY Anna")]),
        digest(solo, &[(1, "PLAY Ann")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "x")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "PLAY Ann")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "GUESS 1234")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "GUESS 1243")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "LIFELINE 1")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "LIFELINE 2")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "HINT")]),
        digest(solo, &[(0, "PLAY Ann"), (1, "RESIGN")]),
    ];
    for (at, digest) in digests.iter().enumerate() {
        // A mistake changes nothing but when the player was heard last, if at all.
        assert!(at == 11 || !digests[..at].contains(digest), "{at}");
    }
}

type State = HostedState<<Server as Recorded>::State, DecoderOf<Server>>;

fn restore(config: Config, state: Value) -> Result<(), String> {
    let state: State = serde_json::from_value(state).map_err(|why| why.to_string())?;
    Hosted::<Server>::restore(config, state).map(|_| ()).map_err(|StateError(why)| why.into_owned())
}

#[test]
fn states_that_no_room_can_be_in_are_refused() {
    let config = serving::race(2);
    let mut room = Hosted::new(Server::new(config).unwrap());
    for peer in 1..=3 {
        enter(&mut room, Time::ZERO, &Entry::Connected(peer, Role::Player, Link::Message));
    }
    for (peer, text) in [(1, "PLAY Ann"), (2, "PLAY Bob"), (1, "GUESS 1234"), (1, "LIFELINE 1"), (2, "RESIGN")] {
        enter(&mut room, Time::ZERO, &Entry::Bytes(peer, text.to_owned()));
    }
    let state = serde_json::to_value(room.state()).unwrap();
    let changed = |path: &str, value: Value| {
        let mut state = state.clone();
        *state.pointer_mut(&format!("/engine/{path}")).unwrap_or_else(|| panic!("there is no {path}")) = value;
        restore(config, state)
    };
    assert_eq!(changed("games", json!(1)), Ok(()));
    for (path, value, why) in [
        ("games", json!(0), "a game that has not begun"),
        ("today", json!([1, 2]), "a day in a room"),
        ("hints/rate/burst", json!(4_000_000), "another rate"),
        ("peers/0/1/seat", json!(3), "a peer at a seat"),
        ("peers/0/1/role", json!("Watcher"), "a peer at a seat"),
        ("peers/2/1/seat", json!(1), "a seat without a player"),
        ("peers/2/0", json!(1), "a peer that is there twice"),
        ("seats/0/peer", json!(3), "a seat whose player is not there"),
        ("seats/0/number", json!(2), "a seat whose player is not there"),
        ("seats/0/name", json!(" Ann"), "a text that is no name"),
        ("seats/0/ready", json!(true), "a player who waits for no game"),
        ("seats/0/played/number", json!(2), "a game that has not begun"),
        ("seats/0/played/length", json!(9), "not possible"),
        ("seats/0/played/length", json!(5), "a guess has 5 pegs"),
        ("seats/0/played/day", json!(5), "a game that has not begun"),
        ("seats/0/played/actions/0/Guess", json!("123"), "3 pegs are no code"),
        ("seats/0/played/actions/1/Lifeline", json!(3), "a lifeline that does not exist"),
        ("seats/0/played/actions/0", json!({"Lifeline": 2}), "the one use of a lifeline"),
        ("seats/0/played/how", json!("Won"), "not over in this way"),
        ("seats/0/played/how", json!("Resigned"), "a game whose player does not play it"),
        ("seats/0/played/hints", json!(11), "more hints than turns"),
        ("seats/1/played/how", json!(null), "a player whose game is not running"),
        ("seats/0/played", json!(null), "a game whose player does not play it"),
        ("contests", json!([]), "a player whose game is not running"),
        ("contests/0/0", json!(0), "a game that cannot be running"),
        ("contests/0/1/racers/0/result", json!({"how": "Won", "turns": 3, "after": 0}), "cannot be running"),
    ] {
        let told = changed(path, value.clone()).expect_err(&format!("{path} = {value}"));
        assert!(told.contains(why), "{path} = {value}: {told}");
    }
    let advice = json!([{"turn": 2, "remaining": 1, "guess": "1234", "bits": 0, "expected": 0, "worst": 1, "may_win": true}, []]);
    assert!(changed("seats/0/played/advice", advice).unwrap_err().contains("a hint that does not belong"));
    // No code is written down.
    assert!(!state.to_string().contains("4367"), "{state}");
}
