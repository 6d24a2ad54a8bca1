use std::time::Duration;

use blackjack::{
    Action, Client, Config, DealerMessage, Dialect, Name, PlayerMessage, Seed, Server, StateSpace, learn::Choice,
    protocol::DealerDecoder,
};
use bytes::BytesMut;
use netcore::{Client as _, DisconnectReason, Framing, GameEvent, Input, Link, Role, Room as _};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::table::Table;

pub(crate) type Room = Table<Server>;

pub(crate) fn config(rounds: u32) -> Config {
    Config { delay: Duration::ZERO, ..Config::new(rounds, Seed::from_number(1)) }
}

pub(crate) fn two(rounds: u32) -> Config {
    Config { players: 2, ..config(rounds) }
}

impl Room {
    pub(crate) fn new(config: Config) -> Self {
        Self::of(Server::new(config).expect("tests set servers up that can be"))
    }

    pub(crate) fn joined(config: Config, names: &[&str]) -> Self {
        let mut room = Self::new(config);
        room.join_all(names);
        room
    }

    /// `Ann > HIT` is a received text (the first one connects `Ann`), `Ann < BEGIN, CARD ...` are all messages to her
    /// in response. [`Table::play`] lists the other inputs.
    #[track_caller]
    pub(crate) fn check(&mut self, transcript: &str) {
        let act = |room: &mut Self, line: &str| {
            let Some((who, text)) = line.split_once(" > ") else { return false };
            if !room.wires.contains_key(who) {
                room.connect(who);
            }
            room.send(who, &[text.as_bytes(), &[0]].concat());
            true
        };
        self.play(transcript, act, |room, who| {
            let messages: Vec<String> = room.received(who).iter().map(DealerMessage::to_string).collect();
            if messages.is_empty() { vec![] } else { vec![format!("{who} < {}", messages.join(", "))] }
        });
    }

    pub(crate) fn watches(&self, who: &str) -> bool {
        self.wires[who].role == Role::Watcher
    }

    pub(crate) fn take_sent(&mut self) -> Vec<(String, Vec<u8>)> {
        let names: Vec<String> = self.wires.keys().cloned().collect();
        let sent = names.into_iter().map(|who| (who.clone(), self.bytes(&who)));
        sent.filter(|(_, bytes)| !bytes.is_empty()).collect()
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.events.iter().filter_map(line).collect()
    }

    pub(crate) fn progress(&self) -> Vec<(u32, u64, u64)> {
        let progress = self.events.iter().filter_map(|event| match event {
            &GameEvent::Progress { game, done, whole } => Some((game, done, whole)),
            _ => None,
        });
        progress.collect()
    }

    pub(crate) fn printed(&self) -> Vec<String> {
        let printed = self.events.iter().filter_map(|event| match event {
            GameEvent::Summary(text) => Some(text.clone()),
            _ => None,
        });
        printed.collect()
    }

    /// Rounds, wins, pushes, losses, busts and forfeits, as last printed.
    #[track_caller]
    pub(crate) fn row(&self, who: &str) -> [u64; 6] {
        let printed = self.printed();
        let mut lines = printed.iter().flat_map(|standings| standings.lines());
        let line = lines.rfind(|line| line.split_whitespace().nth(2) == Some(who)).unwrap();
        let columns: Vec<u64> = line.split_whitespace().skip(3).take(6).map(|column| column.parse().unwrap()).collect();
        columns.try_into().unwrap()
    }

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

    pub(crate) fn send_message(&mut self, who: &str, dialect: Dialect, message: &PlayerMessage) {
        self.send(who, &message.to_bytes(dialect));
    }

    pub(crate) fn bytes(&mut self, who: &str) -> Vec<u8> {
        let frames = self.frames(who);
        if self.watches(who) {
            let is_picture = |frame: &[u8]| frame.iter().position(|&byte| byte == 0) == Some(frame.len() - 1);
            assert!(frames.iter().all(|frame| is_picture(frame)), "one picture a frame");
        }
        frames.concat()
    }

    pub(crate) fn received(&mut self, who: &str) -> Vec<DealerMessage> {
        let message = |frame: &[u8]| {
            let dialect = dialect(frame);
            let message = DealerDecoder::new(dialect).decode_whole(frame).expect("one message a frame");
            assert_eq!(message.to_bytes(dialect), frame);
            message
        };
        self.frames(who).iter().map(|frame| message(frame)).collect()
    }
}

fn dialect(bytes: &[u8]) -> Dialect {
    if bytes.first() == Some(&0) { Dialect::Binary } else { Dialect::Text }
}

pub(crate) fn messages(bytes: &[u8]) -> Vec<DealerMessage> {
    let (mut decoder, mut bytes) = (DealerDecoder::new(dialect(bytes)), BytesMut::from(bytes));
    let mut messages = vec![];
    while let Some(message) = decoder.decode(&mut bytes).expect("a dealer's messages are sound") {
        messages.push(message);
    }
    assert!(bytes.is_empty(), "a dealer's messages are whole");
    messages
}

fn line(event: &GameEvent) -> Option<String> {
    Some(match event {
        GameEvent::Waiting { name, before, .. } => format!("{name} waits behind {before}"),
        GameEvent::Joined { name, seat, .. } => format!("{name} sits at {seat}"),
        GameEvent::Left { name, seat, why, .. } => format!("{name} left {seat}: {why}"),
        GameEvent::Started { game, players } => format!("table {game} begins with {players}"),
        GameEvent::Ended { game, complete: true, .. } => format!("table {game} is over"),
        GameEvent::Ended { game, complete: false, .. } => format!("table {game} was not played to its end"),
        GameEvent::Notice { text, .. } => text.clone(),
        GameEvent::Progress { .. } | GameEvent::Summary(_) => return None,
    })
}

/// Random games with clients of both dialects and all links, watchers, pauses, garbage, disconnects and refreshes.
struct Player {
    who: String,
    link: Link,
    client: Client,
}

pub(crate) struct Drive {
    pub(crate) room: Room,
    players: Vec<Player>,
    connections: u64,
    rng: Pcg64Mcg,
}

impl Drive {
    pub(crate) fn new(config: Config, seed: u64) -> Self {
        Self { room: Room::new(config), players: vec![], connections: 0, rng: Pcg64Mcg::seed_from_u64(seed) }
    }

    pub(crate) fn random(&mut self) -> Vec<(String, Vec<u8>)> {
        match self.rng.random_range(0..100) {
            0..8 => self.connect(),
            number @ 8..14 => {
                let here = self.room.open();
                if !here.is_empty() {
                    let who = here[self.rng.random_range(0..here.len())].clone();
                    self.trouble(number, &who);
                }
            }
            14..40 => {
                let pause = if self.rng.random_range(0..40) == 0 { 30_000 } else { self.rng.random_range(0..150) };
                self.room.now = self.room.now.plus(Duration::from_millis(pause));
                if self.room.engine_room.deadline().is_some_and(|deadline| deadline <= self.room.now) {
                    self.room.input(Input::Elapsed);
                }
            }
            _ => self.play(),
        }
        self.deliver()
    }

    fn deliver(&mut self) -> Vec<(String, Vec<u8>)> {
        let sent = self.room.take_sent();
        for player in &mut self.players {
            if let Some((_, bytes)) = sent.iter().find(|(who, _)| *who == player.who) {
                player.client.receive(self.room.now, bytes).expect("a dealer makes sense");
            }
        }
        self.players.retain(|player| !self.room.is_closed(&player.who));
        sent
    }

    fn trouble(&mut self, number: u32, who: &str) {
        match number {
            8..10 => self.room.refresh(who),
            10..12 => self.room.disconnect(
                who,
                [DisconnectReason::Left, DisconnectReason::Broken, DisconnectReason::Lagging]
                    [self.rng.random_range(0..3)],
            ),
            _ => {
                let mut bytes = vec![0; self.rng.random_range(1..9)];
                self.rng.fill_bytes(&mut bytes);
                self.room.send(who, &bytes);
            }
        }
    }

    fn connect(&mut self) {
        let who = format!("p{}", self.connections);
        self.connections += 1;
        let host = format!("192.0.2.{}", self.rng.random_range(1..4));
        let link = if self.rng.random() { Link::Stream } else { Link::Message };
        if self.rng.random_range(0..4) == 0 {
            return self.room.connect_by(link, &host, Role::Watcher, &who);
        }
        let dialect = if self.rng.random() { Dialect::Text } else { Dialect::Binary };
        let client = Client::new(Name::new(who.as_bytes()).unwrap(), dialect, Framing::Stream, StateSpace::Soft);
        self.room.connect_by(link, &host, Role::Player, &who);
        self.players.push(Player { who, link, client });
    }

    fn play(&mut self) {
        if self.players.is_empty() {
            return self.connect();
        }
        let at = self.rng.random_range(0..self.players.len());
        let hits = self.rng.random();
        let player = &mut self.players[at];
        if player.client.state().is_some() {
            player.client.act(self.room.now, Choice::sure(if hits { Action::Hit } else { Action::Stand }));
        }
        let Some(message) = player.client.take_outgoing() else { return };
        let mut message = message.to_vec();
        if player.link == Link::Message && player.client.dialect() == Dialect::Text && hits {
            message.pop();
        }
        self.room.send(&player.who, &message);
    }
}
