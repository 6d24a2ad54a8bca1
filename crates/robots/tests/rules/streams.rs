//! Messages as bytes: arbitrary ones, their bounds, and runs of actions.
//!

use std::collections::{BTreeMap, BTreeSet};

use bytes::BytesMut;
use netcore::{
    DecodeError, Protocol,
    wire::{Decode, Encode, ShortText, read_datagram, take_message},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use robots::{
    Action, BombId, ClientMessage, Direction, DrawMessage, Event, InputMessage, Player, PlayerId, Position,
    ServerMessage,
    protocol::{
        MAX_CLIENT_MESSAGE, MAX_DATAGRAM, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, Robots,
        ServerDecoder, encode,
        shape::{Described, Field, PartReader, Shape, Step},
    },
};

use crate::table::text;

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

fn one_by_one(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    take_message(buffer, Robots::MAX_MESSAGE, 0)
}

/// Valid bytes, with a few items in each list and ascending keys in each map.
fn valid(shape: &'static Shape) -> BoxedStrategy<Vec<u8>> {
    let counted = |items: Vec<Vec<u8>>| {
        let mut bytes = u32::try_from(items.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(items.concat());
        bytes
    };
    match shape {
        Shape::Record(of) | Shape::Inline(of) => fields(of),
        Shape::Text => prop_oneof!["[a-zżółć\\x00\"\n]{0,12}", "x{250,255}"]
            .prop_map(|text| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat())
            .boxed(),
        Shape::Enum(of) => (0..of.variants.len())
            .prop_flat_map(|tag| {
                let tag_byte = u8::try_from(tag).unwrap();
                fields(of.variants[tag].fields).prop_map(move |fields| [&[tag_byte], &*fields].concat())
            })
            .boxed(),
        Shape::List(item) => vec(valid(item), 0..5).prop_map(counted).boxed(),
        Shape::Map(value) => {
            let keys = prop::collection::btree_set(any::<u8>(), 0..5);
            let entries = keys.prop_flat_map(|keys: BTreeSet<u8>| {
                let values = vec(fields(value), keys.len());
                values.prop_map(move |values| {
                    keys.iter().zip(values).map(|(&key, value)| [&[key], &*value].concat()).collect()
                })
            });
            entries.prop_map(counted).boxed()
        }
        leaf => vec(any::<u8>(), leaf.least()).boxed(),
    }
}

fn fields(fields: &'static [Field]) -> BoxedStrategy<Vec<u8>> {
    let fields: Vec<_> = fields.iter().map(|field| valid(&field.shape)).collect();
    fields.prop_map(|fields| fields.concat()).boxed()
}

/// `decode` returns the decoded message, encoded again.
#[derive(Debug, Clone, Copy)]
struct Kind {
    shape: &'static Shape,
    max_message: usize,
    max_items: u32,
    decode: fn(&[u8], u32) -> Result<BytesMut, DecodeError>,
}

const fn kind<T: Described + Decode + Encode>(max_message: usize, max_items: u32) -> Kind {
    let decode = |datagram: &[u8], max_items| read_datagram::<T>(datagram, max_items).map(|message| bytes(&message));
    Kind { shape: &T::SHAPE, max_message, max_items, decode }
}

const KINDS: [Kind; 4] = [
    kind::<ClientMessage>(MAX_CLIENT_MESSAGE, 0),
    kind::<ServerMessage>(MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS),
    kind::<DrawMessage>(MAX_DATAGRAM, MAX_PICTURE_ITEMS),
    kind::<InputMessage>(2, 0),
];

impl Kind {
    fn decoded(self, datagram: &[u8]) -> Result<BytesMut, DecodeError> {
        (self.decode)(datagram, self.max_items)
    }

    /// Reads a datagram part by part. The result must be that of the decoder.
    fn read_parts(self, datagram: &[u8]) -> Result<(), DecodeError> {
        let mut parts = PartReader::new(self.shape, self.max_message, self.max_items);
        loop {
            let at = parts.length();
            match parts.next(&datagram[at..])? {
                Step::Part(_) | Step::ListEnd { .. } => {}
                Step::Incomplete(needed) => {
                    assert!(needed > datagram.len() - at);
                    return Err(DecodeError::Incomplete);
                }
                Step::MessageEnd if at < datagram.len() => {
                    return Err(DecodeError::Trailing { at, extra: datagram.len() - at });
                }
                Step::MessageEnd => return Ok(()),
            }
        }
    }
}

fn message() -> impl Strategy<Value = (Kind, Vec<u8>)> {
    prop::sample::select(&KINDS[..]).prop_flat_map(|kind| (Just(kind), valid(kind.shape)))
}

proptest! {
    #[test]
    fn bytes_that_the_shape_allows_are_decoded_and_encoded_again((kind, bytes) in message()) {
        prop_assert_eq!(kind.read_parts(&bytes), Ok(()));
        prop_assert_eq!(kind.decoded(&bytes), Ok(BytesMut::from(&bytes[..])));
        for end in 0..bytes.len() {
            prop_assert_eq!(kind.read_parts(&bytes[..end]), Err(DecodeError::Incomplete));
            prop_assert_eq!(kind.decoded(&bytes[..end]), Err(DecodeError::Incomplete));
        }
    }

    #[test]
    fn part_reader_rejects_what_the_decoder_rejects(
        (kind, mut bytes) in message(), damage in vec((any::<Index>(), prop_oneof![0..6_u8, any::<u8>()]), 1..3),
        extra in vec(any::<u8>(), 0..3), junk in vec(prop_oneof![0..6_u8, any::<u8>()], 0..60),
    ) {
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        bytes.extend(extra);
        for bytes in [bytes, junk] {
            prop_assert_eq!(kind.read_parts(&bytes), kind.decoded(&bytes).map(drop));
        }
    }

    #[test]
    fn server_stream_is_decoded_the_same_in_any_pieces(
        messages in vec(valid(&ServerMessage::SHAPE), 0..6), step in 1..40_usize, wrong in any::<bool>(),
    ) {
        let mut stream = messages.concat();
        if wrong {
            stream.extend([9, 1, 2, 3]);
        }
        let (mut decoder, mut buffer, mut decoded) = (ServerDecoder::default(), BytesMut::new(), vec![]);
        let mut error = None;
        for piece in stream.chunks(step) {
            buffer.extend_from_slice(piece);
            while error.is_none() {
                match decoder.decode(&mut buffer) {
                    Ok(Some(message)) => decoded.push(bytes(&message)),
                    Ok(None) => break,
                    Err(why) => error = Some(why),
                }
            }
        }
        prop_assert_eq!(decoded, messages);
        prop_assert_eq!(error, wrong.then(|| DecodeError::unknown_tag("ServerMessage", 9, 0)));
    }
}

/// This test would not end if small pieces cost more.
#[test]
fn long_message_costs_no_more_in_small_pieces() {
    let longest = text(&"x".repeat(255));
    let player = Player { name: longest.clone(), address: longest };
    let players: BTreeMap<_, _> = PlayerId::all().map(|id| (id, player.clone())).collect();
    // The most that a rule-abiding server sends.
    let blocks: Vec<_> = (0..65_535).map(|x| Position::new(x, 7)).collect();
    let placed = blocks.iter().map(|&position| Event::BlockPlaced { position }).collect();
    let robots_destroyed = (0..65_535_u32).map(|id| PlayerId(id.to_be_bytes()[3])).collect();
    let explosion = Event::BombExploded { id: BombId(1), robots_destroyed, blocks_destroyed: blocks };
    for message in [
        ServerMessage::GameStarted { players },
        ServerMessage::Turn { turn: 1, events: placed },
        ServerMessage::Turn { turn: 1, events: vec![explosion] },
    ] {
        let (mut decoder, mut buffer, mut received) = (ServerDecoder::default(), BytesMut::new(), None);
        for &byte in &bytes(&message) {
            assert_eq!(received, None);
            buffer.extend_from_slice(&[byte]);
            received = decoder.decode(&mut buffer).unwrap();
        }
        assert_eq!(received.as_ref(), Some(&message));
    }
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
    for (front, at, count, max) in [
        (&[3, 0, 0, 0xff, 0xff, 0xff, 0xff][..], 3, u32::MAX, MAX_SERVER_ITEMS),
        // A map has at most one entry for each of 256 player ids.
        (&[2, 0, 0, 1, 1], 1, 257, 256),
        (&[4, 0, 0, 1, 1], 1, 257, 256),
        // The count of an inner list, after two events.
        (
            &[3, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0xff, 0, 0, 0],
            22,
            0xff00_0000,
            MAX_SERVER_ITEMS,
        ),
    ] {
        let refused = Err(DecodeError::TooMany { at, count, max });
        assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(front)), refused);
    }
    assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(&[4, 0, 0, 1, 0][..])), Ok(None));
}

type Take = fn(&mut BytesMut) -> Result<Option<ClientMessage>, DecodeError>;

fn in_runs(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    Robots::take(&mut (), buffer)
}

fn drain(buffer: &mut BytesMut, decode: Take) -> (Vec<ClientMessage>, Result<(), DecodeError>) {
    let mut messages = vec![];
    loop {
        match decode(buffer) {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, Ok(())),
            Err(why) => return (messages, Err(why)),
        }
    }
}

/// Omits actions directly before another action.
fn last_of_runs(messages: Vec<ClientMessage>) -> Vec<ClientMessage> {
    let mut merged: Vec<ClientMessage> = vec![];
    for message in messages {
        if let (Some(ClientMessage::Action(last)), &ClientMessage::Action(action)) = (merged.last_mut(), &message) {
            *last = action;
        } else {
            merged.push(message);
        }
    }
    merged
}

/// Runs of actions, Joins, and occasionally invalid bytes.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let actions = vec(action().prop_map(ClientMessage::Action), 1..6)
        .prop_map(|actions| actions.iter().flat_map(|action| bytes(action).to_vec()).collect());
    // A name whose bytes look like actions.
    let join = "[a-z\\x00-\\x03]{0,4}"
        .prop_map(|name| bytes(&ClientMessage::Join { name: ShortText::try_from(name).unwrap() }).to_vec());
    let wrong = vec(any::<u8>(), 1..3);
    vec(prop_oneof![8 => actions, 2 => join, 1 => wrong], 0..12).prop_map(|pieces: Vec<Vec<u8>>| pieces.concat())
}

proptest! {
    #[test]
    fn run_of_actions_yields_the_last_complete_one(stream in stream(), step in 1..40_usize) {
        let mut buffers = [BytesMut::new(), BytesMut::new()];
        for piece in stream.chunks(step) {
            for buffer in &mut buffers {
                buffer.extend_from_slice(piece);
            }
            let (messages, end) = drain(&mut buffers[0], one_by_one);
            prop_assert_eq!(drain(&mut buffers[1], in_runs), (last_of_runs(messages), end.clone()));
            prop_assert_eq!(&buffers[0], &buffers[1]);
            if end.is_err() {
                break;
            }
        }
    }
}

#[test]
fn long_run_of_actions_is_one_request() {
    let mut buffer = BytesMut::from(&[1, 2, 3, 0].repeat(10_000)[..]);
    buffer.extend_from_slice(&[3]);
    let last = ClientMessage::Action(Action::Move(Direction::Up));
    assert_eq!(drain(&mut buffer, in_runs), (vec![last], Ok(())));
    assert_eq!(buffer[..], [3]);
}
