//! Compares the description of the format with the decoders. Both accept, reject, or report as unfinished the same
//! bytes, at the same position and with the same names and values.

use std::{collections::BTreeSet, fmt::Debug};

use bytes::BytesMut;
use netcore::{
    DecodeError,
    wire::{Decode, Encode, read_datagram},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use robots::{
    ClientMessage, DrawMessage, InputMessage, ServerMessage,
    protocol::{MAX_DATAGRAM, MAX_SERVER_MESSAGE, ServerDecoder, encode},
};

use super::bytes as from_hex;
use crate::{
    explain::{Explainer, MAX_SHOWN_ITEMS, MAX_SHOWN_LINES},
    format::{FieldShape, Kind, Shape},
    report::{Fault, Label, Report, ReportLine, Value},
};

/// Bytes that the description allows, with a few items in each list and ascending keys in each map.
fn valid(shape: &'static Shape) -> BoxedStrategy<Vec<u8>> {
    let counted = |items: Vec<Vec<u8>>| {
        let mut bytes = u32::try_from(items.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(items.concat());
        bytes
    };
    match shape {
        Shape::U8 | Shape::U16 | Shape::U32 | Shape::PlayerId | Shape::BombId | Shape::Position | Shape::Bomb => {
            vec(any::<u8>(), shape.least()).boxed()
        }
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
    }
}

fn fields(fields: &'static [FieldShape]) -> BoxedStrategy<Vec<u8>> {
    let fields: Vec<_> = fields.iter().map(|field| valid(&field.shape)).collect();
    fields.prop_map(|fields| fields.concat()).boxed()
}

fn message() -> impl Strategy<Value = (Kind, Vec<u8>)> {
    prop::sample::select(&Kind::ALL[..]).prop_flat_map(|kind| (Just(kind), valid(kind.message())))
}

/// The result of the decoders for one message: the message and its bytes, or the error.
pub(super) fn decoded(kind: Kind, bytes: &[u8]) -> Result<(String, Vec<u8>), DecodeError> {
    fn read<T: Decode + Encode + Debug>(bytes: &[u8], max: u32) -> Result<(String, Vec<u8>), DecodeError> {
        let message: T = read_datagram(bytes, max)?;
        let mut out = BytesMut::new();
        encode(&message, &mut out);
        Ok((format!("{message:?}"), out.to_vec()))
    }
    let max = kind.max_items();
    match kind {
        Kind::Client => read::<ClientMessage>(bytes, max),
        Kind::Server => read::<ServerMessage>(bytes, max),
        Kind::Display => read::<DrawMessage>(bytes, max),
        Kind::Input => read::<InputMessage>(bytes, max),
    }
}

/// The result of an explanation, as the decoders would return it.
fn verdict(report: &Report) -> Result<(), DecodeError> {
    let Some(fault) = &report.fault else { return Ok(()) };
    Err(match *fault {
        Fault::UnknownTag { at, tag, of } => DecodeError::unknown_tag(of.name, tag, at),
        Fault::NotUtf8 { at, .. } => DecodeError::NotUtf8 { at },
        Fault::TooMany { at, count, max, .. } => DecodeError::TooMany { at, count, max },
        Fault::TooLong { max, .. } => DecodeError::TooLong { length: max, max },
        Fault::Trailing { at, extra } => DecodeError::Trailing { at, extra },
        Fault::Unfinished { .. } => DecodeError::Incomplete,
    })
}

/// Names of types and fields that are present on one side only.
const WRAPPERS: &str = "Action Bomb BombId GamePicture Parameters Player PlayerId Position ShortText direction \
                        parameters player position score timer x y";

fn is_wrapper(word: &str) -> bool {
    WRAPPERS.split(' ').any(|wrapper| wrapper == word)
}

/// The words, numbers and texts in the output of a derived `Debug`, in order.
pub(super) fn words_of_debug(debug: &str) -> Vec<String> {
    let (mut words, mut word, mut chars) = (vec![], String::new(), debug.chars());
    while let Some(c) = chars.next() {
        if c == '"' {
            word.push(c);
            while let Some(c) = chars.next() {
                word.push(c);
                match c {
                    '\\' => word.extend(chars.next()),
                    '"' => break,
                    _ => {}
                }
            }
        } else if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words.retain(|word| !is_wrapper(word));
    words
}

/// The same for an explanation.
fn words_of_report(report: &Report) -> Vec<String> {
    let mut words = vec![];
    for line in &report.lines {
        let ReportLine::Field(field) = line else { panic!("{line:?}") };
        if let Label::Field(name) = field.label {
            words.push(name.to_owned());
        }
        match &field.value {
            Value::Variant(name) => words.push((*name).to_owned()),
            Value::Number(number) | Value::BombId(number) => words.push(number.to_string()),
            Value::Player(player) => words.push(player.to_string()),
            Value::Position(x, y) => words.extend([x, y].map(ToString::to_string)),
            Value::Bomb(x, y, timer) => words.extend([x, y, timer].map(ToString::to_string)),
            Value::Text(text) => words.push(format!("{text:?}")),
            Value::Items(_) | Value::Entries(_) => {}
        }
    }
    words.retain(|word| !is_wrapper(word));
    words
}

// The bytes of the fields are the bytes of the message.
fn check_fields(report: &Report, bytes: &[u8]) {
    let mut at = 0;
    for line in &report.lines {
        let ReportLine::Field(field) = line else { panic!("{line:?}") };
        assert_eq!(field.at, at);
        assert_eq!(field.bytes, bytes[at..at + field.bytes.len()]);
        at += field.bytes.len();
    }
    if report.fault.is_none() {
        assert_eq!((at, report.length), (bytes.len(), bytes.len()));
    }
}

proptest! {
    #[test]
    fn what_the_description_allows_is_decoded_to_the_same_names_and_values((kind, bytes) in message()) {
        let report = Explainer::datagram(kind, 1, &bytes);
        prop_assert_eq!(&report.fault, &None);
        check_fields(&report, &bytes);
        let (debug, again) = decoded(kind, &bytes).unwrap();
        prop_assert_eq!(&again, &bytes);
        prop_assert_eq!(words_of_report(&report), words_of_debug(&debug));
        for end in 0..bytes.len() {
            let report = Explainer::datagram(kind, 1, &bytes[..end]);
            prop_assert_eq!(verdict(&report), Err(DecodeError::Incomplete));
            prop_assert_eq!(decoded(kind, &bytes[..end]).map(drop), Err(DecodeError::Incomplete));
            // At least one byte is reported as missing, and at most the number of removed bytes.
            let Some(Fault::Unfinished { at, missing, .. }) = report.fault else { unreachable!() };
            prop_assert_eq!((at, report.length), (end, end));
            prop_assert!((1..=bytes.len() - end).contains(&missing), "{} of {}", missing, bytes.len() - end);
        }
    }

    #[test]
    fn damaged_bytes_are_judged_alike(
        (kind, mut bytes) in message(), damage in vec((any::<Index>(), prop_oneof![0..6_u8, any::<u8>()]), 1..3),
        extra in vec(any::<u8>(), 0..3),
    ) {
        for (index, byte) in damage {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        bytes.extend(extra);
        let report = Explainer::datagram(kind, 1, &bytes);
        prop_assert_eq!(verdict(&report), decoded(kind, &bytes).map(drop));
        let wrong = report.around.as_ref().map(|around| around.bytes.get(around.wrong).copied());
        prop_assert_eq!(wrong, report.fault.as_ref().map(|fault| bytes.get(fault.at()).copied()));
    }

    #[test]
    fn any_bytes_are_judged_alike(
        kind in prop::sample::select(&Kind::ALL[..]), bytes in vec(prop_oneof![0..6_u8, any::<u8>()], 0..60)
    ) {
        prop_assert_eq!(verdict(&Explainer::datagram(kind, 1, &bytes)), decoded(kind, &bytes).map(drop));
    }

    #[test]
    fn a_stream_is_explained_and_decoded_the_same_however_it_is_cut(
        messages in vec(valid(Kind::Server.message()), 0..6), step in 1..40_usize, wrong in any::<bool>()
    ) {
        let mut stream = messages.concat();
        if wrong {
            stream.extend([9, 1, 2, 3]);
        }
        let mut explainer = Explainer::new(Kind::Server);
        let (mut decoder, mut buffer, mut decoded) = (ServerDecoder::default(), BytesMut::new(), vec![]);
        let mut reports = vec![];
        for mut piece in stream.chunks(step) {
            buffer.extend_from_slice(piece);
            while let Ok(Some(message)) = decoder.decode(&mut buffer) {
                let mut bytes = BytesMut::new();
                encode(&message, &mut bytes);
                decoded.push(bytes.to_vec());
            }
            reports.extend(std::iter::from_fn(|| explainer.next(&mut piece)));
            // A message is complete with its last byte, and not before.
            prop_assert_eq!(decoded.len() as u64, explainer.messages());
        }
        prop_assert_eq!(&decoded, &messages);
        prop_assert_eq!(reports.len(), messages.len() + usize::from(wrong));
        prop_assert_eq!(explainer.messages(), messages.len() as u64);
        let mut at = 0;
        for (index, (report, bytes)) in reports.iter().zip(&messages).enumerate() {
            let mut alone = Explainer::datagram(Kind::Server, index as u64 + 1, bytes);
            alone.at = at;
            prop_assert_eq!(report, &alone);
            at += bytes.len() as u64;
        }
        prop_assert_eq!((explainer.at(), explainer.is_broken(), explainer.finish()), (at, wrong, None));
    }
}

#[test]
fn a_wrong_tag_of_each_enumeration_is_told_with_its_place() {
    for (kind, front, ty, tags) in [
        (Kind::Client, "", "ClientMessage", 4),
        (Kind::Client, "03", "Direction", 4),
        (Kind::Input, "", "InputMessage", 3),
        (Kind::Input, "02", "Direction", 4),
        (Kind::Server, "", "ServerMessage", 5),
        (Kind::Server, "03 00 01 00 00 00 02 03 00 01 00 02", "Event", 4),
        (Kind::Display, "", "DrawMessage", 2),
    ] {
        for tag in tags..=255 {
            let mut bytes = from_hex(front);
            let at = bytes.len();
            bytes.push(tag);
            let expected = Err(DecodeError::unknown_tag(ty, tag, at));
            assert_eq!(verdict(&Explainer::datagram(kind, 1, &bytes)), expected);
            assert_eq!(decoded(kind, &bytes).map(drop), expected);
        }
    }
}

#[test]
fn a_long_list_is_shown_in_part_and_kept_in_part() {
    let mut turn = from_hex("03 00 00 00 00 ff ff");
    (0..65_535_u16).for_each(|x| turn.extend([&[3], &x.to_be_bytes()[..], &[0, 7]].concat()));
    let mut explainer = Explainer::new(Kind::Server);
    // Byte by byte: this test would not end if small pieces cost more.
    let reports: Vec<Report> = turn.iter().filter_map(|&byte| explainer.next(&mut &[byte][..])).collect();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.length, &report.fault, report.notes.len()), (turn.len(), &None, 0));
    assert_eq!(report.lines.len(), 3 + 2 * MAX_SHOWN_ITEMS as usize + 1);
    assert_eq!(report.lines.last(), Some(&ReportLine::LeftOut { items: 65_535 - MAX_SHOWN_ITEMS, depth: 2 }));

    // Lists in a list.
    let explosion = [from_hex("01 00 00 00 00 00 00 00 64"), (0..100).collect(), vec![0; 4]].concat();
    let turn = [from_hex("03 00 01 00 00 00 64"), explosion.repeat(100)].concat();
    let report = Explainer::datagram(Kind::Server, 1, &turn);
    assert_eq!((report.length, &report.fault), (turn.len(), &None));
    assert_eq!(report.lines.len() + report.lines_left_out, 3 + 100 * 104);
    assert_eq!(report.lines.len(), MAX_SHOWN_LINES);
    assert_eq!(report.notes.len() + report.notes_left_out, 99);
}

#[test]
fn a_message_without_end_is_refused_where_the_decoder_refuses_it() {
    let mut stream = from_hex("03 00 00 00 10 00 00");
    stream.extend(from_hex("03 00 00 00 00").repeat(MAX_SERVER_MESSAGE / 5));
    let mut explainer = Explainer::new(Kind::Server);
    let report = explainer.next(&mut &stream[..]).unwrap();
    let at = MAX_SERVER_MESSAGE - (MAX_SERVER_MESSAGE - 7) % 5;
    assert!(matches!(report.fault, Some(Fault::TooLong { max: MAX_SERVER_MESSAGE, .. })), "{:?}", report.fault);
    assert!((at..MAX_SERVER_MESSAGE).contains(&report.fault.unwrap().at()));
    let error = ServerDecoder::default().decode(&mut BytesMut::from(&stream[..])).unwrap_err();
    assert!(matches!(error, DecodeError::TooLong { max: MAX_SERVER_MESSAGE, .. }), "{error}");
}

#[test]
fn a_text_that_goes_beyond_the_longest_message_is_refused() {
    // Players with the longest names and addresses: the maximum number, which exceeds a datagram.
    let player = [&[255][..], &[b'x'; 255], &[255], &[b'x'; 255]].concat();
    let players: Vec<u8> = (0..=255_u8).flat_map(|id| [&[id], &player[..]].concat()).collect();
    let lobby = from_hex("00 00 01 00 01 00 01 00 00 00 00 00 01 00 00 01 00");
    let report = Explainer::datagram(Kind::Display, 1, &[&lobby[..], &players].concat());
    let Some(Fault::TooLong { at, max: MAX_DATAGRAM }) = report.fault else { panic!("{:?}", report.fault) };
    assert!((MAX_DATAGRAM - 255..=MAX_DATAGRAM).contains(&at) && report.length <= MAX_DATAGRAM);
}

#[test]
fn a_map_has_an_entry_for_each_player_at_most() {
    let scores = |entries: u16| {
        let front = [&[4, 0, 0][..], &entries.to_be_bytes()].concat();
        [front, [0; 5].repeat(entries.into())].concat()
    };
    for entries in [255, 256] {
        let report = Explainer::datagram(Kind::Server, 1, &scores(entries));
        assert_eq!((verdict(&report), decoded(Kind::Server, &scores(entries)).map(drop)), (Ok(()), Ok(())));
    }
    let refused = Err(DecodeError::TooMany { at: 1, count: 257, max: 256 });
    assert_eq!(verdict(&Explainer::datagram(Kind::Server, 1, &scores(257))), refused);
    assert_eq!(decoded(Kind::Server, &scores(257)).map(drop), refused);
}
