//! Replays matches.

use netcore::{Hosted, Input, Leave, Outbox, PeerId, Progress, Recorded, Room, StateError, Time};
use thiserror::Error;

use crate::{
    Arrival, Head, HeadError, Mark, Peer, Snapshot, codec,
    peers::Peers,
    room::{RoomProgress, check_byte},
};

/// A replay that differs from the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the replay diverges from the match at arrival {arrival}: {what}")]
pub struct Divergence {
    /// The arrival, counted from 1.
    pub arrival: u64,
    /// The difference.
    pub what: &'static str,
}

/// A room that processes the arrivals of a journal.
#[derive(Debug, Clone)]
pub struct Replay<E: Recorded> {
    room: Hosted<E>,
    peers: Peers,
    arrivals: u64,
    time: Time,
}

impl<E: Recorded> Replay<E> {
    /// Starts at the beginning of the match.
    pub fn start(head: &Head) -> Result<Self, HeadError> {
        if let Some(base) = &head.base {
            return Self::restore(head, base);
        }
        let engine = E::from_setup(head.setup::<E>()?)?;
        Ok(Self { room: Hosted::new(engine), peers: Peers::default(), arrivals: 0, time: Time::ZERO })
    }

    /// Starts at a snapshot.
    ///
    /// # Errors
    /// [`HeadError`] when it is of another game or version, or the state is not valid.
    pub fn restore(head: &Head, snapshot: &Snapshot) -> Result<Self, HeadError> {
        let state = codec::decode_all(&snapshot.state).map_err(HeadError::Setup)?;
        let room = Hosted::restore(head.setup::<E>()?, state)?;
        if room.digest() != snapshot.mark.digest {
            return Err(StateError::from("its digest is not that of the match").into());
        }
        let peers = Peers::restore(snapshot.next_peer, &snapshot.peers);
        Ok(Self { room, peers, arrivals: snapshot.mark.arrivals, time: snapshot.mark.time })
    }

    /// The room.
    pub const fn room(&self) -> &Hosted<E> {
        &self.room
    }

    /// The number of arrivals so far.
    pub const fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// The time of the last arrival.
    pub const fn time(&self) -> Time {
        self.time
    }

    /// The connected peers.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().map(|(_, peer)| peer)
    }

    /// A connected peer.
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.peers.get(peer)
    }

    /// Processes the next arrival and appends the outputs to `out`. Returns the peers that were closed.
    ///
    /// # Errors
    /// [`Divergence`] when the result differs from the match. The replay must not be continued then.
    pub fn apply(&mut self, arrival: &Arrival, out: &mut Outbox) -> Result<Vec<Peer>, Divergence> {
        self.arrivals += 1;
        self.time = arrival.time;
        let start = out.position();
        if self.room.input(arrival.time, arrival.input.borrowed(), out) == Progress::Ignored {
            let over = self.room.outcome().is_some();
            let what = if over { "the match is already over" } else { "the message is not accepted" };
            return Err(Divergence { arrival: self.arrivals, what });
        }
        self.compare(arrival.check)?;
        Ok(self.peers.follow(&arrival.input, out.closed_since(start)))
    }

    fn compare(&self, check: u8) -> Result<(), Divergence> {
        let same = check_byte(self.room.digest()) == check;
        same.then_some(()).ok_or(Divergence { arrival: self.arrivals, what: "the digest differs" })
    }

    /// Compares the room with a mark of the match.
    pub fn check(&self, mark: &Mark) -> Result<(), Divergence> {
        let diverges = |what| Err(Divergence { arrival: self.arrivals, what });
        if mark.arrivals != self.arrivals {
            return diverges("the number of arrivals differs");
        }
        if mark.digest != self.room.digest() {
            return diverges("the digest differs");
        }
        Ok(())
    }

    /// The present state, from which a replay can start later.
    pub fn snapshot(&self) -> Snapshot {
        let mark = Mark { time: self.time, arrivals: self.arrivals, digest: self.room.digest() };
        let state = encode_state(&self.room);
        let peers = self.peers.iter().cloned().collect();
        Snapshot { mark, offset: 0, sum: 0, next_peer: self.peers.next(), peers, state }
    }

    /// The connected peers and their slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, PeerId)> {
        self.peers.iter().map(|(slot, peer)| (*slot, peer.peer))
    }

    pub(crate) const fn next_peer(&self) -> PeerId {
        self.peers.next()
    }

    pub(crate) fn into_parts(self) -> (Hosted<E>, RoomProgress) {
        let micros = self.time.as_nanos() / 1_000;
        (self.room, RoomProgress { peers: self.peers, micros, arrivals: self.arrivals })
    }

    /// Processes an input that is not part of the match, such as a watcher of the replay.
    pub fn add(&mut self, input: Input<'_, &[u8]>, out: &mut Outbox) {
        debug_assert!(!matches!(input, Input::Stop(Leave::Over)), "a replay ends by itself");
        self.room.input(self.time, input, out);
    }
}

/// The state of a room as a snapshot contains it.
pub fn encode_state<E: Recorded>(room: &Hosted<E>) -> Vec<u8> {
    let mut state = vec![];
    codec::encode(&room.state(), &mut state);
    state
}
