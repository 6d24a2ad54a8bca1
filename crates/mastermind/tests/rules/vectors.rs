//! The byte vectors that the modules of the page are tested with, too.

use std::{fs, path::Path};

use mastermind::{Client, ClientMessage, ServerMessage, view::Line};
use netcore::{Client as _, Framing, Link, Time};
use serde_json::{Value, json};

fn vectors() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../arcade/web/test/vectors/mastermind.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn messages_are_read_and_written_as_the_page_does() {
    let vectors = vectors();
    for text in texts(&vectors["server"]["valid"]) {
        let message = ServerMessage::parse(text.as_bytes()).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(message.to_frame(Framing::Whole), text);
    }
    for text in texts(&vectors["server"]["invalid"]) {
        assert!(ServerMessage::parse(text.as_bytes()).is_err(), "{text}");
    }
    for text in texts(&vectors["client"]["valid"]) {
        assert_eq!(ClientMessage::parse(text.as_bytes()).unwrap().to_frame(Framing::Whole), text);
    }
}

#[test]
fn what_is_known_after_some_messages_is_the_same() {
    for story in vectors()["stories"].as_array().unwrap() {
        let mut client = Client::new(Link::Message, None);
        for text in texts(&story["messages"]) {
            client.receive(Time::ZERO, text.as_bytes()).unwrap();
        }
        let line = |line: &Line| match line {
            Line::Row { turn, guess, feedback } => {
                json!({"turn": turn, "guess": guess.to_string(), "red": feedback.red, "white": feedback.white})
            }
            Line::Lifeline { turn, lifeline, revealed } => {
                json!({"turn": turn, "lifeline": lifeline.number(), "shown": revealed.is_some()})
            }
        };
        let place = |(seat, place): (&u8, &mastermind::client::Place)| {
            let board = place.board.as_ref();
            json!({
                "seat": seat,
                "name": place.name.as_str(),
                "game": board.map(|board| board.number),
                "lines": board.map_or(vec![], |board| board.lines.iter().map(line).collect()),
                "over": board.and_then(|board| board.over).map(|over| over.how.word()),
            })
        };
        let known = json!({
            "seat": client.seat(),
            "missing": client.missing(),
            "turn": client.turn().map(|turn| turn.turn),
            "hint": client.advice().map(|(advice, _)| advice.guess.to_string()),
            "possible": client.advice().map_or(0, |(_, possible)| possible.len()),
            "places": client.places().iter().map(place).collect::<Vec<_>>(),
        });
        assert_eq!(known, story["known"], "{}", story["name"]);
    }
}
