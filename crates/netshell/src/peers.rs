//! Who is who among addresses that send datagrams. No socket: the real and the pretend network share it.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    net::SocketAddr,
};

use bytes::{Bytes, BytesMut};
use netcore::{
    DecodeError, Engine, Framing, Input, Link, Outbox, Output, PeerId, Protocol, Role, Time, To, TokenBucket,
};
use tracing::debug;

use crate::limits::{PEER_RATE, Strangers};

/// What became of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The engine has it.
    Request,
    /// The engine has been told that it is malformed.
    Malformed(DecodeError),
    /// A message that lets nobody in, from an address without a seat; the engine has not seen it.
    Ignored,
    /// Dropped by the limits on strangers and peers before it was looked at.
    Refused,
}

/// What is to be done with one output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery<R> {
    /// Send these bytes.
    Send {
        /// There.
        to: R,
        /// When something came from there last.
        heard: Time,
        /// The bytes.
        frame: Bytes,
    },
    /// Put this text on standard output.
    Summary(String),
}

/// An address as people and engines are shown it: an IPv4 one as such, also where it came in over an IPv6 socket.
pub(crate) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[derive(Debug)]
struct Peer<R> {
    remote: R,
    bucket: TokenBucket,
    heard: Time,
}

/// The peers of one engine, each at a remote end `R`.
///
/// A remote end becomes a peer with its first message that [`Protocol::admits`], or for the moment in which the engine
/// answers its first malformed one, and is one until the engine closes it. The engine has to close whom it does not let in.
#[derive(Debug)]
pub struct Peers<R> {
    // Looked up, never walked through: its order is of no consequence.
    ids: HashMap<R, PeerId>,
    known: BTreeMap<PeerId, Peer<R>>,
    next_id: u32,
    strangers: Strangers,
}

impl<R: Copy + Eq + Hash> Peers<R> {
    /// Nobody has been let in.
    pub fn new(now: Time) -> Self {
        Self { ids: HashMap::new(), known: BTreeMap::new(), next_id: 0, strangers: Strangers::new(now) }
    }

    /// How many peers there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The peer at `remote`, if there is one.
    pub fn at(&self, remote: R) -> Option<PeerId> {
        self.ids.get(&remote).copied()
    }

    /// Hands a datagram from `remote`, which has the address `address`, to the engine if the limits let it through.
    pub fn take_in<E: Engine>(
        &mut self,
        now: Time,
        engine: &mut E,
        out: &mut Outbox,
        (remote, address): (R, SocketAddr),
        datagram: &mut BytesMut,
    ) -> Taken {
        let known = self.at(remote);
        let admitted = match known.and_then(|id| self.known.get_mut(&id)) {
            Some(peer) => {
                // Also by what is refused: whoever sends too much is not gone.
                peer.heard = now;
                peer.bucket.take(now, 1)
            }
            None => self.strangers.admit(now, address),
        };
        if !admitted {
            return Taken::Refused;
        }
        let fresh = &mut <E::Protocol as Protocol>::Decoder::default();
        let message = <E::Protocol as Protocol>::decode(fresh, datagram, Framing::Datagram)
            .and_then(|message| message.ok_or(DecodeError::Incomplete));
        if known.is_none() && message.as_ref().is_ok_and(|request| !<E::Protocol as Protocol>::admits(request)) {
            return Taken::Ignored;
        }
        let peer = known.unwrap_or_else(|| self.connect(now, engine, out, (remote, address)));
        match message {
            Ok(request) => {
                engine.input(now, Input::Request { peer, request }, out);
                Taken::Request
            }
            Err(why) => {
                engine.input(now, Input::Malformed { peer, why }, out);
                Taken::Malformed(why)
            }
        }
    }

    /// Takes all outputs out of `out`, in order, and says for each what is to be done.
    pub fn deliver(&mut self, out: &mut Outbox, mut act: impl FnMut(Delivery<R>)) {
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    if let Some(&Peer { remote: to, heard, .. }) = self.known.get(&peer) {
                        act(Delivery::Send { to, heard, frame });
                    }
                }
                Output::Send { to: To::Everyone, frame } => {
                    for &Peer { remote: to, heard, .. } in self.known.values() {
                        act(Delivery::Send { to, heard, frame: frame.clone() });
                    }
                }
                // Histories are for streams. A datagram is whole messages only as its protocol says, so an engine that
                // speaks datagrams makes none; if it did, each piece would go the way of any other frame.
                Output::Replay { to, log } => {
                    if let Some(&Peer { remote: to, heard, .. }) = self.known.get(&to) {
                        log.segments().for_each(|segment| act(Delivery::Send { to, heard, frame: segment.clone() }));
                    }
                }
                Output::Close { peer } => {
                    debug!(%peer, "closed");
                    if let Some(gone) = self.known.remove(&peer) {
                        self.ids.remove(&gone.remote);
                    }
                }
                Output::Summary(text) => act(Delivery::Summary(text)),
            }
        }
    }

    fn connect<E: Engine>(
        &mut self,
        now: Time,
        engine: &mut E,
        out: &mut Outbox,
        (remote, address): (R, SocketAddr),
    ) -> PeerId {
        let peer = PeerId(self.next_id);
        // Strangers come at a limited rate, so this takes weeks to come round, and then skips who is still there.
        self.next_id = self.next_id.wrapping_add(1);
        while self.known.contains_key(&PeerId(self.next_id)) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        self.ids.insert(remote, peer);
        self.known.insert(peer, Peer { remote, bucket: TokenBucket::new(PEER_RATE, now), heard: now });
        let address = plain(address).to_string();
        debug!(%peer, address, "connected");
        engine.input(now, Input::Connected { peer, role: Role::Player, link: Link::Datagram, address: &address }, out);
        peer
    }
}
