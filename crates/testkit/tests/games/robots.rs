//! Robots: bots play one game, watchers observe it.

use netcore::{Engine, GameEvent, Outcome, Role};
use robots::{Game, ServerMessage, server::Server};
use testkit::{
    net::{Conditions, Net, StreamConditions},
    seeds::for_each_seed,
};

use super::{By, add, check_events, rough, run, sit_down};
use crate::{
    address,
    robot::{PLAYERS, Robot, check_known, server},
};

const TURNS: u16 = 40;

fn net(seed: u64) -> Net<Server, Robot> {
    Net::new(server(TURNS, u32::try_from(seed).unwrap()), seed, Conditions::CALM)
}

/// Connects a player or a client that looks on.
fn come(net: &mut Net<Server, Robot>, number: u8, by: By) {
    let plays = number <= PLAYERS;
    let role = if number < 20 && !plays { Role::Watcher } else { Role::Player };
    let mut robot = Robot::new(number, plays);
    robot.once = true;
    add(net, number, by, role, robot);
}

/// Plays one game. Whoever was told of the turn that the server is at knows the truth.
fn play(net: &mut Net<Server, Robot>, mut look: impl FnMut(&mut Net<Server, Robot>, u16)) {
    let mut compared = 0;
    run(net, |net| {
        if let Some(truth) = net.engine().game() {
            let known = net.clients().filter_map(|(at, robot)| Some((at, robot.client.game()?)));
            for (at, known) in known.filter(|(_, known)| known.turn() == truth.turn()) {
                check_known(known, truth, &at.to_string());
                compared += 1;
            }
        }
        let turn = net.engine().game().map_or(0, Game::turn);
        look(net, turn);
        net.recorder().events().iter().any(|(event, _)| matches!(event, GameEvent::Ended { .. }))
    });
    assert!(compared > usize::from(TURNS), "{compared}");
}

/// The game has ended and the room is stopped: everybody who is not `lost` was told all of it.
fn check_end(net: &mut Net<Server, Robot>, lost: &[u8]) {
    // The last messages take some time.
    let until = net.now().plus(std::time::Duration::from_secs(600));
    let is_lost = |at| lost.iter().any(|&number| address(number) == at);
    while !net.clients().all(|(at, robot)| is_lost(at) || robot.is_ended()) && net.step(until) {}
    net.stop();
    net.settle();
    assert_eq!(net.engine().outcome(), Some(Outcome::Stopped));
    assert!(net.is_closed() && net.peers() == 0);
    let told: Vec<_> = net.clients().filter(|&(at, _)| !is_lost(at)).collect();
    for (at, robot) in &told {
        assert!(robot.is_ended() && robot.gone.is_some(), "{at} was told of the end, and is closed");
        let turns = robot.game.iter().filter(|message| matches!(message, ServerMessage::Turn { .. })).count();
        assert_eq!(turns, usize::from(TURNS) + 1, "{at}");
        assert_eq!(robot.game, told[0].1.game, "{at}");
    }
    check_events(net);
}

#[test]
fn over_rough_links_everybody_sees_the_same_game_whenever_they_join() {
    for_each_seed(40, |seed| {
        let mut net = net(seed);
        for (number, by) in [(1, By::Stream), (2, By::Messages), (3, By::Stream)] {
            come(&mut net, number, by);
        }
        for (number, by) in [(7, By::Stream), (8, By::Messages), (20, By::Stream)] {
            come(&mut net, number, by);
        }
        sit_down(&mut net, seed);
        let mut late = vec![(5, By::Stream, 10), (6, By::Messages, 11), (25, By::Stream, 12)];
        play(&mut net, |net, now| {
            late.retain(|&(turn, by, number)| {
                if now >= turn {
                    come(net, number, by);
                }
                if now >= turn && number == 10 {
                    // A player, an observer and a watcher are reset during the game.
                    [3, 20, 8].into_iter().for_each(|number| net.reset(address(number)));
                }
                now < turn
            });
        });
        check_end(&mut net, &[3, 20, 8]);
    });
}

#[test]
fn a_client_that_does_not_read_for_a_while_misses_nothing() {
    for_each_seed(10, |seed| {
        let mut net = net(seed);
        (1..=PLAYERS).for_each(|number| come(&mut net, number, By::Stream));
        come(&mut net, 8, By::Stream);
        come(&mut net, 9, By::Messages);
        sit_down(&mut net, seed);
        net.set_stream_conditions(StreamConditions { window: 200, ..rough(seed) });
        play(&mut net, |net, turn| {
            for number in [8, 9] {
                net.set_reading(address(number), !(5..=25).contains(&turn));
            }
        });
        for number in [8, 9] {
            net.set_reading(address(number), true);
        }
        check_end(&mut net, &[]);
        assert!(net.traffic().blocked > 0, "the window was full");
        assert_eq!(net.client(address(8)).client.players().len(), 0, "the next lobby is empty");
    });
}
