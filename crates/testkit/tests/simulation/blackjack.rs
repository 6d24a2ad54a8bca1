//! Blackjack: players who return to their seats after a restart, and a watcher.

use std::{net::SocketAddr, time::Duration};

use blackjack::{Config, Dialect, Name, PlayerMessage, Score, Seed, Server};
use netcore::{Framing, Role, Time};
use testkit::{
    net::{Net, StreamConditions},
    simulation::Game,
};

pub(super) use crate::guest::Guest;

const PLAYERS: u8 = 3;
/// The number of the watcher.
const WATCHER: u8 = PLAYERS;
/// The number of a client that sends unrequested messages.
const HOSTILE: u8 = PLAYERS + 1;
/// Time until a client reconnects.
const AWAY: Duration = Duration::from_millis(200);
/// Longer than all clock changes.
const NEVER: Duration = Duration::from_secs(1_000 * 86_400);

fn guest(number: u8, score: Score) -> Guest {
    let dialect = if number.is_multiple_of(2) { Dialect::Text } else { Dialect::Binary };
    match number {
        WATCHER => Guest::default(),
        HOSTILE => {
            // This client does not wait for a request.
            let messages = [PlayerMessage::Join(name(number)), PlayerMessage::Hit];
            let first = messages.map(|message| message.to_bytes(Dialect::Binary)).concat();
            Guest { first: Some(first.into()), ..Guest::default() }
        }
        _ => Guest { score, ..Guest::player(name(number), dialect, Framing::Stream) },
    }
}

fn name(number: u8) -> Name {
    Name::new(format!("P{number}").as_bytes()).unwrap()
}

/// Each has its own host, and another port for each connection.
fn address(number: u8, time: u16) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 1_000 + time))
}

/// The invariants of a dealer.
pub(super) struct Blackjack {
    // The number of connections of each guest, and when it reconnects.
    guests: Vec<(u16, Option<Time>)>,
    // Messages were delivered that the dealer lost.
    forked: bool,
}

impl Game for Blackjack {
    type Server = Server;
    type Client = Guest;

    fn begin(seed: u64) -> (Self, Server) {
        let rounds = if seed.is_multiple_of(4) { 30 } else { 100_000 };
        let config = Config {
            players: usize::from(PLAYERS),
            delay: Duration::from_millis(20),
            timeout: NEVER,
            ..Config::new(rounds, Seed::from_number(seed))
        };
        (Self { guests: vec![], forked: false }, Server::new(config).unwrap())
    }

    fn enter(&mut self, net: &mut Net<Server, Guest>) {
        // A random reset would cost a hand, and the seat.
        net.set_stream_conditions(StreamConditions { reset_permille: 0, stall_percent: 0, ..StreamConditions::ROUGH });
        for number in 0..=HOSTILE {
            self.guests.push((0, None));
            Self::come(net, number, 0, Score::default());
        }
    }

    fn step(&mut self, net: &mut Net<Server, Guest>) {
        self.check(net);
        let now = net.now();
        for number in 0..=HOSTILE {
            let (times, back_at) = self.guests[usize::from(number)];
            let guest = net.client(address(number, times));
            if guest.gone.is_none() {
                continue;
            }
            match back_at {
                None => self.guests[usize::from(number)].1 = Some(now.plus(AWAY)),
                Some(at) if at <= now => {
                    let score = guest.score;
                    net.remove(address(number, times));
                    let times = (times + 1) % 50_000;
                    self.guests[usize::from(number)] = (times, None);
                    Self::come(net, number, times, score);
                }
                Some(_) => {}
            }
        }
    }

    fn wake(&self) -> Option<Time> {
        self.guests.iter().filter_map(|&(_, back_at)| back_at).min()
    }

    fn is_current(&self, net: &Net<Server, Guest>, guest: &Guest) -> bool {
        let Some((client, _)) = &guest.player else { return !guest.heard.is_empty() };
        let engine = net.engine();
        let seats = engine.tables().flat_map(|table| table.view().seats);
        match seats.flatten().find(|seat| seat.name == *client.name()) {
            Some(seat) => seat.hand.is_none_or(|(hand, _)| !client.in_round() || hand == *client.hand()),
            // A player who has lost its seat has no state to compare.
            None => true,
        }
    }

    fn resumed(&mut self, _: &mut Net<Server, Guest>, forked: bool) {
        self.forked |= forked;
    }
}

impl Blackjack {
    fn come(net: &mut Net<Server, Guest>, number: u8, times: u16, score: Score) {
        let role = if number == WATCHER { Role::Watcher } else { Role::Player };
        net.add_stream(address(number, times), role, guest(number, score));
    }

    // Checks that results delivered to a player are known to the dealer.
    fn check(&self, net: &Net<Server, Guest>) {
        let engine = net.engine();
        let Some(table) = engine.tables().next().filter(|_| !self.forked) else { return };
        for seat in table.view().seats.into_iter().flatten() {
            let Some(number) = (0..PLAYERS).find(|&number| name(number) == seat.name) else { continue };
            let (times, _) = self.guests[usize::from(number)];
            let (told, truth) = (net.client(address(number, times)).score, seat.score);
            let fits = told.wins <= truth.wins
                && told.pushes <= truth.pushes
                && told.losses <= truth.losses
                && told.busts <= truth.busts;
            assert!(fits, "player {number} was told {told:?}, and the dealer knows {truth:?}");
            assert_eq!(seat.forfeits, 0, "player {number} lost a hand because the server was away");
        }
    }
}
