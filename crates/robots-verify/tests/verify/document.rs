//! The examples in the document are what they say they are.

use std::{fmt::Debug, fs, path::Path};

use bytes::BytesMut;
use netcore::wire::{Decode, Encode, read_datagram};
use robots::{ClientMessage, DrawMessage, InputMessage, ServerMessage, protocol::encode};
use robots_verify::{
    Explainer, Kind,
    text::{Carrier, report},
};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/robots.md")).unwrap()
}

/// Who sends it, the message in words, its bytes.
fn examples() -> Vec<(Kind, String, Vec<u8>)> {
    let document = document();
    let rows = document.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let code = |cell: &str| Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        let [sender, message, hex] = cells[..] else { return None };
        if !Kind::ALL.iter().any(|kind| kind.name() == sender) {
            return None;
        }
        Some((crate::kind(sender), code(message)?, crate::bytes(&code(hex)?)))
    });
    rows.collect()
}

// What the decoder makes of it, encoded again and in the words of the document.
fn read<T: Decode + Encode + Debug>(bytes: &[u8]) -> (BytesMut, String) {
    let message: T = read_datagram(bytes, 100).unwrap();
    let mut out = BytesMut::new();
    encode(&message, &mut out);
    let mut words = format!("{message:?}");
    // The document leaves out the names of types that only wrap.
    for wrapper in ["ShortText(", "PlayerId(", "BombId(", "Action("] {
        words = unwrapped(&words, wrapper);
    }
    for (derived, short) in [
        ("Hello(Parameters {", "Hello {"),
        ("Game(GamePicture {", "Game {"),
        ("})", "}"),
        ("parameters: Parameters { ", ""),
        (" }, players: {}", ", players: {}"),
        (": Player {", ": {"),
        ("[Bomb {", "[{"),
    ] {
        words = words.replace(derived, short);
    }
    (out, positions(&words))
}

// Without the wrapper and the parenthesis that closes it.
fn unwrapped(words: &str, wrapper: &str) -> String {
    let mut out = String::new();
    let mut rest = words;
    while let Some((before, behind)) = rest.split_once(wrapper) {
        out.push_str(before);
        let (mut depth, mut quoted) = (1, false);
        let end = behind.char_indices().find(|(_, c)| {
            match c {
                '"' => quoted = !quoted,
                '(' if !quoted => depth += 1,
                ')' if !quoted => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let end = end.unwrap().0;
        out.push_str(&behind[..end]);
        rest = &behind[end + 1..];
    }
    out + rest
}

fn positions(words: &str) -> String {
    let mut parts = words.split("Position { x: ");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (position, rest) = part.split_once(" }").unwrap();
        let (x, y) = position.split_once(", y: ").unwrap();
        out.extend(["(", x, ", ", y, ")", rest]);
    }
    out
}

#[test]
fn each_example_decodes_to_what_is_written_beside_it() {
    let examples = examples();
    assert_eq!(examples.len(), 15);
    for (kind, message, bytes) in examples {
        let (again, words) = match kind {
            Kind::Client => read::<ClientMessage>(&bytes),
            Kind::Server => read::<ServerMessage>(&bytes),
            Kind::Display => read::<DrawMessage>(&bytes),
            Kind::Input => read::<InputMessage>(&bytes),
        };
        assert_eq!(words, message);
        assert_eq!(again[..], bytes, "{message}");
    }
}

#[test]
fn each_example_is_explained_and_each_front_of_it_as_unfinished() {
    for (kind, message, bytes) in examples() {
        let told = Explainer::datagram(kind, 1, &bytes);
        assert_eq!((&told.fault, told.length), (&None, bytes.len()), "{message}");
        assert!(message.starts_with(told.name.unwrap()), "{message}");
        let said = report(&told, "", Carrier::Stream);
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
        for end in 0..bytes.len() {
            let said = report(&Explainer::datagram(kind, 1, &bytes[..end]), "", Carrier::Datagram);
            assert!(said.contains(&format!("WRONG at byte {end}: ")), "{said}");
        }
    }
}

#[test]
fn the_session_in_the_document_is_what_is_said() {
    let document = document();
    let session = document.split("```text\n").find(|block| block.starts_with("#1 ")).unwrap();
    let (session, _) = session.split_once("```").unwrap();
    let stream = crate::bytes("00 04 c5 81 c3 b3 03 07 01");
    let (mut explainer, mut rest, mut said) = (Explainer::new(Kind::Client), &stream[..], String::new());
    while let Some(told) = explainer.next(&mut rest) {
        said.push_str(&report(&told, "#1 127.0.0.1:42704", Carrier::Stream));
    }
    assert!(session.starts_with(&said), "{said}");
}
