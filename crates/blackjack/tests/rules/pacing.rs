use std::time::Duration;

use blackjack::{Config, DealerMessage, Dialect, Name, PlayerMessage};

use netcore::Engine;

use crate::room::{Room, config};

fn paced(players: usize, rounds: u32) -> Config {
    Config { players, delay: Duration::from_millis(50), ..config(rounds) }
}

// The number of messages in each step of 10 ms, without empty steps.
fn received(room: &mut Room, who: &str, millis: u64) -> Vec<(u64, usize)> {
    let mut heard = vec![(0, room.received(who).len())];
    for step in (10..=millis).step_by(10) {
        room.wait(Duration::from_millis(10));
        heard.push((step, room.received(who).len()));
    }
    heard.retain(|&(_, count)| count > 0);
    heard
}

#[test]
fn text_messages_come_one_by_one_with_a_pause_between() {
    let mut room = Room::joined(paced(1, 2), &["Ann"]);
    assert_eq!(received(&mut room, "Ann", 1_000), [(0, 1), (50, 1), (100, 1), (150, 1), (200, 1)]);
    room.send("Ann", b"STAND\0");
    assert_eq!(received(&mut room, "Ann", 250), [(0, 1), (50, 1), (100, 1), (150, 1), (200, 1), (250, 1)]);
    room.send("Ann", b"STAND\0");
    assert_eq!(received(&mut room, "Ann", 100), [(0, 1), (50, 1)]);
    assert!(room.is_closed("Ann"));
}

#[test]
fn binary_clients_and_dealers_without_pauses_are_not_paced() {
    let mut room = Room::new(paced(1, 1));
    room.connect("Ann");
    room.send_message("Ann", Dialect::Binary, &PlayerMessage::Join(Name::new(b"Ann").unwrap()));
    assert_eq!(received(&mut room, "Ann", 100), [(0, 5)]);
    let mut room = Room::joined(config(1), &["Ann"]);
    assert_eq!(received(&mut room, "Ann", 100), [(0, 5)]);
}

#[test]
fn answer_before_the_question_is_sent_is_rejected() {
    // Up to 199 ms after the JOIN the question is still queued.
    for (wait, in_time) in [(0, false), (150, false), (199, false), (200, true)] {
        let mut room = Room::joined(paced(1, 1), &["Ann"]);
        room.wait(Duration::from_millis(wait));
        room.send("Ann", b"STAND\0");
        room.wait(Duration::from_millis(200));
        assert_eq!(
            room.received("Ann").iter().any(|message| matches!(message, DealerMessage::Result(_))),
            in_time,
            "{wait}"
        );
        assert!(room.is_closed("Ann"));
    }
}

#[test]
fn time_limit_counts_from_the_question() {
    let mut room = Room::new(paced(1, 1));
    room.connect("Ann");
    room.wait(Duration::from_secs(20));
    room.send("Ann", b"JOIN Ann\0");
    room.wait(Duration::from_millis(30_199));
    assert!(!room.is_closed("Ann"));
    room.wait(Duration::from_millis(1));
    assert!(room.is_closed("Ann"));
    assert!(room.log().iter().any(|line| line.contains("no answer in time")));
}

#[test]
fn pauses_of_one_client_do_not_delay_others() {
    let mut room = Room::new(paced(2, 1));
    room.connect("Ann");
    room.send_message("Ann", Dialect::Binary, &PlayerMessage::Join(Name::new(b"Ann").unwrap()));
    room.join("Bob");
    assert_eq!(room.received("Ann").len(), 5);
    room.send_message("Ann", Dialect::Binary, &PlayerMessage::Stand);
    assert_eq!(received(&mut room, "Bob", 500), [(0, 1), (50, 1), (100, 1), (150, 1), (200, 1)]);
    room.send("Bob", b"STAND\0");
    // Bob's QUIT is still queued.
    assert!(room.is_closed("Ann") && !room.is_closed("Bob"));
    assert_eq!(room.server().outcome(), None);
    room.wait(Duration::from_millis(50));
    assert!(room.is_closed("Bob") && room.server().outcome().is_some());
}
