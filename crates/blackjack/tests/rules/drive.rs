//! Random games with everything in them: several clients of both dialects and links, watchers, pauses, garbage, disconnects,
//! refreshes. What went in is recorded, so that it can be played again.

use std::{collections::BTreeMap, time::Duration};

use blackjack::{
    Action, Blackjack, Client, DealerMessage, Dialect, Name, StateSpace, learn::Choice, protocol::DealerDecoder,
};
use bytes::BytesMut;
use netcore::{
    Client as _, Engine, Gone, Hosted, Input, Leave, Link, Outbox, Output, PeerId, Progress, Role, Room as _, Time, To,
};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Something that reached a room.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Connected(PeerId, Role, Link, String),
    Bytes(PeerId, Vec<u8>),
    Refresh(PeerId),
    Disconnected(PeerId, Gone),
    Elapsed,
    Stop(Leave),
}

/// What a step did: what came out, and the fingerprint after it.
pub(crate) type Effect = (Vec<Output>, u64);

struct Player {
    peer: PeerId,
    name: String,
    host: String,
    link: Link,
    client: Client,
    dialect: Dialect,
}

/// A room, and those who play with it at random.
pub(crate) struct Drive<E: Engine> {
    pub(crate) hosted: Hosted<E>,
    pub(crate) now: Time,
    /// All that went in, and when.
    pub(crate) steps: Vec<(Time, Step)>,
    pub(crate) effects: Vec<Effect>,
    players: Vec<Player>,
    watchers: Vec<PeerId>,
    unread: BTreeMap<PeerId, Vec<u8>>,
    // The names and hosts of those whose connections were lost with the server.
    lost: Vec<(String, String)>,
    peers: u64,
    rng: Pcg64Mcg,
}

/// Hands one step to a room.
pub(crate) fn take<E: Engine>(hosted: &mut Hosted<E>, now: Time, step: &Step) -> Effect {
    take_some(hosted, now, step).0
}

// The same, and the bytes that were not taken: they are the front of what comes next.
fn take_some<E: Engine>(hosted: &mut Hosted<E>, now: Time, step: &Step) -> (Effect, Vec<u8>) {
    let (mut out, mut rest) = (Outbox::new(), vec![]);
    match step {
        Step::Connected(peer, role, link, address) => {
            let (peer, role, link) = (*peer, *role, *link);
            hosted.input(now, Input::Connected { peer, role, link, address: address.into() }, &mut out);
        }
        Step::Bytes(peer, bytes) => {
            let mut bytes = BytesMut::from(&bytes[..]);
            while !bytes.is_empty() {
                if hosted.receive(now, *peer, &mut bytes, &mut out) != Progress::Decoded {
                    break;
                }
            }
            rest = bytes.to_vec();
        }
        Step::Refresh(peer) => drop(hosted.input(now, Input::Refresh { peer: *peer }, &mut out)),
        Step::Disconnected(peer, why) => {
            hosted.input(now, Input::Disconnected { peer: *peer, why: *why }, &mut out);
        }
        Step::Elapsed => drop(hosted.input(now, Input::Elapsed, &mut out)),
        Step::Stop(leave) => drop(hosted.input(now, Input::Stop(*leave), &mut out)),
    }
    ((out.drain().collect(), hosted.digest()), rest)
}

impl<E: Engine<Protocol = Blackjack>> Drive<E> {
    pub(crate) fn new(engine: E, seed: u64) -> Self {
        Self {
            hosted: Hosted::new(engine),
            now: Time::ZERO,
            steps: vec![],
            effects: vec![],
            players: vec![],
            watchers: vec![],
            unread: BTreeMap::new(),
            lost: vec![],
            peers: 0,
            rng: Pcg64Mcg::seed_from_u64(seed),
        }
    }

    /// Does a step, and delivers what comes of it. Gives what was sent to whom.
    pub(crate) fn step(&mut self, mut step: Step) -> Vec<(PeerId, Vec<u8>)> {
        if let Step::Bytes(peer, bytes) = &mut step
            && let Some(mut front) = self.unread.remove(peer)
        {
            front.append(bytes);
            *bytes = front;
        }
        let ((outputs, digest), rest) = take_some(&mut self.hosted, self.now, &step);
        if let (Step::Bytes(peer, _), false) = (&step, rest.is_empty()) {
            self.unread.insert(*peer, rest);
        }
        let mut sent = vec![];
        for output in &outputs {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    if let Some(player) = self.players.iter_mut().find(|player| player.peer == *peer) {
                        let decoder = DealerDecoder::new(player.dialect);
                        let message = decoder.decode_whole(frame).expect("exactly one message a frame");
                        assert_eq!(message.to_bytes(player.dialect), frame);
                        player.client.receive(self.now, frame).expect("a dealer makes sense");
                        let told = player.client.poll_event().map(|event| event.message);
                        assert_eq!(told, Some(message));
                    } else {
                        assert!(self.watchers.contains(peer), "{peer} is gone");
                        assert_eq!(
                            frame.iter().position(|&byte| byte == 0),
                            Some(frame.len() - 1),
                            "one picture a frame"
                        );
                    }
                    sent.push((*peer, frame.to_vec()));
                }
                Output::Close { peer } => {
                    self.players.retain(|player| player.peer != *peer);
                    self.watchers.retain(|watcher| watcher != peer);
                }
                Output::Event(_) => {}
                other => panic!("a dealer speaks to each alone: {other:?}"),
            }
        }
        self.steps.push((self.now, step));
        self.effects.push((outputs, digest));
        sent
    }

    /// Those who look on.
    pub(crate) fn watchers(&self) -> &[PeerId] {
        &self.watchers
    }

    /// Somebody does something, or time goes by.
    pub(crate) fn random(&mut self) -> Vec<(PeerId, Vec<u8>)> {
        match self.rng.random_range(0..100) {
            0..8 => self.connect(),
            8..10 => match self.anybody() {
                Some(peer) => self.step(Step::Refresh(peer)),
                None => vec![],
            },
            10..12 => match self.anybody() {
                Some(peer) => {
                    let why = [Gone::Left, Gone::Broken, Gone::Lagging][self.rng.random_range(0..3)];
                    if why != Gone::Left {
                        self.players.retain(|player| player.peer != peer);
                        self.watchers.retain(|watcher| *watcher != peer);
                    }
                    self.step(Step::Disconnected(peer, why))
                }
                None => vec![],
            },
            12..14 => match self.anybody() {
                Some(peer) => {
                    let mut bytes = vec![0; self.rng.random_range(1..9)];
                    self.rng.fill_bytes(&mut bytes);
                    self.step(Step::Bytes(peer, bytes))
                }
                None => vec![],
            },
            14..40 => {
                let pause = if self.rng.random_range(0..40) == 0 { 30_000 } else { self.rng.random_range(0..150) };
                self.now = self.now.plus(Duration::from_millis(pause));
                if self.hosted.deadline().is_some_and(|deadline| deadline <= self.now) {
                    return self.step(Step::Elapsed);
                }
                vec![]
            }
            _ => self.play(),
        }
    }

    pub(crate) fn anybody(&mut self) -> Option<PeerId> {
        let peers: Vec<PeerId> =
            self.players.iter().map(|player| player.peer).chain(self.watchers.iter().copied()).collect();
        (!peers.is_empty()).then(|| peers[self.rng.random_range(0..peers.len())])
    }

    /// The server was killed and goes on.
    pub(crate) fn interrupt(&mut self) {
        let lost = std::mem::take(&mut self.players);
        let watchers = std::mem::take(&mut self.watchers);
        for peer in lost.iter().map(|player| player.peer).chain(watchers) {
            let sent = self.step(Step::Disconnected(peer, Gone::Interrupted));
            assert!(sent.is_empty(), "nobody can be told anything");
        }
        self.lost.extend(lost.into_iter().map(|player| (player.name, player.host)));
    }

    fn connect(&mut self) -> Vec<(PeerId, Vec<u8>)> {
        let peer = PeerId(self.peers);
        self.peers += 1;
        let mut name = format!("p{}", peer.0);
        let mut host = format!("192.0.2.{}", self.rng.random_range(1..4));
        if !self.lost.is_empty() && self.rng.random_range(0..4) != 0 {
            // Somebody comes back, now and then from elsewhere.
            let back = self.lost.swap_remove(self.rng.random_range(0..self.lost.len()));
            name = back.0;
            host = if self.rng.random_range(0..4) == 0 { host } else { back.1 };
        }
        let address = format!("{host}:{}", 1_024 + self.peers);
        let link = if self.rng.random() { Link::Stream } else { Link::Message };
        if self.rng.random_range(0..4) == 0 {
            self.watchers.push(peer);
            return self.step(Step::Connected(peer, Role::Watcher, link, address));
        }
        let dialect = if self.rng.random() { Dialect::Text } else { Dialect::Binary };
        let called = Name::new(name.as_bytes()).unwrap();
        let client = Client::new(called, dialect, Link::Message.framing(), StateSpace::Soft);
        self.players.push(Player { peer, name, host, link, client, dialect });
        self.step(Step::Connected(peer, Role::Player, link, address))
    }

    // Somebody says what it has to say.
    fn play(&mut self) -> Vec<(PeerId, Vec<u8>)> {
        if self.players.is_empty() {
            return self.connect();
        }
        let at = self.rng.random_range(0..self.players.len());
        let hits = self.rng.random();
        let player = &mut self.players[at];
        if player.client.state().is_some() {
            player.client.act(self.now, Choice::sure(if hits { Action::Hit } else { Action::Stand }));
        }
        let Some(message) = player.client.take_outgoing() else { return vec![] };
        let (peer, mut message) = (player.peer, message.to_vec());
        if player.link == Link::Message && player.dialect == Dialect::Text && hits {
            message.pop();
        }
        self.step(Step::Bytes(peer, message))
    }
}

/// The cards that a frame to a player names.
pub(crate) fn card_of(frame: &[u8]) -> Option<blackjack::Card> {
    let dialect = if frame[0] == 0 { Dialect::Binary } else { Dialect::Text };
    match DealerDecoder::new(dialect).decode_whole(frame) {
        Ok(DealerMessage::Card(card) | DealerMessage::Upcard(card)) => Some(card),
        _ => None,
    }
}
