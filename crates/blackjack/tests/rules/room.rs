//! A dealer and its clients, identified by name, with a simulated network between them.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use blackjack::{Blackjack, Config, DealerMessage, Dialect, PlayerMessage, Seed, Server, protocol::DealerDecoder};
use bytes::BytesMut;
use netcore::{
    GameEvent, Gone, Hosted, Input, Leave, Link, Outbox, Output, PeerId, Progress, Recorded as _, Role, Room as _,
    Time, To,
};

/// An input of a dealer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Connected(PeerId, Role, Link, String),
    Bytes(PeerId, Vec<u8>),
    Refresh(PeerId),
    Disconnected(PeerId, Gone),
    Elapsed,
    Stop(Leave),
}

/// Passes one step to a dealer. Returns its outputs, and the unread bytes, which precede the next ones.
fn take(hosted: &mut Hosted<Server>, now: Time, step: &Step) -> (Vec<Output>, Vec<u8>) {
    let mut out = Outbox::new();
    let input = match *step {
        Step::Connected(peer, role, link, ref address) => {
            Input::Connected { peer, role, link, address: address.as_str().into() }
        }
        Step::Bytes(peer, ref bytes) => {
            let mut bytes = BytesMut::from(&bytes[..]);
            while !bytes.is_empty() && hosted.receive(now, peer, &mut bytes, &mut out) == Progress::Decoded {}
            return (out.drain().collect(), bytes.to_vec());
        }
        Step::Refresh(peer) => Input::Refresh { peer },
        Step::Disconnected(peer, why) => Input::Disconnected { peer, why },
        Step::Elapsed => Input::Elapsed,
        Step::Stop(leave) => Input::Stop(leave),
    };
    hosted.input(now, input, &mut out);
    (out.drain().collect(), vec![])
}

struct Wire {
    peer: PeerId,
    // Bytes that the dealer has not read yet.
    buffer: Vec<u8>,
    // Bytes from the dealer that are not read yet.
    incoming: BytesMut,
    // Selected by the first byte; text until then.
    dialect: Option<Dialect>,
    watches: bool,
    closed: bool,
}

/// A server, its clock, and its current and former clients.
pub(crate) struct Room {
    pub(crate) hosted: Hosted<Server>,
    pub(crate) now: Time,
    wires: BTreeMap<String, Wire>,
    names: BTreeMap<PeerId, String>,
    next_peer: u64,
    /// The lines of the log so far.
    pub(crate) log: Vec<String>,
    /// For each `Progress`: the table, its finished rounds and its total.
    pub(crate) progress: Vec<(u32, u64, u64)>,
    pub(crate) printed: Vec<String>,
    /// All events so far, except printed standings.
    pub(crate) events: Vec<GameEvent>,
}

/// The configuration of one table for one player, without pauses.
pub(crate) fn config(rounds: u32) -> Config {
    Config { delay: Duration::ZERO, ..Config::new(rounds, Seed::from_number(1)) }
}

/// The same for two players.
pub(crate) fn two(rounds: u32) -> Config {
    Config { players: 2, ..config(rounds) }
}

impl Room {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            hosted: Hosted::new(Server::new(config).expect("tests set servers up that can be")),
            now: Time::ZERO,
            wires: BTreeMap::new(),
            names: BTreeMap::new(),
            next_peer: 0,
            log: vec![],
            progress: vec![],
            printed: vec![],
            events: vec![],
        }
    }

    /// Creates a room and joins these players, in text.
    pub(crate) fn joined(config: Config, names: &[&str]) -> Self {
        let mut room = Self::new(config);
        room.join_all(names);
        room
    }

    /// Replaces the dealer by one restored from its state. No client notices that.
    pub(crate) fn read_again(&mut self) {
        self.hosted = written_and_read(&self.hosted);
    }

    /// Kills the dealer and resumes it from its state. All connections are lost, and receive no further bytes.
    pub(crate) fn kill(&mut self) {
        self.hosted = written_and_read(&self.hosted);
        self.lose_everybody();
        self.hosted = written_and_read(&self.hosted);
    }

    /// Plays a transcript and compares.
    ///
    /// `Ann > HIT` is a received text (the first one connects `Ann`), `Ann < BEGIN, CARD ...` are all messages sent
    /// to her in response, and `Ann closed` means that she is disconnected. `wait 50 ms` advances the clock. `Ann
    /// left` closes her sending half, `Ann broke` her connection, and `Ann was interrupted` loses it with the
    /// server. `stop` stops the dealer. `kill` kills it and resumes it without connections.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        let expected: Vec<&str> = transcript.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut got = String::new();
        let mut closed: Vec<String> = self.closed();
        for line in &expected {
            match line.split(' ').collect::<Vec<_>>()[..] {
                [who, ">", ..] => {
                    if !self.wires.contains_key(who) {
                        self.connect(who);
                    }
                    let text = [&line.as_bytes()[who.len() + 3..], &[0]].concat();
                    self.send(who, &text);
                }
                ["wait", time, "ms"] => self.wait(Duration::from_millis(time.parse().expect("milliseconds"))),
                [who, "left"] => self.gone(who, Gone::Left),
                [who, "broke"] => self.gone(who, Gone::Broken),
                [who, "was", "interrupted"] => {
                    self.gone(who, Gone::Interrupted);
                    self.wires.remove(who);
                }
                ["stop"] => self.stop(),
                ["kill"] => {
                    self.kill();
                    closed.clear();
                }
                _ => continue,
            }
            let _ = writeln!(got, "{line}");
            let names: Vec<String> = self.wires.keys().cloned().collect();
            for who in names {
                let messages: Vec<String> = self.heard(&who).iter().map(DealerMessage::to_string).collect();
                if !messages.is_empty() {
                    let _ = writeln!(got, "{who} < {}", messages.join(", "));
                }
            }
            for who in self.closed() {
                if !closed.contains(&who) {
                    let _ = writeln!(got, "{who} closed");
                    closed.push(who);
                }
            }
        }
        let expected = expected.join("\n") + "\n";
        assert!(got == expected, "\n--- expected\n{expected}\n--- got\n{got}");
    }

    /// Loses all connections with the server.
    pub(crate) fn lose_everybody(&mut self) {
        let unread = |room: &Self| room.wires.values().map(|wire| wire.incoming.len()).sum::<usize>();
        let before = unread(self);
        for who in self.here() {
            self.gone(&who, Gone::Interrupted);
        }
        assert_eq!(unread(self), before, "nobody can be told anything");
        self.wires.clear();
    }

    /// The clients whose connections are open.
    pub(crate) fn here(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| !wire.closed).map(|(who, _)| who.clone()).collect()
    }

    /// Whether this client is a watcher.
    pub(crate) fn watches(&self, who: &str) -> bool {
        self.wires[who].watches
    }

    /// The bytes received by each client since the last call, without clients that received none.
    pub(crate) fn take_sent(&mut self) -> Vec<(String, Vec<u8>)> {
        let wires = self.wires.iter_mut().filter(|(_, wire)| !wire.incoming.is_empty());
        wires.map(|(who, wire)| (who.clone(), wire.incoming.split().to_vec())).collect()
    }

    pub(crate) fn server(&self) -> &Server {
        self.hosted.engine()
    }

    /// The last printed results of this player: rounds, wins, pushes, losses, busts and forfeits.
    #[track_caller]
    pub(crate) fn row(&self, who: &str) -> [u64; 6] {
        let mut lines = self.printed.iter().flat_map(|standings| standings.lines());
        let line = lines.rfind(|line| line.split_whitespace().nth(2) == Some(who)).unwrap();
        let columns: Vec<u64> = line.split_whitespace().skip(3).take(6).map(|column| column.parse().unwrap()).collect();
        columns.try_into().unwrap()
    }

    /// Connects this client and joins, in text.
    pub(crate) fn join(&mut self, who: &str) {
        self.connect(who);
        self.send(who, format!("JOIN {who}\0").as_bytes());
    }

    pub(crate) fn join_all(&mut self, names: &[&str]) {
        for who in names {
            self.join(who);
        }
    }

    pub(crate) fn connect(&mut self, who: &str) {
        self.connect_from("192.0.2.1", Role::Player, who);
    }

    pub(crate) fn watch(&mut self, who: &str) {
        self.connect_from("192.0.2.9", Role::Watcher, who);
    }

    pub(crate) fn connect_from(&mut self, host: &str, role: Role, who: &str) {
        self.connect_by(Link::Stream, host, role, who);
    }

    pub(crate) fn connect_by(&mut self, link: Link, host: &str, role: Role, who: &str) {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        self.names.insert(peer, who.to_owned());
        let (buffer, incoming) = (vec![], BytesMut::new());
        self.wires.insert(
            who.to_owned(),
            Wire { peer, buffer, incoming, dialect: None, watches: role == Role::Watcher, closed: false },
        );
        let address = format!("{host}:{}", 4_000 + peer.0 % 60_000);
        self.apply(Step::Connected(peer, role, link, address));
    }

    /// Delivers bytes as one segment. Bytes of a closed connection are dropped, as in a shell.
    pub(crate) fn send(&mut self, who: &str, bytes: &[u8]) {
        let Some(wire) = self.wires.get_mut(who).filter(|wire| !wire.closed) else { return };
        wire.buffer.extend_from_slice(bytes);
        wire.dialect = wire.dialect.or(bytes.first().and_then(|&first| Dialect::of_first_byte(first)));
        let (peer, buffer) = (wire.peer, std::mem::take(&mut wire.buffer));
        let rest = self.apply(Step::Bytes(peer, buffer));
        assert!(rest.len() <= <Blackjack as netcore::Protocol>::MAX_MESSAGE, "more than a message is kept");
        self.wires.get_mut(who).unwrap().buffer = rest;
    }

    pub(crate) fn say(&mut self, who: &str, dialect: Dialect, message: &PlayerMessage) {
        self.send(who, &message.to_bytes(dialect));
    }

    pub(crate) fn gone(&mut self, who: &str, why: Gone) {
        let Some(peer) = self.wires.get(who).filter(|wire| !wire.closed).map(|wire| wire.peer) else { return };
        self.apply(Step::Disconnected(peer, why));
    }

    pub(crate) fn stop(&mut self) {
        self.apply(Step::Stop(Leave::Over));
    }

    pub(crate) fn refresh(&mut self, who: &str) {
        let peer = self.wires[who].peer;
        self.apply(Step::Refresh(peer));
    }

    /// Advances the clock and wakes the server at its deadlines.
    pub(crate) fn wait(&mut self, time: Duration) {
        let end = self.now.plus(time);
        while let Some(deadline) = self.hosted.deadline().filter(|&deadline| deadline <= end) {
            self.now = self.now.max(deadline);
            self.apply(Step::Elapsed);
            let next = self.hosted.deadline();
            assert!(next.is_none_or(|next| next > self.now), "woken at {:?}, wants it at {next:?}", self.now);
        }
        self.now = end;
    }

    /// Applies a step, and delivers its outputs. Returns the unread bytes.
    pub(crate) fn apply(&mut self, step: Step) -> Vec<u8> {
        let (outputs, rest) = take(&mut self.hosted, self.now, &step);
        for output in outputs {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let wire = self.wires.get_mut(&self.names[&peer]).unwrap();
                    assert!(!wire.closed, "nobody is spoken to after goodbye");
                    if wire.watches {
                        let end = frame.iter().position(|&byte| byte == 0);
                        assert_eq!(end, Some(frame.len() - 1), "one picture a frame");
                    } else {
                        let dialect = wire.dialect.unwrap_or(Dialect::Text);
                        let message = DealerDecoder::new(dialect).decode_whole(&frame).expect("one message a frame");
                        assert_eq!(message.to_bytes(dialect), frame);
                    }
                    wire.incoming.extend_from_slice(&frame);
                }
                Output::Send { to: To::Everyone, .. } => panic!("a dealer speaks to each alone"),
                Output::Replay { .. } => panic!("a dealer tells nobody of rounds that are over"),
                Output::Close { peer } => self.wires.get_mut(&self.names[&peer]).unwrap().closed = true,
                Output::Event(GameEvent::Summary(text)) => self.printed.push(text),
                // Each round has a progress event.
                Output::Event(GameEvent::Progress { game, done, whole }) => self.progress.push((game, done, whole)),
                Output::Event(event) => {
                    self.log.push(line(&event));
                    self.events.push(event);
                }
            }
        }
        rest
    }

    pub(crate) fn is_closed(&self, who: &str) -> bool {
        self.wires[who].closed
    }

    /// The bytes that this client received since the last call.
    pub(crate) fn bytes(&mut self, who: &str) -> Vec<u8> {
        self.wires.get_mut(who).unwrap().incoming.split().to_vec()
    }

    /// The messages that this client received since the last call.
    pub(crate) fn heard(&mut self, who: &str) -> Vec<DealerMessage> {
        let wire = self.wires.get_mut(who).unwrap();
        messages(&wire.incoming.split())
    }

    fn closed(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| wire.closed).map(|(who, _)| who.clone()).collect()
    }
}

/// Decodes these bytes as messages of a dealer.
pub(crate) fn messages(bytes: &[u8]) -> Vec<DealerMessage> {
    let dialect = if bytes.first() == Some(&0) { Dialect::Binary } else { Dialect::Text };
    let (mut decoder, mut bytes) = (DealerDecoder::new(dialect), BytesMut::from(bytes));
    let mut messages = vec![];
    while let Some(message) = decoder.decode(&mut bytes).expect("a dealer's messages are sound") {
        messages.push(message);
    }
    assert!(bytes.is_empty(), "a dealer's messages are whole");
    messages
}

// Formats an event as a log line.
fn line(event: &GameEvent) -> String {
    match event {
        GameEvent::Waiting { name, before, .. } => format!("{name} waits behind {before}"),
        GameEvent::Joined { name, seat, .. } => format!("{name} sits at {seat}"),
        GameEvent::Left { name, seat, why, .. } => format!("{name} left {seat}: {why}"),
        GameEvent::Started { game, players } => format!("table {game} begins with {players}"),
        GameEvent::Ended { game, complete: true, .. } => format!("table {game} is over"),
        GameEvent::Ended { game, complete: false, .. } => format!("table {game} was not played to its end"),
        GameEvent::Notice { text, .. } => text.clone(),
        GameEvent::Progress { .. } | GameEvent::Summary(_) => unreachable!("kept apart"),
    }
}

/// Serializes a room and restores it to the same state.
pub(crate) fn written_and_read(hosted: &Hosted<Server>) -> Hosted<Server> {
    let setup = serde_json::to_string(&hosted.engine().setup()).unwrap();
    let state = state(hosted);
    let setup = serde_json::from_str(&setup).unwrap();
    let restored = Hosted::restore(setup, serde_json::from_str(&state).unwrap()).unwrap();
    assert_eq!(restored.deadline(), hosted.deadline());
    assert_eq!((restored.status(), restored.outcome()), (hosted.status(), hosted.outcome()));
    assert_eq!(self::state(&restored), state);
    restored
}

/// The state of a room, as JSON.
pub(crate) fn state(hosted: &Hosted<Server>) -> String {
    serde_json::to_string(&hosted.state()).unwrap()
}
