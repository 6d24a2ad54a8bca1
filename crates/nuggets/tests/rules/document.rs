//! The server behaves as `docs/protocols/nuggets.md` specifies.

use std::{fmt::Write, fs, path::Path};

use netcore::Framing;
use nuggets::{ClientMessage, Config, Rules, ServerMessage};

use crate::table::{Table, frames};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/nuggets.md")).unwrap()
}

/// The code in a table cell.
fn code(cell: &str) -> Option<Vec<u8>> {
    let code = cell.trim().strip_prefix('`')?.strip_suffix('`')?;
    Some(code.replace("\\|", "|").replace("\\n", "\n").into_bytes())
}

fn hex(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

fn rows<const N: usize>() -> Vec<[String; N]> {
    let document = document();
    let cells = |line: &str| {
        // `\|` is part of a cell.
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?.replace("\\|", "\\\0");
        let cells: Vec<String> = line.split(" | ").map(|cell| cell.replace('\0', "|")).collect();
        <[String; N]>::try_from(cells).ok()
    };
    document.lines().filter_map(cells).collect()
}

#[test]
fn each_example_is_read_and_written_again() {
    let mut examples = 0;
    for [direction, _, cell, _] in rows::<4>() {
        let by_client = direction == "client to server";
        if !by_client && direction != "server to client" {
            continue;
        }
        for example in cell.split(", ") {
            let bytes = code(example).unwrap();
            let again = if by_client {
                ClientMessage::parse(&bytes).unwrap().to_bytes()
            } else {
                ServerMessage::parse(&bytes).unwrap().to_bytes()
            };
            assert_eq!(again, bytes);
            examples += 1;
        }
    }
    assert_eq!(examples, 10);
}

#[test]
fn invalid_examples_are_rejected() {
    let document = document();
    let (_, table) = document.split_once("| datagram | why not |").unwrap();
    let lines = table.lines().skip(2).take_while(|line| line.starts_with("| "));
    let datagrams: Vec<Vec<u8>> =
        lines.map(|line| code(line.split(" | ").next().unwrap().trim_start_matches("| ")).unwrap()).collect();
    assert_eq!(datagrams.len(), 8);
    for datagram in datagrams {
        assert!(ClientMessage::parse(&datagram).is_err(), "{datagram:?}");
    }
}

#[test]
fn stream_frame_matches_the_document() {
    let document = document();
    let (_, frame) = document.split_once("`KEY h` is `").unwrap();
    let (frame, _) = frame.split_once('`').unwrap();
    assert_eq!(ClientMessage::Key(b'h').to_frame(Framing::Stream), hex(frame.as_bytes()));
}

#[test]
fn documented_session_is_played() {
    let document = document();
    let (_, session) = document.split_once("```text\n> PLAY").unwrap();
    let session = format!("> PLAY{}", session.split_once("```").unwrap().0);
    let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
    let played = (1..1000).any(|seed| {
        let mut table = Table::new("+-------+\n|.......|\n+-------+\n", Config { rules, seed, ..Config::default() });
        let mut played = String::new();
        for line in session.lines().filter(|line| line.starts_with("> ")) {
            let _ = writeln!(played, "{line}");
            for frame in frames(&table.send("Ann", &line[2..]), "Ann") {
                let _ = writeln!(played, "< {}", String::from_utf8_lossy(frame).replace('\n', "\\n"));
            }
        }
        played == session
    });
    assert!(played, "no seed gives\n{session}");
}
