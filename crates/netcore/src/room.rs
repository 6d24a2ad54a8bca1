//! A server at the level of bytes.

use alloc::{collections::BTreeMap, vec::Vec};

use bytes::{Buf, BytesMut};
use serde::{Deserialize, Serialize};

use crate::{
    Admission, DecodeError, Engine, Framing, Input, Link, Outbox, Outcome, PeerId, Protocol, Recorded, RequestOf,
    StateError, Status, Time,
};

/// The content at the front of a peer's bytes; see [`Room::split`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Split {
    /// A message of this many bytes, which may still be malformed.
    Message(usize),
    /// Not a message: an [`Input::Malformed`] follows, and all bytes are discarded.
    Malformed(DecodeError),
    /// The start of a message.
    Incomplete,
    /// The room accepts no more input from this peer, and all bytes are discarded.
    Ignored,
}

/// How a room handled an input, or the bytes of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The input was processed. More messages may follow in the bytes.
    Decoded,
    /// The bytes are the start of a message and remain in the buffer.
    Incomplete,
    /// Not a message: all bytes were discarded, and a stream accepts no more input.
    Malformed(DecodeError),
    /// The room has ended or accepts no more input from this peer; all bytes were discarded.
    Ignored,
}

/// An [`Engine`](crate::Engine) at the level of bytes: as deterministic, and object safe, so that one shell can host
/// different games.
pub trait Room {
    /// Finds the end of the first message in `bytes`, which is all untaken input from this peer on a stream, and one
    /// whole message on other links.
    ///
    /// Does not change the state, so recordings do not contain it. The caller passes the result to [`Room::input`]:
    /// exactly the bytes of the message, or an [`Input::Malformed`]. [`Room::receive`] does both.
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split;

    /// Processes one input and appends the outputs to `out`. `now` never decreases.
    ///
    /// A malformed message has the effect of an [`Input::Malformed`].
    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress;

    /// Takes and processes at most one message from `bytes`.
    fn receive(&mut self, now: Time, peer: PeerId, bytes: &mut BytesMut, out: &mut Outbox) -> Progress {
        let progress = match self.split(peer, bytes) {
            Split::Incomplete => return Progress::Incomplete,
            Split::Ignored => Progress::Ignored,
            Split::Malformed(why) => self.input(now, Input::Malformed { peer, why }, out),
            Split::Message(length) => {
                let length = length.min(bytes.len());
                let progress = self.input(now, Input::Message { peer, message: &bytes[..length] }, out);
                if progress == Progress::Decoded {
                    bytes.advance(length);
                    return progress;
                }
                progress
            }
        };
        bytes.clear();
        progress
    }

    /// The permitted effect of a datagram from an unknown address. Does not change the state.
    fn admits(&self, datagram: &[u8]) -> Admission;

    /// When [`Input::Elapsed`] is due; see [`Engine::deadline`](crate::Engine::deadline).
    fn deadline(&self) -> Option<Time>;

    /// Why the server ended; `None` while it runs. Later inputs have no effect.
    fn outcome(&self) -> Option<Outcome>;

    /// The summary for a lobby.
    fn status(&self) -> Status;
}

// Adapts an engine to the interface of a room.

/// An engine as a [`Room`], with one decoder per peer.
#[derive(Debug, Clone)]
pub struct EngineRoom<E: Engine> {
    engine: E,
    decoders: BTreeMap<PeerId, PeerDecoder<DecoderOf<E>>>,
}

/// The decoder of an engine's protocol.
pub type DecoderOf<E> = <<E as Engine>::Protocol as Protocol>::Decoder;

#[derive(Debug, Clone, Serialize, Deserialize)]
struct PeerDecoder<D> {
    link: Link,
    decoder: D,
    // Set after a malformed message on a stream.
    ignoring: bool,
    // Whether bytes followed the last message. Not part of the state, because they cause a separate input.
    #[serde(skip)]
    ahead: bool,
}

impl<E: Engine> EngineRoom<E> {
    /// A room without peers.
    pub const fn new(engine: E) -> Self {
        Self { engine, decoders: BTreeMap::new() }
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    fn message(&mut self, now: Time, peer: PeerId, message: &[u8], out: &mut Outbox) -> Progress {
        let Some(entry) = self.decoders.get_mut(&peer).filter(|entry| !entry.ignoring) else {
            return Progress::Ignored;
        };
        match decode::<E>(&mut entry.decoder, message, entry.link.framing()) {
            Ok(request) => {
                self.engine.input(now, Input::Message { peer, message: request }, out);
                Progress::Decoded
            }
            Err(why) => self.malformed(now, peer, why, out),
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: DecodeError, out: &mut Outbox) -> Progress {
        let Some(entry) = self.decoders.get_mut(&peer).filter(|entry| !entry.ignoring) else {
            return Progress::Ignored;
        };
        if entry.link == Link::Stream {
            entry.ignoring = true;
        }
        self.engine.input(now, Input::Malformed { peer, why: why.clone() }, out);
        Progress::Malformed(why)
    }
}

/// The state of an [`EngineRoom`] as plain data.
#[derive(Debug, Serialize, Deserialize)]
pub struct EngineRoomState<S, D> {
    engine: S,
    decoders: Vec<(PeerId, PeerDecoder<D>)>,
}

impl<E: Recorded> EngineRoom<E> {
    /// The state; see [`Recorded::state`].
    pub fn state(&self) -> EngineRoomState<E::State, DecoderOf<E>> {
        let decoders = self.decoders.iter().map(|(&peer, entry)| (peer, entry.clone())).collect();
        EngineRoomState { engine: self.engine.state(), decoders }
    }

    /// Restores a room from its state; see [`Recorded::restore`].
    pub fn restore(setup: E::Setup, state: EngineRoomState<E::State, DecoderOf<E>>) -> Result<Self, StateError> {
        Ok(Self { engine: E::restore(setup, state.engine)?, decoders: state.decoders.into_iter().collect() })
    }
}

fn decode<E: Engine>(
    decoder: &mut DecoderOf<E>,
    message: &[u8],
    framing: Framing,
) -> Result<RequestOf<E>, DecodeError> {
    if framing == Framing::Whole {
        check_length::<E>(message)?;
    }
    E::Protocol::decode(decoder, message, framing)
}

fn check_length<E: Engine>(bytes: &[u8]) -> Result<(), DecodeError> {
    let (length, max) = (bytes.len(), E::Protocol::MAX_MESSAGE);
    if length > max { Err(DecodeError::TooLong { length, max }) } else { Ok(()) }
}

// At least 1; `None` if more bytes are needed.
fn length_on_stream<E: Engine>(entry: &PeerDecoder<DecoderOf<E>>, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
    if let (true, Some(why)) = (entry.ahead, E::Protocol::AHEAD) {
        return Err(why);
    }
    let length = E::Protocol::length(&entry.decoder, bytes)?;
    if length.is_none() {
        check_length::<E>(bytes)?;
    }
    Ok(length)
}

impl<E: Engine> Room for EngineRoom<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        if self.engine.outcome().is_some() {
            return Split::Ignored;
        }
        let Some(entry) = self.decoders.get_mut(&peer).filter(|entry| !entry.ignoring) else { return Split::Ignored };
        let length = match entry.link.framing() {
            Framing::Whole => check_length::<E>(bytes).map(|()| Some(bytes.len())),
            Framing::Stream if bytes.is_empty() => Ok(None),
            Framing::Stream => length_on_stream::<E>(entry, bytes),
        };
        match length {
            Ok(Some(length)) => {
                debug_assert!(length <= bytes.len(), "a message has arrived completely");
                entry.ahead = length < bytes.len();
                Split::Message(length)
            }
            Ok(None) => Split::Incomplete,
            Err(why) => Split::Malformed(why),
        }
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        if self.engine.outcome().is_some() {
            return Progress::Ignored;
        }
        let start = out.position();
        let mut progress = Progress::Decoded;
        match input {
            Input::Message { peer, message } => progress = self.message(now, peer, message, out),
            Input::Malformed { peer, why } => progress = self.malformed(now, peer, why, out),
            Input::Connected { peer, role, link, address } => {
                let decoder = DecoderOf::<E>::default();
                self.decoders.insert(peer, PeerDecoder { link, decoder, ignoring: false, ahead: false });
                self.engine.input(now, Input::Connected { peer, role, link, address }, out);
            }
            Input::Refresh { peer } => self.engine.input(now, Input::Refresh { peer }, out),
            Input::Disconnected { peer, why } => {
                self.decoders.remove(&peer);
                self.engine.input(now, Input::Disconnected { peer, why }, out);
            }
            Input::Elapsed => self.engine.input(now, Input::Elapsed, out),
            Input::Stop(leave) => self.engine.input(now, Input::Stop(leave), out),
        }
        for peer in out.closed_since(start) {
            self.decoders.remove(&peer);
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> Admission {
        match decode::<E>(&mut DecoderOf::<E>::default(), datagram, Framing::Whole) {
            Ok(request) => E::Protocol::admits(Ok(&request)),
            Err(why) => E::Protocol::admits(Err(why)),
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.engine.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.engine.outcome()
    }

    fn status(&self) -> Status {
        self.engine.status()
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::String, vec, vec::Vec};

    use bytes::{Bytes, BytesMut};

    use super::*;
    use crate::{DisconnectReason, Leave, Phase, Role, framing::NulDecoder};

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
}
