//! Robots: bots over streams that return as observers after a restart and join the next game, watchers, and a client
//! that keeps trying to join.

use std::time::Duration;

use bytes::BytesMut;
use netcore::{Role, Time, wire::ShortText};
use robots::{ClientMessage, ServerMessage, protocol::encode, server::Server};
use testkit::{net::Net, simulation::Game};

use super::seats::Seats;
use crate::{
    address,
    robot::{PLAYERS, Robot, check_known, server},
};

const TURNS: u16 = 60;
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(200);
/// Interval of attempts to join a running game, and their number at once, so that the journal grows.
const EAGER: (Duration, usize) = (Duration::from_millis(250), 40);
/// Number of clients: players and watchers.
const SEATS: u8 = 5;

/// The invariants of a robots server.
pub(super) struct Robots {
    seats: Seats,
    // When the client at the last seat tries to join next.
    eager_at: Option<Time>,
    // All games that were delivered, each as the longest version delivered.
    games: Vec<Vec<ServerMessage>>,
    // The numbers of clients that were told what the server has lost.
    stale: Vec<u8>,
}

impl Game for Robots {
    type Engine = Server;
    type Client = Robot;

    fn begin(seed: u64) -> (Self, Server) {
        let eager_at = seed.is_multiple_of(3).then_some(Time::ZERO.plus(EAGER.0));
        let game = Self { seats: Seats::new(SEATS, AWAY), eager_at, games: vec![], stale: vec![] };
        (game, server(TURNS, u32::try_from(seed & 0x3FFF_FFFF).unwrap() + 1))
    }

    fn enter(&mut self, net: &mut Net<Server, Robot>) {
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number);
        }
    }

    fn step(&mut self, net: &mut Net<Server, Robot>) {
        self.check(net);
        let now = net.now();
        for back in self.seats.reconnecting(now, |_, number| net.client(address(number)).gone.is_some()) {
            net.remove(address(back.before));
            self.stale.retain(|&stale| stale != back.number);
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

    fn resumed(&mut self, _: &mut Net<Server, Robot>, forked: bool) {
        if forked {
            self.games.clear();
            self.stale = self.seats.numbers().collect();
        }
    }
}

impl Robots {
    fn check(&mut self, net: &mut Net<Server, Robot>) {
        let numbers: Vec<u8> = self.seats.numbers().filter(|number| !self.stale.contains(number)).collect();
        for number in numbers {
            let robot = net.client_mut(address(number));
            if robot.checked == robot.game.len() {
                continue;
            }
            let told = std::mem::take(&mut robot.game);
            let checked = std::mem::replace(&mut robot.checked, told.len());
            self.compare(&told, checked);
            if let Some(known) = net.client(address(number)).client.game()
                && let Some(truth) = net.engine().game()
                && told.len() > 1
                && truth.turn() == known.turn()
                && !matches!(told.last(), Some(ServerMessage::GameEnded { .. }))
                && self.is_newest(&told)
                // The next game may have begun without anybody knowing yet.
                && matches!(&told[0], ServerMessage::GameStarted { players } if players == net.engine().players())
            {
                check_known(known, truth, &format!("robot {number}"));
            }
            net.client_mut(address(number)).game = told;
        }
    }

    // A game that was delivered to one client matches what others received of it.
    fn compare(&mut self, told: &[ServerMessage], checked: usize) {
        // Without a turn, two games may look the same.
        if told.len() < 2 {
            return;
        }
        match self.games.iter_mut().find(|game| game[..2] == told[..2]) {
            None => self.games.push(told.to_vec()),
            Some(game) => {
                let checked = checked.min(game.len());
                let both = game.len().min(told.len());
                assert_eq!(game[checked..both], told[checked..both], "two clients received different games");
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
