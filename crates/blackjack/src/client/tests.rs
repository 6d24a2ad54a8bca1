use super::*;
use crate::{qtable::QTable, verdict::Verdict};
use netcore::Client as _;
use std::{format, string::String, vec::Vec};

fn client(space: StateSpace) -> Client {
    Client::new(Name::new(b"Ann").unwrap(), Dialect::Text, Framing::Stream, space)
}

const HIT: Choice = Choice::sure(Action::Hit);
const STAND: Choice = Choice::sure(Action::Stand);

// Returns the anomalies.
fn play(player: &mut Client, table: &mut QTable, script: &str) -> Result<String, String> {
    let mut odd = Vec::new();
    for line in script.split(", ") {
        match line {
            "HIT" | "STAND" => {
                let choice = if line == "HIT" { HIT } else { STAND };
                player.decide(choice).map_err(|error| format!("{error}"))?;
            }
            _ => {
                let message = DealerMessage::parse_text(line.as_bytes()).expect("a message");
                let event = player.apply(message).map_err(|error| format!("{error}"))?;
                odd.extend(event.anomaly.map(|anomaly| format!("{anomaly}")));
                if let MessageEffect::Ended { verdict, lesson: Some(lesson), .. } = event.effect {
                    lesson.teach(table, verdict);
                }
            }
        }
    }
    Ok(odd.join("; "))
}

const DEAL: &str = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION";

fn after(script: &str) -> (Result<String, String>, String) {
    let (mut player, mut table) = (client(StateSpace::Coarse), QTable::new(StateSpace::Coarse));
    let odd = play(&mut player, &mut table, &script.replace("DEAL,", &format!("{DEAL},")));
    (odd, table.dump().trim_end().into())
}

#[test]
fn complete_rounds_are_learned() {
    for (script, learned) in [
        ("DEAL, STAND, RESULT WIN", "16 3 - 0 1.000000 1"),
        ("DEAL, HIT, CARD Nine of Clubs, RESULT BUST", "16 3 -1.000000 1 - 0"),
        ("DEAL, HIT, CARD Nine of Clubs, RESULT LOOSE", "16 3 -1.000000 1 - 0"),
        ("DEAL, HIT, CARD Five of Clubs, DECISION, STAND, RESULT PUSH", "16 3 0.000000 1 - 0\n21 3 - 0 0.000000 1"),
        ("DEAL, STAND, RESULT WIN, DEAL, STAND, RESULT LOOSE, QUIT", "16 3 - 0 0.000000 2"),
    ] {
        assert_eq!(after(script), (Ok(String::new()), learned.into()), "{script}");
    }
}

#[test]
fn tolerated_faults_are_reported_and_not_learned() {
    for (script, told) in [
        ("RESULT WIN", "outside a round"),
        ("RESULT LOSE, RESULT BUST, BEGIN, QUIT", "not counted; received a result outside a round"),
        ("BEGIN, RESULT WIN", "before the hand was played"),
        ("DEAL, RESULT WIN", "before the hand was played"),
        ("DEAL, HIT, RESULT BUST", "before the hand was played"),
        ("DEAL, HIT, CARD Nine of Clubs, RESULT WIN", "a hand of 25 cannot have"),
        ("DEAL, STAND, RESULT BUST", "a hand of 16 cannot have"),
        ("DEAL, STAND, BEGIN", "before the end of the last one"),
    ] {
        let (odd, learned) = after(script);
        assert!(odd.as_ref().is_ok_and(|odd| odd.contains(told)), "{script}: {odd:?}");
        assert_eq!(learned, "", "{script}");
    }
    let (odd, learned) = after("DEAL, HIT, CARD Ten of Clubs, RESULT BUST");
    assert_eq!(odd, Ok("received the Ten of Clubs twice in one round".into()));
    assert_eq!(learned, "16 3 -1.000000 1 - 0");
    let begun = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, CARD Two of Clubs, DECISION, STAND, \
                 RESULT WIN";
    let (odd, learned) = after(begun);
    assert!(odd.as_ref().is_ok_and(|odd| odd.contains("began before")), "{odd:?}");
    assert_eq!(learned, "");
}

#[test]
fn dealer_may_restart_or_quit_at_any_time() {
    let script = "BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DEALER Three of Diamonds, DECISION, HIT, \
                  CARD Two of Clubs, DECISION, STAND, RESULT WIN";
    let steps: Vec<&str> = script.split(", ").collect();
    for length in 0..=steps.len() {
        let part = steps[..length].iter().fold(String::new(), |part, step| part + step + ", ");
        let (odd, learned) = after(&format!("{part}QUIT"));
        assert_eq!((odd, learned.is_empty()), (Ok(String::new()), length < steps.len()), "{part}");
        let (odd, learned) = after(&format!("{part}DEAL, STAND, RESULT WIN, QUIT"));
        assert_eq!(odd.map(|odd| odd.is_empty()), Ok(length == 0 || length == steps.len()), "{part}");
        assert!(learned.ends_with("1.000000 1"), "{learned}");
    }
}

#[test]
fn protocol_violations_are_errors() {
    for (script, expected) in [
        ("CARD Ten of Clubs", "BEGIN or QUIT"),
        ("DECISION", "BEGIN or QUIT"),
        ("BEGIN, DECISION", "CARD"),
        ("BEGIN, DEALER Ten of Clubs", "CARD"),
        ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, CARD Two of Clubs", "DEALER"),
        ("BEGIN, CARD Ten of Clubs, CARD Six of Hearts, DECISION", "DEALER"),
        ("DEAL, DECISION", "nothing before the answer"),
        ("DEAL, CARD Two of Clubs", "nothing before the answer"),
        ("DEAL, HIT, DECISION", "CARD"),
        ("DEAL, HIT, CARD Nine of Clubs, DECISION", "RESULT"),
        ("DEAL, STAND, CARD Nine of Clubs", "RESULT"),
        ("DEAL, STAND, DECISION", "RESULT"),
        ("QUIT, BEGIN", "nothing after QUIT"),
        ("QUIT, QUIT", "nothing after QUIT"),
    ] {
        let error = after(script).0.expect_err(script);
        assert!(error.ends_with(&format!("expected {expected}")), "{script}: {error}");
    }
    assert_eq!(after("BEGIN, HIT").0, Err("the dealer is not waiting for a decision".into()));
    assert_eq!(after("DEAL, STAND, STAND").0, Err("the dealer is not waiting for a decision".into()));
}

#[test]
fn stream_decodes_the_same_in_any_pieces() {
    let texts = ["BEGIN", "CARD Queen of Diamonds", "CARD Six of Hearts", "RESULT LOSE", "QUIT"];
    let messages = texts.map(|text| DealerMessage::parse_text(text.as_bytes()).unwrap());
    for dialect in [Dialect::Text, Dialect::Binary] {
        let mut bytes = BytesMut::new();
        for message in messages {
            bytes.extend_from_slice(&message.to_bytes(dialect));
        }
        for step in 1..=bytes.len() {
            let mut player = Client::new(Name::new(b"Ann").unwrap(), dialect, Framing::Stream, StateSpace::Soft);
            let mut read = Vec::new();
            for piece in bytes.chunks(step) {
                player.receive(Time::ZERO, piece).unwrap();
                read.extend(core::iter::from_fn(|| player.poll_event()).map(|event| event.message));
            }
            assert_eq!(read, messages, "{dialect:?} in pieces of {step}");
            assert_eq!((player.bytes_read(), player.is_within_message()), (bytes.len() as u64, false));
        }
    }
}

#[test]
fn error_has_its_position() {
    for (dialect, bytes, told) in [
        (Dialect::Text, &b"BEGIN\0\0"[..], "message 2, from byte 6 of the stream: byte 0: no message"),
        (Dialect::Text, b"QUIT\n\0", "message 1, from byte 0 of the stream: byte 0: no message"),
        (Dialect::Binary, b"\0\0\0\x01\x02\0\0\0\x02\x03\x35", "message 2, from byte 5 of the stream: byte 1"),
        (Dialect::Binary, b"\0\0\0\0", "message 1, from byte 0 of the stream: "),
        (Dialect::Binary, b"\xff\xff\xff\xff", "message 1, from byte 0 of the stream: a message of 4294967295"),
        (Dialect::Text, &[b'A'; 257], "message 1, from byte 0 of the stream: "),
    ] {
        let mut player = Client::new(Name::new(b"Ann").unwrap(), dialect, Framing::Stream, StateSpace::Soft);
        let error = format!("{}", player.receive(Time::ZERO, bytes).expect_err(told));
        assert!(error.starts_with(told), "{error}");
    }
}

#[test]
fn deck_of_aces_is_handled() {
    let mut player = client(StateSpace::Soft);
    let ace = DealerMessage::Card(Card::new(1).unwrap());
    let apply = |player: &mut Client, message| player.apply(message).unwrap().effect;
    apply(&mut player, DealerMessage::Begin);
    apply(&mut player, ace);
    apply(&mut player, ace);
    apply(&mut player, DealerMessage::Upcard(Card::new(1).unwrap()));
    let mut hits = 0;
    while player.apply(DealerMessage::Decision).is_ok() {
        player.decide(HIT).unwrap();
        apply(&mut player, ace);
        hits += 1;
    }
    assert_eq!((hits, player.hand().total()), (20, 22));
    let ended = apply(&mut player, DealerMessage::Result(Verdict::Bust));
    let MessageEffect::Ended { verdict: Verdict::Bust, total: 22, lesson: Some(lesson) } = ended else {
        panic!("{ended:?}")
    };
    let mut table = QTable::new(StateSpace::Soft);
    lesson.teach(&mut table, Verdict::Bust);
    assert_eq!(table.visited().map(|(_, entry)| entry.hit.n).sum::<u64>(), 20);
}
