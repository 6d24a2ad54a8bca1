//! Mastermind: codebreakers play alone and in races.

use std::time::Duration;

use mastermind::{Config, Mode, Server};
use netcore::{Outcome, Role, Time};
use testkit::{
    net::{Conditions, Net},
    seeds::for_each_seed,
};

use super::{By, START, add, address, check_events, run, sit_down};
use crate::breaker::{Breaker, Told};

const PAUSE: Duration = Duration::from_millis(80);

fn breaker(number: u8, by: By, at: Time) -> Breaker {
    Breaker::new(by.link(), Some(&format!("P{number}")), number.into(), at, PAUSE)
}

fn watcher(by: By) -> Breaker {
    Breaker::new(by.link(), None, 0, START, PAUSE)
}

/// Plays until the end of this many games was reported to a client.
fn play(net: &mut Net<Server, Breaker>, games: usize) {
    let mut told = Told::default();
    run(net, |net| {
        for (at, breaker) in net.clients() {
            told.check(&breaker.client, &at.to_string());
        }
        told.over() >= games
    });
}

fn check_end(net: &mut Net<Server, Breaker>) {
    net.stop();
    net.settle();
    assert_eq!(net.outcome(), Some(Outcome::Stopped));
    assert!(net.is_closed() && net.peers() == 0);
    for (at, breaker) in net.clients() {
        assert_eq!(breaker.client.farewell(), Some("the server was stopped"), "{at}");
    }
    check_events(net);
}

#[test]
fn rough_links_deliver_the_same_boards_to_all_clients() {
    for_each_seed(20, |seed| {
        let mode = if seed.is_multiple_of(2) { Mode::Solo } else { Mode::Race(2) };
        let mut net =
            Net::new(Server::new(Config { mode, ..Config::new(4, false, seed) }).unwrap(), seed, Conditions::CALM);
        add(&mut net, 1, By::Stream, Role::Player, breaker(1, By::Stream, START));
        add(&mut net, 2, By::Messages, Role::Player, breaker(2, By::Messages, START));
        add(&mut net, 8, By::Stream, Role::Watcher, watcher(By::Stream));
        sit_down(&mut net, seed);
        play(&mut net, 2);
        add(&mut net, 9, By::Messages, Role::Watcher, watcher(By::Messages));
        assert!(net.refresh(address(2)));
        play(&mut net, 6);
        check_end(&mut net);
    });
}
