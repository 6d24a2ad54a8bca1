//! A room of players and watchers, identified by name, and transcripts of their messages.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use bytes::BytesMut;
use mastermind::{Config, Server};
use netcore::{
    Engine, GameEvent, Gone, Hosted, Input, Leave, Link, Outbox, Output, PeerId, Progress, Recorded as _, Role,
    Room as _, Time, To,
};

#[derive(Debug, Clone)]
struct Wire {
    peer: PeerId,
    link: Link,
    unread: BytesMut,
    heard: Vec<String>,
    closed: bool,
}

/// A server, its clock, and its current and former clients.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) hosted: Hosted<Server>,
    pub(crate) now: Time,
    wires: BTreeMap<String, Wire>,
    next_peer: u64,
    pub(crate) events: Vec<GameEvent>,
}

impl Room {
    pub(crate) fn new(config: Config) -> Self {
        let hosted = Hosted::new(Server::new(config).expect("tests set up servers that can be"));
        Self { hosted, now: Time::ZERO, wires: BTreeMap::new(), next_peer: 1, events: vec![] }
    }

    /// Connects a client from one of 200 hosts.
    ///
    /// A name with an initial `w` is a watcher. Names with a capital letter use streams, others frames.
    pub(crate) fn connect(&mut self, who: &str) {
        let host = format!("192.0.2.{}", self.next_peer % 200);
        self.connect_from(who, &host);
    }

    pub(crate) fn connect_from(&mut self, who: &str, host: &str) {
        let role = if who.starts_with('w') { Role::Watcher } else { Role::Player };
        let link = if who.starts_with(char::is_uppercase) { Link::Stream } else { Link::Message };
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let wire = Wire { peer, link, unread: BytesMut::new(), heard: vec![], closed: false };
        self.wires.insert(who.to_owned(), wire);
        self.input(Input::Connected { peer, role, link, address: format!("{host}:4000").as_str().into() });
    }

    pub(crate) fn say(&mut self, who: &str, text: &str) {
        let end = if who.starts_with(char::is_uppercase) { "\n" } else { "" };
        self.bytes(who, format!("{text}{end}").as_bytes());
    }

    /// Delivers bytes as they arrive, and connects the client first if necessary.
    pub(crate) fn bytes(&mut self, who: &str, bytes: &[u8]) {
        if !self.wires.contains_key(who) {
            self.connect(who);
        }
        let wire = self.wires.get_mut(who).expect("it is connected");
        let peer = wire.peer;
        let mut unread = std::mem::take(&mut wire.unread);
        unread.extend_from_slice(bytes);
        loop {
            let progress = self.enter(|room, now, out| room.receive(now, peer, &mut unread, out));
            if progress != Progress::Decoded || unread.is_empty() {
                break;
            }
        }
        if let Some(wire) = self.wires.get_mut(who) {
            wire.unread = unread;
        }
    }

    pub(crate) fn gone(&mut self, who: &str, why: Gone) {
        let peer = self.wires[who].peer;
        self.input(Input::Disconnected { peer, why });
    }

    pub(crate) fn refresh(&mut self, who: &str) {
        let peer = self.wires[who].peer;
        self.input(Input::Refresh { peer });
    }

    /// Advances the clock. Due events happen at their deadlines.
    pub(crate) fn wait(&mut self, time: Duration) {
        let until = self.now.plus(time);
        while let Some(due) = self.hosted.deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.input(Input::Elapsed);
        }
        self.now = until;
    }

    fn input(&mut self, input: Input<'_, &[u8]>) -> Progress {
        self.enter(|room, now, out| room.input(now, input, out))
    }

    fn enter(&mut self, input: impl FnOnce(&mut Hosted<Server>, Time, &mut Outbox) -> Progress) -> Progress {
        let mut out = Outbox::new();
        let progress = input(&mut self.hosted, self.now, &mut out);
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let wire = self.wires.values_mut().find(|wire| wire.peer == peer).expect("it is connected");
                    assert!(!wire.closed, "nothing is sent after the end");
                    let text = std::str::from_utf8(&frame).expect("messages are text");
                    let text = match wire.link {
                        Link::Stream => text.strip_suffix('\n').expect("a line ends"),
                        _ => text,
                    };
                    assert!(text.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{text:?}");
                    wire.heard.push(text.to_owned());
                }
                Output::Close { peer } => {
                    self.wires.values_mut().find(|wire| wire.peer == peer).expect("it is connected").closed = true;
                }
                Output::Event(event) => self.events.push(event),
                other => panic!("{other:?}"),
            }
        }
        progress
    }

    /// The messages that this client received since the last call.
    pub(crate) fn heard(&mut self, who: &str) -> Vec<String> {
        std::mem::take(&mut self.wires.get_mut(who).expect("it is connected").heard)
    }

    /// The same without removing them.
    pub(crate) fn peek(&self, who: &str) -> &[String] {
        &self.wires[who].heard
    }

    pub(crate) fn is_closed(&self, who: &str) -> bool {
        self.wires[who].closed
    }

    /// Plays a transcript and compares.
    ///
    /// `Ann > GUESS 1234` is a received line (a new client connects first), `Ann < ROW ...` is a line sent to her
    /// in response, and `Ann closed` means that she is disconnected. `wait 60 s` advances the clock, `Ann broke`
    /// breaks her connection, `Ann refresh` resets her state, `w comes` connects a client, `stop` stops the server.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        let expected: Vec<&str> = transcript.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let mut got = String::new();
        for line in &expected {
            let closed: Vec<String> = self.closed();
            match line.split(' ').collect::<Vec<_>>()[..] {
                [who, ">", ..] => self.say(who, &line[who.len() + 3..]),
                ["wait", time, "s"] => self.wait(Duration::from_secs(time.parse().expect("seconds"))),
                [who, "comes"] => self.connect(who),
                [who, "broke"] => self.gone(who, Gone::Broken),
                [who, "refresh"] => self.refresh(who),
                ["stop"] => {
                    self.input(Input::Stop(Leave::Over));
                }
                _ => continue,
            }
            // The server is replaced by one restored from its state, without a visible difference.
            self.hosted = written_and_read(&self.hosted);
            let _ = writeln!(got, "{line}");
            let names: Vec<String> = self.wires.keys().cloned().collect();
            for who in names {
                for text in self.heard(&who) {
                    let _ = writeln!(got, "{who} < {text}");
                }
            }
            for who in self.closed().iter().filter(|who| !closed.contains(who)) {
                let _ = writeln!(got, "{who} closed");
            }
        }
        let expected = expected.join("\n") + "\n";
        assert!(got == expected, "\n--- expected\n{expected}\n--- got\n{got}");
    }

    fn closed(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| wire.closed).map(|(who, _)| who.clone()).collect()
    }
}

/// Serializes a room and restores it to the same state.
fn written_and_read(hosted: &Hosted<Server>) -> Hosted<Server> {
    let setup = serde_json::to_string(&hosted.engine().setup()).unwrap();
    let state = serde_json::to_string(&hosted.state()).unwrap();
    let setup = serde_json::from_str(&setup).unwrap();
    let restored: Hosted<Server> = Hosted::restore(setup, serde_json::from_str(&state).unwrap()).unwrap();
    assert_eq!(restored.deadline(), hosted.deadline());
    assert_eq!((restored.status(), restored.engine().outcome()), (hosted.status(), hosted.engine().outcome()));
    assert_eq!(serde_json::to_string(&restored.state()).unwrap(), state);
    restored
}
