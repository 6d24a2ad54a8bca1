//! The bytes of each example in the document decode to the message next to them.

use std::{fs, path::Path};

use super::{
    agreeing::{decoded, words_of_debug},
    bytes,
};
use crate::{
    explain::Explainer,
    format::Kind,
    text::{Carrier, report},
};

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/robots.md")).unwrap()
}

/// The sender, the message as text, and its bytes.
fn examples() -> Vec<(Kind, String, Vec<u8>)> {
    let document = document();
    let rows = document.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let code = |cell: &str| Some(cell.strip_prefix('`')?.strip_suffix('`')?.to_owned());
        let [sender, message, hex] = cells[..] else { return None };
        if !Kind::ALL.iter().any(|kind| kind.name() == sender) {
            return None;
        }
        Some((super::kind(sender), code(message)?, bytes(&code(hex)?)))
    });
    rows.collect()
}

#[test]
fn each_example_decodes_to_what_is_written_beside_it() {
    let examples = examples();
    assert_eq!(examples.len(), 15);
    for (kind, message, bytes) in examples {
        let (debug, again) = decoded(kind, &bytes).unwrap();
        // The document omits the names of wrapper types.
        assert_eq!(words_of_debug(&debug), words_of_debug(&message), "{message}");
        assert_eq!(again, bytes, "{message}");
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
    let stream = bytes("00 04 c5 81 c3 b3 03 07 01");
    let (mut explainer, mut rest, mut said) = (Explainer::new(Kind::Client), &stream[..], String::new());
    while let Some(told) = explainer.next(&mut rest) {
        said.push_str(&report(&told, "#1 127.0.0.1:42704", Carrier::Stream));
    }
    assert!(session.starts_with(&said), "{said}");
}
