//! Robots: bots over streams that return as observers after a restart and join the next game, watchers, and a client
//! that keeps trying to join.

use std::{collections::BTreeSet, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{Gone, Role, Time, wire::ShortText};
use robots::{
    Bot, Client, ClientMessage, Config, InputMessage, Malformed, Parameters, Position, ServerMessage, protocol::encode,
    server::Server,
};
use testkit::{net::Net, simulation::Game};

use super::{address, seats::Seats};

const TURNS: u16 = 60;
const PLAYERS: u8 = 3;
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(200);
/// Interval of attempts to join a running game, and their number at once, so that the journal grows.
const EAGER: (Duration, usize) = (Duration::from_millis(250), 40);
/// Number of clients: players and watchers.
const SEATS: u8 = 5;

/// A client and its player.
#[derive(Debug)]
pub(super) struct Robot {
    client: Client,
    bot: Option<Bot>,
    // Messages of the newest game.
    game: Vec<ServerMessage>,
    // Number of messages since the last check.
    news: usize,
    said_hello: bool,
    turn: Option<u16>,
    gone: bool,
    // It connected to an earlier run of the server.
    stale: bool,
}

impl Robot {
    fn new(number: u8, bot: bool) -> Self {
        let name = ShortText::try_from(format!("R{number}").as_str()).unwrap();
        let bot = bot.then(|| Bot::new(number.into()));
        let client = Client::new(name, None);
        Self { client, bot, game: vec![], news: 0, said_hello: false, turn: None, gone: false, stale: false }
    }

    fn hear(&mut self, message: &ServerMessage) {
        match message {
            ServerMessage::Hello(_) => {
                assert!(!self.said_hello, "two hellos");
                self.said_hello = true;
            }
            ServerMessage::GameStarted { .. } => {
                assert!(self.game.is_empty(), "a game starts during another");
                self.game.push(message.clone());
            }
            ServerMessage::Turn { turn, .. } => {
                assert!(!self.game.is_empty(), "a turn without a game");
                assert_eq!(*turn, self.turn.map_or(0, |before| before + 1), "a turn out of order");
                self.turn = Some(*turn);
                self.game.push(message.clone());
            }
            ServerMessage::GameEnded { .. } => {
                assert_eq!(self.turn, Some(TURNS), "a game ends too early");
                self.game.push(message.clone());
                self.turn = None;
            }
            ServerMessage::AcceptedPlayer { .. } => assert!(self.turn.is_none(), "somebody joins a running game"),
        }
        assert!(self.said_hello, "{message:?} comes before the hello");
    }
}

impl netcore::Client for Robot {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.client.feed(bytes);
        while let Some(event) = self.client.poll_event()? {
            if matches!(self.game.last(), Some(ServerMessage::GameEnded { .. })) {
                (self.game, self.news) = (vec![], 0);
            }
            self.hear(&event.message);
            if let Some(bot) = self.bot.as_mut().filter(|_| event.is_picture_due())
                && let Some(input) = bot.next_input(&self.client)
            {
                self.client.act(now, input);
            }
        }
        Ok(())
    }

    fn act(&mut self, now: Time, action: InputMessage) {
        self.client.act(now, action);
    }

    fn take_outgoing(&mut self) -> Option<Bytes> {
        self.client.take_outgoing()
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.client.deadline(now)
    }

    fn elapsed(&mut self, now: Time) {
        self.client.elapsed(now);
    }

    fn disconnected(&mut self, now: Time, why: Gone) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

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
        let parameters = Parameters {
            server_name: ShortText::try_from("here").unwrap(),
            players_count: PLAYERS,
            size_x: 9,
            size_y: 7,
            game_length: TURNS,
            explosion_radius: 3,
            bomb_timer: 4,
        };
        let config = Config {
            parameters,
            turn_duration: Duration::from_millis(100),
            initial_blocks: 8,
            seed: u32::try_from(seed & 0x3FFF_FFFF).unwrap() + 1,
            max_history: 1 << 20,
        };
        let eager_at = seed.is_multiple_of(3).then_some(Time::ZERO.plus(EAGER.0));
        (Self { seats: Seats::new(SEATS, AWAY), eager_at, games: vec![] }, Server::new(config).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Robot>) {
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number);
        }
    }

    fn step(&mut self, net: &mut Net<Server, Robot>) {
        self.check(net);
        let now = net.now();
        for back in self.seats.reconnecting(now, |number| net.client(address(number)).gone) {
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
            net.client_mut(address(number)).stale |= forked;
        }
    }
}

impl Robots {
    fn check(&mut self, net: &mut Net<Server, Robot>) {
        for number in self.seats.numbers().collect::<Vec<_>>() {
            let robot = net.client_mut(address(number));
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
                // The next game may have begun without anybody knowing yet.
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
            net.client_mut(address(number)).game = told;
        }
    }

    // A game that was delivered to one client matches what others received of it.
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
