use std::{
    collections::BTreeSet,
    io::Read,
    time::{Duration, Instant},
};

use blackjack::Dialect;

use super::{Client, Dealer};

const PLAY: &str = "--delay-ms 0 --seed 17";

/// Plays to the end: one hit in each round, then a stand.
fn transcript(client: &mut Client) -> String {
    let mut lines = vec![];
    let mut hits = 0;
    loop {
        let texts = client.until_asked();
        lines.push(texts.clone());
        if !texts.ends_with("DECISION") {
            return lines.join("\n");
        }
        hits = if texts.contains("BEGIN") { 0 } else { hits + 1 };
        if hits < 1 {
            client.hit();
            lines.push("> HIT".into());
        } else {
            client.stand();
            lines.push("> STAND".into());
        }
    }
}

const GOLDEN: &str = "\
BEGIN, CARD Four of Clubs, CARD Eight of Spades, DEALER Five of Hearts, DECISION\n\
> HIT\n\
CARD Ace of Spades, DECISION\n\
> STAND\n\
RESULT WIN, BEGIN, CARD King of Clubs, CARD Seven of Diamonds, DEALER Ten of Spades, DECISION\n\
> HIT\n\
CARD Two of Diamonds, DECISION\n\
> STAND\n\
RESULT LOOSE, BEGIN, CARD Three of Hearts, CARD King of Spades, DEALER Nine of Clubs, DECISION\n\
> HIT\n\
CARD Eight of Spades, DECISION\n\
> STAND\n\
RESULT WIN, BEGIN, CARD King of Clubs, CARD Seven of Hearts, DEALER Five of Spades, DECISION\n\
> HIT\n\
CARD Eight of Diamonds, RESULT BUST, BEGIN, CARD Ace of Spades, CARD Two of Spades, DEALER Ace of Diamonds, DECISION\n\
> HIT\n\
CARD Three of Hearts, DECISION\n\
> STAND\n\
RESULT LOOSE, BEGIN, CARD Queen of Spades, CARD Six of Hearts, DEALER Four of Hearts, DECISION\n\
> HIT\n\
CARD Six of Spades, RESULT BUST, QUIT";

#[test]
fn a_whole_game_of_a_seed_is_the_same_in_both_dialects() {
    let text = transcript(&mut Dealer::start(&format!("6 {PLAY}")).text("Ann"));
    assert_eq!(text, GOLDEN);
    let binary = transcript(&mut Dealer::start(&format!("6 {PLAY}")).binary("Ann"));
    assert_eq!(binary, GOLDEN);
}

#[test]
fn the_bytes_of_a_game_are_these() {
    let dealer = Dealer::start(&format!("1 {PLAY}"));
    let mut ann = Client::connect(dealer.address(), Dialect::Text);
    ann.write(b"JOIN Ann\0");
    let deal = b"BEGIN\0CARD Four of Clubs\0CARD Eight of Spades\0DEALER Five of Hearts\0DECISION\0";
    let mut bytes = vec![0; deal.len()];
    ann.stream.read_exact(&mut bytes).unwrap();
    assert_eq!(bytes.escape_ascii().to_string(), deal.escape_ascii().to_string());
    ann.write(b"STAND\0");
    assert_eq!(ann.rest(), b"RESULT WIN\0QUIT\0");
    assert_eq!(dealer.process.wait().code, Some(0));

    let dealer = Dealer::start(&format!("1 {PLAY}"));
    let mut ann = Client::connect(dealer.address(), Dialect::Binary);
    ann.write(b"\0\0\0\x05\x01\x01Ann");
    let mut bytes = [0; 28];
    ann.stream.read_exact(&mut bytes).unwrap();
    // Card 4, card 39 + 8, upcard 26 + 5.
    assert_eq!(bytes, *b"\0\0\0\x01\x02\0\0\0\x02\x03\x04\0\0\0\x02\x03\x2f\0\0\0\x02\x04\x1f\0\0\0\x01\x05");
    ann.write(b"\0\0\0\x01\x07");
    assert_eq!(ann.rest(), b"\0\0\0\x02\x08\x01\0\0\0\x01\x09");
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn both_dialects_sit_at_one_table_of_six() {
    let dealer = Dealer::start(&format!("3 --players 6 {PLAY}"));
    let mut clients: Vec<_> = (1..=6)
        .map(|seat| {
            let name = format!("Ann{seat}");
            let client = if seat % 2 == 0 { dealer.binary(&name) } else { dealer.text(&name) };
            // Seats are taken in the order of joining.
            let said = format!("waits for a seat name={name} ");
            if seat < 6 {
                dealer.process.wait_stderr("that it waits", |log| log.contains(&said).then_some(()));
            }
            client
        })
        .collect();
    let mut told: Vec<Vec<String>> = vec![vec![]; 6];
    for _ in 0..3 {
        let mut upcards = BTreeSet::new();
        let mut cards = vec![];
        for (client, told) in clients.iter_mut().zip(&mut told) {
            let texts = client.until_asked();
            assert!(texts.ends_with("DECISION"), "{texts}");
            told.extend(texts.split(", ").map(str::to_owned));
            upcards.extend(told.iter().rfind(|text| text.starts_with("DEALER ")).cloned());
            let begin = told.iter().rposition(|text| text == "BEGIN").unwrap();
            cards.extend(told[begin..].iter().filter(|text| text.starts_with("CARD ")).cloned());
            // The next seat is asked when this one is done.
            client.stand();
        }
        assert_eq!(upcards.len(), 1, "the same upcard for all");
        assert_eq!(cards.len(), 12);
        assert_eq!(cards.iter().collect::<BTreeSet<_>>().len(), 12, "no card twice: {cards:?}");
    }
    for client in &mut clients {
        assert!(client.until_asked().ends_with("QUIT"));
    }
    let finished = dealer.process.wait();
    assert_eq!(finished.code, Some(0));
    assert_eq!(finished.stdout.matches("Ann").count(), 6, "{}", finished.stdout);
}

#[test]
fn tables_are_played_at_the_same_time_and_have_cards_of_their_own() {
    let dealer = Dealer::start(&format!("1 --tables 2 {PLAY}"));
    let (mut ann, mut bob) = (dealer.text("Ann"), dealer.text("Bob"));
    let (one, other) = (ann.until_asked(), bob.until_asked());
    assert!(one.ends_with("DECISION") && other.ends_with("DECISION"));
    assert_ne!(one, other);
    bob.stand();
    bob.stand_to_the_end();
    ann.stand();
    ann.stand_to_the_end();
    let finished = dealer.process.wait();
    assert_eq!((finished.code, finished.stdout.matches("Table ").count()), (Some(0), 2));
}

#[test]
fn a_client_beyond_the_seats_waits_for_the_next_table() {
    let dealer = Dealer::start(&format!("1 --forever {PLAY}"));
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    let mut bob = dealer.text("Bob");
    dealer.process.wait_stderr("that Bob waits", |log| {
        log.lines().any(|line| line.contains("waits for a seat name=Bob ")).then_some(())
    });
    ann.stand();
    assert!(ann.stand_to_the_end().ends_with(&["QUIT".to_owned()]));
    assert!(bob.until_asked().starts_with("BEGIN"));
    bob.stand();
    bob.stand_to_the_end();
    assert!(dealer.process.is_running());
    dealer.process.terminate();
    let finished = dealer.process.wait();
    assert_eq!((finished.code, finished.stdout.matches("Table ").count()), (Some(0), 2));
}

#[test]
fn whoever_waits_in_vain_is_sent_home_at_the_end() {
    let dealer = Dealer::start(&format!("1 {PLAY}"));
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    let bob = dealer.binary("Bob");
    dealer.process.wait_stderr("that Bob waits", |log| log.contains("waits for a seat").then_some(()));
    ann.stand();
    assert_eq!(bob.rest(), b"\0\0\0\x01\x09");
    assert_eq!(dealer.process.wait().code, Some(0));
}

#[test]
fn two_dealers_that_are_started_together_deal_other_cards() {
    let dealers = [Dealer::start("4 --delay-ms 0"), Dealer::start("4 --delay-ms 0")];
    let [one, other] = dealers.map(|dealer| dealer.text("Ann").stand_to_the_end());
    assert_ne!(one, other);
}

/// A machine that is busy may hold messages up, but none leaves early: four pauses before the question, one before QUIT.
#[test]
fn text_is_paced() {
    let dealer = Dealer::start("1 --delay-ms 40 --seed 17");
    let start = Instant::now();
    let mut ann = dealer.text("Ann");
    ann.until_asked();
    ann.stand();
    assert_eq!(ann.rest(), b"RESULT WIN\0QUIT\0");
    assert!(start.elapsed() >= Duration::from_millis(5 * 40), "{:?}", start.elapsed());
}
