//! Mastermind: codebreakers over streams, who take a new seat after a restart, and a watcher.

use std::time::Duration;

use mastermind::{Config, Mode, Server, view::Board};
use netcore::{Client as _, Link, Role, Time};
use testkit::{net::Net, simulation::Game};

use super::{address, seats::Seats};
use crate::breaker::{Breaker, Told};

/// Time between two messages of a player.
const PAUSE: Duration = Duration::from_millis(150);
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(250);
const PLAYERS: u8 = 3;
/// Players and a watcher.
const SEATS: u8 = 4;
/// Interval of invalid lines, which make the journal grow.
const NONSENSE: Duration = Duration::from_millis(200);

/// The invariants of a mastermind server.
pub(super) struct Mastermind {
    seats: Seats,
    nonsense_at: Option<Time>,
    told: Told,
    // The numbers of clients that received output that the server has lost.
    stale: Vec<u8>,
}

impl Game for Mastermind {
    type Server = Server;
    type Client = Breaker;

    fn begin(seed: u64) -> (Self, Server) {
        let mode = if seed.is_multiple_of(3) { Mode::Race(3) } else { Mode::Solo };
        let nonsense_at = seed.is_multiple_of(4).then_some(Time::ZERO.plus(NONSENSE));
        let game = Self { seats: Seats::new(SEATS, AWAY), nonsense_at, told: Told::default(), stale: vec![] };
        (game, Server::new(Config { mode, ..Config::new(4, false, seed) }).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Breaker>) {
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number);
        }
    }

    fn step(&mut self, net: &mut Net<Server, Breaker>) {
        let now = net.now();
        for number in self.seats.numbers().filter(|number| !self.stale.contains(number)) {
            self.told.check(&net.client(address(number)).client, &format!("client {number}"));
        }
        for back in self.seats.reconnecting(now, |number| net.client(address(number)).gone) {
            net.remove(address(back.before));
            self.stale.retain(|&stale| stale != back.number);
            enter(net, back.seat, back.number);
        }
        if self.nonsense_at.is_some_and(|at| at <= now) {
            self.nonsense_at = Some(now.plus(NONSENSE));
            net.say(address(self.seats.number(0)), &b"GUESS what the code may be\n".repeat(40));
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seats.times().chain(self.nonsense_at).min()
    }

    fn resumed(&mut self, _: &mut Net<Server, Breaker>, forked: bool) {
        if forked {
            self.told.forget();
            self.stale = self.seats.numbers().collect();
        }
    }

    fn is_current(&self, net: &Net<Server, Breaker>, Breaker { client, .. }: &Breaker) -> bool {
        let engine = net.engine();
        let boards = engine.boards().filter_map(|(_, board)| board);
        let known = client.places().values().filter_map(|place| place.board.as_ref());
        let state = |board: &Board| (board.number, board.lines.len(), board.over.is_some());
        client.is_over() || known.map(state).eq(boards.map(|board| state(&board)))
    }
}

fn enter(net: &mut Net<Server, Breaker>, seat: u8, number: u8) {
    let plays = seat < PLAYERS;
    let name = format!("P{number}");
    let breaker = Breaker::new(Link::Stream, plays.then_some(&name), number.into(), net.now(), PAUSE);
    let role = if plays { Role::Player } else { Role::Watcher };
    net.add_stream(address(number), role, breaker);
}
