use std::{fmt::Debug, mem};

use bytes::BytesMut;
use netcore::{
    Client as _, DecodeError, Framing, Protocol, Time,
    wire::{Decode, Encode, ShortText, read_datagram, take_message},
};
use robots::{
    Bot, Client, ClientMessage, DrawMessage, InputMessage, Parameters, ServerMessage,
    protocol::{MAX_DATAGRAM, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, Robots, ServerDecoder, encode},
};

pub fn client_message(bytes: &[u8]) {
    datagram::<ClientMessage>(bytes, 0);
    let messages = stream(bytes, |buffer| take_message::<ClientMessage>(buffer, Robots::MAX_MESSAGE, 0));
    let mut written = BytesMut::new();
    for message in &messages {
        encode(message, &mut written);
    }
    assert_eq!(written, bytes[..written.len()], "each message has one form");
    // A server reads only the last of a run of actions.
    let mut read = messages;
    read.dedup_by(|next, last| {
        let is_run = matches!((&*last, &*next), (ClientMessage::Action(_), ClientMessage::Action(_)));
        if is_run {
            mem::swap(last, next);
        }
        is_run
    });
    assert_eq!(at_once(bytes, |buffer| Robots::take(&mut (), buffer)).0, read);
}

/// Server messages as a client decodes them, and the state of the client.
pub fn server_message(bytes: &[u8]) {
    datagram::<ServerMessage>(bytes, MAX_SERVER_ITEMS);
    unseen(bytes);
    let messages = stream(bytes, {
        let mut decoder = ServerDecoder::default();
        move |buffer: &mut BytesMut| decoder.decode(buffer)
    });
    let parameters = Parameters { explosion_radius: 65_535, ..parameters() };
    for greeted in [false, true] {
        let (mut client, mut bot) = (Client::new(text("a"), None), Bot::new(1));
        if greeted {
            assert!(receive(&mut client, &ServerMessage::Hello(parameters.clone())), "a Hello has a picture");
        }
        for message in &messages {
            let due = receive(&mut client, message);
            assert!(!due || client.picture().is_some());
            if let Some(Ok(picture)) = client.picture() {
                let mut datagram = BytesMut::new();
                encode(&picture, &mut datagram);
                assert!(datagram.len() <= MAX_DATAGRAM);
                assert_eq!(read_datagram(&datagram, MAX_PICTURE_ITEMS), Ok(picture));
            }
            if let Some(input) = bot.next_input(&client) {
                client.act(Time::ZERO, input);
                let said = client.take_outgoing().expect("what is wanted is said");
                assert!(Robots::decode(&mut (), &said, Framing::Whole).is_ok());
            }
        }
    }
}

fn text(text: &str) -> ShortText {
    ShortText::try_from(text).expect("a short text")
}

pub(super) fn parameters() -> Parameters {
    Parameters {
        server_name: text("here"),
        players_count: 2,
        size_x: 5,
        size_y: 4,
        game_length: 9,
        explosion_radius: 2,
        bomb_timer: 2,
    }
}

// `true` if a picture is due.
fn receive(client: &mut Client, message: &ServerMessage) -> bool {
    let mut bytes = BytesMut::new();
    encode(message, &mut bytes);
    client.feed(&bytes);
    let event = client.poll_event().expect("what is encoded is decoded").expect("a whole message");
    assert_eq!((&event.message, client.poll_event()), (message, Ok(None)));
    event.is_picture_due()
}

// The client reaches the same state as one that is rendered after each step.
fn unseen(bytes: &[u8]) {
    let (mut whole, mut stepwise) = (Client::new(text("a"), None), Client::new(text("a"), None));
    let received = whole.receive(Time::ZERO, bytes);
    stepwise.feed(bytes);
    let stopped = loop {
        match stepwise.poll_event() {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(wrong) => break Err(wrong),
        }
    };
    assert_eq!((received, whole.is_over()), (stopped.clone(), stopped.is_err()));
    assert_eq!(whole.picture(), stepwise.picture());
}

pub fn draw_message(bytes: &[u8]) {
    datagram::<DrawMessage>(bytes, MAX_PICTURE_ITEMS);
}

pub fn input_message(bytes: &[u8]) {
    datagram::<InputMessage>(bytes, 0);
}

// Decoding reverses encoding, or the error is within the bytes.
fn datagram<T: Encode + Decode + PartialEq + Debug>(bytes: &[u8], max_items: u32) {
    match read_datagram::<T>(bytes, max_items) {
        Ok(message) => {
            let mut written = BytesMut::new();
            encode(&message, &mut written);
            assert!(written.len() <= bytes.len(), "maps lose duplicate keys, nothing is added");
            assert_eq!(read_datagram::<T>(&written, max_items), Ok(message));
        }
        Err(DecodeError::Incomplete) => {}
        Err(
            DecodeError::UnknownTag { at, .. }
            | DecodeError::NotUtf8 { at }
            | DecodeError::TooMany { at, .. }
            | DecodeError::Trailing { at, .. }
            | DecodeError::Invalid { at, .. },
        ) => assert!(at < bytes.len()),
        Err(error) => panic!("no such thing in a datagram: {error}"),
    }
}

// The messages up to the first error, independent of the splits.
fn stream<T: PartialEq + Debug>(
    bytes: &[u8],
    decode: impl FnMut(&mut BytesMut) -> Result<Option<T>, DecodeError> + Clone,
) -> Vec<T> {
    let (mut slowly, mut buffer, mut singles) = (decode.clone(), BytesMut::new(), vec![]);
    let mut error = None;
    for byte in bytes {
        buffer.extend_from_slice(&[*byte]);
        match slowly(&mut buffer) {
            Ok(message) => singles.extend(message),
            Err(why) => {
                error = Some(why);
                break;
            }
        }
    }
    let (messages, wrong) = at_once(bytes, decode);
    assert_eq!((&singles, error), (&messages, wrong));
    messages
}

fn at_once<T>(
    bytes: &[u8],
    mut decode: impl FnMut(&mut BytesMut) -> Result<Option<T>, DecodeError>,
) -> (Vec<T>, Option<DecodeError>) {
    let (mut buffer, mut messages) = (BytesMut::from(bytes), vec![]);
    loop {
        match decode(&mut buffer) {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (messages, None),
            Err(why) => return (messages, Some(why)),
        }
    }
}
