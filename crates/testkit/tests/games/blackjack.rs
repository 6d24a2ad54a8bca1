//! Blackjack: players with a policy, in both dialects, and watchers.

use std::time::Duration;

use blackjack::{Config, Dialect, Score, Seed, Server, Table};
use netcore::{Client as _, Framing, Gone, Outcome, Role};
use testkit::{
    net::{Conditions, Net, Played},
    seeds::for_each_seed,
};

use super::{By, add, check_events, run, sit_down};
use crate::{address, guest::Guest};

const ROUNDS: u32 = 20;
/// Players over each link and in each dialect.
const PLAYERS: [(By, Dialect); 4] = [
    (By::Stream, Dialect::Text),
    (By::Stream, Dialect::Binary),
    (By::Messages, Dialect::Text),
    (By::Messages, Dialect::Binary),
];

/// Connects the player with this number.
fn add_player<E: Played>(net: &mut Net<E, Guest>, number: u8, (by, dialect): (By, Dialect)) {
    add(net, number, by, Role::Player, player(number, by, dialect));
}

fn player(number: u8, by: By, dialect: Dialect) -> Guest {
    let framing = if by == By::Stream { Framing::Stream } else { Framing::Whole };
    Guest::player(number, framing, dialect)
}

fn config(seed: u64, players: usize) -> Config {
    Config { players, delay: Duration::from_millis(2), ..Config::new(ROUNDS, Seed::from_number(seed)) }
}

fn table(seed: u64, players: usize) -> Net<Table, Guest> {
    Net::new(Table::new(config(seed, players), 1).unwrap(), seed, Conditions::CALM)
}

/// Plays the first rounds.
fn play_three_rounds(net: &mut Net<Table, Guest>) {
    run(net, |net| net.engine().game().is_some_and(|game| game.played() >= 3));
}

fn rounds(score: Score) -> u32 {
    u32::try_from(score.wins + score.pushes + score.losses + score.busts).unwrap()
}

/// The match has ended, and everybody who is not `lost` knows it.
fn check_end<E: Played>(net: &mut Net<E, Guest>, lost: &[u8]) {
    assert_eq!(net.outcome(), Some(Outcome::Finished));
    net.settle();
    assert!(net.is_closed());
    for (at, guest) in net.clients().filter(|(at, _)| !lost.iter().any(|&number| address(number) == *at)) {
        match guest.client() {
            Some(client) => assert!(client.has_heard_quit(), "{at}"),
            None => assert_eq!(guest.gone, Some(Gone::Left), "{at}"),
        }
    }
    check_events(net);
}

#[test]
fn over_rough_links_a_table_is_shared_and_who_is_disconnected_affects_nobody_else() {
    for_each_seed(40, |seed| {
        let mut net = table(seed, 4);
        for (number, by) in (1..).zip(PLAYERS) {
            add_player(&mut net, number, by);
        }
        for (number, by) in [(7, By::Stream), (8, By::Messages), (9, By::Stream)] {
            add(&mut net, number, by, Role::Watcher, Guest::watcher());
        }
        sit_down(&mut net, seed);
        play_three_rounds(&mut net);
        // A client looks on when the table is full. A watcher is reset, and in some games a player.
        add(&mut net, 10, By::Stream, Role::Watcher, Guest::watcher());
        let lost: Vec<u8> = [9].into_iter().chain(u8::try_from(seed % 5).ok().filter(|&player| player > 0)).collect();
        lost.iter().for_each(|&number| net.reset(address(number)));
        run(&mut net, |_| false);
        check_end(&mut net, &lost);
        let truth = net.engine().view();
        assert_eq!((truth.played, net.summaries().len()), (ROUNDS, 1));
        for (at, guest) in net.clients().filter(|(at, _)| !lost.iter().any(|&number| address(number) == *at)) {
            let Some(client) = guest.client() else {
                assert_eq!(guest.pictures().last(), Some(&truth.to_string()), "{at}");
                continue;
            };
            let seat = truth.seats.iter().flatten().find(|seat| seat.name == *client.name()).unwrap();
            assert_eq!((guest.score, seat.forfeits), (seat.score, 0), "{at}");
        }
    });
}

#[test]
fn at_a_dealer_of_many_tables_everybody_gets_a_seat_and_a_farewell() {
    for_each_seed(10, |seed| {
        let config = Config { tables: 3, ..config(seed, 2) };
        let mut net = Net::new(Server::new(config).unwrap(), seed, Conditions::CALM);
        for (number, by) in (1..=6).zip(PLAYERS.into_iter().cycle()) {
            add_player(&mut net, number, by);
        }
        add(&mut net, 9, By::Stream, Role::Watcher, Guest::watcher());
        sit_down(&mut net, seed);
        run(&mut net, |_| false);
        check_end(&mut net, &[]);
        assert_eq!((net.engine().rounds(), net.summaries().len()), (3 * u64::from(ROUNDS), 3));
        for (at, guest) in net.clients() {
            if guest.client().is_some() {
                assert_eq!(rounds(guest.score), ROUNDS, "{at}");
            } else {
                let pictures = guest.pictures();
                assert!(pictures.iter().all(|picture| picture.starts_with("LOBBY ")), "{at}");
                assert_eq!(pictures.last(), Some(&net.engine().view().to_string()));
            }
        }
    });
}

#[test]
fn a_player_who_reconnects_plays_on() {
    for_each_seed(10, |seed| {
        let mut net = table(seed, 2);
        for number in 1..=2 {
            add_player(&mut net, number, (By::Messages, Dialect::Text));
        }
        add(&mut net, 9, By::Messages, Role::Watcher, Guest::watcher());
        sit_down(&mut net, seed);
        play_three_rounds(&mut net);
        net.reconnect(address(9), Guest::watcher());
        // It has joined already, so it only needs a refresh.
        let mut again = player(1, By::Messages, Dialect::Text);
        again.told_again = true;
        assert_eq!(again.take_outgoing().as_deref(), Some(&b"JOIN P1\0"[..]));
        net.reconnect(address(1), again);
        run(&mut net, |_| false);
        check_end(&mut net, &[]);
        let truth = net.engine().view();
        assert!(truth.seats.iter().flatten().all(|seat| seat.forfeits == 0), "{truth}");
        for (at, guest) in net.clients() {
            if guest.client().is_some() {
                assert!((ROUNDS - 5..=ROUNDS).contains(&rounds(guest.score)), "{at}: {:?}", guest.score);
            } else {
                assert_eq!(guest.pictures().last(), Some(&truth.to_string()));
            }
        }
    });
}
