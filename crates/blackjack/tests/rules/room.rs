//! A dealer and those who talk to it, known by name; the network between them is played by hand.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use blackjack::{
    Blackjack, Dealer, DealerMessage, Dialect, PlayerMessage, Seed,
    dealer::Config,
    protocol::{DealerDecoder, PlayerDecoder},
};
use bytes::BytesMut;
use netcore::{Engine, Framing, Gone, Input, Link, Outbox, Output, PeerId, Protocol, Role, Time, To};

struct Wire {
    peer: PeerId,
    decoder: PlayerDecoder,
    buffer: BytesMut,
    // What the dealer sent and is not read yet.
    incoming: BytesMut,
    dialect: Dialect,
    closed: bool,
}

/// A dealer, its clock, and everybody who is connected or was.
pub(crate) struct Room {
    dealer: Dealer,
    pub(crate) now: Time,
    wires: BTreeMap<String, Wire>,
    names: BTreeMap<PeerId, String>,
    next_peer: u32,
    log: Vec<String>,
    printed: Vec<String>,
}

/// A dealer of one table for one player that sends at once.
pub(crate) fn config(rounds: u32) -> Config {
    Config { delay: Duration::ZERO, ..Config::new(rounds, Seed::from_number(1)) }
}

impl Room {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            dealer: Dealer::new(config).expect("tests set dealers up that can be"),
            now: Time::ZERO,
            wires: BTreeMap::new(),
            names: BTreeMap::new(),
            next_peer: 0,
            log: vec![],
            printed: vec![],
        }
    }

    pub(crate) fn dealer(&self) -> &Dealer {
        &self.dealer
    }

    /// The lines of the log so far.
    pub(crate) fn log(&self) -> &[String] {
        &self.log
    }

    /// What was printed so far.
    pub(crate) fn printed(&self) -> &[String] {
        &self.printed
    }

    pub(crate) fn connect(&mut self, who: &str) {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        self.names.insert(peer, who.to_owned());
        let wire = Wire {
            peer,
            decoder: PlayerDecoder::default(),
            buffer: BytesMut::new(),
            incoming: BytesMut::new(),
            dialect: Dialect::Text,
            closed: false,
        };
        self.wires.insert(who.to_owned(), wire);
        let address = format!("192.0.2.1:{}", 4_000 + peer.0);
        self.input(Input::Connected { peer, role: Role::Player, link: Link::TextStream, address: &address });
    }

    /// Bytes arrive as one segment. What a closed connection brings is dropped, as a shell does.
    pub(crate) fn send(&mut self, who: &str, bytes: &[u8]) {
        let Some(wire) = self.wires.get_mut(who).filter(|wire| !wire.closed) else { return };
        wire.buffer.extend_from_slice(bytes);
        loop {
            let Some(wire) = self.wires.get_mut(who).filter(|wire| !wire.closed) else { return };
            let peer = wire.peer;
            match Blackjack::decode(&mut wire.decoder, &mut wire.buffer, Framing::Stream) {
                Ok(None) => {
                    assert!(wire.buffer.len() <= Blackjack::MAX_MESSAGE, "a shell never holds more than a message");
                    return;
                }
                Ok(Some(request)) => {
                    wire.dialect = request.dialect;
                    self.input(Input::Request { peer, request });
                }
                Err(why) => {
                    self.input(Input::Malformed { peer, why });
                    return;
                }
            }
        }
    }

    pub(crate) fn say(&mut self, who: &str, dialect: Dialect, message: &PlayerMessage) {
        self.send(who, &message.to_bytes(dialect));
    }

    pub(crate) fn gone(&mut self, who: &str, why: Gone) {
        let Some(peer) = self.wires.get(who).filter(|wire| !wire.closed).map(|wire| wire.peer) else { return };
        self.input(Input::Disconnected { peer, why });
    }

    pub(crate) fn stop(&mut self) {
        self.input(Input::Stop);
    }

    /// Time goes by; the dealer is woken whenever it wants to be.
    pub(crate) fn wait(&mut self, time: Duration) {
        let end = self.now.plus(time);
        while let Some(deadline) = self.dealer.deadline().filter(|&deadline| deadline <= end) {
            self.now = self.now.max(deadline);
            self.input(Input::Elapsed);
            let next = self.dealer.deadline();
            assert!(next.is_none_or(|next| next > self.now), "woken at {:?}, wants it at {next:?}", self.now);
        }
        self.now = end;
    }

    fn input(&mut self, input: Input<'_, <Blackjack as Protocol>::Request>) {
        let mut out = Outbox::new();
        self.dealer.input(self.now, input, &mut out);
        self.log.extend(self.dealer.events().iter().map(ToString::to_string));
        for output in out.drain() {
            match output {
                Output::Send { to: To::Peer(peer), frame } => {
                    let wire = self.wires.get_mut(&self.names[&peer]).unwrap();
                    assert!(!wire.closed, "nobody is spoken to after goodbye");
                    wire.incoming.extend_from_slice(&frame);
                }
                Output::Send { to: To::Everyone, .. } => panic!("a dealer speaks to each alone"),
                Output::Replay { .. } => panic!("a dealer tells nobody of rounds that are over"),
                Output::Close { peer } => self.wires.get_mut(&self.names[&peer]).unwrap().closed = true,
                Output::Summary(text) => self.printed.push(text),
            }
        }
    }

    pub(crate) fn is_closed(&self, who: &str) -> bool {
        self.wires[who].closed
    }

    /// The bytes that came for somebody since the last look.
    pub(crate) fn bytes(&mut self, who: &str) -> Vec<u8> {
        self.wires.get_mut(who).unwrap().incoming.split().to_vec()
    }

    /// The messages that came for somebody since the last look.
    pub(crate) fn heard(&mut self, who: &str) -> Vec<DealerMessage> {
        let wire = self.wires.get_mut(who).unwrap();
        let mut decoder = DealerDecoder::new(wire.dialect);
        let mut messages = vec![];
        while let Some(message) = decoder.decode(&mut wire.incoming).expect("a dealer's messages are sound") {
            messages.push(message);
        }
        assert!(wire.incoming.is_empty(), "a dealer's messages are whole");
        messages
    }

    /// Plays a transcript and compares.
    ///
    /// `Ann > HIT` is a text that comes in (`Ann` is connected at its first), `Ann < BEGIN, CARD ...` is all that goes out
    /// to her by it, `Ann closed` tells that she is let go. `wait 50 ms` lets time go by, `Ann left` closes her sending
    /// half, `Ann broke` her connection, `stop` stops the dealer.
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
                ["stop"] => self.stop(),
                _ => continue,
            }
            let _ = writeln!(got, "{line}");
            let names: Vec<String> = self.wires.keys().cloned().collect();
            for who in names {
                let messages: Vec<String> = self.heard(&who).into_iter().map(text).collect();
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

    fn closed(&self) -> Vec<String> {
        self.wires.iter().filter(|(_, wire)| wire.closed).map(|(who, _)| who.clone()).collect()
    }
}

/// A message of the dealer as text, without its NUL.
pub(crate) fn text(message: DealerMessage) -> String {
    let bytes = message.to_bytes(Dialect::Text);
    String::from_utf8(bytes[..bytes.len() - 1].to_vec()).unwrap()
}
