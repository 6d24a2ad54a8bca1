//! Malformed bytes, and the bounds of messages. `robots-verify` tests the round trip, with arbitrary splits, for all
//! messages that its description of the format allows.

use bytes::BytesMut;
use netcore::{
    DecodeError, Protocol,
    wire::{Encode, read_datagram, take_message},
};
use proptest::{collection::vec, prelude::*};
use robots::{
    Action, ClientMessage, Direction, ServerMessage,
    protocol::{MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, Robots, ServerDecoder, encode},
};

pub(crate) fn bytes<T: Encode>(message: &T) -> BytesMut {
    let mut out = BytesMut::new();
    encode(message, &mut out);
    out
}

pub(crate) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::PlaceBomb),
        Just(Action::PlaceBlock),
        prop::sample::select(&Direction::ALL[..]).prop_map(Action::Move)
    ]
}

/// The next message of a client, whatever follows it.
pub(crate) fn one_by_one(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    take_message(buffer, Robots::MAX_MESSAGE, 0)
}

proptest! {
    #[test]
    fn the_stream_and_the_datagram_agree_about_any_bytes(junk in vec(prop_oneof![0..6_u8, any::<u8>()], 0..60)) {
        let read = read_datagram::<ServerMessage>(&junk, MAX_SERVER_ITEMS);
        let mut decoder = ServerDecoder::default();
        let mut got = Ok(None);
        let mut buffer = BytesMut::new();
        for &byte in &junk {
            buffer.extend_from_slice(&[byte]);
            got = decoder.decode(&mut buffer);
            if got != Ok(None) {
                break;
            }
        }
        match read {
            Ok(message) => prop_assert_eq!(got, Ok(Some(message))),
            Err(DecodeError::Incomplete) => prop_assert_eq!(got, Ok(None)),
            Err(DecodeError::Trailing { at, .. }) => {
                let front = read_datagram::<ServerMessage>(&junk[..at], MAX_SERVER_ITEMS);
                prop_assert_eq!(got, front.map(Some));
            }
            Err(error) => prop_assert_eq!(got, Err(error)),
        }
    }
}

#[test]
fn invalid_utf8_is_reported_with_its_offset() {
    let wrong = [0, 3, b'a', 0xff, b'b'];
    assert_eq!(read_datagram::<ClientMessage>(&wrong, 0), Err(DecodeError::NotUtf8 { at: 3 }));
    let stream = Robots::take(&mut (), &mut BytesMut::from(&wrong[..]));
    assert_eq!(stream, Err(DecodeError::NotUtf8 { at: 3 }));
}

#[test]
fn longest_join_fits_the_message_bound() {
    let mut join = BytesMut::from(&[0, 255][..]);
    join.extend_from_slice(&[b'x'; 255]);
    assert_eq!(join.len(), Robots::MAX_MESSAGE);
    for end in 0..join.len() {
        assert_eq!(Robots::take(&mut (), &mut BytesMut::from(&join[..end])), Ok(None));
    }
    assert!(matches!(Robots::take(&mut (), &mut join), Ok(Some(ClientMessage::Join { .. }))));
}

#[test]
fn counts_are_bounded() {
    let mut buffer = BytesMut::from(&[3, 0, 0, 0xff, 0xff, 0xff, 0xff][..]);
    let refused = DecodeError::TooMany { at: 3, count: u32::MAX, max: MAX_SERVER_ITEMS };
    assert_eq!(ServerDecoder::default().decode(&mut buffer), Err(refused));
    // There are 256 ids of players, and a map names each once.
    for tag in [2, 4] {
        assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(&[tag, 0, 0, 1, 0][..])), Ok(None));
        let refused = DecodeError::TooMany { at: 1, count: 257, max: 256 };
        assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(&[tag, 0, 0, 1, 1][..])), Err(refused.clone()));
        assert_eq!(read_datagram::<ServerMessage>(&[tag, 0, 0, 1, 1], MAX_SERVER_ITEMS), Err(refused));
    }
    // The count of an inner list, after two events of a turn.
    let mut buffer =
        BytesMut::from(&[3, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0xff, 0, 0, 0][..]);
    let refused = DecodeError::TooMany { at: 22, count: 0xff00_0000, max: MAX_SERVER_ITEMS };
    assert_eq!(ServerDecoder::default().decode(&mut buffer), Err(refused));
}

#[test]
fn a_turn_without_end_is_refused_at_its_bound() {
    let mut decoder = ServerDecoder::default();
    let mut buffer = BytesMut::from(&[3, 0, 0, 0, 0x10, 0, 0][..]);
    assert_eq!(decoder.decode(&mut buffer), Ok(None));
    let mut fed = buffer.len();
    let error = loop {
        buffer.extend_from_slice(&[3, 0, 0, 0, 0].repeat(1_000));
        fed += 5_000;
        match decoder.decode(&mut buffer) {
            Ok(message) => assert!(message.is_none() && fed <= MAX_SERVER_MESSAGE + 5_000),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, DecodeError::TooLong { max: MAX_SERVER_MESSAGE, .. }), "{error}");
}
