use std::{collections::BTreeMap, time::Duration};

use blackjack::{Card, Config, DealerMessage, Deck, Seed};
use netcore::{DisconnectReason, Engine, Input, Leave, Outcome, Phase};

use crate::room::{Drive, Room, config, messages};

// `round` is counted from 1.
fn deck(seed: u64, table: u32, round: u32) -> Vec<Card> {
    let mut rng = Seed::from_number(seed).generator(table);
    let mut deck = Deck::new();
    (0..round).for_each(|_| deck.shuffle(&mut rng));
    std::iter::from_fn(|| deck.deal().ok()).collect()
}

#[test]
fn hole_card_and_deck_are_not_sent() {
    let mut seen = [0; 2];
    for seed in 0..40_u64 {
        let config = Config {
            players: usize::try_from(seed % 3).unwrap() + 1,
            tables: 2,
            forever: true,
            delay: Duration::from_millis(if seed.is_multiple_of(2) { 20 } else { 0 }),
            ..Config::new(40, Seed::from_number(seed))
        };
        let mut drive = Drive::new(config, seed);
        for _ in 0..500 {
            let sent = drive.random();
            // By table: the hidden cards of the current round, and the cards that may be sent.
            let (mut hidden, mut told) = (BTreeMap::new(), vec![]);
            for table in drive.room.server().tables() {
                let game = table.game();
                let (round, number) = (game.round().unwrap(), table.number());
                let order = deck(seed, number, game.played() + 1);
                let shown: Vec<Card> = (0..6)
                    .filter_map(|seat| round.public_hand(seat))
                    .flat_map(|(hand, _)| hand.cards().to_vec())
                    .collect();
                assert!(order.contains(&round.upcard()) && shown.iter().all(|card| order.contains(card)));
                let unseen: Vec<Card> =
                    order.into_iter().filter(|card| *card != round.upcard() && !shown.contains(card)).collect();
                hidden.insert(number, unseen);
                told.extend(shown);
                told.push(round.upcard());
                if game.played() > 0 {
                    let dealer = game.revealed().unwrap().cards();
                    // Of the last round, all cards except the dealer's are permitted, dealt or not.
                    let last = deck(seed, number, game.played());
                    told.extend(last.into_iter().filter(|card| !dealer.contains(card)));
                    told.push(dealer[1]);
                }
            }
            for (who, bytes) in sent {
                if drive.room.watches(&who) {
                    let picture = String::from_utf8(bytes).unwrap().replace('\0', "\n");
                    let mut number = 0;
                    for line in picture.lines() {
                        if let Some(rest) = line.strip_prefix("TABLE ") {
                            number = rest.split(' ').next().unwrap().parse().unwrap();
                        }
                        let Some(hidden) = hidden.get(&number).filter(|_| !line.starts_with("REVEALED ")) else {
                            continue;
                        };
                        for card in hidden {
                            assert!(!line.contains(card.name()), "seed {seed}: {picture}");
                        }
                        seen[0] += usize::from(line.starts_with("HAND "));
                    }
                } else if hidden.len() == 2 {
                    for message in messages(&bytes) {
                        if let DealerMessage::Card(card) | DealerMessage::Upcard(card) = message {
                            assert!(told.contains(&card), "seed {seed}: {who} is told of the {card}");
                            seen[1] += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(seen[0] > 1_000 && seen[1] > 1_000, "{seen:?}");
}

fn pictures(room: &mut Room, who: &str) -> Vec<String> {
    let bytes = String::from_utf8(room.bytes(who)).unwrap();
    bytes.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn watcher_gets_all_open_cards_in_one_message() {
    let mut room = Room::new(Config { players: 2, ..config(2) });
    room.watch("Wat");
    assert_eq!(pictures(&mut room, "Wat"), ["LOBBY 0 1 0 0"]);
    room.join_all(&["Ann", "Bob"]);
    room.wait(Duration::from_millis(100));
    let last = pictures(&mut room, "Wat").pop().unwrap();
    let lines: Vec<&str> = last.lines().collect();
    assert_eq!(
        (lines[1], lines[3], lines[5]),
        ("TABLE 1 PLAYING 0 2", "SEAT 1 DECIDES Ann 0 0 0 0 0", "SEAT 2 WAITS Bob 0 0 0 0 0")
    );
    assert!(lines[2].starts_with("DEALER ") && lines[4].starts_with("HAND ") && lines.len() == 7, "{last}");
    room.send("Ann", b"STAND\0");
    room.disconnect("Bob", DisconnectReason::Broken);
    room.wait(Duration::from_millis(100));
    let last = pictures(&mut room, "Wat").pop().unwrap();
    assert!(
        last.contains("TABLE 1 PLAYING 1 2")
            && last.contains("\nREVEALED ")
            && last.contains("SEAT 2 OUT Bob 0 0 1 0 1"),
        "{last}"
    );
    room.send("Wat", b"HIT\0");
    assert_eq!(pictures(&mut room, "Wat"), Vec::<String>::new());
    room.refresh("Wat");
    assert_eq!(pictures(&mut room, "Wat"), [last]);
    room.send("Ann", b"STAND\0");
    assert_eq!(pictures(&mut room, "Wat").pop().unwrap(), "LOBBY 0 1 0 2");
    assert!(room.is_closed("Wat") && room.is_closed("Ann"));
    assert_eq!(room.server().outcome(), Some(Outcome::Finished));
}

#[test]
fn displays_are_sent_at_most_ten_times_a_second() {
    let mut room = Room::new(config(1_000_000));
    room.watch("Wat");
    assert_eq!(pictures(&mut room, "Wat"), ["LOBBY 0 1 0 0"]);
    room.join("Ann");
    for _ in 0..1_000 {
        room.wait(Duration::from_millis(1));
        room.send("Ann", b"STAND\0");
    }
    let pictures = pictures(&mut room, "Wat");
    assert!((10..=11).contains(&pictures.len()), "{}", pictures.len());
    assert!(pictures[9].starts_with("LOBBY 1 1 0 0\nTABLE 1 PLAYING 9"), "{}", pictures[9]);
}

#[test]
fn refresh_repeats_the_last_result_with_its_round() {
    for delay in [0, 50] {
        for seed in 0..20 {
            let seed = Seed::from_number(seed);
            let mut room = Room::joined(Config { delay: Duration::from_millis(delay), seed, ..config(9) }, &["Ann"]);
            room.wait(Duration::from_secs(1));
            let first = room.received("Ann");
            room.refresh("Ann");
            room.wait(Duration::from_secs(1));
            assert_eq!(room.received("Ann"), first, "no round is over");

            room.send("Ann", b"STAND\0");
            room.refresh("Ann");
            room.wait(Duration::from_secs(1));
            let told = room.received("Ann");
            room.refresh("Ann");
            room.wait(Duration::from_secs(1));
            let mut again = room.received("Ann");
            assert!(told.ends_with(&again), "{told:?} and again {again:?}");
            let second = again.split_off(first.len());
            let question = first.len() - 1;
            assert_eq!(first[question], DealerMessage::Decision);
            assert_eq!(again[..question], first[..question], "the cards of the last round, without its question");
            assert!(matches!(again[question], DealerMessage::Result(_)), "{again:?}");
            assert_eq!((&second[0], second.last()), (&DealerMessage::Begin, Some(&DealerMessage::Decision)));
        }
    }
}

#[test]
fn queued_result_is_sent_again_after_a_refresh() {
    let mut room = Room::joined(Config { players: 2, delay: Duration::from_millis(50), ..config(9) }, &["Ann", "Bob"]);
    room.wait(Duration::from_secs(1));
    // The result of a bust hand is queued in the pause after its last card.
    while room.received("Ann").contains(&DealerMessage::Decision) {
        room.send("Ann", b"HIT\0");
        room.wait(Duration::from_secs(1));
    }
    room.received("Bob");
    room.refresh("Ann");
    room.send("Bob", b"STAND\0");
    room.received("Ann");
    room.refresh("Ann");
    assert!(room.received("Ann").contains(&DealerMessage::Result(blackjack::Verdict::Bust)));
    room.restore();
    room.refresh("Ann");
    assert!(room.received("Ann").contains(&DealerMessage::Result(blackjack::Verdict::Bust)));
}

#[test]
fn repeated_refreshes_do_not_extend_the_time_limit() {
    let mut room = Room::joined(Config { delay: Duration::from_millis(50), ..config(9) }, &["Ann"]);
    for _ in 0..200 {
        room.wait(Duration::from_millis(149));
        room.refresh("Ann");
    }
    room.wait(Duration::from_millis(500));
    assert!(room.is_closed("Ann"));
}

#[test]
fn refresh_of_a_waiting_client_sends_nothing() {
    let mut room = Room::new(Config { players: 2, ..config(9) });
    room.connect("Ann");
    room.refresh("Ann");
    room.send("Ann", b"JOIN Ann\0");
    room.refresh("Ann");
    assert_eq!(room.bytes("Ann"), b"");
}

#[test]
fn resumable_stop_sends_nothing() {
    let mut room = Room::joined(Config { players: 1, ..config(9) }, &["Ann", "Bob"]);
    room.watch("Wat");
    room.received("Ann");
    room.bytes("Wat");
    room.input(Input::Stop(Leave::Resumable));
    assert_eq!((room.bytes("Ann"), room.bytes("Bob"), room.bytes("Wat")), (vec![], vec![], vec![]));
    assert!(["Ann", "Bob", "Wat"].iter().all(|who| !room.is_closed(who)) && room.printed().is_empty());
    assert_eq!(room.server().outcome(), Some(Outcome::Stopped));
}

fn status(room: &Room) -> (Phase, u32, u32) {
    let status = room.server().status();
    (status.phase, status.taken, status.seats)
}

#[test]
fn clients_waiting_for_the_first_table_take_its_seats() {
    let mut room = Room::new(Config { players: 2, forever: true, ..config(9) });
    assert_eq!(status(&room), (Phase::Lobby, 0, 2));
    let mut seen = vec![];
    for who in ["Ann", "Bob", "Cyd"] {
        room.join(who);
        seen.push(status(&room));
    }
    assert_eq!(seen, [(Phase::Lobby, 1, 2), (Phase::Playing, 2, 2), (Phase::Playing, 2, 2)]);
}
