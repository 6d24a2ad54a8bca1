//! Streams that are split, delayed, stalled, full and reset.

mod pipe;

use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    task::{Context, Waker},
};

use bytes::BytesMut;
use netcore::{Role, Time};
use rand::RngExt;

pub(super) use self::pipe::Segments;
use self::pipe::{Landed, Pipe};
use super::{
    arrived::{Arrived, End},
    conditions::Chance,
};
use crate::draw::draw;

/// All connections so far, and those not accepted yet.
#[derive(Debug, Default)]
pub(super) struct Wires {
    all: Vec<Wire>,
    coming: BTreeMap<(Time, usize), Role>,
    // One for players, one for watchers.
    listeners: BTreeMap<Role, Listener>,
    // Connections that may have data in flight.
    lively: Vec<usize>,
}

#[derive(Debug, Default)]
struct Listener {
    backlog: VecDeque<usize>,
    closed: bool,
    waker: Option<Waker>,
}

/// A connection between a client and the server.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about one of the two ends")]
pub(super) struct Wire {
    pub(super) address: SocketAddr,
    pub(super) to_server: Pipe,
    pub(super) to_client: Pipe,
    // Output of the client that is beyond the window, or held back.
    pub(super) unsent: BytesMut,
    // Until when the client holds its output back.
    corked: Option<Time>,
    // The client has finished sending.
    pub(super) closing: bool,
    // The client reads what arrives.
    pub(super) reading: bool,
    // The client knows that the connection has ended.
    pub(super) end_known: bool,
    // The server has closed its end.
    pub(super) left: bool,
}

impl Wire {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            to_server: Pipe::default(),
            to_client: Pipe::default(),
            unsent: BytesMut::new(),
            corked: None,
            closing: false,
            reading: true,
            end_known: false,
            left: false,
        }
    }

    // Sends as much of the client's queue as the window permits.
    pub(super) fn send_unsent(&mut self, chance: &mut Chance) {
        self.send_as(chance, Segments::Small);
    }

    fn send_as(&mut self, chance: &mut Chance, segments: Segments) {
        if self.corked.is_some() {
            return;
        }
        let taken = self.to_server.write(chance, &self.unsent, segments);
        let _ = self.unsent.split_to(taken);
        if self.closing && self.unsent.is_empty() {
            self.to_server.finish(chance, End::Closed);
        }
    }

    // The server closes its end, with a reset if there is unread input.
    pub(super) fn leave(&mut self, chance: &mut Chance) {
        self.left = true;
        let end = if self.to_server.has_unread() { End::Broken } else { End::Closed };
        self.to_client.finish(chance, end);
    }

    fn break_off(&mut self) {
        self.to_server.break_off();
        self.to_client.break_off();
        self.unsent.clear();
        self.corked = None;
    }

    fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        if self.corked.is_some_and(|until| until <= chance.now) {
            self.corked = None;
            chance.traffic.corked += 1;
            self.send_as(chance, Segments::Large);
        }
        while let Some(landed) = self.to_server.arrive(chance.now) {
            match landed {
                Landed::Break => return self.reset(chance),
                // The server has closed its end: the client receives a reset.
                Landed::Bytes if self.left => {
                    self.to_server.break_off();
                    self.to_client.finish(chance, End::Broken);
                }
                Landed::Bytes | Landed::End => {}
            }
        }
        while let Some(landed) = self.to_client.arrive(chance.now) {
            match landed {
                Landed::Break => return self.reset(chance),
                Landed::Bytes if self.reading => {
                    let bytes = self.to_client.read(usize::MAX);
                    arrived.push((self.address, Arrived::Bytes(bytes.freeze())));
                }
                Landed::Bytes | Landed::End => {}
            }
        }
        if self.is_readable() {
            let bytes = self.to_client.read(usize::MAX);
            if !bytes.is_empty() {
                arrived.push((self.address, Arrived::Bytes(bytes.freeze())));
            }
            if let Some(end) = self.to_client.ended() {
                self.end_known = true;
                arrived.push((self.address, Arrived::End(end)));
            }
        }
    }

    // No listener accepts it.
    fn refuse(&mut self, chance: &mut Chance) {
        self.left = true;
        self.reset(chance);
    }

    /// Resets the connection; both ends notice.
    pub(super) fn reset(&mut self, chance: &mut Chance) {
        chance.traffic.resets += 1;
        self.break_off();
    }

    // Whether the client has readable input.
    fn is_readable(&self) -> bool {
        self.reading && !self.end_known && (self.to_client.has_unread() || self.to_client.ended().is_some())
    }

    fn next_due(&self, now: Time) -> Option<Time> {
        let readable = self.is_readable().then_some(now);
        [self.to_server.next_due(), self.to_client.next_due(), readable, self.corked].into_iter().flatten().min()
    }
}

impl Wires {
    pub(super) fn wire(&mut self, wire: usize) -> &mut Wire {
        &mut self.all[wire]
    }

    /// Connects a client to a listener.
    pub(super) fn connect(&mut self, chance: &mut Chance, address: SocketAddr, listener: Role) -> usize {
        let delay = draw(&mut chance.rng, &chance.rough.delay);
        let wire = self.all.len();
        self.all.push(Wire::new(address));
        self.lively.push(wire);
        self.coming.insert((chance.now.plus(delay), wire), listener);
        wire
    }

    /// Sends bytes of a client.
    pub(super) fn send(&mut self, chance: &mut Chance, wire: usize, bytes: &[u8]) {
        let wire = self.wire(wire);
        if wire.closing {
            return;
        }
        wire.unsent.extend_from_slice(bytes);
        if wire.corked.is_none() && chance.rng.random_range(0..100) < chance.rough.cork_percent {
            wire.corked = Some(chance.now.plus(draw(&mut chance.rng, &chance.rough.cork)));
        }
        if chance.rng.random_range(0..1_000) < chance.rough.half_close_permille {
            chance.traffic.half_closed += 1;
            wire.closing = true;
        }
        wire.send_unsent(chance);
    }

    /// A client finishes sending.
    pub(super) fn close(&mut self, chance: &mut Chance, wire: usize) {
        let wire = self.wire(wire);
        if !wire.closing {
            wire.closing = true;
            wire.send_unsent(chance);
        }
    }

    pub(super) fn accept(&mut self, listener: Role) -> Option<(usize, SocketAddr)> {
        let wire = self.listeners.entry(listener).or_default().backlog.pop_front()?;
        Some((wire, self.all[wire].address))
    }

    pub(super) fn await_connection(&mut self, listener: Role, context: &Context<'_>) {
        self.listeners.entry(listener).or_default().waker = Some(context.waker().clone());
    }

    pub(super) fn listen(&mut self, listener: Role) {
        self.listeners.entry(listener).or_default().closed = false;
    }

    /// The server's machine has lost power with all its connections; the clients receive resets.
    pub(super) fn break_all(&mut self, chance: &mut Chance) {
        for &wire in &self.lively {
            let wire = &mut self.all[wire];
            // Connections on their way to a listener are not affected.
            if wire.left && !wire.end_known {
                wire.reset(chance);
            }
        }
    }

    pub(super) fn stop_listening(&mut self, chance: &mut Chance, listener: Role) {
        let listener = self.listeners.entry(listener).or_default();
        listener.closed = true;
        for wire in std::mem::take(&mut listener.backlog) {
            self.all[wire].refuse(chance);
        }
    }

    /// Since when the server has not read pending input of a client.
    pub(super) fn unread_since(&self) -> Option<Time> {
        let wires = self.lively.iter().map(|&wire| &self.all[wire]).filter(|wire| !wire.left);
        wires.filter_map(|wire| wire.to_server.unread_since()).min()
    }

    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        let coming = self.coming.keys().next().map(|&(due, _)| due);
        self.lively.iter().filter_map(|&wire| self.all[wire].next_due(now)).chain(coming).min()
    }

    pub(super) fn arrive(&mut self, chance: &mut Chance, arrived: &mut Vec<(SocketAddr, Arrived)>) {
        while let Some(next) = self.coming.first_entry().filter(|next| next.key().0 <= chance.now) {
            let ((_, wire), listener) = next.remove_entry();
            let listener = self.listeners.entry(listener).or_default();
            if listener.closed {
                self.all[wire].refuse(chance);
                continue;
            }
            listener.backlog.push_back(wire);
            listener.waker.take().into_iter().for_each(Waker::wake);
        }
        let Self { all, lively, .. } = self;
        lively.retain(|&wire| {
            let wire = &mut all[wire];
            wire.arrive(chance, arrived);
            !(wire.end_known && wire.left && !wire.to_server.is_flying())
        });
    }
}
