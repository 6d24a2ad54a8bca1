mod golden;

use std::{fs, path::Path};

use robots::protocol::shape::PartError;

use crate::{
    explain::{Explainer, MAX_SHOWN_ITEMS, MAX_SHOWN_LINES},
    kind::Kind,
    report::{Fault, Report, ReportLine},
    text::{TransportKind, report},
};

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

fn document() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocols/robots.md")).unwrap()
}

#[test]
fn documented_examples_are_explained_and_their_beginnings_are_unfinished() {
    let mut examples = 0;
    for line in document().lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [sender, message, hex] = cells[..] else { continue };
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == sender) else { continue };
        let bytes = bytes(hex);
        let explained = Explainer::datagram(kind, 1, &bytes);
        assert_eq!((&explained.fault, explained.length), (&None, bytes.len()), "{message}");
        assert!(message.starts_with(explained.name.unwrap()), "{message}");
        let text = report(&explained, "", TransportKind::Stream);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for end in 0..bytes.len() {
            let text = report(&Explainer::datagram(kind, 1, &bytes[..end]), "", TransportKind::Datagram);
            assert!(text.contains(&format!("WRONG at byte {end}: ")), "{text}");
        }
        examples += 1;
    }
    assert_eq!(examples, 15);
}

#[test]
fn documented_session_is_explained() {
    let document = document();
    let session = document.split("```text\n").find(|block| block.starts_with("#1 ")).unwrap();
    let (session, _) = session.split_once("```").unwrap();
    let stream = bytes("00 04 c5 81 c3 b3 03 07 01");
    let (mut explainer, mut rest, mut text) = (Explainer::new(Kind::Client), &stream[..], String::new());
    while let Some(explained) = explainer.next(&mut rest) {
        text.push_str(&report(&explained, "#1 127.0.0.1:42704", TransportKind::Stream));
    }
    assert!(session.starts_with(&text), "{text}");
}

#[test]
fn explanations_do_not_depend_on_how_a_stream_is_cut() {
    let turn = "03 00 02 00 00 00 02 01 00 00 01 02 00 00 00 02 00 02 00 00 00 01 00 01 00 00 03 00 06 00 06";
    let hello = "00 03 61 62 63 02 00 0a 00 08 00 32 00 03 00 04";
    let messages = [hello, turn, "04 00 00 00 01 00 00 00 00 03", turn, "03 00 01 00 00 00 01 09 01"].map(bytes);
    let stream = messages.concat();
    for step in 1..=stream.len() {
        let mut explainer = Explainer::new(Kind::Server);
        let mut reports = vec![];
        for mut piece in stream.chunks(step) {
            reports.extend(std::iter::from_fn(|| explainer.next(&mut piece)));
        }
        let mut at = 0;
        for ((report, bytes), number) in reports.iter().zip(&messages).zip(1..) {
            // The bytes after a wrong one may not have arrived.
            let mut alone = Explainer::datagram(Kind::Server, number, bytes);
            (alone.at, alone.around) = (at, report.around.clone());
            assert_eq!(report, &alone, "in pieces of {step} bytes");
            at += bytes.len() as u64;
        }
        assert_eq!((reports.len(), explainer.messages(), explainer.is_broken()), (5, 4, true));
    }
}

#[test]
fn long_lists_are_shown_and_stored_in_part() {
    let mut turn = bytes("03 00 00 00 00 ff ff");
    (0..65_535_u16).for_each(|x| turn.extend([&[3], &x.to_be_bytes()[..], &[0, 7]].concat()));
    let mut explainer = Explainer::new(Kind::Server);
    // Byte by byte: the test would not end if small pieces cost more.
    let reports: Vec<Report> = turn.iter().filter_map(|&byte| explainer.next(&mut &[byte][..])).collect();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.length, &report.fault, report.notes.len()), (turn.len(), &None, 0));
    assert_eq!(report.lines.len(), 3 + 2 * MAX_SHOWN_ITEMS as usize + 1);
    assert_eq!(report.lines.last(), Some(&ReportLine::LeftOut { items: 65_535 - MAX_SHOWN_ITEMS, depth: 2 }));

    let explosion = [bytes("01 00 00 00 00 00 00 00 64"), (0..100).collect(), vec![0; 4]].concat();
    let turn = [bytes("03 00 01 00 00 00 64"), explosion.repeat(100)].concat();
    let report = Explainer::datagram(Kind::Server, 1, &turn);
    assert_eq!((report.length, &report.fault), (turn.len(), &None));
    assert_eq!(report.lines.len() + report.lines_left_out, 3 + 100 * 104);
    assert_eq!(report.lines.len(), MAX_SHOWN_LINES);
    assert_eq!(report.notes.len() + report.notes_left_out, 99);
}

#[test]
fn rejects_text_beyond_the_longest_message() {
    // The maximum number of players with the longest names and addresses, which exceeds a datagram.
    let player = [&[255][..], &[b'x'; 255], &[255], &[b'x'; 255]].concat();
    let players: Vec<u8> = (0..=255_u8).flat_map(|id| [&[id], &player[..]].concat()).collect();
    let lobby = bytes("00 00 01 00 01 00 01 00 00 00 00 00 01 00 00 01 00");
    let report = Explainer::datagram(Kind::Display, 1, &[&lobby[..], &players].concat());
    let Some(Fault::Malformed(PartError::TooLong { at, max, .. })) = report.fault else { panic!("{:?}", report.fault) };
    assert!((max - 255..=max).contains(&at) && report.length <= max);
}
