//! Playing a match again.

use bytes::BytesMut;
use netcore::{Hosted, Leave, Outbox, PeerId, Progress, Recorded, Room, RoomInput, StateError, Time};
use thiserror::Error;

use crate::{
    Arrival, Head, HeadError, Mark, Peer, Snapshot, What, codec,
    peers::Peers,
    room::{Progressed, check_of},
};

/// A replay that came to something else than the match did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the replay comes to another state at arrival {arrival} than the match did: {what}")]
pub struct Divergence {
    /// The arrival, counted from 1.
    pub arrival: u64,
    /// What is different.
    pub what: &'static str,
}

/// A room that is handed the arrivals of a journal.
#[derive(Debug, Clone)]
pub struct Replay<E: Recorded> {
    room: Hosted<E>,
    peers: Peers,
    arrivals: u64,
    time: Time,
}

impl<E: Recorded> Replay<E> {
    /// From the beginning of the match.
    ///
    /// # Errors
    /// [`HeadError`] when it is a match of another game or version.
    pub fn start(head: &Head) -> Result<Self, HeadError> {
        if let Some(base) = &head.base {
            return Self::restore(head, base);
        }
        let engine = E::from_setup(head.setup::<E>()?)?;
        Ok(Self { room: Hosted::new(engine), peers: Peers::default(), arrivals: 0, time: Time::ZERO })
    }

    /// From a snapshot on.
    ///
    /// # Errors
    /// [`HeadError`] when it is of another game or version, or no state that the game can be in.
    pub fn restore(head: &Head, snapshot: &Snapshot) -> Result<Self, HeadError> {
        let state = codec::decode_all(&snapshot.state).map_err(HeadError::Setup)?;
        let room = Hosted::restore(head.setup::<E>()?, state)?;
        if room.digest() != snapshot.mark.digest {
            return Err(StateError::from("it is not the state that the match had").into());
        }
        let peers = Peers::restore(snapshot.next_peer, &snapshot.peers);
        Ok(Self { room, peers, arrivals: snapshot.mark.arrivals, time: snapshot.mark.time })
    }

    /// The room.
    pub const fn room(&self) -> &Hosted<E> {
        &self.room
    }

    /// Arrivals so far.
    pub const fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// The time of the last arrival.
    pub const fn time(&self) -> Time {
        self.time
    }

    /// Who is there.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.iter().map(|(_, peer)| peer)
    }

    /// Somebody who is there.
    pub fn peer(&self, peer: PeerId) -> Option<&Peer> {
        self.peers.get(peer)
    }

    /// Hands the room what arrived next, and puts what followed into `out`. Gives those who were closed by it.
    ///
    /// # Errors
    /// [`Divergence`] when the room takes it in another way than it did in the match. The replay makes no sense from there on.
    pub fn apply(&mut self, arrival: &Arrival, out: &mut Outbox) -> Result<Vec<Peer>, Divergence> {
        self.arrivals += 1;
        let arrivals = self.arrivals;
        let diverges = |what| Divergence { arrival: arrivals, what };
        self.time = arrival.time;
        let mark = out.mark();
        let now = arrival.time;
        let input = match &arrival.what {
            What::Connected(Peer { peer, role, link, address }) => {
                RoomInput::Connected { peer: *peer, role: *role, link: *link, address }
            }
            What::Bytes { peer, bytes } => {
                let mut bytes = BytesMut::from(&bytes[..]);
                let progress = self.room.input(now, RoomInput::Bytes { peer: *peer, bytes: &mut bytes }, out);
                if !bytes.is_empty() || !matches!(progress, Progress::Decoded | Progress::Malformed(_)) {
                    return Err(diverges("it does not take the message"));
                }
                self.compare(arrival.check)?;
                return Ok(self.peers.follow(None, out.closed_since(mark)));
            }
            What::Refresh(peer) => RoomInput::Refresh { peer: *peer },
            What::Disconnected { peer, why } => RoomInput::Disconnected { peer: *peer, why: *why },
            What::Elapsed => RoomInput::Elapsed,
            What::Stop(leave) => RoomInput::Stop(*leave),
        };
        if self.room.input(now, input, out) != Progress::Decoded {
            return Err(diverges("it is over already"));
        }
        self.compare(arrival.check)?;
        Ok(self.peers.follow(Some(&arrival.what), out.closed_since(mark)))
    }

    fn compare(&self, check: u8) -> Result<(), Divergence> {
        let same = check_of(&self.room) == check;
        same.then_some(()).ok_or(Divergence { arrival: self.arrivals, what: "its digest is another" })
    }

    /// Compares the room with what the match had come to here.
    ///
    /// # Errors
    /// [`Divergence`] when it is not the same.
    pub fn check(&self, mark: &Mark) -> Result<(), Divergence> {
        let diverges = |what| Err(Divergence { arrival: self.arrivals, what });
        if mark.arrivals != self.arrivals {
            return diverges("arrivals are missing, or too many");
        }
        if mark.digest != self.room.digest() {
            return diverges("its digest is another");
        }
        Ok(())
    }

    /// The state, from which the match can be replayed later.
    pub fn snapshot(&self) -> Snapshot {
        let mark = Mark { time: self.time, arrivals: self.arrivals, digest: self.room.digest() };
        let mut state = vec![];
        codec::encode(&self.room.state(), &mut state);
        let peers = self.peers.iter().cloned().collect();
        Snapshot { mark, offset: 0, sum: 0, next_peer: self.peers.next(), peers, state }
    }

    /// Who is there, and in which slots.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (u32, PeerId)> {
        self.peers.iter().map(|(slot, peer)| (*slot, peer.peer))
    }

    pub(crate) const fn next_peer(&self) -> PeerId {
        self.peers.next()
    }

    pub(crate) fn into_parts(self) -> (Hosted<E>, Progressed) {
        let micros = self.time.as_nanos() / 1_000;
        (self.room, Progressed { peers: self.peers, micros, arrivals: self.arrivals })
    }

    /// Hands the room something that did not arrive in the match, such as one who looks on at the replay.
    pub fn add(&mut self, input: RoomInput<'_>, out: &mut Outbox) {
        debug_assert!(!matches!(input, RoomInput::Stop(Leave::Over)), "a replay ends by itself");
        self.room.input(self.time, input, out);
    }
}
