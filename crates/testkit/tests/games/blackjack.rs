//! Blackjack: players with a policy, in both dialects, and watchers.

use std::time::Duration;

use blackjack::{Config, Dialect, Name, Score, Seed, Server};
use netcore::{Client as _, Framing, Gone, Outcome, Role};
use testkit::{
    net::{Conditions, Net},
    seeds::for_each_seed,
};

use super::{By, add, address, check_events, run, sit_down};
use crate::guest::Guest;

const ROUNDS: u32 = 20;

fn player(number: u8, by: By, dialect: Dialect) -> Guest {
    let framing = if by == By::Stream { Framing::Stream } else { Framing::Whole };
    Guest::player(Name::new(format!("P{number}").as_bytes()).unwrap(), dialect, framing)
}

/// The number of rounds reported to a player.
fn rounds(guest: &Guest) -> u64 {
    let Score { wins, pushes, losses, busts } = guest.score;
    wins + pushes + losses + busts
}

fn table(seed: u64, players: usize) -> Net<Server, Guest> {
    let config = Config::new(ROUNDS, Seed::from_number(seed));
    let config = Config { players, delay: Duration::from_millis(2), ..config };
    Net::new(Server::new(config).unwrap(), seed, Conditions::CALM)
}

/// The printed row of a player: rounds, wins, pushes, losses, busts and forfeits.
fn row(printed: &str, who: &Name) -> Vec<u64> {
    let mut rows = printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.get(2) == Some(&who.as_str())).unwrap();
    row[3..9].iter().map(|count| count.parse().unwrap()).collect()
}

/// The table has ended, and all clients except those in `lost` know the result.
fn check_end(net: &mut Net<Server, Guest>, lost: &[u8]) {
    assert_eq!(net.outcome(), Some(Outcome::Finished));
    net.settle();
    assert!(net.is_closed());
    assert_eq!(net.engine().rounds(), u64::from(ROUNDS));
    let printed = net.summaries();
    assert_eq!(printed.len(), 1);
    for (at, guest) in net.clients() {
        if lost.iter().any(|&number| address(number) == at) {
            continue;
        }
        if let Some((client, _)) = &guest.player {
            assert!(client.has_heard_quit(), "{at}");
            let Score { wins, pushes, losses, busts } = guest.score;
            let told = [rounds(guest), wins, pushes, losses, busts, 0];
            assert_eq!(row(&printed[0], client.name()), told, "{at}");
        } else {
            assert!(guest.heard.ends_with(b"\0") && guest.gone == Some(Gone::Left), "{at}");
            assert_eq!(guest.pictures().last(), Some(&&*net.engine().view().to_string()), "{at}");
        }
    }
    check_events(net);
}

#[test]
fn over_rough_links_players_in_both_dialects_and_watchers_share_a_table() {
    for_each_seed(40, |seed| {
        let mut net = table(seed, 4);
        for (number, by, dialect) in [
            (1, By::Stream, Dialect::Text),
            (2, By::Stream, Dialect::Binary),
            (3, By::Messages, Dialect::Text),
            (4, By::Messages, Dialect::Binary),
        ] {
            add(&mut net, number, by, Role::Player, player(number, by, dialect));
        }
        for (number, by) in [(7, By::Stream), (8, By::Messages), (9, By::Stream)] {
            add(&mut net, number, by, Role::Watcher, Guest::default());
        }
        sit_down(&mut net, seed);
        // A client joins when the table is full, and is reset together with a watcher.
        run(&mut net, |net| net.engine().rounds() >= 3);
        add(&mut net, 10, By::Stream, Role::Watcher, Guest::default());
        net.reset(address(9));
        run(&mut net, |_| false);
        check_end(&mut net, &[9]);
    });
}

#[test]
fn player_continues_after_a_reconnect() {
    for_each_seed(10, |seed| {
        let mut net = table(seed, 2);
        for number in 1..=2 {
            add(&mut net, number, By::Messages, Role::Player, player(number, By::Messages, Dialect::Text));
        }
        add(&mut net, 9, By::Messages, Role::Watcher, Guest::default());
        sit_down(&mut net, seed);
        run(&mut net, |net| net.engine().rounds() >= 3);
        net.reconnect(address(9), Guest::default());
        // It has joined already, so it only needs a refresh.
        let mut again = player(1, By::Messages, Dialect::Text);
        assert_eq!(again.take_outgoing().as_deref(), Some(&b"JOIN P1\0"[..]));
        again.told_again = true;
        net.reconnect(address(1), again);
        run(&mut net, |_| false);
        assert_eq!(net.outcome(), Some(Outcome::Finished));
        net.settle();
        let printed = net.summaries();
        for (at, guest) in net.clients() {
            if let Some((client, _)) = &guest.player {
                assert!(client.has_heard_quit(), "{at}");
                let rounds = rounds(guest);
                assert!((u64::from(ROUNDS) - 5..=u64::from(ROUNDS)).contains(&rounds), "{at}: {rounds}");
                assert_eq!(row(&printed[0], client.name())[5], 0, "{at}");
            } else {
                assert_eq!(guest.pictures().last(), Some(&&*net.engine().view().to_string()));
            }
        }
    });
}
