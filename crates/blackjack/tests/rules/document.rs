//! The dealer behaves as `docs/protocols/blackjack.md` specifies.

use std::{fs, path::Path};

use blackjack::{Card, Config, Points, Seed};

use crate::room::{Room, config};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/blackjack.md")).unwrap()
}

fn rows<T>(read: impl Fn(&str, &str) -> Option<T>) -> Vec<T> {
    let document = document();
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect();
        if let [first, second] = cells[..] { read(first, second) } else { None }
    };
    document.lines().filter_map(row).collect()
}

/// The text block with this number, from 0, in "A round, byte by byte".
fn block(number: usize) -> String {
    let document = document();
    let (_, behind) = document.split_once("## A round, byte by byte").unwrap();
    behind.split("```text\n").nth(number + 1).unwrap().split_once("```").unwrap().0.to_owned()
}

#[test]
fn documented_cards_have_their_names() {
    let cards = rows(|number, name| {
        let name = name.strip_prefix('`')?.strip_suffix('`')?.to_owned();
        Some((number.parse::<u8>().ok()?, name))
    });
    assert_eq!(cards.len(), 8);
    for (number, name) in cards {
        assert_eq!(Card::new(number).unwrap().to_string(), name);
        assert_eq!(Card::from_name(name.as_bytes()), Card::new(number));
    }
}

#[test]
fn documented_hands_have_their_points() {
    let values = |cards: &str| {
        cards
            .split(", ")
            .map(|rank| Card::from_name(format!("{rank} of Hearts").as_bytes()))
            .collect::<Option<Vec<_>>>()
    };
    let hands = rows(|cards, counts| Some((values(cards)?, counts.to_owned())));
    assert_eq!(hands.len(), 6);
    for (cards, counts) in hands {
        let points = cards.iter().fold(Points::EMPTY, |points, card| points.with(card.value()));
        let soft = if points.is_soft() { ", soft" } else { "" };
        assert_eq!(format!("{}{soft}", points.total()), counts, "{cards:?}");
    }
}

fn play(lines: Vec<(bool, Vec<u8>)>) {
    let mut room = Room::new(Config { seed: Seed::from_number(17), ..config(1) });
    room.connect("Ann");
    let (mut expected, mut told) = (vec![], vec![]);
    assert!(lines.len() > 3);
    for (from_player, bytes) in lines {
        if from_player {
            room.send("Ann", &bytes);
            told.extend(room.bytes("Ann"));
        } else {
            expected.extend(bytes);
            assert!(told.starts_with(&expected), "{told:?} does not begin with {expected:?}");
        }
    }
    assert_eq!(told, expected);
    assert!(room.is_closed("Ann"));
}

#[test]
fn dealer_plays_the_documented_round_in_text() {
    let bytes = |line: &str| line.replace("\\0", "\0").into_bytes();
    play(block(0).lines().map(|line| (line.starts_with("> "), bytes(&line[2..]))).collect());
}

#[test]
fn dealer_plays_the_documented_round_in_binary() {
    let bytes = |line: &str| {
        let words = line[2..].split_whitespace();
        words.map_while(|word| (word.len() == 2).then(|| u8::from_str_radix(word, 16).ok())?).collect()
    };
    play(block(1).lines().map(|line| (line.starts_with("> "), bytes(line))).collect());
}
