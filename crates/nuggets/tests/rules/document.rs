//! What docs/protocols/nuggets.md says is what the server does.

use std::fmt::Write;

use netcore::Framing;
use nuggets::{ClientMessage, Config, Rules, ServerMessage};

use crate::table::{Table, frames};

const DOCUMENT: &str = include_str!("../../../../docs/protocols/nuggets.md");

/// What is between backticks, without the marks that a table and an escaped newline need.
fn code(cell: &str) -> Option<Vec<u8>> {
    let code = cell.trim().strip_prefix('`')?.strip_suffix('`')?;
    Some(code.replace("\\|", "|").replace("\\n", "\n").into_bytes())
}

fn hex(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// The cells of each row of the tables that has three.
fn rows() -> impl Iterator<Item = [String; 3]> {
    let cells = |line: &str| {
        // A bar with a backslash before it is part of a cell.
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?.replace("\\|", "\\\0");
        let cells: Vec<String> = line.split(" | ").map(|cell| cell.replace('\0', "|")).collect();
        <[String; 3]>::try_from(cells).ok()
    };
    DOCUMENT.lines().filter_map(cells)
}

#[test]
fn each_example_is_read_and_written_again() {
    let mut examples = 0;
    for [sender, message, bytes] in rows() {
        let (Some(message), Some(bytes)) = (code(&message), code(&bytes)) else { continue };
        if !["client", "server"].contains(&&*sender) {
            continue;
        }
        let bytes = hex(&bytes);
        assert_eq!(message, bytes);
        let again = match &*sender {
            "client" => ClientMessage::parse(&bytes).unwrap().to_bytes(),
            _ => ServerMessage::parse(&bytes).unwrap().to_bytes(),
        };
        assert_eq!(again, bytes);
        examples += 1;
    }
    assert_eq!(examples, 10);
}

#[test]
fn what_is_no_message_is_none() {
    let (_, table) = DOCUMENT.split_once("| datagram | why not |").unwrap();
    let lines = table.lines().skip(2).take_while(|line| line.starts_with("| "));
    let datagrams: Vec<Vec<u8>> =
        lines.map(|line| code(line.split(" | ").next().unwrap().trim_start_matches("| ")).unwrap()).collect();
    assert_eq!(datagrams.len(), 8);
    for datagram in datagrams {
        assert!(ClientMessage::parse(&datagram).is_err(), "{datagram:?}");
    }
}

#[test]
fn the_frame_of_a_stream_is_these_bytes() {
    let (_, frame) = DOCUMENT.split_once("`KEY h` is `").unwrap();
    let (frame, _) = frame.split_once('`').unwrap();
    assert_eq!(ClientMessage::Key(b'h').to_frame(Framing::Stream), hex(frame.as_bytes()));
}

#[test]
fn some_game_goes_as_the_session_does() {
    let (_, session) = DOCUMENT.split_once("```text\n> PLAY").unwrap();
    let session = format!("> PLAY{}", session.split_once("```").unwrap().0);
    let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
    let played = (1..1000).any(|seed| {
        let mut table = Table::new("+-------+\n|.......|\n+-------+\n", Config { rules, seed, ..Config::default() });
        let mut said = String::new();
        for line in session.lines().filter(|line| line.starts_with("> ")) {
            let _ = writeln!(said, "{line}");
            for frame in frames(&table.send("Ann", &line[2..]), "Ann") {
                let _ = writeln!(said, "< {}", String::from_utf8_lossy(frame).replace('\n', "\\n"));
            }
        }
        said == session
    });
    assert!(played, "no seed gives\n{session}");
}
