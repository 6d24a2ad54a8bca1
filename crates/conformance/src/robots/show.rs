//! Messages and bytes as text of bounded length, in the notation of docs/protocols/robots.md.

use std::fmt::Display;

use bytes::BytesMut;
use netcore::{
    DecodeError,
    wire::{Decode, Encode, Writer, read_datagram, read_message},
};
use robots::{
    ClientMessage, DrawMessage, Event, GamePicture, InputMessage, Position, ServerMessage,
    protocol::{
        MAX_CLIENT_MESSAGE, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE,
        shape::{Described, Enum, Field, Shape},
    },
};

use crate::tape::{ChannelFormat, Description, Framed, MessageFormat, MessageFraming};

/// In characters.
const LONGEST: usize = 300;
const MOST_BYTES: usize = 32;

pub(super) static WITH_SERVER: ChannelFormat = ChannelFormat { tester: CLIENT, program: SERVER, is_binary: true };
pub(super) static WITH_CLIENT: ChannelFormat = ChannelFormat { tester: SERVER, program: CLIENT, is_binary: true };
pub(super) static WITH_GUI: ChannelFormat = ChannelFormat { tester: INPUT, program: PICTURE, is_binary: true };

const CLIENT: MessageFormat = MessageFormat {
    framing: MessageFraming::Stream(|bytes| framed::<ClientMessage>(bytes, MAX_CLIENT_MESSAGE, 0)),
    describe: |bytes| description::<ClientMessage>(bytes, 0, value),
};
const SERVER: MessageFormat = MessageFormat {
    framing: MessageFraming::Stream(|bytes| framed::<ServerMessage>(bytes, MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS)),
    describe: |bytes| description(bytes, MAX_SERVER_ITEMS, message),
};
const INPUT: MessageFormat = MessageFormat {
    framing: MessageFraming::Datagrams,
    describe: |bytes| description::<InputMessage>(bytes, 0, value),
};
const PICTURE: MessageFormat = MessageFormat {
    framing: MessageFraming::Datagrams,
    describe: |bytes| description(bytes, MAX_PICTURE_ITEMS, picture),
};

fn framed<T: Decode>(bytes: &[u8], max: usize, max_items: u32) -> Framed {
    match read_message::<T>(bytes, max, max_items) {
        Ok(Some((_, length))) => Framed::Whole(length),
        Ok(None) => Framed::Part,
        Err(error) => Framed::Wrong(place(&error, bytes.len()), reason(&error)),
    }
}

fn description<T: Decode>(bytes: &[u8], max_items: u32, show: impl Fn(&T) -> String) -> Description {
    match read_datagram::<T>(bytes, max_items) {
        Ok(message) => Description::right(show(&message)),
        Err(error) => {
            let wrong = Some((place(&error, bytes.len()), reason(&error)));
            Description { text: "(no message)".to_owned(), wrong }
        }
    }
}

fn place(error: &DecodeError, length: usize) -> usize {
    match *error {
        DecodeError::UnknownTag { at, .. }
        | DecodeError::NotUtf8 { at }
        | DecodeError::TooMany { at, .. }
        | DecodeError::Trailing { at, .. }
        | DecodeError::Invalid { at, .. } => at,
        _ => length,
    }
}

fn reason(error: &DecodeError) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}

fn clipped(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

pub(super) fn value<T: Encode + Described + ?Sized>(value: &T) -> String {
    let mut bytes = BytesMut::new();
    value.encode(&mut Writer::new(&mut bytes));
    from_bytes(&T::SHAPE, &mut &bytes[..])
}

// Takes the number from the front.
fn number(bytes: &mut &[u8], length: usize) -> u32 {
    let (front, rest) = bytes.split_at(length);
    *bytes = rest;
    front.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

// Takes the value, which must be valid, from the front.
fn from_bytes(shape: &Shape, bytes: &mut &[u8]) -> String {
    match *shape {
        Shape::U8 | Shape::PlayerId => number(bytes, 1).to_string(),
        Shape::U16 => number(bytes, 2).to_string(),
        Shape::U32 | Shape::BombId => number(bytes, 4).to_string(),
        Shape::Position(_) => format!("({}, {})", number(bytes, 2), number(bytes, 2)),
        Shape::Text => {
            let length = number(bytes, 1);
            let (front, rest) = bytes.split_at(length as usize);
            *bytes = rest;
            let text = String::from_utf8_lossy(front);
            format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
        }
        Shape::Enum(Enum { variants, .. }) => {
            let variant = &variants[number(bytes, 1) as usize];
            match *variant.fields {
                [] => variant.name.to_owned(),
                [Field { ref shape, .. }] if matches!(shape, Shape::Enum(_)) => {
                    format!("{}({})", variant.name, from_bytes(shape, bytes))
                }
                _ => format!("{} {{ {} }}", variant.name, named(variant.fields, bytes)),
            }
        }
        Shape::Bomb(fields) | Shape::Record(fields) => format!("{{ {} }}", named(fields, bytes)),
        Shape::Inline(fields) => named(fields, bytes),
        Shape::List(item) => {
            let count = number(bytes, 4);
            list(&(0..count).map(|_| from_bytes(item, bytes)).collect::<Vec<_>>())
        }
        Shape::Map(fields) => {
            let count = number(bytes, 4);
            let entry = |_| {
                let player = from_bytes(&Shape::PlayerId, bytes);
                match fields {
                    [Field { shape, .. }] => format!("{player}: {}", from_bytes(shape, bytes)),
                    _ => format!("{player}: {{ {} }}", named(fields, bytes)),
                }
            };
            let entries: Vec<_> = (0..count).map(entry).collect();
            clipped(format!("{{{}}}", entries.join(", ")))
        }
    }
}

fn named(fields: &[Field], bytes: &mut &[u8]) -> String {
    let field = |Field { name, shape }: &Field| match shape {
        Shape::Inline(_) => from_bytes(shape, bytes),
        _ => format!("{name}: {}", from_bytes(shape, bytes)),
    };
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

fn list(items: &[String]) -> String {
    clipped(format!("[{}]", items.join(", ")))
}

pub(super) fn fields<'a>(positions: impl IntoIterator<Item = &'a Position>) -> String {
    list(&positions.into_iter().map(value).collect::<Vec<_>>())
}

pub(super) fn values<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    list(&values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>())
}

pub(super) fn events<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    list(&events.into_iter().map(value).collect::<Vec<_>>())
}

pub(super) fn message(message: &ServerMessage) -> String {
    clipped(value(message))
}

pub(super) fn picture(message: &DrawMessage) -> String {
    match message {
        DrawMessage::Lobby { .. } => clipped(value(message)),
        DrawMessage::Game(_) => value(message),
    }
}

/// Omits the parts that have their own rules.
pub(super) fn frame(picture: &GamePicture) -> String {
    let text = value(picture);
    text.split_once(", player_positions: ").map_or(text.clone(), |(frame, _)| frame.to_owned())
}

pub(super) fn bytes(bytes: &[u8]) -> String {
    let shown: Vec<_> = bytes.iter().take(MOST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    match bytes.len().saturating_sub(MOST_BYTES) {
        0 => format!("[{}]", shown.join(" ")),
        more => format!("[{} and {more} more]", shown.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/protocols/robots.md");

    #[test]
    fn messages_are_shown_as_in_the_protocol_page() {
        let mut rows = 0;
        for row in PAGE.lines() {
            let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let [_, kind, message, bytes, _] = cells[..] else { continue };
            let message_format = match kind {
                "client" => CLIENT,
                "server" => SERVER,
                "input" => INPUT,
                "display" => PICTURE,
                _ => continue,
            };
            let digits: Vec<char> = bytes.chars().filter(char::is_ascii_hexdigit).collect();
            let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap());
            let bytes: Vec<u8> = pairs.collect();
            let description = (message_format.describe)(&bytes);
            assert_eq!((description.text.as_str(), description.wrong), (message, None));
            if let MessageFraming::Stream(frame) = message_format.framing {
                assert!(matches!(frame(&bytes), Framed::Whole(length) if length == bytes.len()), "{message}");
            }
            rows += 1;
        }
        assert!(rows >= 14, "{rows}");
    }

    #[test]
    fn reports_the_byte_of_the_decoding_error() {
        let MessageFraming::Stream(frame) = SERVER.framing else { panic!("TCP is a stream") };
        // The second event has the tag 9.
        let turn = [3, 0, 1, 0, 0, 0, 2, 3, 0, 1, 0, 1, 9, 0, 0];
        assert!(matches!(frame(&turn), Framed::Wrong(12, why) if why.contains('9')));
        assert!(matches!(frame(&turn[..12]), Framed::Part));
    }
}
