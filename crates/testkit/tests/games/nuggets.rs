//! Nuggets: all players explore until the last nugget is found.

use std::{sync::Arc, time::Duration};

use netcore::{Gone, Outcome, Role, Time};
use nuggets::{Config, End, Grid, Name, Participant, Rules, server::Server};
use testkit::{
    net::{Conditions, Net},
    seeds::for_each_seed,
};

use super::{By, START, add, address, check_events, run, sit_down};
use crate::explorer::Player;

const MAP: &str = "
+--------+    +-----+
|........#####......|
|........|    |.....|
|........|    |.....|
+---#----+    +--#--+
    #            #
    ##############
";
const GOLD: u32 = 250;
/// Time between two keys.
const PAUSE: Duration = Duration::from_millis(60);

fn player(number: u8, by: By) -> Player {
    let name = Name::new(format!("P{number}").as_bytes()).unwrap();
    Player::new(by.link(), Participant::Player(name), START, PAUSE)
}

fn onlooker(by: By) -> Player {
    Player::new(by.link(), Participant::Spectator, START, PAUSE)
}

fn net(seed: u64) -> Net<Server, Player> {
    let (grid, _) = Grid::parse(MAP.trim_start().as_bytes()).unwrap();
    let rules = Rules::default();
    let server = Server::new(Arc::new(grid), Config { seed: seed.into(), rules, ..Config::default() });
    Net::new(server.unwrap(), seed, Conditions::CALM)
}

/// The game has ended, and all clients except those in `lost` know it.
fn check_end(net: &mut Net<Server, Player>, lost: &[u8]) {
    assert_eq!(net.outcome(), Some(Outcome::Finished));
    net.settle();
    assert!(net.is_closed());
    let summaries = net.summaries();
    let [summary] = &summaries[..] else { panic!("{summaries:?}") };
    for (at, player) in net.clients() {
        if lost.iter().any(|&number| address(number) == at) {
            continue;
        }
        assert_eq!(player.client.end(), Some(&End::Quit(summary.clone())), "{at}");
        assert_eq!(player.client.remaining(), 0, "{at}");
    }
    let engine = net.engine();
    let purses: u32 = engine.game().players().iter().map(|player| player.purse).sum();
    assert_eq!(purses, GOLD);
    for player in engine.game().players() {
        let number: u8 = player.name.as_str()[1..].parse().unwrap();
        if !lost.contains(&number) {
            assert_eq!(net.client(address(number)).client.purse(), player.purse, "P{number}");
        }
    }
    drop(engine);
    check_events(net);
}

/// All spectators have the same display.
fn check_onlookers(net: &Net<Server, Player>) {
    let onlookers = net.clients().filter(|(_, player)| *player.client.participant() == Participant::Spectator);
    let seen: Vec<String> = onlookers.map(|(_, player)| player.client.display().escape_ascii().to_string()).collect();
    assert!(!seen.is_empty() && seen.iter().all(|display| *display == seen[0]), "{seen:#?}");
}

#[test]
fn all_kinds_of_link_share_a_room() {
    for_each_seed(5, |seed| {
        let mut net = net(seed);
        for (number, by) in [(1, By::Datagrams), (2, By::Stream), (3, By::Messages)] {
            add(&mut net, number, by, Role::Player, player(number, by));
        }
        add(&mut net, 7, By::Messages, Role::Watcher, onlooker(By::Messages));
        add(&mut net, 8, By::Stream, Role::Watcher, onlooker(By::Stream));
        add(&mut net, 9, By::Datagrams, Role::Player, onlooker(By::Datagrams));
        sit_down(&mut net, seed);
        run(&mut net, |_| false);
        check_end(&mut net, &[]);
        check_onlookers(&net);
        assert!(net.traffic().sent > 0 && net.traffic().pieces > 0 && net.traffic().messages > 0);
    });
}

#[test]
fn reset_on_rough_streams_affects_only_its_client() {
    for_each_seed(30, |seed| {
        let mut net = net(seed);
        for number in 1..=4 {
            add(&mut net, number, By::Stream, Role::Player, player(number, By::Stream));
        }
        for number in 7..=9 {
            add(&mut net, number, By::Stream, Role::Watcher, onlooker(By::Stream));
        }
        sit_down(&mut net, seed);
        // Some of the gold is found.
        run(&mut net, |net| net.engine().game().remaining() < GOLD);
        assert_eq!(net.outcome(), None);
        // A player and a spectator are reset.
        for number in [4, 9] {
            net.reset(address(number));
        }
        run(&mut net, |_| false);
        assert!(net.traffic().blocked > 0 || seed % 4 != 1);
        check_end(&mut net, &[4, 9]);
        assert_eq!(net.client(address(4)).client.end(), Some(&End::Disconnected(Gone::Broken)));
    });
}

#[test]
fn a_reloaded_page_knows_what_the_others_know() {
    for_each_seed(5, |seed| {
        let mut net = net(seed);
        for number in 1..=2 {
            add(&mut net, number, By::Messages, Role::Player, player(number, By::Messages));
        }
        add(&mut net, 8, By::Messages, Role::Watcher, onlooker(By::Messages));
        add(&mut net, 9, By::Messages, Role::Watcher, onlooker(By::Messages));
        sit_down(&mut net, seed);
        net.run_until(Time::from_millis(3_000));
        if net.outcome().is_none() {
            let letter = net.client(address(1)).client.letter();
            net.reconnect(address(1), player(1, By::Messages));
            net.reconnect(address(9), onlooker(By::Messages));
            net.run_until(Time::from_millis(9_000));
            if net.outcome().is_none() {
                assert_eq!(net.client(address(1)).client.letter(), letter);
            }
        }
        run(&mut net, |_| false);
        check_end(&mut net, &[]);
        check_onlookers(&net);
        assert_eq!(net.engine().game().players().len(), 2, "nobody has two seats");
    });
}
