//! Random games with clients of both dialects and all links, watchers, pauses, garbage, disconnects and refreshes.

use std::time::Duration;

use blackjack::{Action, Client, Config, Dialect, Name, StateSpace, learn::Choice};
use netcore::{Client as _, DisconnectReason, Framing, Input, Link, Role, Room as _};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::room::Room;

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
