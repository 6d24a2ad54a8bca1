//! The cost of reading a server's stream, counted in bytes: a long message in small pieces costs no more than in one
//! piece.

use std::collections::BTreeMap;

use bytes::BytesMut;
use robots::{BombId, Event, Player, PlayerId, Position, ServerMessage, protocol::ServerDecoder};

use crate::{streams::bytes, table::text};

/// A decoder sees only the content of its buffer. The bytes left there are the ones that it reads again with the next
/// byte.
#[track_caller]
fn check_kept(message: &ServerMessage, most: usize) {
    let stream = bytes(message);
    let (mut decoder, mut buffer, mut got) = (ServerDecoder::default(), BytesMut::new(), None);
    for (at, &byte) in stream.iter().enumerate() {
        assert_eq!(got, None, "at byte {at} of {}", stream.len());
        buffer.extend_from_slice(&[byte]);
        got = decoder.decode(&mut buffer).unwrap();
        assert_eq!(got.is_none(), decoder.is_within_message(&buffer));
        assert!(buffer.len() <= most, "{} bytes are kept at byte {at} of {}", buffer.len(), stream.len());
    }
    assert_eq!(got.as_ref(), Some(message));
}

#[test]
fn of_a_long_message_in_pieces_only_an_unfinished_value_is_looked_at_again() {
    let longest = text(&"x".repeat(255));
    let player = Player { name: longest.clone(), address: longest };
    let players: BTreeMap<_, _> = PlayerId::all().map(|id| (id, player.clone())).collect();
    check_kept(&ServerMessage::GameStarted { players }, 512);
    let scores = PlayerId::all().map(|id| (id, u32::MAX)).collect();
    check_kept(&ServerMessage::GameEnded { scores }, 4);
    // The maximum number of blocks from a rule-abiding server.
    let fields: Vec<_> = (0..65_535).map(|x| Position::new(x, 7)).collect();
    let events = fields.iter().map(|&position| Event::BlockPlaced { position }).collect();
    check_kept(&ServerMessage::Turn { turn: 1, events }, 8);
    let robots_destroyed = (0..65_535_u32).map(|id| PlayerId(id.to_be_bytes()[3])).collect();
    let explosion = Event::BombExploded { id: BombId(1), robots_destroyed, blocks_destroyed: fields };
    check_kept(&ServerMessage::Turn { turn: 1, events: vec![explosion] }, 8);
}
