//! Adapts an engine to the interface of a room.

use alloc::{collections::BTreeMap, vec::Vec};
use serde::{Deserialize, Serialize};

use crate::{
    Admission, DecodeError, Engine, Framing, Input, Link, Outbox, Outcome, PeerId, Progress, Protocol, Recorded,
    RequestOf, Room, Split, StateError, Status, Time,
};

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
mod tests;
