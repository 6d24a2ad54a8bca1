use serde_json::{Map, json};

use super::bytes;
use crate::{
    explain::Explainer,
    json,
    kind::Kind,
    text::{TransportKind, hex, report},
};

fn stream(kind: Kind, hex: &str) -> String {
    let stream = bytes(hex);
    let mut rest = &stream[..];
    let mut explainer = Explainer::new(kind);
    let mut reports: Vec<_> = std::iter::from_fn(|| explainer.next(&mut rest)).collect();
    reports.extend(explainer.finish());
    reports.iter().map(|explained| report(explained, "", TransportKind::Stream)).collect()
}

fn datagram(kind: Kind, hex: &str) -> String {
    report(&Explainer::datagram(kind, 4, &bytes(hex)), "127.0.0.1:40000", TransportKind::Datagram)
}

#[track_caller]
fn check(said: &str, expected: &str) {
    assert_eq!(said, expected.strip_prefix('\n').unwrap(), "\n{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn a_stream_up_to_a_wrong_direction() {
    check(
        &stream(Kind::Client, "00 09 c5 bb c3 b3 c5 82 c4 87 21 03 02 03 07 01 01"),
        "
message 1: Join, 11 bytes from byte 0
   stream message  bytes
        0       0  00                       Join
        1       1  09 c5 bb c3 b3 c5 82 c4    name: \"Żółć!\"
                   87 21

message 2: Move, 2 bytes from byte 11
   stream message  bytes
       11       0  03                       Move
       12       1  02                         direction: Down

message 3: Move, 2 bytes from byte 13
   stream message  bytes
       13       0  03                       Move
  WRONG at byte 14 of the stream, byte 1 of the message: Direction 7; expected 0
      Up, 1 Right, 2 Down or 3 Left
  around it: 03 [07] 01 01

",
    );
}

#[test]
fn turns_and_an_end_that_is_cut_off() {
    let turns = "03 00 02 00 00 00 02 01 00 00 01 02 00 00 00 02 00 02 00 00 00 01 00 01 00 00 03 00 06 00 06";
    check(
        &stream(Kind::Server, &format!("{turns} 04 00 00 00 02 00 00 00 00 03 01 00 00")),
        "
message 1: Turn, 31 bytes from byte 0
   stream message  bytes
        0       0  03                       Turn
        1       1  00 02                      turn: 2
        3       3  00 00 00 02                events: 2 items
        7       7  01                           1. BombExploded
        8       8  00 00 01 02                    id: bomb 258
       12      12  00 00 00 02                    robots_destroyed: 2 items
       16      16  00                               1. player 0
       17      17  02                               2. player 2
       18      18  00 00 00 01                    blocks_destroyed: 1 item
       22      22  00 01 00 00                      1. (1, 0)
       26      26  03                           2. BlockPlaced
       27      27  00 06 00 06                    position: (6, 6)

message 2: GameEnded, 13 bytes from byte 31
   stream message  bytes
       31       0  04                       GameEnded
       32       1  00 00 00 02                scores: 2 entries
       36       5  00                           player 0
       37       6  00 00 00 03                    score: 3
       41      10  01                           player 1
  WRONG at byte 44 of the stream, byte 13 of the message: the stream ends within
      score: 13 bytes of an unfinished GameEnded, 2 bytes more at least
  around it: 00 00 00 00 03 01 00 00 []

",
    );
}

#[test]
fn a_picture_with_a_byte_too_many() {
    check(
        &datagram(
            Kind::Display,
            "01 01 73 00 02 00 03 00 04 00 01 00 00 00 01 00 01 61 01 62 00 00 00 01 00 00 01 00 02 00 00 00 01 00 00 \
             00 00 00 00 00 01 00 01 00 01 00 06 00 00 00 00 00 00 00 01 00 00 00 00 00 05",
        ),
        "
127.0.0.1:40000  datagram 4: Game, 60 bytes
     byte  bytes
        0  01                       Game
        1  01 73                      server_name: \"s\"
        3  00 02                      size_x: 2
        5  00 03                      size_y: 3
        7  00 04                      game_length: 4
        9  00 01                      turn: 1
       11  00 00 00 01                players: 1 entry
       15  00                           player 0
       16  01 61                          name: \"a\"
       18  01 62                          address: \"b\"
       20  00 00 00 01                player_positions: 1 entry
       24  00                           player 0
       25  00 01 00 02                    position: (1, 2)
       29  00 00 00 01                blocks: 1 item
       33  00 00 00 00                  1. (0, 0)
       37  00 00 00 01                bombs: 1 item
       41  00 01 00 01 00 06            1. (1, 1), timer 6
       47  00 00 00 00                explosions: 0 items
       51  00 00 00 01                scores: 1 entry
       55  00                           player 0
       56  00 00 00 00                    score: 0
  WRONG at byte 60: 1 byte after the end of Game; a datagram contains exactly
      one message
  around it: 00 00 01 00 00 00 00 00 [05]
  note, byte 18: neither IPv4:port nor [IPv6]:port, as in 1.2.3.4:5 or [::1]:5;
      some GUIs accept no other form

",
    );
}

#[test]
fn little_endian_number_is_reported_with_a_hint() {
    check(
        &stream(Kind::Server, "03 02 00 02 00 00 00 03"),
        "
message 1: Turn, 7 bytes from byte 0
   stream message  bytes
        0       0  03                       Turn
        1       1  02 00                      turn: 512
  WRONG at byte 3 of the stream, byte 3 of the message: events announces
      33554432 items, and 1048576 are allowed at most; the high byte comes
      first: is it meant to be 2?
  around it: 03 02 00 [02] 00 00 00 03

",
    );
}

#[test]
fn a_name_that_is_not_utf8_and_one_that_is_long() {
    check(
        &stream(Kind::Client, &format!("00 c8 {} 00 07 5a 6f ff 0a 22 27 61", "c5 82 ".repeat(100))),
        "
message 1: Join, 202 bytes from byte 0
   stream message  bytes
        0       0  00                       Join
        1       1  c8 c5 82 c5 82 c5 82 c5    name: \"łłłłłłłłłłłłłłłłłłłłłłłłłłł
                   82 c5 82 c5 82 c5 82 c5      łłłłłłłłłłłłłłłłłłłłłłłłłłłłłłłł
                   82 c5 82 c5 82 c5 82 c5      łłłłłłłłłłłłłłłłłłłłłłłłłłłłłłłł
                   82 c5 82 c5 82 c5 82 c5      łłłłłłłłł\"
                   ... and 169 more

message 2: Join, 9 bytes from byte 202
   stream message  bytes
      202       0  00                       Join
  WRONG at byte 206 of the stream, byte 4 of the message: ff is not UTF-8 there;
      name is a text of 7 bytes of UTF-8
  around it: 00 07 5a 6f [ff] 0a 22 27 61

",
    );
}

#[test]
fn one_datagram_without_anything_and_one_cut_off() {
    check(
        &datagram(Kind::Input, ""),
        "
127.0.0.1:40000  datagram 4: unknown, 0 bytes
  WRONG at byte 0: the datagram is empty; a message has 1 byte at least

",
    );
    check(
        &datagram(Kind::Input, "02"),
        "
127.0.0.1:40000  datagram 4: Move, 1 byte
     byte  bytes
        0  02                       Move
  WRONG at byte 1: the datagram ends before direction: 1 byte of an unfinished
      Move, 1 byte more at least
  around it: 02 []

",
    );
}

#[test]
fn more_items_than_are_shown() {
    let positions = hex(&(0..=255).flat_map(|y| [0, 0, 0, y]).collect::<Vec<u8>>());
    let bytes = format!("03 00 09 00 00 00 01 01 00 00 00 07 00 00 00 00 00 00 01 00 {positions}");
    let said = stream(Kind::Server, &bytes);
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    check(
        &last.into_iter().rev().collect::<Vec<_>>().join("\n"),
        "
      416     416  00 00 00 63                      100. (0, 99)
                                                    ... and 156 more
",
    );
}

#[test]
fn a_line_of_json() {
    let report = Explainer::datagram(Kind::Server, 1, &bytes("04 00 00 00 02 01 00 00 00 03 00 00 00"));
    let source = Map::from_iter([("from".to_owned(), json!("here"))]);
    assert_eq!(
        json::report(&report, &source, TransportKind::Datagram),
        json!({
            "from": "here", "message": 1, "at": 0, "length": 13, "name": "GameEnded",
            "fields": [
                {"at": 0, "depth": 0, "bytes": "04", "name": "message", "value": "GameEnded"},
                {"at": 1, "depth": 1, "bytes": "00 00 00 02", "name": "scores", "value": 2},
                {"at": 5, "depth": 2, "bytes": "01", "name": "key", "value": 1},
                {"at": 6, "depth": 3, "bytes": "00 00 00 03", "name": "score", "value": 3},
                {"at": 10, "depth": 2, "bytes": "00", "name": "key", "value": 0},
            ],
            "fields_left_out": 0,
            "notes": [{"at": 10, "text": "player 0 after player 1; maps are sent with ascending keys"}],
            "notes_left_out": 0,
            "error": {
                "at": 13, "kind": "unfinished",
                "text": "the datagram ends within score: 13 bytes of an unfinished GameEnded, 2 bytes more at least",
                "around": {"bytes": "01 00 00 00 03 00 00 00", "wrong": 8},
            },
        })
    );
}
