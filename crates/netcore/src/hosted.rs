//! A room made of an engine.

use alloc::{collections::BTreeMap, vec::Vec};
use serde::{Deserialize, Serialize};

use crate::{
    Admission, DecodeError, Engine, Framing, Input, Link, Outbox, Outcome, PeerId, Progress, Protocol, Recorded,
    RequestOf, Room, Split, StateError, Status, Time,
    probe::{self, Planted},
};

/// An engine as a [`Room`]: decodes what arrives with the protocol of the engine, with one decoder per peer.
#[derive(Debug, Clone)]
pub struct Hosted<E: Engine> {
    engine: E,
    lines: BTreeMap<PeerId, Line<DecoderOf<E>>>,
    // The number of changes of `lines`, other than of what is not part of the state.
    changes: u64,
}

/// The decoder of an engine's protocol: its state between two messages of a stream.
pub type DecoderOf<E> = <<E as Engine>::Protocol as Protocol>::Decoder;

/// The decoding state of one peer.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Line<D> {
    link: Link,
    decoder: D,
    // It sent something that is not a message over a stream, so nothing after that can be read.
    ignoring: bool,
    // There were bytes behind its last message. What follows from that is an input, so this is not part of the state.
    #[serde(skip)]
    ahead: bool,
}

/// What an input may change in a room. An input that leaves it as it was, and has no outputs, has changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    digest: u64,
    deadline: Option<Time>,
    outcome: Option<Outcome>,
    lines: u64,
}

impl Trace {
    /// The digest of the room.
    pub const fn digest(&self) -> u64 {
        self.digest
    }
}

impl<E: Engine> Hosted<E> {
    /// A room without peers.
    pub const fn new(engine: E) -> Self {
        Self { engine, lines: BTreeMap::new(), changes: 0 }
    }

    /// The engine.
    pub const fn engine(&self) -> &E {
        &self.engine
    }

    /// What the next input may change.
    pub fn trace(&self) -> Trace {
        Trace {
            digest: self.engine.digest(),
            deadline: self.engine.deadline(),
            outcome: self.engine.outcome(),
            lines: self.changes,
        }
    }

    fn message(&mut self, now: Time, peer: PeerId, message: &[u8], out: &mut Outbox) -> Progress {
        let Some(line) = self.lines.get_mut(&peer).filter(|line| !line.ignoring) else { return Progress::Ignored };
        let before = line.decoder.clone();
        match decode::<E>(&mut line.decoder, message, line.link.framing()) {
            Ok(_) if line.ahead && E::Protocol::AHEAD.is_some() && probe::has(Planted::LooksBehind) => {
                let _ = self.malformed(now, peer, DecodeError::invalid("bytes behind a message", 0), out);
                Progress::Decoded
            }
            Ok(request) => {
                if line.decoder != before {
                    self.changes += 1;
                }
                self.engine.input(now, Input::Message { peer, message: request }, out);
                Progress::Decoded
            }
            Err(why) => self.malformed(now, peer, why, out),
        }
    }

    fn malformed(&mut self, now: Time, peer: PeerId, why: DecodeError, out: &mut Outbox) -> Progress {
        let Some(line) = self.lines.get_mut(&peer).filter(|line| !line.ignoring) else { return Progress::Ignored };
        if line.link == Link::Stream {
            line.ignoring = true;
            self.changes += 1;
        }
        self.engine.input(now, Input::Malformed { peer, why: why.clone() }, out);
        Progress::Malformed(why)
    }

    fn remove(&mut self, peer: PeerId) {
        if self.lines.remove(&peer).is_some() {
            self.changes += 1;
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
    pub fn restore(setup: E::Setup, state: HostedState<E::State, DecoderOf<E>>) -> Result<Self, StateError> {
        Ok(Self { engine: E::restore(setup, state.engine)?, lines: state.lines.into_iter().collect(), changes: 0 })
    }
}

// Decodes exactly one message.
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

// The length of the message at the front of a stream, none of which is empty.
fn length_on_stream<E: Engine>(line: &Line<DecoderOf<E>>, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
    if let (true, Some(why)) = (line.ahead, E::Protocol::AHEAD) {
        return Err(why);
    }
    let length = E::Protocol::length(&line.decoder, bytes)?;
    if length.is_none() {
        check_length::<E>(bytes)?;
    }
    Ok(length)
}

impl<E: Engine> Room for Hosted<E> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        if self.engine.outcome().is_some() {
            return Split::Ignored;
        }
        let Some(line) = self.lines.get_mut(&peer).filter(|line| !line.ignoring) else { return Split::Ignored };
        let length = match line.link.framing() {
            Framing::Whole => check_length::<E>(bytes).map(|()| Some(bytes.len())),
            Framing::Stream if bytes.is_empty() => Ok(None),
            Framing::Stream => length_on_stream::<E>(line, bytes),
        };
        match length {
            Ok(Some(length)) => {
                debug_assert!(length <= bytes.len(), "a message has arrived completely");
                line.ahead = length < bytes.len();
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
                self.lines.insert(peer, Line { link, decoder, ignoring: false, ahead: false });
                self.changes += 1;
                self.engine.input(now, Input::Connected { peer, role, link, address }, out);
            }
            Input::Refresh { peer } => self.engine.input(now, Input::Refresh { peer }, out),
            Input::Disconnected { peer, why } => {
                self.remove(peer);
                self.engine.input(now, Input::Disconnected { peer, why }, out);
            }
            Input::Elapsed => self.engine.input(now, Input::Elapsed, out),
            Input::Stop(leave) => self.engine.input(now, Input::Stop(leave), out),
        }
        for peer in out.closed_since(start) {
            self.remove(peer);
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
    use bytes::{Bytes, BytesMut};

    /// Echoes each message to everybody. `bye` closes the sender, and `!` makes a message invalid.
    #[derive(Debug, Clone, Default)]
    struct Echo {
        heard: Vec<(PeerId, String)>,
        over: bool,
    }

    #[derive(Debug, Clone)]
    struct Words;

    impl Protocol for Words {
        type Request = String;
        // Whether it has been said who sends.
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
                    self.heard.push((peer, message));
                    out.close(peer);
                }
                Input::Message { message, .. } if message == "hush" || message == "ann" => {}
                Input::Message { peer, message } => {
                    out.send_everyone(Bytes::from(message.clone()));
                    self.heard.push((peer, message));
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
        let connected = Input::Connected { peer: ANN, role: Role::Player, link, address: "10.0.0.1:1".into() };
        assert_eq!(room.input(Time::ZERO, connected, &mut out), Progress::Decoded);
        (room, out)
    }

    fn put(room: &mut Hosted<Echo>, bytes: &mut BytesMut) -> Progress {
        let mut out = Outbox::new();
        room.receive(Time::ZERO, ANN, bytes, &mut out)
    }

    fn heard(room: &Hosted<Echo>) -> Vec<&str> {
        room.engine().heard.iter().map(|(_, word)| word.as_str()).collect()
    }

    #[test]
    fn a_stream_yields_one_message_per_call_and_keeps_an_unfinished_one() {
        let (mut room, _) = room(Link::Stream);
        let mut bytes = BytesMut::from(&b"o"[..]);
        assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
        bytes.extend_from_slice(b"ne\0");
        assert_eq!(put(&mut room, &mut bytes), Progress::Decoded);
        assert_eq!((heard(&room), bytes.len()), (vec!["one"], 0));
        assert_eq!(put(&mut room, &mut bytes), Progress::Incomplete);
    }

    #[test]
    fn bytes_behind_a_message_are_refused_by_an_input_of_their_own() {
        let (mut room, mut out) = room(Link::Stream);
        let mut bytes = BytesMut::from(&b"one\0two\0"[..]);
        let before = room.trace();
        assert_eq!(room.split(ANN, &bytes), Split::Message(4));
        assert_eq!(room.trace(), before);
        // The message alone, as a replay passes it.
        let message = Input::Message { peer: ANN, message: &b"one\0"[..] };
        assert_eq!(room.clone().input(Time::ZERO, message, &mut out), Progress::Decoded);
        assert_eq!(put(&mut room, &mut bytes), Progress::Malformed(Words::AHEAD.unwrap()));
        assert!(bytes.is_empty());
        assert_eq!(heard(&room), ["byte 0: one at a time"]);
    }

    #[test]
    fn only_an_input_that_changes_something_is_seen_in_the_trace() {
        let (mut room, mut out) = room(Link::Stream);
        let mut changes = |room: &mut Hosted<Echo>, message: &[u8]| {
            let before = room.trace();
            room.input(Time::ZERO, Input::Message { peer: ANN, message }, &mut out);
            room.trace() != before
        };
        assert!(!changes(&mut room, b"hush\0"));
        assert!(changes(&mut room, b"ann\0"), "the decoder");
        assert!(!changes(&mut room, b"ann\0"));
        assert!(changes(&mut room, b"one\0"), "the engine");
        assert!(changes(&mut room, b"!\0"), "the peer is ignored");
        assert!(!changes(&mut room, b"!\0"));
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
            let two = DecodeError::invalid("no shouting", 3);
            assert_eq!(put(&mut room, &mut BytesMut::from(&b"one two"[..])), Progress::Malformed(two));
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
        room.input(Time::ZERO, Input::Disconnected { peer: ANN, why: Gone::Left }, &mut out);
        assert_eq!(put(&mut room, &mut BytesMut::from(&b"one"[..])), Progress::Ignored);
        let (mut room, _) = self::room(Link::Message);
        room.input(Time::ZERO, Input::Stop(Leave::Over), &mut out);
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
}
