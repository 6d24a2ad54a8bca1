//! Robots: bots over streams that return as observers after a restart and join the next game, watchers, and a client
//! that keeps trying to join.

use std::{collections::BTreeSet, time::Duration};

use bytes::BytesMut;
use netcore::{Role, Time, wire::ShortText};
use robots::{Client, ClientMessage, Position, ServerMessage, protocol::encode, server::Server};
use testkit::{net::Net, simulation::Game};

use super::{address, seats::Seats};
use crate::robot::{Ear, server};

const TURNS: u16 = 60;
const PLAYERS: u8 = 3;
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(200);
/// Interval of attempts to join a running game, and their number in one batch, so that the journal grows.
const EAGER: (Duration, usize) = (Duration::from_millis(250), 40);
/// Number of clients: players and watchers.
const SEATS: u8 = 5;

/// The messages received by a client.
#[derive(Debug, Default)]
pub(super) struct Heard {
    // Messages of the newest game.
    game: Vec<ServerMessage>,
    // Number of messages since the last check.
    news: usize,
    said_hello: bool,
    turn: Option<u16>,
    // The client connected to an earlier run of the server.
    stale: bool,
}

impl Ear for Heard {
    fn hear(&mut self, message: ServerMessage, _: &Client) -> bool {
        if matches!(self.game.last(), Some(ServerMessage::GameEnded { .. })) {
            (self.game, self.news) = (vec![], 0);
        }
        match message {
            ServerMessage::Hello(_) => {
                assert!(!self.said_hello, "two hellos");
                self.said_hello = true;
            }
            ServerMessage::GameStarted { .. } => assert!(self.game.is_empty(), "a game starts during another"),
            ServerMessage::Turn { turn, .. } => {
                assert!(!self.game.is_empty(), "a turn without a game");
                assert_eq!(turn, self.turn.map_or(0, |before| before + 1), "a turn out of order");
                self.turn = Some(turn);
            }
            ServerMessage::GameEnded { .. } => {
                assert_eq!(self.turn, Some(TURNS), "a game ends too early");
                self.turn = None;
            }
            ServerMessage::AcceptedPlayer { .. } => assert!(self.turn.is_none(), "somebody joins a running game"),
        }
        assert!(self.said_hello, "{message:?} comes before the hello");
        if !matches!(message, ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. }) {
            self.game.push(message);
        }
        true
    }
}

pub(super) type Robot = crate::robot::Robot<Heard>;

/// The invariants of a robots server.
pub(super) struct Robots {
    seats: Seats,
    // When the client at the last seat tries to join next.
    eager_at: Option<Time>,
    // All games that were delivered, each as the longest version delivered.
    games: Vec<Vec<ServerMessage>>,
}

impl Game for Robots {
    type Server = Server;
    type Client = Robot;

    fn begin(seed: u64) -> (Self, Server) {
        let server = server(PLAYERS, TURNS, u32::try_from(seed & 0x3FFF_FFFF).unwrap() + 1);
        let eager_at = seed.is_multiple_of(3).then_some(Time::ZERO.plus(EAGER.0));
        (Self { seats: Seats::new(SEATS, AWAY), eager_at, games: vec![] }, server)
    }

    fn enter(&mut self, net: &mut Net<Server, Robot>) {
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number);
        }
    }

    fn step(&mut self, net: &mut Net<Server, Robot>) {
        self.check(net);
        let now = net.now();
        for back in self.seats.reconnecting(now, |number| net.client(address(number)).gone.is_some()) {
            net.remove(address(back.before));
            enter(net, back.seat, back.number);
        }
        if self.eager_at.is_some_and(|at| at <= now) {
            self.eager_at = Some(now.plus(EAGER.0));
            let number = self.seats.number(0);
            // Not in a lobby, where it might be admitted.
            if net.engine().game().is_some() {
                let mut joins = BytesMut::new();
                let name = ShortText::try_from("x".repeat(255).as_str()).unwrap();
                (0..EAGER.1).for_each(|_| encode(&ClientMessage::Join { name: name.clone() }, &mut joins));
                net.say(address(number), &joins);
            }
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seats.times().chain(self.eager_at).min()
    }

    fn is_current(&self, net: &Net<Server, Robot>, Robot { client, .. }: &Robot) -> bool {
        match (client.game(), net.engine().game()) {
            (Some(known), Some(game)) => {
                let positions = game.robots().iter().map(|robot| robot.position);
                known.turn() == game.turn() && positions.eq(known.positions().values().copied())
            }
            (None, None) => client.players() == net.engine().players(),
            _ => false,
        }
    }

    fn resumed(&mut self, net: &mut Net<Server, Robot>, forked: bool) {
        if forked {
            self.games.clear();
        }
        for number in self.seats.numbers() {
            net.client_mut(address(number)).ear.stale |= forked;
        }
    }
}

impl Robots {
    fn check(&mut self, net: &mut Net<Server, Robot>) {
        for number in self.seats.numbers().collect::<Vec<_>>() {
            let robot = &mut net.client_mut(address(number)).ear;
            if robot.stale || robot.news == robot.game.len() {
                continue;
            }
            let told = std::mem::take(&mut robot.game);
            let news = std::mem::replace(&mut robot.news, told.len());
            self.compare(&told, news);
            if let Some(game) = net.client(address(number)).client.game()
                && let Some(truth) = net.engine().game()
                && told.len() > 1
                && truth.turn() == game.turn()
                && !matches!(told.last(), Some(ServerMessage::GameEnded { .. }))
                && self.is_newest(&told)
                // The next game may have started before any client knows it.
                && matches!(&told[0], ServerMessage::GameStarted { players } if players == net.engine().players())
            {
                let positions: Vec<Position> = game.positions().values().copied().collect();
                let scores: Vec<u32> = game.scores().values().copied().collect();
                let blocks: BTreeSet<Position> = game.board().blocks().collect();
                assert!(truth.robots().iter().map(|robot| robot.position).eq(positions), "robot {number}");
                assert!(truth.robots().iter().map(|robot| robot.score).eq(scores), "robot {number}");
                assert_eq!(truth.board().blocks().collect::<BTreeSet<_>>(), blocks, "robot {number}");
                assert_eq!(truth.bombs().len(), game.bombs().len(), "robot {number}");
            }
            net.client_mut(address(number)).ear.game = told;
        }
    }

    // Compares a game delivered to one client with the games delivered to other clients.
    fn compare(&mut self, told: &[ServerMessage], news: usize) {
        // Without a turn, two games may look the same.
        if told.len() < 2 {
            return;
        }
        match self.games.iter_mut().find(|game| game[..2] == told[..2]) {
            None => self.games.push(told.to_vec()),
            Some(game) => {
                let news = news.min(game.len());
                let both = game.len().min(told.len());
                assert_eq!(game[news..both], told[news..both], "two clients received different games");
                game.extend_from_slice(&told[both..]);
            }
        }
    }

    fn is_newest(&self, told: &[ServerMessage]) -> bool {
        self.games.last().is_some_and(|game| game[..2] == told[..2])
    }
}

fn enter(net: &mut Net<Server, Robot>, seat: u8, number: u8) {
    let plays = seat < PLAYERS;
    let role = if plays { Role::Player } else { Role::Watcher };
    net.add_stream(address(number), role, Robot::new(number, plays));
}
