use std::time::Duration;

use blackjack::{Config, DealerMessage};
use netcore::{Departure, DisconnectReason, Engine, GameEvent, Outcome, Phase, Role};

use crate::room::{Room, config, two};

const TWO: &str = "
    Ann > JOIN Ann
    Bob > JOIN Bob
    Ann < BEGIN, CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
    Bob < BEGIN, CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs";
const TWO_PACED: &str = "
    Ann > JOIN Ann
    Bob > JOIN Bob
    Ann < BEGIN
    Bob < BEGIN
    wait 200 ms
    Ann < CARD Two of Diamonds, CARD Eight of Diamonds, DEALER Eight of Clubs, DECISION
    Bob < CARD Nine of Diamonds, CARD Ten of Hearts, DEALER Eight of Clubs
    Ann > STAND
    Bob < DECISION";

#[track_caller]
fn play(config: Config, opening: &str, rest: &str) -> Room {
    let mut room = Room::new(config);
    room.check(&format!("{opening}\n{rest}"));
    room
}

// The pause in milliseconds, the players and the rounds; the transcript before the kill, and after it.
type Case = ((u64, usize, u32), &'static str, &'static str);

const CASES: [Case; 5] = [
    // The cards are those of the first three rounds without a kill.
    (
        (0, 1, 2),
        "",
        "Ann > JOIN Ann
         Ann < BEGIN, CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > HIT
         Ann < CARD Ten of Hearts, DECISION
         kill
         wait 29999 ms
         Ann > JOIN Ann
         Ann < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION",
    ),
    (
        (0, 3, 1),
        "",
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Cyd > JOIN Cyd
         Ann < BEGIN, CARD Two of Diamonds, CARD Ten of Hearts, DEALER Queen of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Eight of Clubs, DEALER Queen of Clubs
         Cyd < BEGIN, CARD Three of Diamonds, CARD Five of Diamonds, DEALER Queen of Clubs
         Ann > STAND
         Bob < DECISION
         kill
         Cyd > JOIN Cyd
         Ann > JOIN Ann
         Bob > JOIN Bob
         Ann < BEGIN, CARD Ace of Hearts, CARD Queen of Spades, DEALER Six of Spades, DECISION
         Bob < BEGIN, CARD Two of Clubs, CARD Nine of Diamonds, DEALER Six of Spades
         Cyd < BEGIN, CARD Ten of Clubs, CARD Seven of Clubs, DEALER Six of Spades",
    ),
    (
        (0, 2, 1),
        TWO,
        "kill
         Bob > JOIN Bob
         wait 29999 ms
         wait 1 ms
         Bob < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION
         Bob > STAND
         Bob < RESULT WIN, QUIT
         Bob closed
         Ann > JOIN Ann",
    ),
    // A host may keep some connections over the interruption.
    (
        (50, 2, 1),
        TWO_PACED,
        "Ann was interrupted
         wait 1000 ms
         Ann > JOIN Ann
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Ace of Hearts, CARD Jack of Clubs, DEALER Nine of Diamonds, DECISION
         Bob < CARD Two of Clubs, CARD Queen of Spades, DEALER Nine of Diamonds",
    ),
    (
        (50, 2, 2),
        TWO_PACED,
        "wait 50 ms
         Bob > HIT
         Ann < RESULT LOOSE
         Bob < CARD Five of Diamonds
         Ann was interrupted
         wait 1000 ms
         Bob < RESULT BUST
         Ann > JOIN Ann
         Ann < BEGIN
         Bob < BEGIN
         wait 200 ms
         Ann < CARD Ten of Hearts, CARD Ten of Diamonds, DEALER King of Hearts, DECISION
         Bob < CARD Eight of Diamonds, CARD Queen of Diamonds, DEALER King of Hearts",
    ),
];

#[test]
fn cancelled_rounds_are_not_dealt_again_and_seats_are_held() {
    for ((pause, players, rounds), opening, rest) in CASES {
        play(Config { players, delay: Duration::from_millis(pause), ..config(rounds) }, opening, rest);
    }
}

#[test]
fn a_hand_that_was_forfeited_stays_lost() {
    let room = play(
        two(1),
        TWO,
        "Bob > HIT
         Bob < QUIT
         Bob closed
         kill
         Ann > JOIN Ann
         Ann < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION
         Ann > STAND
         Ann < RESULT WIN, QUIT
         Ann closed",
    );
    assert_eq!(room.row("Bob"), [1, 0, 0, 1, 0, 1]);
    let [rounds, .., forfeits] = room.row("Ann");
    assert_eq!((rounds, forfeits), (1, 0));
}

#[test]
fn half_closed_client_has_no_seat_after_a_kill() {
    let room = play(
        two(1),
        TWO,
        "Ann > STAND
         Bob < DECISION
         Ann left
         kill
         Bob > JOIN Bob
         Bob < BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION",
    );
    assert!(room.log().contains(&"Ann left table 1, seat 1: closed the connection".to_owned()), "{:?}", room.log());
}

#[test]
fn dealer_without_returning_players_is_deserted() {
    let mut room = play(two(3), TWO, "kill");
    let status = room.server().status();
    assert_eq!((status.phase, status.taken, status.seats), (Phase::Playing, 2, 2));
    room.wait(Duration::from_secs(30));
    assert_eq!(room.server().outcome(), Some(Outcome::Deserted));
    assert_eq!(room.row("Ann"), [0; 6]);
    let gone = |event: &&GameEvent| {
        matches!(event, GameEvent::Left { why: Departure::Disconnected(DisconnectReason::Interrupted), .. })
    };
    assert_eq!(room.events.iter().filter(gone).count(), 2);
}

#[test]
fn held_seat_requires_the_same_host_and_name() {
    let mut room = Room::joined(Config { forever: true, ..config(2) }, &["Ann"]);
    room.kill();
    for (who, host) in [("Eve", "192.0.2.0"), ("Mal", "192.0.2.7")] {
        room.connect_from(host, Role::Player, who);
        room.send(who, b"JOIN Ann\0");
        assert_eq!(room.received(who), []);
        assert!(room.log().last().unwrap().starts_with("Ann waits behind "));
    }
    room.join("Bob");
    assert_eq!(room.received("Bob"), []);
    room.join("Ann");
    assert_eq!(room.received("Ann").len(), 5);
    assert_eq!([room.received("Eve"), room.received("Mal")], [vec![], vec![]]);
}

#[test]
fn equal_names_resume_in_order_of_arrival() {
    let mut room = Room::new(Config { players: 2, tables: 2, ..config(1) });
    for who in ["A", "B", "C", "D"] {
        room.connect(who);
        room.send(who, b"JOIN Ann\0");
    }
    room.kill();
    for who in ["A", "B", "C", "D", "E"] {
        room.connect(who);
        room.send(who, b"JOIN Ann\0");
    }
    let log = room.log();
    let seats: Vec<&str> = log.iter().filter_map(|line| line.strip_prefix("Ann sits at ")).collect();
    assert_eq!(seats[4..], ["table 1, seat 1", "table 1, seat 2", "table 2, seat 1", "table 2, seat 2"]);
    assert_eq!(room.log().last().unwrap(), "Ann waits behind 0");
}

#[test]
fn stopped_dealer_with_held_seats_prints_standings() {
    let mut room = Room::joined(config(3), &["Ann"]);
    room.send("Ann", b"STAND\0");
    room.kill();
    room.stop();
    assert_eq!(room.server().outcome(), Some(Outcome::Stopped));
    assert_eq!(room.row("Ann")[0], 1);
    assert_eq!(
        room.log()[room.log().len() - 2..],
        [
            "table 1 was not played to its end",
            "Ann left table 1, seat 1: did not reconnect after the server was resumed"
        ]
    );
}

#[test]
fn kill_removes_clients_without_a_seat() {
    let mut room = Room::new(config(1));
    for (who, bytes) in [("Ann", &b"JOIN Ann\0"[..]), ("Bob", b"JOIN Bob\0"), ("Cyd", b"JO")] {
        room.connect(who);
        room.send(who, bytes);
    }
    room.watch("Wes");
    room.kill();
    room.join_all(&["Bob", "Cyd"]);
    let log: Vec<String> = room.log().into_iter().filter(|line| line.contains(" waits behind ")).collect();
    assert_eq!(log[log.len() - 2..], ["Bob waits behind 0", "Cyd waits behind 1"]);
    room.join("Ann");
    room.send("Ann", b"STAND\0");
    assert_eq!(room.received("Bob"), [DealerMessage::Quit]);
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
}
