//! A server as a shell drives it, in bytes over any link.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{
    DisconnectReason, EngineRoom, GameEvent, Input, Leave, Link, Outbox, Output, PeerId, Progress, Recorded, Role,
    Room, StateError, Time, To, framing::put_length_frame,
};
use nuggets::{Config, Grid, Rules, Server, visibility::Vision};

pub(crate) const MAP: &str = "+----+ +---+\n|....###...|\n|..+-+ |...|\n|..|   +-#-+\n+--+     #  \n    ######  \n";

pub(crate) fn config(seed: u64) -> Config {
    let rules = Rules {
        gold: 12,
        min_piles: 2,
        max_piles: 6,
        steal_percent: 20,
        drop_on_quit: true,
        vision: Vision { radius: Some(5) },
        ..Rules::default()
    };
    Config { rules, rematch: true, idle_timeout: Some(Duration::from_secs(8)), seed: seed.into(), ..Config::default() }
}

pub(crate) fn link_of(peer: u64) -> Link {
    [Link::Datagram, Link::Stream, Link::Message][usize::try_from(peer % 3).unwrap()]
}

#[derive(Debug, Clone)]
pub(crate) enum RoomInput {
    Connected(u64, Role, Link),
    // A piece of a stream, or one whole message.
    Bytes(u64, Vec<u8>),
    Refresh(u64),
    Gone(u64, DisconnectReason),
    Elapsed,
    Stop(Leave),
}

#[derive(Debug, Clone)]
pub(crate) struct TestRoom {
    pub(crate) engine_room: EngineRoom<Server>,
    pub(crate) now: Time,
    pending: BTreeMap<u64, BytesMut>,
}

impl TestRoom {
    pub(crate) fn new(map: &str, config: Config) -> Self {
        let grid = Arc::new(Grid::parse(map.as_bytes()).unwrap().0);
        let engine_room = EngineRoom::new(Server::new(grid, config).unwrap());
        Self { engine_room, now: Time::ZERO, pending: BTreeMap::new() }
    }

    /// Connects peers, numbered from 1, each with its first message.
    pub(crate) fn with(map: &str, config: Config, link: Link, first: &[&str]) -> Self {
        let mut room = Self::new(map, config);
        for (peer, message) in (1..).zip(first) {
            room.join(peer, link, message.as_bytes());
        }
        room
    }

    /// Restored from `setup` and `state`, both JSON.
    pub(crate) fn restored(&self, setup: &str, state: &str) -> Result<Self, StateError> {
        let wrong = |why: serde_json::Error| StateError(why.to_string().into());
        let (setup, state) = (serde_json::from_str(setup).map_err(wrong)?, serde_json::from_str(state).map_err(wrong)?);
        Ok(Self { engine_room: EngineRoom::restore(setup, state)?, now: self.now, pending: self.pending.clone() })
    }

    pub(crate) fn written(&self) -> [String; 2] {
        [serde_json::to_string(&self.engine_room.engine().setup()).unwrap(), self.state()]
    }

    pub(crate) fn state(&self) -> String {
        serde_json::to_string(&self.engine_room.state()).unwrap()
    }

    pub(crate) fn input(&mut self, input: &RoomInput) -> Vec<Output> {
        let mut out = Outbox::new();
        let id = |&peer| PeerId(peer);
        let address;
        let input = match input {
            RoomInput::Connected(peer, role, link) => {
                address = format!("192.0.2.1:{}", 4_000 + peer);
                Input::Connected { peer: id(peer), role: *role, link: *link, address: (&address).into() }
            }
            RoomInput::Bytes(peer, bytes) => {
                let pending = self.pending.entry(*peer).or_default();
                pending.extend_from_slice(bytes);
                let peer = id(peer);
                while self.engine_room.receive(self.now, peer, pending, &mut out) == Progress::Decoded
                    && !pending.is_empty()
                {}
                return out.drain().collect();
            }
            RoomInput::Refresh(peer) => Input::Refresh { peer: id(peer) },
            RoomInput::Gone(peer, why) => Input::Disconnected { peer: id(peer), why: *why },
            RoomInput::Elapsed => Input::Elapsed,
            RoomInput::Stop(leave) => Input::Stop(*leave),
        };
        self.engine_room.input(self.now, input, &mut out);
        out.drain().collect()
    }

    pub(crate) fn connect(&mut self, peer: u64, link: Link) -> Vec<Output> {
        self.input(&RoomInput::Connected(peer, Role::Player, link))
    }

    pub(crate) fn send(&mut self, peer: u64, link: Link, message: &[u8]) -> Vec<Output> {
        self.input(&RoomInput::Bytes(peer, on(link, message)))
    }

    pub(crate) fn join(&mut self, peer: u64, link: Link, message: &[u8]) -> Vec<Output> {
        let mut outputs = self.connect(peer, link);
        outputs.extend(self.send(peer, link, message));
        outputs
    }

    /// Runs to and fro.
    pub(crate) fn runs(&mut self, peer: u64, link: Link, times: usize) -> impl Iterator<Item = Vec<Output>> {
        (0..times).map(move |turn| self.send(peer, link, [b"KEY H", b"KEY L"][turn % 2]))
    }

    pub(crate) fn elapse(&mut self) -> Vec<Output> {
        let due = self.engine_room.deadline().expect("something is due");
        self.now = self.now.max(due);
        self.input(&RoomInput::Elapsed)
    }
}

pub(crate) fn on(link: Link, message: &[u8]) -> Vec<u8> {
    let mut out = BytesMut::new();
    match link {
        Link::Datagram | Link::Message => out.extend_from_slice(message),
        Link::Stream => put_length_frame(message, &mut out),
    }
    out.to_vec()
}

/// Its DISPLAYs have 65,283 bytes.
pub(crate) fn large() -> String {
    (".".repeat(372) + "\n").repeat(175)
}

pub(crate) fn sent(outputs: &[Output], peer: u64) -> Vec<Bytes> {
    let to_peer = |output: &Output| match output {
        Output::Send { to: To::Peer(PeerId(to)), frame } if *to == peer => Some(frame.clone()),
        _ => None,
    };
    outputs.iter().filter_map(to_peer).collect()
}

pub(crate) fn events(outputs: &[Output]) -> Vec<GameEvent> {
    let event = |output: &Output| if let Output::Event(event) = output { Some(event.clone()) } else { None };
    outputs.iter().filter_map(event).collect()
}
