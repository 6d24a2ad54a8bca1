//! A room made of an engine.

use alloc::{collections::BTreeMap, vec::Vec};
use bytes::BytesMut;
use serde::{Deserialize, Serialize};

use crate::{
    Admission, DecodeError, Engine, Framing, Input, Link, Outbox, Outcome, PeerId, Progress, Protocol, Recorded,
    RequestOf, Room, RoomInput, StateError, Status, Time,
};

/// An engine as a [`Room`]: decodes what arrives with the protocol of the engine, with one decoder per peer.
#[derive(Debug, Clone)]
pub struct Hosted<E: Engine> {
    engine: E,
    lines: BTreeMap<PeerId, Line<DecoderOf<E>>>,
}

/// The decoder of an engine's protocol: its state between two reads of a stream.
pub type DecoderOf<E> = <<E as Engine>::Protocol as Protocol>::Decoder;

/// The decoding state of one peer.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line<D> {
    link: Link,
    decoder: D,
    // It sent something that is not a message over a stream, so nothing after that can be read.
    ignoring: bool,
}

impl<E: Engine> Hosted<E> {
    /// A room without peers.
    pub fn new(engine: E) -> Self {
        Self { engine, lines: BTreeMap::new() }
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    /// Returns the engine and drops the room.
    pub fn into_engine(self) -> E {
        self.engine
    }

    fn bytes(&mut self, now: Time, peer: PeerId, bytes: &mut BytesMut, out: &mut Outbox) -> Progress {
        let Some(line) = self.lines.get_mut(&peer).filter(|line| !line.ignoring) else {
            bytes.clear();
            return Progress::Ignored;
        };
        match decode::<E>(line, bytes) {
            Ok(None) => Progress::Incomplete,
            Ok(Some(request)) => {
                self.engine.input(now, Input::Request { peer, request }, out);
                Progress::Decoded
            }
            Err(why) => {
                bytes.clear();
                line.ignoring = line.link == Link::Stream;
                self.engine.input(now, Input::Malformed { peer, why }, out);
                Progress::Malformed(why)
            }
        }
    }
}

/// The state of a [`Hosted`] room as plain data: that of the engine and that of the decoders.
#[derive(Debug, Serialize, Deserialize)]
pub struct HostedState<S, D> {
    engine: S,
    lines: Vec<(PeerId, Line<D>)>,
}

impl<E: Recorded> Hosted<E> {
    /// The state; see [`Recorded::state`].
    pub fn state(&self) -> HostedState<E::State, DecoderOf<E>> {
        let lines = self.lines.iter().map(|(&peer, line)| (peer, line.clone())).collect();
        HostedState { engine: self.engine.state(), lines }
    }

    /// Restores the room that had this state; see [`Recorded::restore`].
    ///
    /// # Errors
    /// [`StateError`] when a room with this setup cannot have that state.
    pub fn restore(setup: E::Setup, state: HostedState<E::State, DecoderOf<E>>) -> Result<Self, StateError> {
        Ok(Self { engine: E::restore(setup, state.engine)?, lines: state.lines.into_iter().collect() })
    }
}

// Takes the message at the front of the bytes; `None` when a stream must deliver more first.
fn decode<E: Engine>(line: &mut Line<DecoderOf<E>>, bytes: &mut BytesMut) -> Result<Option<RequestOf<E>>, DecodeError> {
    let max = E::Protocol::MAX_MESSAGE;
    let framing = line.link.framing();
    if framing == Framing::Whole {
        return whole::<E>(&mut line.decoder, bytes).map(Some);
    }
    match E::Protocol::decode(&mut line.decoder, bytes, framing)? {
        None if bytes.len() > max => Err(DecodeError::TooLong { length: bytes.len(), max }),
        message => Ok(message),
    }
}

// Decodes bytes that must be exactly one message.
fn whole<E: Engine>(decoder: &mut DecoderOf<E>, bytes: &mut BytesMut) -> Result<RequestOf<E>, DecodeError> {
    let (length, max) = (bytes.len(), E::Protocol::MAX_MESSAGE);
    if length > max {
        return Err(DecodeError::TooLong { length, max });
    }
    let message = E::Protocol::decode(decoder, bytes, Framing::Whole)?.ok_or(DecodeError::Incomplete)?;
    match bytes.len() {
        0 => Ok(message),
        extra => Err(DecodeError::Trailing { at: length - extra, extra }),
    }
}

impl<E: Engine> Room for Hosted<E> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        if self.engine.outcome().is_some() {
            if let RoomInput::Bytes { bytes, .. } = input {
                bytes.clear();
            }
            return Progress::Ignored;
        }
        let mark = out.mark();
        let mut progress = Progress::Decoded;
        match input {
            RoomInput::Bytes { peer, bytes } => progress = self.bytes(now, peer, bytes, out),
            RoomInput::Connected { peer, role, link, address } => {
                self.lines.insert(peer, Line { link, decoder: DecoderOf::<E>::default(), ignoring: false });
                self.engine.input(now, Input::Connected { peer, role, link, address }, out);
            }
            RoomInput::Refresh { peer } => self.engine.input(now, Input::Refresh { peer }, out),
            RoomInput::Disconnected { peer, why } => {
                self.lines.remove(&peer);
                self.engine.input(now, Input::Disconnected { peer, why }, out);
            }
            RoomInput::Elapsed => self.engine.input(now, Input::Elapsed, out),
            RoomInput::Stop(leave) => self.engine.input(now, Input::Stop(leave), out),
        }
        for peer in out.closed_since(mark) {
            self.lines.remove(&peer);
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        let message = whole::<E>(&mut DecoderOf::<E>::default(), &mut BytesMut::from(datagram));
        match message {
            Ok(request) => E::Protocol::admits(Ok(&request)),
            Err(why) => E::Protocol::admits(Err(why)),
        }
    }

    fn max_message(&self) -> usize {
        E::Protocol::MAX_MESSAGE
    }

    fn deadline(&self) -> Option<Time> {
        self.engine.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.engine.outcome()
    }

    fn digest(&self) -> u64 {
        self.engine.digest()
    }

    fn status(&self) -> Status {
        self.engine.status()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Gone, Leave, Phase, Role, framing::NulDecoder};
    use alloc::{string::String, vec, vec::Vec};
    use bytes::Bytes;

    /// Echoes each message to everybody. `bye` closes the sender, and `!` makes a message invalid.
    #[derive(Debug, Clone, Default)]
    struct Echo {
        heard: Vec<(PeerId, String)>,
        over: bool,
    }

    #[derive(Debug, Clone)]
    struct Words;

    impl Default for WordDecoder {
        fn default() -> Self {
            Self(NulDecoder::new(8))
        }
    }

    #[derive(Debug, Clone)]
    struct WordDecoder(NulDecoder);

    impl Protocol for Words {
        type Request = String;
        type Decoder = WordDecoder;
        const MAX_MESSAGE: usize = 9;

        fn decode(
            WordDecoder(decoder): &mut WordDecoder,
            buffer: &mut BytesMut,
            framing: Framing,
        ) -> Result<Option<String>, DecodeError> {
            let word = match framing {
                Framing::Stream => decoder.decode(buffer)?,
                Framing::Whole => {
                    let end = buffer.iter().position(|&byte| byte == b' ').unwrap_or(buffer.len());
                    Some(buffer.split_to(end).freeze())
                }
            };
            let Some(word) = word else { return Ok(None) };
            match word.iter().position(|&byte| byte == b'!') {
                Some(at) => Err(DecodeError::Invalid { what: "no shouting", at }),
                None => Ok(Some(String::from_utf8_lossy(&word).into_owned())),
            }
        }

        fn encode_request(request: &String, out: &mut BytesMut) {
            out.extend_from_slice(request.as_bytes());
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
                Input::Request { peer, request } if request == "bye" => {
                    self.heard.push((peer, request));
                    out.close(peer);
                }
                Input::Request { peer, request } => {
                    out.send_everyone(Bytes::from(request.clone()));
                    self.heard.push((peer, request));
                }
                Input::Malformed { peer, why } => self.heard.push((peer, alloc::format!("{why}"))),
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

        fn digest(&self) -> u64 {
            self.heard.len() as u64
        }

        fn status(&self) -> Status {
            Status { phase: Phase::Lobby, taken: 0, seats: 1 }
        }
    }

    const ANN: PeerId = PeerId(7);

    fn room(link: Link) -> (Hosted<Echo>, Outbox) {
        let (mut room, mut out) = (Hosted::new(Echo::default()), Outbox::new());
        let connected = RoomInput::Connected { peer: ANN, role: Role::Player, link, address: "10.0.0.1:1" };
        assert_eq!(room.input(Time::ZERO, connected, &mut out), Progress::Decoded);
        (room, out)
    }

    fn put(room: &mut Hosted<Echo>, bytes: &mut BytesMut) -> Progress {
        let mut out = Outbox::new();
        room.input(Time::ZERO, RoomInput::Bytes { peer: ANN, bytes }, &mut out)
    }

    fn heard(room: &Hosted<Echo>) -> Vec<&str> {
        room.engine().heard.iter().map(|(_, word)| word.as_str()).collect()
    }

    #[test]
    fn a_stream_yields_one_message_per_call_and_keeps_an_unfinished_one() {
        let (mut room, _) = room(Link::Stream);
        let mut bytes = BytesMut::from(&b"one\0two\0th"[..]);
        assert_eq!(put(&mut room, &mut bytes), Progress::Decoded);
        assert_eq!((heard(&room), &bytes[..]), (vec!["one"], &b"two\0th"[..]));
        assert_eq!(put(&mut room, &mut bytes), Progress::Decoded);
        assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
        bytes.extend_from_slice(b"ree\0");
        assert_eq!(put(&mut room, &mut bytes), Progress::Decoded);
        assert_eq!((heard(&room), bytes.len()), (vec!["one", "two", "three"], 0));
    }

    #[test]
    fn nothing_is_read_after_a_malformed_message_on_a_stream() {
        let (mut room, _) = room(Link::Stream);
        let mut bytes = BytesMut::from(&b"on!\0two\0"[..]);
        assert!(matches!(put(&mut room, &mut bytes), Progress::Malformed(DecodeError::Invalid { at: 2, .. })));
        assert!(bytes.is_empty());
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"two\0"[..])), Progress::Ignored);
        assert_eq!(heard(&room), ["byte 2: no shouting"]);
    }

    #[test]
    fn whole_messages_are_exact_and_a_malformed_one_does_not_end_the_connection() {
        for link in [Link::Datagram, Link::Message] {
            let (mut room, _) = room(link);
            let trailing = DecodeError::Trailing { at: 3, extra: 4 };
            assert_eq!(put(&mut room, &mut BytesMut::from(&b"one two"[..])), Progress::Malformed(trailing));
            let long = DecodeError::TooLong { length: 10, max: 9 };
            assert_eq!(put(&mut room, &mut BytesMut::from(&b"0123456789"[..])), Progress::Malformed(long));
            assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Decoded);
            assert_eq!(heard(&room).last(), Some(&"one"));
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
    fn closed_and_disconnected_peers_are_ignored_and_so_are_all_after_the_end() {
        let (mut room, mut out) = room(Link::Stream);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"bye\0"[..])), Progress::Decoded);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one\0"[..])), Progress::Ignored);
        let (mut room, _) = self::room(Link::Message);
        room.input(Time::ZERO, RoomInput::Disconnected { peer: ANN, why: Gone::Left }, &mut out);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Ignored);
        let (mut room, _) = self::room(Link::Message);
        room.input(Time::ZERO, RoomInput::Stop(Leave::Over), &mut out);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Ignored);
        assert!(heard(&room).is_empty());
    }

    #[test]
    fn a_datagram_of_a_stranger_is_judged_without_changing_the_room() {
        let room = Hosted::new(Echo::default());
        for (datagram, admission) in [
            (&b"join"[..], Admission::Admitted),
            (b"one", Admission::Ignored),
            (b"on!", Admission::Answered),
            (b"one two", Admission::Answered),
            (b"0123456789", Admission::Answered),
        ] {
            assert_eq!(room.admits(datagram), admission, "{}", datagram.escape_ascii());
        }
        assert_eq!(room.digest(), 0);
    }

    #[test]
    fn a_room_is_object_safe() {
        let mut room: alloc::boxed::Box<dyn Room> = alloc::boxed::Box::new(Hosted::new(Echo::default()));
        let mut out = Outbox::new();
        assert_eq!(room.input(Time::ZERO, RoomInput::Elapsed, &mut out), Progress::Decoded);
        assert_eq!((room.max_message(), room.status().seats, room.outcome()), (9, 1, None));
    }
}
