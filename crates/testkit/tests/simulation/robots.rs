//! Bots over streams that return as observers after a restart and join the next game, watchers, and a client that keeps
//! trying to join.

use std::{collections::BTreeSet, time::Duration};

use bytes::{Bytes, BytesMut};
use netcore::{DisconnectReason, Role, Time, wire::ShortText};
use robots::{
    Bot, Client, ClientMessage, Config, InputMessage, Malformed, Parameters, Position, ServerMessage, protocol::encode,
    server::Server,
};
use testkit::{net::Net, simulation::Game};

use super::{Seats, address};

const TURNS: u16 = 60;
const PLAYERS: u8 = 3;
const AWAY: Duration = Duration::from_millis(200);
/// The interval of attempts to join a running game, and their number in one batch, to make the journal grow.
const EAGER: (Duration, usize) = (Duration::from_millis(250), 40);
const SEATS: u8 = 5;

#[derive(Debug, Default)]
pub(super) struct Received {
    // Messages of the newest game.
    game: Vec<ServerMessage>,
    // Messages at the last check.
    checked: usize,
    has_hello: bool,
    turn: Option<u16>,
    // The client connected to an earlier run of the server.
    stale: bool,
}

impl Received {
    fn add(&mut self, message: ServerMessage) {
        if matches!(self.game.last(), Some(ServerMessage::GameEnded { .. })) {
            (self.game, self.checked) = (vec![], 0);
        }
        match message {
            ServerMessage::Hello(_) => {
                assert!(!self.has_hello, "two hellos");
                self.has_hello = true;
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
        assert!(self.has_hello, "{message:?} comes before the hello");
        if !matches!(message, ServerMessage::Hello(_) | ServerMessage::AcceptedPlayer { .. }) {
            self.game.push(message);
        }
    }
}

/// Without a bot, it only watches.
#[derive(Debug)]
pub(super) struct Robot {
    client: Client,
    bot: Option<Bot>,
    received: Received,
    gone: bool,
}

impl netcore::Client for Robot {
    type Action = InputMessage;
    type Error = Malformed;

    fn receive(&mut self, now: Time, bytes: &[u8]) -> Result<(), Malformed> {
        self.client.feed(bytes);
        while let Some(event) = self.client.poll_event()? {
            let due = event.is_picture_due();
            self.received.add(event.message);
            if let Some(input) = self.bot.as_mut().filter(|_| due).and_then(|bot| bot.next_input(&self.client)) {
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

    fn disconnected(&mut self, now: Time, why: DisconnectReason) {
        self.gone = true;
        self.client.disconnected(now, why);
    }

    fn is_over(&self) -> bool {
        self.client.is_over()
    }
}

pub(super) struct Robots {
    seats: Seats,
    // The next attempt of the client at the last seat to join.
    eager_at: Option<Time>,
    // The longest delivered version of each game.
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
        let (turn_duration, initial_blocks, max_history) = (Duration::from_millis(100), 8, 1 << 20);
        let seed_of_rules = u32::try_from(seed & 0x3FFF_FFFF).unwrap() + 1;
        let config = Config { parameters, turn_duration, initial_blocks, seed: seed_of_rules, max_history };
        let server = Server::new(config).unwrap();
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
        for reconnect in self.seats.reconnecting(now, |number| net.client(address(number)).gone) {
            net.remove(address(reconnect.before));
            enter(net, reconnect.seat, reconnect.number);
        }
        if self.eager_at.is_some_and(|at| at <= now) {
            self.eager_at = Some(now.plus(EAGER.0));
            let number = self.seats.number(0);
            // Not in a lobby, where it might be admitted.
            if net.engine().game().is_some() {
                let mut joins = BytesMut::new();
                let name = ShortText::try_from("x".repeat(255).as_str()).unwrap();
                (0..EAGER.1).for_each(|_| encode(&ClientMessage::Join { name: name.clone() }, &mut joins));
                net.write(address(number), &joins);
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
            net.client_mut(address(number)).received.stale |= forked;
        }
    }
}

impl Robots {
    fn check(&mut self, net: &mut Net<Server, Robot>) {
        for number in self.seats.numbers().collect::<Vec<_>>() {
            let robot = &mut net.client_mut(address(number)).received;
            if robot.stale || robot.checked == robot.game.len() {
                continue;
            }
            let received = std::mem::take(&mut robot.game);
            let checked = std::mem::replace(&mut robot.checked, received.len());
            self.compare(&received, checked);
            if let Some(game) = net.client(address(number)).client.game()
                && let Some(truth) = net.engine().game()
                && received.len() > 1
                && truth.turn() == game.turn()
                && !matches!(received.last(), Some(ServerMessage::GameEnded { .. }))
                && self.is_newest(&received)
                // The next game may have started before any client knows it.
                && matches!(&received[0], ServerMessage::GameStarted { players } if players == net.engine().players())
            {
                let positions: Vec<Position> = game.positions().values().copied().collect();
                let scores: Vec<u32> = game.scores().values().copied().collect();
                let blocks: BTreeSet<Position> = game.board().blocks().collect();
                assert!(truth.robots().iter().map(|robot| robot.position).eq(positions), "robot {number}");
                assert!(truth.robots().iter().map(|robot| robot.score).eq(scores), "robot {number}");
                assert_eq!(truth.board().blocks().collect::<BTreeSet<_>>(), blocks, "robot {number}");
                assert_eq!(truth.bombs().len(), game.bombs().len(), "robot {number}");
            }
            net.client_mut(address(number)).received.game = received;
        }
    }

    fn compare(&mut self, received: &[ServerMessage], checked: usize) {
        // Without a turn, two games may look the same.
        if received.len() < 2 {
            return;
        }
        match self.games.iter_mut().find(|game| game[..2] == received[..2]) {
            None => self.games.push(received.to_vec()),
            Some(game) => {
                let checked = checked.min(game.len());
                let both = game.len().min(received.len());
                assert_eq!(game[checked..both], received[checked..both], "two clients received different games");
                game.extend_from_slice(&received[both..]);
            }
        }
    }

    fn is_newest(&self, received: &[ServerMessage]) -> bool {
        self.games.last().is_some_and(|game| game[..2] == received[..2])
    }
}

fn enter(net: &mut Net<Server, Robot>, seat: u8, number: u8) {
    let plays = seat < PLAYERS;
    let role = if plays { Role::Player } else { Role::Watcher };
    let name = ShortText::try_from(format!("R{number}").as_str()).unwrap();
    let (client, bot) = (Client::new(name, None), plays.then(|| Bot::new(number.into())));
    net.add_stream(address(number), role, Robot { client, bot, received: Received::default(), gone: false });
}
