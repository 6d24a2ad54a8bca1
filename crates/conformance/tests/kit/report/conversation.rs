//! The messages before a breach, up to the wrong byte.

use conformance::{DEALER, Message, NUGGETS_SERVER, Plan, ROBOTS_SERVER, Report, Sender, Tester};

use crate::{
    references::python,
    support::{only, plan},
};

// Also returns the messages of the first breach of this rule, and the last of them.
fn breach(tester: &Tester, code: &str, rule: &str, millis: u64) -> (Report, Vec<Message>, Message) {
    let plan = Plan { only: Some(only(tester, [rule])), ..plan(millis) };
    let report = python(tester.kind, &format!("import socket, sys\n{code}"), &plan);
    let breach = report.finding(rule).unwrap().breaches.first().unwrap_or_else(|| panic!("{report}"));
    let conversation = breach.conversation.clone();
    let last = conversation.last().unwrap_or_else(|| panic!("{report}")).clone();
    (report, conversation, last)
}

const DEALS: &str = "
player, _ = socket.create_server(('', int(sys.argv[1]))).accept()
player.recv(99)
player.sendall(b'BEGIN\\0CARD Seven of Heorts\\0CARD Two of Clubs\\0')
player.recv(99)
";

#[test]
fn report_shows_wrong_byte_and_preceding_messages() {
    let (report, conversation, last) = breach(&DEALER, DEALS, "grammar", 3_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (16, Some(22), Some(b'o')), "{report}");
    assert_eq!(wrong.text, "expected 'arts'");
    let messages: Vec<_> = conversation
        .iter()
        .filter(|message| message.channel == "seat 1")
        .map(|message| (message.sender, &*message.text))
        .collect();
    assert_eq!(
        messages,
        [(Sender::Tester, "JOIN tester1"), (Sender::Program, "BEGIN"), (Sender::Program, "CARD Seven of Heorts")]
    );
    assert!(last.bytes.unwrap().hex.starts_with("43 41 52 44 20"));
    let text = report.to_string();
    assert!(text.contains("WRONG at byte 16 (byte 22 of the connection): 6f 'o'; expected 'arts'"), "{text}");
}

const TURNS: &str = "
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
name = given['-n'].encode()
hello = bytes([0, len(name)]) + name + bytes([int(given['-c'])])
for option in ('-x', '-y', '-l', '-e', '-b'):
    hello += int(given[option]).to_bytes(2, 'big')
client, _ = socket.create_server(('', int(given['-p']))).accept()
client.sendall(hello)
client.recv(99)
client.sendall(bytes([3, 0, 0, 0, 0, 0, 2, 3, 0, 1, 0, 1, 9, 0, 0]))
client.recv(99)
";

#[test]
fn binary_messages_are_shown_as_fields_up_to_the_decoding_error() {
    let (report, conversation, last) = breach(&ROBOTS_SERVER, TURNS, "well-formed", 10_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.byte), (12, Some(9)), "{report}");
    assert!(wrong.text.contains("9 is no tag of Event"), "{}", wrong.text);
    assert_eq!(last.bytes.unwrap().hex, "03 00 00 00 00 00 02 03 00 01 00 01 09 00 00");
    let texts: Vec<_> = conversation.iter().map(|message| &*message.text).collect();
    let hello = texts.iter().find(|text| text.starts_with("Hello { server_name: \"Żółw\", players_count: 2, "));
    assert!(hello.is_some() && texts.contains(&"Join { name: \"Ann with ó\" }"), "{texts:?}");
}

const GRIDS: &str = "
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('', 0))
print('port', server.getsockname()[1], flush=True)
server.sendto(b'GRID 15 x32', server.recvfrom(99)[1])
";

#[test]
fn report_shows_wrong_byte_of_datagram() {
    let (report, conversation, last) = breach(&NUGGETS_SERVER, GRIDS, "message-form", 5_000);
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (8, None, Some(b'x')), "{report}");
    assert_eq!((&*last.text, &*wrong.text), ("GRID 15 x32", "expected a digit"));
    assert!(conversation.iter().any(|message| message.text == "SPECTATE" && message.sender == Sender::Tester));
}
