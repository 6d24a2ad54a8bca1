//! A room whose inputs are recorded as bytes, together with its outputs.

use std::{collections::BTreeMap, time::Duration};

use bytes::BytesMut;
use netcore::{Gone, Hosted, Input, Leave, Link, Outbox, Outcome, Output, PeerId, Progress, Role, Room, Status, Time};
use robots::{Action, ClientMessage, Config, Direction, MinStd, Server, protocol::encode};

use crate::table::{config, text};

#[derive(Debug, Clone)]
pub(crate) enum Entry {
    Connected(PeerId, Role, Link, String),
    Bytes(PeerId, Vec<u8>),
    Refresh(PeerId),
    Disconnected(PeerId, Gone),
    Elapsed,
    Stop(Leave),
}

/// The observable state of a room after an input.
#[derive(Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) progress: Progress,
    pub(crate) outputs: Vec<Output>,
    deadline: Option<Time>,
    outcome: Option<Outcome>,
    pub(crate) status: Status,
}

pub(crate) fn room(config: &Config) -> Hosted<Server> {
    Hosted::new(Server::new(config.clone()).unwrap())
}

// Also returns the remaining bytes.
pub(crate) fn enter(room: &mut Hosted<Server>, now: Time, entry: &Entry) -> (Seen, BytesMut) {
    let (mut out, mut left) = (Outbox::new(), BytesMut::new());
    let progress = match entry {
        &Entry::Connected(peer, role, link, ref address) => {
            room.input(now, Input::Connected { peer, role, link, address: address.into() }, &mut out)
        }
        &Entry::Bytes(peer, ref bytes) => {
            left.extend_from_slice(bytes);
            room.receive(now, peer, &mut left, &mut out)
        }
        &Entry::Refresh(peer) => room.input(now, Input::Refresh { peer }, &mut out),
        &Entry::Disconnected(peer, why) => room.input(now, Input::Disconnected { peer, why }, &mut out),
        Entry::Elapsed => room.input(now, Input::Elapsed, &mut out),
        &Entry::Stop(leave) => room.input(now, Input::Stop(leave), &mut out),
    };
    let (deadline, outcome, status) = (room.deadline(), room.outcome(), room.status());
    (Seen { progress, outputs: out.drain().collect(), deadline, outcome, status }, left)
}

/// Peers that act at random at any time, and the outputs of the room.
pub(crate) struct Recorder {
    pub(crate) room: Hosted<Server>,
    dice: MinStd,
    pub(crate) now: Time,
    pub(crate) log: Vec<(Time, Entry, Seen)>,
    // Received bytes that the room has not consumed yet.
    peers: BTreeMap<PeerId, (Link, BytesMut)>,
    next_peer: u64,
}

impl Recorder {
    /// Peers that connect to `room` without knowledge of the peers already there.
    pub(crate) fn new(room: Hosted<Server>, seed: u32, first_peer: u64) -> Self {
        Self {
            room,
            dice: MinStd::new(seed),
            now: Time::ZERO,
            log: vec![],
            peers: BTreeMap::new(),
            next_peer: first_peer,
        }
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.dice.draw() as usize / 64 % sides
    }

    pub(crate) fn enter(&mut self, entry: Entry) -> (Progress, BytesMut) {
        let (seen, left) = enter(&mut self.room, self.now, &entry);
        for output in &seen.outputs {
            if let Output::Close { peer } = output {
                self.peers.remove(peer);
            }
        }
        let progress = seen.progress.clone();
        self.log.push((self.now, entry, seen));
        (progress, left)
    }

    fn somebody(&mut self) -> Option<PeerId> {
        let number = self.roll(self.peers.len().max(1));
        self.peers.keys().nth(number).copied()
    }

    fn message(&mut self) -> BytesMut {
        let mut bytes = BytesMut::new();
        let message = match self.roll(8) {
            0 | 1 => ClientMessage::Join { name: text(["", "Ann", "Bob"][self.roll(3)]) },
            2 => ClientMessage::Action(Action::PlaceBlock),
            3 | 4 => ClientMessage::Action(Action::PlaceBomb),
            _ => ClientMessage::Action(Action::Move(Direction::ALL[self.roll(4)])),
        };
        encode(&message, &mut bytes);
        if self.roll(150) == 0 {
            bytes.extend_from_slice(&[77]);
        }
        bytes
    }

    fn send(&mut self, peer: PeerId) {
        let mut message = self.message();
        let link = self.peers[&peer].0;
        if link == Link::Message {
            self.enter(Entry::Bytes(peer, message.to_vec()));
            return;
        }
        // Some arrive in two halves.
        if self.roll(4) == 0 {
            message.truncate(message.len() / 2);
        }
        let mut left = std::mem::take(&mut self.peers.get_mut(&peer).unwrap().1);
        left.extend_from_slice(&message);
        loop {
            let (progress, rest) = self.enter(Entry::Bytes(peer, left.to_vec()));
            left = rest;
            if progress != Progress::Decoded || left.is_empty() {
                break;
            }
        }
        if let Some((_, kept)) = self.peers.get_mut(&peer) {
            *kept = left;
        }
    }

    pub(crate) fn step(&mut self) {
        match self.roll(20) {
            0 if self.peers.len() < 12 => {
                let peer = PeerId(self.next_peer);
                self.next_peer += 1;
                let role = if self.roll(6) == 0 { Role::Watcher } else { Role::Player };
                let link = [Link::Stream, Link::Message][self.roll(2)];
                self.peers.insert(peer, (link, BytesMut::new()));
                self.enter(Entry::Connected(peer, role, link, format!("[::1]:{}", 1_000 + peer.0)));
            }
            1 => {
                if let Some(peer) = self.somebody() {
                    self.enter(Entry::Refresh(peer));
                }
            }
            2 if self.roll(6) == 0 => {
                if let Some(peer) = self.somebody() {
                    self.peers.remove(&peer);
                    let why = [Gone::Left, Gone::Broken, Gone::Lagging][self.roll(3)];
                    self.enter(Entry::Disconnected(peer, why));
                }
            }
            3..6 => {
                let nanos = u64::from(self.dice.draw()) / 40;
                self.now = self.now.plus(Duration::from_nanos(nanos));
                self.enter(Entry::Elapsed);
            }
            _ => {
                if let Some(peer) = self.somebody() {
                    self.send(peer);
                }
            }
        }
    }
}

/// A configuration that varies with the seed.
pub(crate) fn varied(seed: u32) -> Config {
    let mut config = config();
    config.seed = seed * 77_777;
    config.initial_blocks = 15;
    config.turn_duration = Duration::from_millis(u64::from(seed % 4) * 30);
    config.parameters.players_count = u8::try_from(1 + seed % 4).unwrap();
    config.parameters.game_length = u16::try_from(5 + seed % 25).unwrap();
    if seed.is_multiple_of(5) {
        config.max_history = 150;
    }
    config
}
