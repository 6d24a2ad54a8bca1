use netcore::{EngineRoom, Input, Leave, Outbox, PeerId, Progress, Recorded, Room, StateError, Time};
use thiserror::Error;

use crate::{Arrival, Head, HeadError, Mark, Peer, Snapshot, codec, peers::Peers, room::RoomProgress};

/// Weight of a copy: a constant, and a multiple of the encoded length, because a state also contains computed data.
const BASE: usize = 256 << 10;
const WEIGHT: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the replay diverges from the match between arrivals {same} and {arrival}: {what}")]
pub struct Divergence {
    /// The last arrival whose mark had the same state; 0 at the beginning.
    pub same: u64,
    /// Where the difference was found, counted from 1.
    pub arrival: u64,
    pub what: &'static str,
}

#[derive(Debug, Clone)]
pub struct Replay<E: Recorded> {
    room: EngineRoom<E>,
    peers: Peers,
    arrivals: u64,
    time: Time,
    // Whether digests are comparable: earlier rules computed them in other ways.
    compares: bool,
    // The arrivals before the last mark with the same state.
    same: u64,
}

impl<E: Recorded> Replay<E> {
    pub fn start(head: &Head) -> Result<Self, HeadError> {
        if let Some(base) = &head.base {
            return Self::restore(head, base);
        }
        let engine = E::from_setup(head.setup::<E>()?)?;
        let (room, peers, compares) = (EngineRoom::new(engine), Peers::default(), head.has_rules_of::<E>());
        Ok(Self { room, peers, arrivals: 0, time: Time::ZERO, compares, same: 0 })
    }

    /// Does not validate a state with the recorded digest.
    ///
    /// # Errors
    /// [`HeadError`] if it is of another game or version, or the state has another digest.
    pub fn restore(head: &Head, snapshot: &Snapshot) -> Result<Self, HeadError> {
        let (setup, compares) = (head.setup::<E>()?, head.has_rules_of::<E>());
        let Mark { time, arrivals, digest } = snapshot.mark;
        if compares && codec::hash_encoded(&snapshot.state) != digest {
            return Err(StateError::from("the digest of its state differs").into());
        }
        let state = codec::decode_all(&snapshot.state).map_err(HeadError::Setup)?;
        let room = EngineRoom::restore(setup, state)?;
        let peers = Peers::restore(snapshot.next_peer, &snapshot.peers);
        Ok(Self { room, peers, arrivals, time, compares, same: arrivals })
    }

    pub const fn room(&self) -> &EngineRoom<E> {
        &self.room
    }

    pub const fn arrivals(&self) -> u64 {
        self.arrivals
    }

    pub const fn time(&self) -> Time {
        self.time
    }

    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().map(|(_, peer)| peer)
    }

    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.peers.get(peer)
    }

    /// Returns the closed peers.
    ///
    /// # Errors
    /// [`Divergence`] if the result differs from the match. The replay must not be continued then.
    pub fn apply(&mut self, arrival: &Arrival, out: &mut Outbox) -> Result<Vec<Peer>, Divergence> {
        self.arrivals += 1;
        self.time = arrival.time;
        let start = out.position();
        if self.room.input(arrival.time, arrival.input.borrowed(), out) == Progress::Ignored {
            let over = self.room.outcome().is_some();
            let what = if over { "the match is already over" } else { "the message is not accepted" };
            return Err(self.diverges(what));
        }
        Ok(self.peers.follow(&arrival.input, out.closed_since(start)))
    }

    pub const fn compares(&self) -> bool {
        self.compares
    }

    pub fn check(&mut self, mark: &Mark) -> Result<(), Divergence> {
        if mark.arrivals != self.arrivals {
            return Err(self.diverges("the number of arrivals differs"));
        }
        if self.compares && mark.digest != digest(&self.room) {
            return Err(self.diverges("the states differ"));
        }
        self.same = self.arrivals;
        Ok(())
    }

    pub const fn diverges(&self, what: &'static str) -> Divergence {
        Divergence { same: self.same, arrival: self.arrivals, what }
    }

    pub fn snapshot(&self) -> Snapshot {
        let state = encode_state(&self.room);
        let mark = Mark { time: self.time, arrivals: self.arrivals, digest: codec::hash_encoded(&state) };
        let peers = self.peers.iter().cloned().collect();
        Snapshot { mark, offset: 0, sum: 0, next_peer: self.peers.next(), peers, state }
    }

    /// The approximate memory of a copy in bytes.
    pub fn weight(&self) -> usize {
        BASE + WEIGHT * encode_state(&self.room).len()
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, PeerId)> {
        self.peers.iter().map(|(slot, peer)| (*slot, peer.peer))
    }

    pub(crate) const fn next_peer(&self) -> PeerId {
        self.peers.next()
    }

    pub(crate) fn into_parts(self) -> (EngineRoom<E>, RoomProgress) {
        let micros = self.time.as_nanos() / 1_000;
        (self.room, RoomProgress { peers: self.peers, micros, arrivals: self.arrivals })
    }

    /// Applies an input that is not part of the match, such as a watcher of the replay.
    pub fn add(&mut self, input: Input<'_, &[u8]>, out: &mut Outbox) {
        debug_assert!(!matches!(input, Input::Stop(Leave::Over)), "a replay ends by itself");
        self.room.input(self.time, input, out);
    }
}

pub fn encode_state<E: Recorded>(room: &EngineRoom<E>) -> Vec<u8> {
    let mut state = vec![];
    codec::encode(&room.state(), &mut state);
    state
}

/// A hash of the encoded state.
pub fn digest<E: Recorded>(room: &EngineRoom<E>) -> u64 {
    codec::hash(&room.state()).0
}
