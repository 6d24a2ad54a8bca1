use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    task::Waker,
};

use bytes::Bytes;
use netcore::Time;
use rand::RngExt;

use super::{conditions::Chance, streams::Arrived};
use crate::machine::draw;

/// The largest UDP payload over IPv4.
const MAX_DATAGRAM: usize = 65_507;

#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    ToServer { from: SocketAddr },
    ToClient { to: SocketAddr },
}

#[derive(Debug, Default)]
pub(super) struct Datagrams {
    // By arrival time; the serial number keeps the order of simultaneous arrivals.
    transit: BTreeMap<(Time, u64), (Direction, Bytes)>,
    serial: u64,
    newest_arrived: u64,
    // Unread datagrams with arrival times.
    pub(super) inbox: VecDeque<(Time, SocketAddr, Bytes)>,
    pub(super) read_at: Time,
    pub(super) closed: bool,
    pub(super) full_until: Option<Time>,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

impl Datagrams {
    pub(super) fn send(&mut self, chance: &mut Chance, direction: Direction, datagram: Bytes) {
        assert!(datagram.len() <= MAX_DATAGRAM, "a datagram of {} bytes cannot be sent", datagram.len());
        if chance.rng.random_range(0..100) < chance.conditions.loss_percent {
            chance.traffic.lost += 1;
            return;
        }
        if chance.rng.random_range(0..100) < chance.conditions.double_percent {
            chance.traffic.doubled += 1;
            self.dispatch(chance, direction, datagram.clone());
        }
        self.dispatch(chance, direction, datagram);
    }

    fn dispatch(&mut self, chance: &mut Chance, direction: Direction, datagram: Bytes) {
        let delay = draw(&mut chance.rng, &chance.conditions.delay);
        self.serial += 1;
        self.transit.insert((chance.now.plus(delay), self.serial), (direction, datagram));
    }

    /// Since when the server has not read a pending datagram.
    pub(super) fn unread_since(&self) -> Option<Time> {
        self.inbox.front().map(|&(since, ..)| since.max(self.read_at))
    }

    pub(super) fn is_full(&self, chance: &Chance) -> bool {
        self.full_until.is_some_and(|until| chance.now < until)
    }

    pub(super) fn next_due(&self) -> Option<Time> {
        let writable = self.full_until.filter(|_| self.writer.is_some());
        self.transit.keys().next().map(|&(due, _)| due).into_iter().chain(writable).min()
    }

    /// `is_peer` returns whether the server knows a client.
    pub(super) fn arrive(
        &mut self,
        chance: &mut Chance,
        is_peer: impl Fn(SocketAddr) -> bool,
        arrived: &mut Vec<(SocketAddr, Arrived)>,
    ) {
        if self.full_until.is_some_and(|until| until <= chance.now) {
            self.full_until = None;
            self.writer.take().into_iter().for_each(Waker::wake);
        }
        while let Some(next) = self.transit.first_entry().filter(|next| next.key().0 <= chance.now) {
            let ((_, serial), (direction, datagram)) = next.remove_entry();
            chance.traffic.overtaken += u64::from(serial < self.newest_arrived);
            self.newest_arrived = self.newest_arrived.max(serial);
            match direction {
                Direction::ToServer { .. } if self.closed => {}
                Direction::ToServer { from } => {
                    let mut datagram = datagram;
                    if chance.rng.random_range(0..100) < chance.conditions.truncate_percent && is_peer(from) {
                        datagram.truncate(chance.rng.random_range(0..=datagram.len()));
                        chance.traffic.truncated += 1;
                    }
                    self.inbox.push_back((chance.now, from, datagram));
                    self.reader.take().into_iter().for_each(Waker::wake);
                }
                Direction::ToClient { to } => arrived.push((to, Arrived::Bytes(datagram))),
            }
        }
    }
}
