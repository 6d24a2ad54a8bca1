use super::*;
use crate::{DisconnectReason, Leave, Phase, Role, framing::NulDecoder};
use alloc::{string::String, vec, vec::Vec};
use bytes::{Bytes, BytesMut};

/// Echoes each message to all peers. `bye` closes the sender; `!` makes a message invalid.
#[derive(Debug, Clone, Default)]
struct Echo {
    received: Vec<(PeerId, String)>,
    over: bool,
}

#[derive(Debug, Clone)]
struct Words;

impl Protocol for Words {
    type Request = String;
    // Whether the stream has contained `ann`.
    type Decoder = bool;
    const MAX_MESSAGE: usize = 9;
    const AHEAD: Option<DecodeError> = Some(DecodeError::invalid("one at a time", 0));

    fn length(_: &bool, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        NulDecoder::new(8).length(bytes)
    }

    fn decode(named: &mut bool, message: &[u8], framing: Framing) -> Result<String, DecodeError> {
        let word = match framing {
            Framing::Stream => message.strip_suffix(b"\0").ok_or(DecodeError::Incomplete)?,
            Framing::Whole => message,
        };
        if let Some(at) = word.iter().position(|byte| b"! ".contains(byte)) {
            return Err(DecodeError::invalid("no shouting", at));
        }
        *named |= word == b"ann";
        Ok(String::from_utf8_lossy(word).into_owned())
    }

    fn admits(message: Result<&String, DecodeError>) -> Admission {
        match message {
            Ok(word) if word == "join" => Admission::Admitted,
            Ok(_) => Admission::Ignored,
            Err(_) => Admission::Answered,
        }
    }
}

impl Engine for Echo {
    type Protocol = Words;

    fn input(&mut self, _: Time, input: Input<'_, String>, out: &mut Outbox) {
        match input {
            Input::Message { peer, message } if message == "bye" => {
                self.received.push((peer, message));
                out.close(peer);
            }
            Input::Message { message, .. } if message == "hush" || message == "ann" => {}
            Input::Message { peer, message } => {
                out.send_everyone(Bytes::from(message.clone()));
                self.received.push((peer, message));
            }
            Input::Malformed { peer, why } => self.received.push((peer, alloc::format!("{why}"))),
            Input::Stop(_) => self.over = true,
            _ => {}
        }
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn outcome(&self) -> Option<Outcome> {
        self.over.then_some(Outcome::Stopped)
    }

    fn status(&self) -> Status {
        Status { phase: Phase::Lobby, taken: 0, seats: 1 }
    }
}

const ANN: PeerId = PeerId(7);

fn room(link: Link) -> (EngineRoom<Echo>, Outbox) {
    let (mut room, mut out) = (EngineRoom::new(Echo::default()), Outbox::new());
    let connected = Input::Connected { peer: ANN, role: Role::Player, link, address: "10.0.0.1:1".into() };
    assert_eq!(room.input(Time::ZERO, connected, &mut out), Progress::Decoded);
    (room, out)
}

fn put(room: &mut EngineRoom<Echo>, bytes: &mut BytesMut) -> Progress {
    let mut out = Outbox::new();
    room.receive(Time::ZERO, ANN, bytes, &mut out)
}

fn words_of(room: &EngineRoom<Echo>) -> Vec<&str> {
    room.engine().received.iter().map(|(_, word)| word.as_str()).collect()
}

#[test]
fn a_stream_yields_one_message_per_call_and_keeps_an_unfinished_one() {
    let (mut room, _) = room(Link::Stream);
    let mut bytes = BytesMut::from(&b"o"[..]);
    assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
    bytes.extend_from_slice(b"ne\0");
    assert_eq!(put(&mut room, &mut bytes), Progress::Decoded);
    assert_eq!((words_of(&room), bytes.len()), (vec!["one"], 0));
    assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
}

#[test]
fn bytes_behind_a_message_are_rejected_by_a_separate_input() {
    let (mut room, mut out) = room(Link::Stream);
    let mut bytes = BytesMut::from(&b"one\0two\0"[..]);
    assert_eq!(room.split(ANN, &bytes), Split::Message(4));
    // The message alone, as in a replay.
    let message = Input::Message { peer: ANN, message: &b"one\0"[..] };
    assert_eq!(room.clone().input(Time::ZERO, message, &mut out), Progress::Decoded);
    assert_eq!(put(&mut room, &mut bytes), Progress::Malformed(Words::AHEAD.unwrap()));
    assert!(bytes.is_empty());
    assert_eq!(words_of(&room), ["byte 0: one at a time"]);
}

#[test]
fn malformed_message_ends_the_input_of_a_stream() {
    let (mut room, _) = room(Link::Stream);
    let mut bytes = BytesMut::from(&b"on!\0two\0"[..]);
    assert!(matches!(put(&mut room, &mut bytes), Progress::Malformed(DecodeError::Invalid { at: 2, .. })));
    assert!(bytes.is_empty());
    assert_eq!(put(&mut room, &mut BytesMut::from(&b"two\0"[..])), Progress::Ignored);
    assert_eq!(words_of(&room), ["byte 2: no shouting"]);
}

#[test]
fn malformed_whole_message_does_not_end_the_connection() {
    for link in [Link::Datagram, Link::Message] {
        let (mut room, _) = room(link);
        let two = DecodeError::invalid("no shouting", 3);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one two"[..])), Progress::Malformed(two));
        let long = DecodeError::TooLong { length: 10, max: 9 };
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"0123456789"[..])), Progress::Malformed(long));
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Decoded);
        assert_eq!(words_of(&room).last(), Some(&"one"));
    }
}

#[test]
fn an_unfinished_message_above_the_bound_is_rejected() {
    let (mut room, _) = room(Link::Stream);
    let mut bytes = BytesMut::from(&b"01234567"[..]);
    assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
    bytes.extend_from_slice(b"89");
    assert!(matches!(put(&mut room, &mut bytes), Progress::Malformed(DecodeError::TooLong { .. })));
}

#[test]
fn input_of_closed_peers_and_after_the_end_is_ignored() {
    let (mut room, mut out) = room(Link::Stream);
    assert_eq!(put(&mut room, &mut BytesMut::from(&b"bye\0"[..])), Progress::Decoded);
    assert_eq!(put(&mut room, &mut BytesMut::from(&b"one\0"[..])), Progress::Ignored);
    let (mut room, _) = self::room(Link::Message);
    room.input(Time::ZERO, Input::Disconnected { peer: ANN, why: DisconnectReason::Left }, &mut out);
    assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Ignored);
    let (mut room, _) = self::room(Link::Message);
    room.input(Time::ZERO, Input::Stop(Leave::Over), &mut out);
    assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Ignored);
    assert!(words_of(&room).is_empty());
}

#[test]
fn a_datagram_of_an_unknown_address_does_not_change_the_room() {
    let room = EngineRoom::new(Echo::default());
    for (datagram, admission) in [
        (&b"join"[..], Admission::Admitted),
        (b"one", Admission::Ignored),
        (b"on!", Admission::Answered),
        (b"one two", Admission::Answered),
        (b"0123456789", Admission::Answered),
    ] {
        assert_eq!(room.admits(datagram), admission, "{}", datagram.escape_ascii());
    }
    assert!(words_of(&room).is_empty());
}
