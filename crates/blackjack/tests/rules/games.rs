use std::time::Duration;

use blackjack::{Config, ConfigError, DealerMessage, Dialect, Name, PlayerMessage};
use netcore::{Engine, Outcome};

use crate::room::{Room, config};

#[test]
fn single_player_plays_all_rounds_and_receives_quit() {
    Room::new(config(3)).check(
        "Ann > JOIN Ann
         Ann < BEGIN, CARD Two of Diamonds, CARD Three of Diamonds, DEALER Eight of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT LOOSE, BEGIN, CARD Ace of Hearts, CARD Ten of Clubs, DEALER Jack of Clubs, DECISION
         Ann > HIT
         Ann < CARD Queen of Spades, DECISION
         Ann > STAND
         Ann < RESULT PUSH, BEGIN, CARD Ten of Hearts, CARD Ten of Clubs, DEALER Ten of Diamonds, DECISION
         Ann > STAND
         Ann < RESULT WIN, QUIT
         Ann closed",
    );
}

#[test]
fn seats_decide_in_turn_and_receive_results_at_the_end() {
    Room::new(Config { players: 3, ..config(1) }).check(
        "Ann > JOIN Ann
         Bob > JOIN Bob
         Cyd > JOIN Cyd
         Ann < BEGIN, CARD Two of Diamonds, CARD Ten of Hearts, DEALER Queen of Clubs, DECISION
         Bob < BEGIN, CARD Nine of Diamonds, CARD Eight of Clubs, DEALER Queen of Clubs
         Cyd < BEGIN, CARD Three of Diamonds, CARD Five of Diamonds, DEALER Queen of Clubs
         Ann > HIT
         Ann < CARD Nine of Spades, DECISION
         Ann > HIT
         Ann < CARD Jack of Diamonds
         Bob < DECISION
         Bob > STAND
         Cyd < DECISION
         Cyd > STAND
         Ann < RESULT BUST, QUIT
         Bob < RESULT LOOSE, QUIT
         Cyd < RESULT LOOSE, QUIT
         Ann closed
         Bob closed
         Cyd closed",
    );
}

#[test]
fn deals_do_not_depend_on_the_dialects_at_a_table() {
    let deal = |dialects: [Dialect; 2]| {
        let mut room = Room::new(Config { players: 2, ..config(1) });
        for (who, dialect) in ["Ann", "Bob"].into_iter().zip(dialects) {
            room.connect(who);
            room.send_message(who, dialect, &PlayerMessage::Join(Name::new(b"same-name").unwrap()));
        }
        for (who, dialect) in ["Ann", "Bob"].into_iter().zip(dialects) {
            room.send_message(who, dialect, &PlayerMessage::Stand);
        }
        ["Ann", "Bob"].map(|who| room.received(who))
    };
    let both = deal([Dialect::Text, Dialect::Binary]);
    assert_eq!(both, deal([Dialect::Text, Dialect::Text]));
    assert_eq!(both, deal([Dialect::Binary, Dialect::Text]));
}

#[test]
fn parallel_tables_have_different_cards() {
    let mut room = Room::joined(Config { tables: 2, ..config(2) }, &["Ann", "Bob", "Cyd"]);
    let (ann, bob) = (room.received("Ann"), room.received("Bob"));
    assert_eq!((ann.len(), bob.len()), (5, 5));
    assert_ne!(ann, bob);
    assert_eq!(room.received("Cyd"), []);
    assert!(room.log().iter().any(|line| line == "Cyd waits behind 0"));
    assert!(room.log().iter().any(|line| line == "no seat is left for Cyd: all tables are taken and none will follow"));
    for who in ["Bob", "Bob", "Ann", "Ann"] {
        room.send(who, b"STAND\0");
    }
    assert_eq!(room.received("Cyd"), [DealerMessage::Quit]);
    assert_eq!(room.progress(), [(2, 1, 2), (2, 2, 2), (1, 1, 2), (1, 2, 2)]);
    assert_eq!(room.printed().iter().map(|text| &text[..7]).collect::<Vec<_>>(), ["Table 2", "Table 1"]);
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
}

#[test]
fn stopped_dealer_sends_quit_and_prints_standings() {
    let mut room = Room::new(Config { delay: Duration::from_millis(50), ..config(9) });
    room.check(
        "Ann > JOIN Ann
         Ann < BEGIN
         Bob > JOIN Bob
         stop
         Ann < QUIT
         Bob < QUIT
         Ann closed
         Bob closed",
    );
    assert_eq!((room.printed().len(), room.server().outcome()), (1, Some(Outcome::Stopped)));
    assert_eq!(room.server().deadline(), None);
}

#[test]
fn standings_as_json_and_trace_output() {
    let mut room = Room::joined(Config { json: true, trace: true, ..config(1) }, &["Ann"]);
    room.send("Ann", b"STAND\0");
    assert!(room.printed()[0].starts_with(r#"{"table":1,"seats":[{"rank":1,"seat":1,"name":"Ann","rounds":1,"#));
    for told in ["Ann > STAND", "Ann < DECISION", "table 1 round 1: the dealer had ", "table 1 is over"] {
        assert!(room.log().iter().any(|line| line.contains(told)), "{told}: {:?}", room.log());
    }
}

#[test]
fn invalid_dealer_configuration_is_rejected() {
    let refused = |config| blackjack::Server::new(config).err();
    assert_eq!(refused(Config { players: 0, ..config(1) }), Some(ConfigError::Players(0)));
    assert_eq!(refused(Config { players: 7, ..config(1) }), Some(ConfigError::Players(7)));
    assert_eq!(refused(Config { tables: 0, ..config(1) }), Some(ConfigError::Tables(0)));
    assert_eq!(refused(Config { tables: 4_097, ..config(1) }), Some(ConfigError::Tables(4_097)));
    assert_eq!(refused(config(0)), Some(ConfigError::Rounds(0)));
    assert_eq!(refused(config(1_000_000_001)), Some(ConfigError::Rounds(1_000_000_001)));
}

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
