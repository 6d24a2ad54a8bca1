//! Mastermind: codebreakers over streams, who take a new seat after a restart, and a watcher.

use std::time::Duration;

use mastermind::{Server, protocol::Mode, server::Config};
use netcore::{Link, Role, Time};
use testkit::{net::Net, simulation::Game};

use super::address;
use crate::breaker::{Breaker, Told};

/// Time between two messages of a player.
const PAUSE: Duration = Duration::from_millis(150);
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(250);
const PLAYERS: u8 = 3;
/// Players and a watcher.
const SEATS: u8 = 4;
/// Interval of lines that are no messages, so that the journal grows.
const NONSENSE: Duration = Duration::from_millis(200);

/// The invariants of a mastermind server.
pub(super) struct Mastermind {
    // The client at each seat, and when it reconnects.
    seats: Vec<(u8, Option<Time>)>,
    next: u8,
    nonsense_at: Option<Time>,
    told: Told,
    // The numbers of clients that were told what the server has lost.
    stale: Vec<u8>,
}

impl Game<Server, Breaker> for Mastermind {
    fn begin(seed: u64) -> (Self, Server) {
        let mode = if seed.is_multiple_of(3) { Mode::Race(3) } else { Mode::Solo };
        let nonsense_at = seed.is_multiple_of(4).then_some(Time::ZERO.plus(NONSENSE));
        let game = Self { seats: vec![], next: 1, nonsense_at, told: Told::default(), stale: vec![] };
        (game, Server::new(Config { mode, ..Config::new(4, false, seed) }).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Breaker>) {
        for seat in 0..SEATS {
            let number = self.come(net, seat);
            self.seats.push((number, None));
        }
    }

    fn step(&mut self, net: &mut Net<Server, Breaker>) {
        let now = net.now();
        for seat in 0..SEATS {
            let (number, back_at) = self.seats[usize::from(seat)];
            let breaker = net.client(address(number));
            if !self.stale.contains(&number) {
                self.told.check(&breaker.client, &format!("client {number}"));
            }
            if !breaker.gone {
                continue;
            }
            match back_at {
                None => self.seats[usize::from(seat)].1 = Some(now.plus(AWAY)),
                Some(at) if at <= now => {
                    net.remove(address(number));
                    self.seats[usize::from(seat)] = (self.come(net, seat), None);
                }
                Some(_) => {}
            }
        }
        if self.nonsense_at.is_some_and(|at| at <= now) {
            self.nonsense_at = Some(now.plus(NONSENSE));
            let (number, _) = self.seats[0];
            net.say(address(number), &b"GUESS what the code may be\n".repeat(40));
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seats.iter().filter_map(|&(_, back_at)| back_at).chain(self.nonsense_at).min()
    }

    fn resumed(&mut self, _: &mut Net<Server, Breaker>, forked: bool) {
        if forked {
            self.told.forget();
            self.stale = self.seats.iter().map(|&(number, _)| number).collect();
        }
    }
}

impl Mastermind {
    fn come(&mut self, net: &mut Net<Server, Breaker>, seat: u8) -> u8 {
        let number = loop {
            let number = self.next;
            self.next = self.next.checked_add(1).unwrap_or(1);
            if self.seats.iter().all(|&(taken, _)| taken != number) {
                break number;
            }
        };
        self.stale.retain(|&stale| stale != number);
        let plays = seat < PLAYERS;
        let name = format!("P{number}");
        let breaker = Breaker::new(Link::Stream, plays.then_some(&name), number.into(), net.now(), PAUSE);
        let role = if plays { Role::Player } else { Role::Watcher };
        net.add_stream(address(number), role, breaker);
        number
    }
}
