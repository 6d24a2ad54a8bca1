//! Robots: bots play one game, and watchers observe it.

use std::{collections::BTreeSet, net::SocketAddr, time::Duration};

use netcore::{Client as _, Engine, GameEvent, Gone, Outcome, Role};
use robots::{Client, Position, ServerMessage, server::Server};
use testkit::{
    net::{Conditions, Net, StreamConditions},
    seeds::for_each_seed,
};

use super::{By, add, address, check_events, rough, run, sit_down};
use crate::robot::{Ear, server};

const TURNS: u16 = 40;
const PLAYERS: u8 = 3;

/// A client's state after a turn: the turn, positions of robots, blocks, number of bombs, scores.
type Picture = (u16, Vec<Position>, BTreeSet<Position>, usize, Vec<u32>);

/// The messages received by a client.
#[derive(Debug, Default)]
struct Heard {
    // All messages in order.
    messages: Vec<ServerMessage>,
    pictures: Vec<Picture>,
}

impl Heard {
    fn is_ended(&self) -> bool {
        self.messages.iter().any(|message| matches!(message, ServerMessage::GameEnded { .. }))
    }
}

impl Ear for Heard {
    fn hear(&mut self, message: ServerMessage, client: &Client) -> bool {
        let is_turn = matches!(message, ServerMessage::Turn { .. });
        self.messages.push(message);
        if is_turn && let Some(game) = client.game() {
            self.pictures.push((
                game.turn(),
                game.positions().values().copied().collect(),
                game.board().blocks().collect(),
                game.bombs().len(),
                game.scores().values().copied().collect(),
            ));
        }
        !self.is_ended()
    }
}

type Robot = crate::robot::Robot<Heard>;

fn net(seed: u64) -> Net<Server, Robot> {
    Net::new(server(PLAYERS, TURNS, u32::try_from(seed).unwrap()), seed, Conditions::CALM)
}

/// Plays one game. Returns the state of the engine after each turn.
fn play(net: &mut Net<Server, Robot>, mut look: impl FnMut(&mut Net<Server, Robot>)) -> Vec<Picture> {
    let mut truth: Vec<Picture> = vec![];
    run(net, |net| {
        if let Some(game) = net.engine().game()
            && truth.last().is_none_or(|&(turn, ..)| turn < game.turn())
        {
            truth.push((
                game.turn(),
                game.robots().iter().map(|robot| robot.position).collect(),
                game.board().blocks().collect(),
                game.bombs().len(),
                game.robots().iter().map(|robot| robot.score).collect(),
            ));
        }
        look(net);
        net.recorder().events().iter().any(|(event, _)| matches!(event, GameEvent::Ended { .. }))
    });
    truth
}

/// The game has ended and the room is stopped: all clients except those in `lost` received the whole game.
fn check_end(net: &mut Net<Server, Robot>, truth: &[Picture], lost: &[u8]) {
    // The last messages may take some time to arrive.
    let until = net.now().plus(Duration::from_secs(600));
    let is_lost = |at| lost.iter().any(|&number| address(number) == at);
    while !net.clients().all(|(at, robot)| is_lost(at) || robot.ear.is_ended()) && net.step(until) {}
    net.stop();
    net.settle();
    assert_eq!(net.engine().outcome(), Some(Outcome::Stopped));
    assert!(net.is_closed() && net.peers() == 0);
    let heard = |robot: &Robot| {
        // Clients join at different times, so the lobbies differ.
        let heard = &robot.ear.messages;
        let from = heard.iter().position(|message| matches!(message, ServerMessage::GameStarted { .. })).unwrap();
        heard[from..].to_vec()
    };
    let seen: Vec<_> = net.clients().filter(|&(at, _)| !is_lost(at)).collect();
    for (at, robot) in &seen {
        let first = &robot.ear.messages[0];
        assert!(matches!(first, ServerMessage::Hello(_)), "{at}: {first:?}");
        assert!(robot.ear.is_ended() && robot.is_over(), "{at} was told of the end, and is closed");
        assert_eq!(heard(robot), heard(seen[0].1), "{at}");
        assert_eq!(robot.ear.pictures.len(), usize::from(TURNS) + 1, "{at}");
        for picture in truth {
            assert_eq!(&robot.ear.pictures[usize::from(picture.0)], picture, "{at}");
        }
    }
    check_events(net);
}

#[test]
fn rough_links_deliver_the_same_game_to_late_clients() {
    for_each_seed(40, |seed| {
        let mut net = net(seed);
        for (number, by) in [(1, By::Stream), (2, By::Messages), (3, By::Stream)] {
            add(&mut net, number, by, Role::Player, Robot::new(number, true));
        }
        add(&mut net, 7, By::Stream, Role::Watcher, Robot::new(7, false));
        add(&mut net, 8, By::Messages, Role::Watcher, Robot::new(8, false));
        add(&mut net, 20, By::Stream, Role::Player, Robot::new(20, false));
        sit_down(&mut net, seed);
        let mut late = vec![(5, By::Stream, 10), (6, By::Messages, 11), (25, By::Stream, 30)];
        let truth = play(&mut net, |net| {
            let Some(turn) = net.engine().game().map(robots::Game::turn) else { return };
            late.retain(|&(at, by, number)| {
                if turn >= at {
                    add(net, number, by, Role::Watcher, Robot::new(number, false));
                }
                if turn >= at && number == 10 {
                    // A player and a watcher are reset during the game.
                    net.reset(address(3));
                    net.reset(address(20));
                    net.reset(address(8));
                }
                turn < at
            });
        });
        check_end(&mut net, &truth, &[3, 20, 8]);
    });
}

#[test]
fn broken_connections_affect_only_their_clients() {
    let (mut resets, mut games) = (0, 0);
    for_each_seed(40, |seed| {
        games += 1;
        let mut net = net(seed);
        for number in 1..=PLAYERS {
            add(&mut net, number, By::Stream, Role::Player, Robot::new(number, true));
        }
        for number in [20, 21] {
            add(&mut net, number, By::Stream, Role::Watcher, Robot::new(number, false));
        }
        add(&mut net, 22, By::Messages, Role::Watcher, Robot::new(22, false));
        sit_down(&mut net, seed);
        net.set_stream_conditions(StreamConditions { reset_permille: 2, ..rough(seed) });
        let mut lost = vec![];
        let mut newest = 30;
        let truth = play(&mut net, |net| {
            let broken = |robot: &Robot| robot.gone == Some(Gone::Broken);
            let news = net.clients().filter(|(_, robot)| broken(robot)).map(|(at, _)| at);
            let news: Vec<SocketAddr> = news.filter(|at| !lost.contains(at)).collect();
            for at in news {
                lost.push(at);
                // The robot of the reset player stays idle; the new connection is an observer.
                add(net, newest, By::Stream, Role::Watcher, Robot::new(newest, false));
                newest += 1;
            }
        });
        resets += net.traffic().resets;
        net.set_stream_conditions(StreamConditions::CALM);
        // Some are reset before their last pieces arrive.
        net.settle();
        let is_broken = |number: &u8| net.client(address(*number)).gone == Some(Gone::Broken);
        let lost: Vec<u8> = (1..=PLAYERS).chain(20..=22).chain(30..newest).filter(is_broken).collect();
        check_end(&mut net, &truth, &lost);
    });
    assert!(resets > games, "{resets} in {games}");
}

#[test]
fn a_client_that_does_not_read_for_a_while_misses_nothing() {
    for_each_seed(10, |seed| {
        let mut net = net(seed);
        for number in 1..=PLAYERS {
            add(&mut net, number, By::Stream, Role::Player, Robot::new(number, true));
        }
        add(&mut net, 8, By::Stream, Role::Watcher, Robot::new(8, false));
        add(&mut net, 9, By::Messages, Role::Watcher, Robot::new(9, false));
        sit_down(&mut net, seed);
        net.set_stream_conditions(StreamConditions { window: 200, ..rough(seed) });
        let truth = play(&mut net, |net| {
            let turn = net.engine().game().map_or(0, robots::Game::turn);
            for number in [8, 9] {
                net.set_reading(address(number), !(5..=25).contains(&turn));
            }
        });
        for number in [8, 9] {
            net.set_reading(address(number), true);
        }
        check_end(&mut net, &truth, &[]);
        assert!(net.traffic().blocked > 0, "the window was full");
        assert_eq!(net.client(address(8)).client.players().len(), 0, "the next lobby is empty");
    });
}
