//! A room and its clients, by name, with a simulated network between them. Tests of rules include this file by its
//! path; see `transcript.rs`.

#![allow(dead_code, reason = "each game uses a part")]

use std::{collections::BTreeMap, mem, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{
    DisconnectReason, EngineRoom, GameEvent, Input, Leave, Link, Outbox, Output, PeerId, Progress, Protocol, Recorded,
    Role, Room as _, Time, To,
};

use crate::transcript;

#[derive(Debug, Clone)]
pub(crate) struct Wire {
    peer: PeerId,
    pub(crate) link: Link,
    pub(crate) role: Role,
    // Bytes that the room has not processed yet.
    unread: BytesMut,
    pub(crate) frames: Vec<Bytes>,
    closed: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Table<E: Recorded> {
    pub(crate) engine_room: EngineRoom<E>,
    pub(crate) now: Time,
    pub(crate) events: Vec<GameEvent>,
    pub(crate) wires: BTreeMap<String, Wire>,
    next_peer: u64,
}

impl<E: Recorded> Table<E> {
    pub(crate) fn of(engine: E) -> Self {
        let engine_room = EngineRoom::new(engine);
        Self { engine_room, now: Time::ZERO, events: vec![], wires: BTreeMap::new(), next_peer: 0 }
    }

    pub(crate) fn server(&self) -> &E {
        self.engine_room.engine()
    }

    pub(crate) fn connect_by(&mut self, link: Link, host: &str, role: Role, who: &str) {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let wire = Wire { peer, link, role, unread: BytesMut::new(), frames: vec![], closed: false };
        self.wires.insert(who.to_owned(), wire);
        let address = format!("{host}:{}", 4_000 + peer.0 % 60_000);
        self.input(Input::Connected { peer, role, link, address: address.as_str().into() });
    }

    /// Sends the bytes as one segment; drops them if the connection is closed.
    pub(crate) fn send(&mut self, who: &str, bytes: &[u8]) {
        let Some(wire) = self.wires.get_mut(who).filter(|wire| !wire.closed) else { return };
        let (peer, mut unread) = (wire.peer, mem::take(&mut wire.unread));
        unread.extend_from_slice(bytes);
        while !unread.is_empty()
            && self.enter(|room, now, out| room.receive(now, peer, &mut unread, out)) == Progress::Decoded
        {}
        assert!(unread.len() <= <E::Protocol as Protocol>::MAX_MESSAGE, "more than a message is buffered");
        if let Some(wire) = self.wires.get_mut(who) {
            wire.unread = unread;
        }
    }

    pub(crate) fn disconnect(&mut self, who: &str, why: DisconnectReason) {
        if let Some(peer) = self.wires.get(who).filter(|wire| !wire.closed).map(|wire| wire.peer) {
            self.input(Input::Disconnected { peer, why });
        }
    }

    pub(crate) fn refresh(&mut self, who: &str) {
        let peer = self.wires[who].peer;
        self.input(Input::Refresh { peer });
    }

    pub(crate) fn stop(&mut self) {
        self.input(Input::Stop(Leave::Over));
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        let end = self.now.plus(time);
        while let Some(deadline) = self.engine_room.deadline().filter(|&deadline| deadline <= end) {
            self.now = self.now.max(deadline);
            self.input(Input::Elapsed);
            let next = self.engine_room.deadline();
            assert!(next.is_none_or(|next| next > self.now), "woken at {:?}, wants it at {next:?}", self.now);
        }
        self.now = end;
    }

    pub(crate) fn input(&mut self, input: Input<'_, &[u8]>) {
        self.enter(|room, now, out| room.input(now, input, out));
    }

    fn enter(&mut self, input: impl FnOnce(&mut EngineRoom<E>, Time, &mut Outbox) -> Progress) -> Progress {
        let mut out = Outbox::new();
        let progress = input(&mut self.engine_room, self.now, &mut out);
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let wire = self.wire(peer);
                    assert!(!wire.closed, "a closed connection is sent nothing");
                    wire.frames.push(frame);
                }
                Output::Close { peer } => self.wire(peer).closed = true,
                Output::Event(event) => self.events.push(event),
                other => panic!("{other:?}"),
            }
        }
        progress
    }

    fn wire(&mut self, peer: PeerId) -> &mut Wire {
        self.wires.values_mut().find(|wire| wire.peer == peer).expect("outputs are for connected clients")
    }

    /// Restores the room from its state without effect on the clients.
    pub(crate) fn restore(&mut self) {
        let setup = serde_json::to_string(&self.server().setup()).expect("a setup can be written");
        let state = self.state();
        let (setup, state) = (serde_json::from_str(&setup), serde_json::from_str(&state));
        let restored: EngineRoom<E> =
            EngineRoom::restore(setup.expect("a setup"), state.expect("a state")).expect("a state that was written");
        let before = mem::replace(&mut self.engine_room, restored);
        assert_eq!(self.engine_room.deadline(), before.deadline());
        assert_eq!((self.engine_room.status(), self.engine_room.outcome()), (before.status(), before.outcome()));
        assert_eq!(self.state(), serde_json::to_string(&before.state()).expect("a state can be written"));
    }

    pub(crate) fn state(&self) -> String {
        serde_json::to_string(&self.engine_room.state()).expect("a state can be written")
    }

    /// Resumes the server from its state. Connections are lost.
    pub(crate) fn kill(&mut self) {
        self.restore();
        let frames = |table: &Self| table.wires.values().map(|wire| wire.frames.len()).sum::<usize>();
        let before = frames(self);
        for who in self.open() {
            self.disconnect(&who, DisconnectReason::Interrupted);
        }
        assert_eq!(frames(self), before, "lost connections are sent nothing");
        self.wires.clear();
        self.restore();
    }

    pub(crate) fn open(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| !wire.closed).map(|(who, _)| who.clone()).collect()
    }

    fn closed(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| wire.closed).map(|(who, _)| who.clone()).collect()
    }

    pub(crate) fn is_closed(&self, who: &str) -> bool {
        self.wires[who].closed
    }

    pub(crate) fn frames(&mut self, who: &str) -> Vec<Bytes> {
        mem::take(&mut self.wires.get_mut(who).expect("it is connected").frames)
    }

    /// Plays a transcript and compares. After each input, the room is restored from its state.
    ///
    /// `wait 50 ms` advances the clock, `Ann left` closes her sending half, `Ann broke` breaks her connection, `Ann was
    /// interrupted` loses it with the server, `Ann refresh` requests her state, `stop` stops the server, `kill` kills
    /// it and resumes it without connections. `act` handles the inputs of the game, and `shown` formats what a client
    /// has received. `Ann closed` means that she is disconnected.
    #[track_caller]
    pub(crate) fn play(
        &mut self,
        transcript: &str,
        act: impl Fn(&mut Self, &str) -> bool,
        shown: impl Fn(&mut Self, &str) -> Vec<String>,
    ) {
        transcript::check(transcript, |line| {
            let closed = self.closed();
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["wait", time, "ms"] => self.wait(Duration::from_millis(time.parse().expect("milliseconds"))),
                ["wait", time, "s"] => self.wait(Duration::from_secs(time.parse().expect("seconds"))),
                [who, "left"] => self.disconnect(who, DisconnectReason::Left),
                [who, "broke"] => self.disconnect(who, DisconnectReason::Broken),
                [who, "refresh"] => self.refresh(who),
                [who, "was", "interrupted"] => {
                    self.disconnect(who, DisconnectReason::Interrupted);
                    self.wires.remove(who);
                }
                ["stop"] => self.stop(),
                ["kill"] => self.kill(),
                _ if act(self, line) => {}
                _ => return None,
            }
            self.restore();
            let names: Vec<String> = self.wires.keys().cloned().collect();
            let mut outputs: Vec<String> = names.iter().flat_map(|who| shown(self, who)).collect();
            let closed_now = self.closed().into_iter().filter(|who| !closed.contains(who));
            outputs.extend(closed_now.map(|who| format!("{who} closed")));
            Some(outputs)
        });
    }
}
