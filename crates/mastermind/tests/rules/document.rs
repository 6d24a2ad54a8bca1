//! The server behaves as `docs/protocols/mastermind.md` specifies.

use std::{fmt::Write, fs, path::Path};

use mastermind::{ClientMessage, ServerMessage};
use netcore::Framing;

use crate::server::{self, Room};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/mastermind.md")).unwrap()
}

fn table(head: &str) -> Vec<Vec<String>> {
    let document = document();
    let (_, rows) = document.split_once(head).unwrap();
    let rows = rows.lines().skip(2).take_while(|line| line.starts_with("| "));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    rows.map(|row| row.trim_matches('|').split(" | ").map(cell).collect()).collect()
}

#[test]
fn each_example_is_read_and_written_again() {
    let from_player = table("| message | what it asks for | examples |");
    let from_server = table("| message | meaning | examples |");
    let mut count = 0;
    for (rows, by_player) in [(from_player, true), (from_server, false)] {
        for message in rows.iter().flat_map(|row| row[2].split("`, `")) {
            let again = if by_player {
                ClientMessage::parse(message.as_bytes()).unwrap().to_frame(Framing::Stream)
            } else {
                ServerMessage::parse(message.as_bytes()).unwrap().to_frame(Framing::Stream)
            };
            assert_eq!(again, format!("{message}\n").into_bytes());
            count += 1;
        }
    }
    assert_eq!(count, 26);
}

#[test]
fn invalid_examples_are_rejected() {
    let lines = table("| line | why not |");
    assert_eq!(lines.len(), 10);
    for line in lines {
        assert!(ClientMessage::parse(line[0].as_bytes()).is_err(), "{line:?}");
    }
}

#[test]
fn documented_sessions_are_played() {
    let document = document();
    let sessions: Vec<&str> =
        document.split("```text\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect();
    let [typed, session] = sessions[..] else { panic!("there are two sessions") };
    let mut room = Room::new(server::solo());
    room.connect("Ann");
    let mut said = String::new();
    let greeting = room.received("Ann");
    for line in session.lines().filter_map(|line| line.strip_prefix("> ")) {
        let _ = writeln!(said, "> {line}");
        room.send_line("Ann", line);
        for heard in room.received("Ann") {
            let _ = writeln!(said, "< {heard}");
        }
    }
    assert_eq!(said, session);
    let front: String = session.lines().take(8).fold(greeting.join("\n"), |text, line| text + "\n" + &line[2..]);
    assert_eq!(typed.split_once('\n').unwrap().1, front + "\n");
}
