use std::time::Duration;

use blackjack::{DealerMessage, Dialect, Name, PlayerMessage};
use netcore::{DisconnectReason, Engine, Outcome};

use crate::room::{Room, config, two};

fn seated() -> Room {
    let mut room = Room::joined(two(2), &["Ann", "Bob"]);
    assert_eq!(room.received("Ann").last(), Some(&DealerMessage::Decision));
    assert!(!room.received("Bob").contains(&DealerMessage::Decision));
    room
}

fn assert_lost(room: &mut Room, loser: &str, other: &str) {
    assert!(room.is_closed(loser), "{loser} is sent away");
    for _ in 0..20 {
        if room.is_closed(other) {
            break;
        }
        room.send(other, b"STAND\0");
    }
    assert_eq!(room.received(other).last(), Some(&DealerMessage::Quit));
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
    // rounds, wins, pushes, losses, busts, forfeits
    let (lost, played) = (room.row(loser), room.row(other));
    assert_eq!((lost, played[0], played[5]), ([1, 0, 0, 1, 0, 1], 2, 0));
}

#[test]
fn invalid_answer_forfeits_the_hand() {
    let long = [b'x'; 300];
    for bytes in [
        &b"HIT ME\0"[..],
        b"hit\0",
        b"STAND\n\0",
        b"\0",
        b"JOIN Ann\0",
        b"BEGIN\0",
        b"QUIT\0",
        b"HIT\0STAND\0",
        b"STAND\0STAND\0",
        b"STAND\0S",
        b"\x00\x00\x00\x01\x07",
        b"\xff\xff\xff\xff\0",
        b"ST\x80ND\0",
        &long,
    ] {
        let mut room = seated();
        room.send("Ann", bytes);
        assert_eq!(room.received("Ann").last(), Some(&DealerMessage::Quit), "{bytes:?}");
        assert_lost(&mut room, "Ann", "Bob");
    }
}

#[test]
fn answer_out_of_turn_forfeits_the_hand() {
    for bytes in [&b"STAND\0"[..], b"HIT\0", b"x\0", b"JOIN Bob\0"] {
        let mut room = seated();
        room.send("Bob", bytes);
        assert_lost(&mut room, "Bob", "Ann");
    }
    let mut room = seated();
    room.send("Ann", b"STAND\0");
    room.send("Ann", b"STAND\0");
    assert_lost(&mut room, "Ann", "Bob");
}

#[test]
fn disconnect_forfeits_the_hand() {
    for why in [DisconnectReason::Left, DisconnectReason::Broken, DisconnectReason::Lagging] {
        for (loser, other) in [("Ann", "Bob"), ("Bob", "Ann")] {
            let mut room = seated();
            room.disconnect(loser, why);
            assert_lost(&mut room, loser, other);
        }
    }
}

#[test]
fn a_half_closed_client_is_dealt_no_more_rounds() {
    let mut room = seated();
    room.send("Ann", b"STAND\0");
    room.disconnect("Ann", DisconnectReason::Left);
    assert!(!room.is_closed("Ann"));
    room.received("Ann");
    room.send("Bob", b"STAND\0");
    let heard = room.received("Ann");
    assert!(matches!(heard[..], [DealerMessage::Result(_), DealerMessage::Quit]), "{heard:?}");
    room.send("Bob", b"STAND\0");
    assert_eq!((room.row("Ann")[0], room.row("Ann")[5]), (1, 0), "one round, not forfeited");
}

#[test]
fn silent_client_forfeits_its_hand_at_the_time_limit() {
    let mut room = seated();
    room.wait(Duration::from_millis(29_999));
    assert!(!room.is_closed("Ann"));
    room.wait(Duration::from_millis(1));
    assert_eq!(room.received("Bob").last(), Some(&DealerMessage::Decision));
    assert_lost(&mut room, "Ann", "Bob");
}

#[test]
fn slow_answer_in_time_counts() {
    for dialect in [Dialect::Text, Dialect::Binary] {
        let mut room = Room::new(config(3));
        room.connect("Ann");
        let join = PlayerMessage::Join(Name::new(b"Ann").unwrap());
        for message in [join, PlayerMessage::Stand, PlayerMessage::Stand, PlayerMessage::Stand] {
            room.wait(Duration::from_millis(29_999));
            for &byte in &message.to_bytes(dialect) {
                room.send("Ann", &[byte]);
            }
        }
        assert_eq!(room.server().outcome(), Some(Outcome::Finished));
    }
}

#[test]
fn client_that_does_not_join_takes_no_seat() {
    let mut room = Room::new(two(1));
    for (who, bytes) in [("Eve", &b""[..]), ("Mal", b"J"), ("Oz", b"JOIN Oz")] {
        room.connect(who);
        room.send(who, bytes);
    }
    room.wait(Duration::from_secs(30));
    assert!(["Eve", "Mal", "Oz"].iter().all(|who| room.is_closed(who)));
    for (who, bytes) in [
        ("A", &b"HIT\0"[..]),
        ("B", b"JOIN a b\0"),
        ("C", b"GET / HTTP/1.1\r\n"),
        ("D", b"JOIN \0"),
        ("E", b"\0\0\0\0"),
    ] {
        room.connect(who);
        room.send(who, bytes);
        assert!(room.is_closed(who), "{who}");
        assert_eq!(room.bytes(who), b"", "nothing is said to somebody who has not joined");
    }
    room.join_all(&["Ann", "Bob"]);
    assert_eq!(room.received("Ann").last(), Some(&DealerMessage::Decision));
}

#[test]
fn disconnect_before_the_start_frees_the_seat() {
    for why in [DisconnectReason::Left, DisconnectReason::Broken] {
        let mut room = Room::joined(two(1), &["Eve"]);
        room.disconnect("Eve", why);
        assert!(room.is_closed("Eve"));
        room.join("Ann");
        assert_eq!(room.received("Ann"), []);
        room.join("Bob");
        assert_eq!(room.received("Ann").last(), Some(&DealerMessage::Decision));
    }
}

#[test]
fn message_of_a_waiting_client_ends_its_connection() {
    let mut room = Room::joined(two(1), &["Eve"]);
    room.send("Eve", b"HIT\0");
    assert_eq!(room.received("Eve"), [DealerMessage::Quit]);
    assert!(room.is_closed("Eve"));
}

#[test]
fn dealer_without_players_is_deserted() {
    for why in [DisconnectReason::Left, DisconnectReason::Broken] {
        let mut room = Room::joined(config(5), &["Ann"]);
        room.disconnect("Ann", why);
        assert_eq!(
            (room.server().outcome(), room.server().outcome()),
            (Some(Outcome::Deserted), Some(Outcome::Deserted))
        );
        assert_eq!(room.log().last().unwrap(), "table 1 was not played to its end");
    }
}
