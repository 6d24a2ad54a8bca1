//! Blackjack: players who return to their seats after a restart, and a watcher.

use std::{net::SocketAddr, time::Duration};

use blackjack::{Config, Dialect, PlayerMessage, Score, Seed, Server};
use netcore::{Framing, Role, Time};
use testkit::{
    net::{Net, StreamConditions},
    simulation::Game,
};

use super::seats::Seats;
use crate::guest::{Guest, name};

const PLAYERS: u8 = 3;
/// The seat of the watcher.
const WATCHER: u8 = PLAYERS;
/// The seat of a client that sends more than it was asked for.
const HOSTILE: u8 = PLAYERS + 1;
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(200);
/// Longer than all clock changes.
const NEVER: Duration = Duration::from_secs(1_000 * 86_400);

/// Each seat has its own host, and another port for each connection.
fn address(seat: u8, number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, seat], 1_000 + u16::from(number)))
}

/// The invariants of a dealer.
pub(super) struct Blackjack {
    seats: Seats,
    // Messages were delivered that the dealer lost.
    forked: bool,
}

impl Game for Blackjack {
    type Engine = Server;
    type Client = Guest;

    fn begin(seed: u64) -> (Self, Server) {
        let rounds = if seed.is_multiple_of(4) { 30 } else { 100_000 };
        let config = Config {
            players: usize::from(PLAYERS),
            delay: Duration::from_millis(20),
            timeout: NEVER,
            ..Config::new(rounds, Seed::from_number(seed))
        };
        (Self { seats: Seats::new(HOSTILE + 1, AWAY), forked: false }, Server::new(config).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Guest>) {
        // A random reset would cost a hand, and the seat.
        net.set_stream_conditions(StreamConditions { reset_permille: 0, stall_percent: 0, ..StreamConditions::ROUGH });
        for (number, seat) in self.seats.numbers().zip(0..) {
            enter(net, seat, number, Score::default());
        }
    }

    fn step(&mut self, net: &mut Net<Server, Guest>) {
        self.check(net);
        for back in self.seats.reconnecting(net.now(), |seat, number| net.client(address(seat, number)).gone.is_some())
        {
            let before = address(back.seat, back.before);
            let score = net.client(before).score;
            net.remove(before);
            enter(net, back.seat, back.number, score);
        }
    }

    fn wake(&self) -> Option<Time> {
        self.seats.times().min()
    }

    fn is_current(&self, net: &Net<Server, Guest>, guest: &Guest) -> bool {
        let Some(client) = guest.client() else { return !guest.heard.is_empty() };
        let engine = net.engine();
        let seats = engine.tables().flat_map(|table| table.view().seats);
        match seats.flatten().find(|seat| seat.name == *client.name()) {
            Some(seat) => seat.hand.is_none_or(|(hand, _)| !client.in_round() || hand == *client.hand()),
            // There is no seat for a player who has lost it.
            None => true,
        }
    }

    fn resumed(&mut self, _: &mut Net<Server, Guest>, forked: bool) {
        self.forked |= forked;
    }
}

fn enter(net: &mut Net<Server, Guest>, seat: u8, number: u8, score: Score) {
    let mut guest = match seat {
        WATCHER => Guest::watcher(),
        HOSTILE => {
            // It does not wait until it is asked.
            let messages = [PlayerMessage::Join(name(seat)), PlayerMessage::Hit];
            Guest::saying(messages.map(|message| message.to_bytes(Dialect::Binary)).concat().into())
        }
        _ => {
            let dialect = if seat.is_multiple_of(2) { Dialect::Text } else { Dialect::Binary };
            Guest::player(seat, Framing::Stream, dialect)
        }
    };
    guest.score = score;
    let role = if seat == WATCHER { Role::Watcher } else { Role::Player };
    net.add_stream(address(seat, number), role, guest);
}

impl Blackjack {
    // Checks that results delivered to a player are known to the dealer.
    fn check(&self, net: &Net<Server, Guest>) {
        let engine = net.engine();
        let Some(table) = engine.tables().next().filter(|_| !self.forked) else { return };
        for seat in table.view().seats.into_iter().flatten() {
            let Some((player, number)) = (0..PLAYERS).zip(self.seats.numbers()).find(|&(at, _)| name(at) == seat.name)
            else {
                continue;
            };
            let (told, truth) = (net.client(address(player, number)).score, seat.score);
            let fits = told.wins <= truth.wins
                && told.pushes <= truth.pushes
                && told.losses <= truth.losses
                && told.busts <= truth.busts;
            assert!(fits, "player {player} was told {told:?}, and the dealer knows {truth:?}");
            assert_eq!(seat.forfeits, 0, "player {player} lost a hand because the server was away");
        }
    }
}
