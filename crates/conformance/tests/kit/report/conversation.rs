//! The messages before a breach, up to the wrong byte.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, UdpSocket},
};

use conformance::{DEALER, Message, NUGGETS_SERVER, Plan, ROBOTS_SERVER, Report, Sender, Tester, Values};

use crate::support::{Console, Thread, only, plan, planned, value};

// The report of a test with only this rule, with the messages of its first breach and the last of these messages.
fn breach(tester: &Tester, program: Thread, rule: &str, millis: u64) -> (Report, Vec<Message>, Message) {
    let report = planned(tester, program, &Plan { only: Some(only(tester, [rule])), ..plan(millis) });
    let breach = report.finding(rule).unwrap().breaches.first().unwrap_or_else(|| panic!("{report}"));
    let conversation = breach.conversation.clone();
    let last = conversation.last().unwrap_or_else(|| panic!("{report}")).clone();
    (report, conversation, last)
}

// `None` if the port is invalid or taken.
fn listener(values: Values<'_>) -> Option<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, value(values, "port")?)).ok()
}

// Deals a card that does not exist, and continues immediately.
fn dealer(values: Values<'_>, _: &Console) -> i32 {
    let Some(listener) = listener(values) else { return 1 };
    if let Ok((mut player, _)) = listener.accept() {
        let _ = player.read(&mut [0; 99]);
        let _ = player.write_all(b"BEGIN\0CARD Seven of Heorts\0CARD Two of Clubs\0");
        let _ = player.read(&mut [0; 99]);
    }
    0
}

#[test]
fn report_shows_wrong_byte_and_preceding_messages() {
    let (report, conversation, last) = breach(&DEALER, dealer, "grammar", 2_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (16, Some(22), Some(b'o')), "{report}");
    assert_eq!(wrong.text, "expected 'arts'");
    let told: Vec<_> = conversation
        .iter()
        .filter(|message| message.channel == "seat 1")
        .map(|message| (message.sender, &*message.text))
        .collect();
    assert_eq!(
        told,
        [(Sender::Tester, "JOIN tester1"), (Sender::Program, "BEGIN"), (Sender::Program, "CARD Seven of Heorts")]
    );
    assert!(last.bytes.unwrap().hex.starts_with("43 41 52 44 20"));
    let text = report.to_string();
    assert!(text.contains("WRONG at byte 16 (byte 22 of the connection): 6f 'o'; expected 'arts'"), "{text}");
}

// Sends a correct Hello, and then a Turn whose second event has an unknown tag.
fn robots(values: Values<'_>, _: &Console) -> i32 {
    let Some(listener) = listener(values) else { return 1 };
    let name: String = value(values, "name").unwrap();
    let mut hello = vec![0, u8::try_from(name.len()).unwrap()];
    hello.extend_from_slice(name.as_bytes());
    hello.push(value(values, "players").unwrap());
    for field in ["x", "y", "length", "radius", "bomb-timer"] {
        hello.extend_from_slice(&value::<u16>(values, field).unwrap().to_be_bytes());
    }
    if let Ok((mut client, _)) = listener.accept() {
        let _ = client.write_all(&hello);
        let _ = client.read(&mut [0; 99]);
        let _ = client.write_all(&[3, 0, 0, 0, 0, 0, 2, 3, 0, 1, 0, 1, 9, 0, 0]);
        let _ = client.read(&mut [0; 99]);
    }
    0
}

#[test]
fn binary_messages_are_shown_as_fields_up_to_the_decoding_error() {
    let (report, conversation, last) = breach(&ROBOTS_SERVER, robots, "well-formed", 2_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.byte), (12, Some(9)), "{report}");
    assert!(wrong.text.contains("9 is no tag of Event"), "{}", wrong.text);
    assert_eq!(last.bytes.unwrap().hex, "03 00 00 00 00 00 02 03 00 01 00 01 09 00 00");
    let texts: Vec<_> = conversation.iter().map(|message| &*message.text).collect();
    let hello = texts.iter().find(|text| text.starts_with("Hello { server_name: \"Żółw\", players_count: 2, "));
    assert!(hello.is_some() && texts.contains(&"Join { name: \"Ann with ó\" }"), "{texts:?}");
}

// Sends a GRID whose second number is invalid.
fn nuggets(_: Values<'_>, console: &Console) -> i32 {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    console.print(format!("port {}", socket.local_addr().unwrap().port()));
    let mut buffer = [0; 99];
    if let Ok((_, client)) = socket.recv_from(&mut buffer) {
        let _ = socket.send_to(b"GRID 15 x32", client);
    }
    0
}

#[test]
fn report_shows_wrong_byte_of_datagram() {
    let (report, conversation, last) = breach(&NUGGETS_SERVER, nuggets, "message-form", 1_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (8, None, Some(b'x')), "{report}");
    assert_eq!((&*last.text, &*wrong.text), ("GRID 15 x32", "expected a digit"));
    assert!(conversation.iter().any(|message| message.text == "SPECTATE" && message.sender == Sender::Tester));
}
