//! What the digest of a room covers, and states that no room can be in. That rooms are restored as they were is looked at after
//! each line of every transcript, see [`crate::room::Room::check`].

use std::time::Duration;

use mastermind::{Config, Server};
use netcore::{DecoderOf, Hosted, HostedState, Recorded, Room as _, StateError, Time};
use serde_json::{Value, json};

use crate::{room::Room, serving};

#[test]
fn what_nobody_sees_is_in_the_digest() {
    let digest = |config: Config, said: &[(u64, &str)]| {
        let mut room = Room::new(config);
        for who in ["ann", "bob"] {
            room.connect(who);
        }
        for (second, text) in said {
            room.now = Time::from_millis(second * 1_000);
            room.say("ann", text);
        }
        room.hosted.digest()
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
    let mut room = Room::new(config);
    for who in ["ann", "bob", "cyd"] {
        room.connect(who);
    }
    for (who, text) in
        [("ann", "PLAY Ann"), ("bob", "PLAY Bob"), ("ann", "GUESS 1234"), ("ann", "LIFELINE 1"), ("bob", "RESIGN")]
    {
        room.say(who, text);
    }
    let state = serde_json::to_value(room.hosted.state()).unwrap();
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
        ("seats/0/name", json!(" Ann"), "a text that is not a name"),
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
