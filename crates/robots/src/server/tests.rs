//! The digest that is kept is the one of the state, and nothing that is hidden in the state is missing in it.

use alloc::{collections::BTreeMap, string::String, vec::Vec};
use core::time::Duration;

use super::*;
use crate::{board::Direction, config::MAX_HISTORY, protocol::Parameters};
use netcore::{Gone, Input, Link};

fn config() -> Config {
    let parameters = Parameters {
        server_name: ShortText::default(),
        players_count: 3,
        size_x: 6,
        size_y: 5,
        game_length: 30,
        explosion_radius: 2,
        bomb_timer: 3,
    };
    let turn_duration = Duration::from_millis(10);
    Config { parameters, turn_duration, initial_blocks: 5, seed: 77, max_history: MAX_HISTORY }
}

// The digest of what is in the state, whatever was kept.
fn from_scratch(server: &Server) -> u64 {
    let mut again = server.clone();
    let mut hello = BytesMut::new();
    encode(&ServerMessage::Hello(server.config.parameters.clone()), &mut hello);
    again.hello = hello.freeze();
    again.recount();
    if let Phase::Playing(playing) = &mut again.phase {
        playing.game.recount();
    }
    again.digest()
}

fn name(name: &str) -> ShortText {
    ShortText::try_from(name).unwrap()
}

// Plays at random, and hands over each state.
fn wander(config: Config, seed: u32, steps: usize, mut look: impl FnMut(&Server)) {
    let mut server = Server::new(config).unwrap();
    let (mut dice, mut out, mut now) = (MinStd::new(seed), Outbox::new(), Time::ZERO);
    for step in 0..steps {
        let mut pick = |sides: u32| dice.draw() / 64 % sides;
        let peer = PeerId(u64::from(pick(8)));
        let known = server.peers.contains_key(&peer);
        let input = match pick(12) {
            0 | 1 if !known => {
                let role = if pick(4) == 0 { Role::Watcher } else { Role::Player };
                let address = ["10.0.0.1:1", "[::1]:2"][pick(2) as usize];
                Input::Connected { peer, role, link: Link::Stream, address: address.into() }
            }
            2 if pick(8) == 0 => Input::Disconnected { peer, why: Gone::Left },
            3 if pick(8) == 0 => Input::Malformed { peer, why: netcore::DecodeError::Incomplete },
            4 => Input::Refresh { peer },
            5 | 6 => {
                Input::Message { peer, message: ClientMessage::Join { name: name(["Ann", ""][pick(2) as usize]) } }
            }
            7 | 8 => {
                now = now.plus(Duration::from_millis(u64::from(pick(9))));
                Input::Elapsed
            }
            9 => Input::Message { peer, message: ClientMessage::Action(Action::PlaceBomb) },
            10 => Input::Message { peer, message: ClientMessage::Action(Action::PlaceBlock) },
            _ => {
                let way = Direction::ALL[pick(4) as usize];
                Input::Message { peer, message: ClientMessage::Action(Action::Move(way)) }
            }
        };
        let last = step + 1 == steps;
        server.input(now, if last { Input::Stop(Leave::Over) } else { input }, &mut out);
        drop(out.drain());
        look(&server);
    }
}

#[test]
fn the_digest_that_is_kept_is_that_of_the_state() {
    let mut games = 0;
    for seed in 1..=30 {
        let config = Config { max_history: if seed % 3 == 0 { 300 } else { MAX_HISTORY }, ..config() };
        wander(config, seed, 2_000, |server| {
            assert_eq!(server.digest(), from_scratch(server), "{server:?}");
            games = games.max(server.games);
        });
    }
    assert!(games > 3);
}

// States that differ from this one in one thing each.
fn neighbours(server: &Server) -> Vec<(String, Server)> {
    let mut all = vec![];
    let mut add = |what: &str, change: &dyn Fn(&mut Server)| {
        let mut other = server.clone();
        change(&mut other);
        all.push((what.into(), other));
    };
    for &id in server.peers.keys() {
        add(&format!("{id} is gone"), &|other| drop(other.peers.remove(&id)));
        add(&format!("{id} has another number"), &|other| {
            let peer = other.peers.remove(&id).unwrap();
            other.peers.insert(PeerId(id.0 + (1 << 40)), peer);
        });
        let of = |other: &mut Server, change: &dyn Fn(&mut Peer)| change(other.peers.get_mut(&id).unwrap());
        add(&format!("{id} has another address"), &|other| of(other, &|peer| peer.address = name("?")));
        add(&format!("{id} has another role"), &|other| {
            of(other, &|peer| peer.role = if peer.role == Role::Player { Role::Watcher } else { Role::Player });
        });
        add(&format!("{id} is player 200"), &|other| of(other, &|peer| peer.player = Some(PlayerId(200))));
        if server.peers[&id].player.is_some() {
            add(&format!("{id} is no player"), &|other| of(other, &|peer| peer.player = None));
        }
    }
    for &id in server.players.keys() {
        let of = |other: &mut Server, change: &dyn Fn(&mut Player)| change(other.players.get_mut(&id).unwrap());
        add(&format!("{id:?} is not there"), &|other| drop(other.players.remove(&id)));
        add(&format!("{id:?} has another name"), &|other| of(other, &|player| player.name = name("Zoe")));
        add(&format!("{id:?} has another address"), &|other| of(other, &|player| player.address = name("?")));
    }
    add("the generator", &|other| {
        let _ = other.draws.draw();
    });
    add("the number of games", &|other| other.games += 1);
    add("the outcome", &|other| other.outcome = Some(Outcome::Stopped));
    add("the history", &|other| drop(other.history.append(&ServerMessage::GameEnded { scores: BTreeMap::new() })));
    add("the history is lost", &|other| {
        other.history = BoundedHistory::new(0);
        other.history.append(&ServerMessage::GameEnded { scores: BTreeMap::new() });
    });
    add("the bound of histories", &|other| other.config.max_history += 1);
    add("the duration of a turn", &|other| other.config.turn_duration += Duration::from_nanos(1));
    add("the blocks of the start", &|other| other.config.initial_blocks += 1);
    add("the players of a game", &|other| other.config.parameters.players_count += 1);
    add("the name of the server", &|other| other.config.parameters.server_name = name("elsewhere"));
    let Phase::Playing(playing) = &server.phase else { return all };
    let mut add = |what: String, change: &dyn Fn(&mut Playing)| {
        let mut other = server.clone();
        if let Phase::Playing(playing) = &mut other.phase {
            change(playing);
        }
        all.push((what, other));
    };
    add("the start".into(), &|playing| playing.start = playing.start.plus(Duration::from_nanos(1)));
    add("turn 0 is due or not".into(), &|playing| {
        let opening = Opening { events: vec![], draws: MinStd::new(0) };
        playing.opening = if playing.opening.is_some() { None } else { Some(opening) };
    });
    for player in 0..playing.actions.len() {
        let directions = Direction::ALL.map(Action::Move);
        let actions = [Action::PlaceBomb, Action::PlaceBlock].into_iter().chain(directions).map(Some).chain([None]);
        for action in actions.filter(|&action| action != playing.actions[player]) {
            add(format!("{player} wants {action:?}"), &|playing| playing.actions[player] = action);
        }
    }
    for (what, game) in playing.game.neighbours() {
        add(what, &|playing| playing.game = game.clone());
    }
    all
}

#[test]
fn one_hidden_thing_makes_another_digest() {
    let (mut seen, mut playing) = (0, 0);
    for seed in 1..=6 {
        let mut step = 0;
        wander(config(), seed, 1_000, |server| {
            step += 1;
            if step % 53 != 0 || server.outcome.is_some() {
                return;
            }
            let mut digests = BTreeMap::from([(server.digest(), String::from("the state itself"))]);
            for (what, other) in neighbours(server) {
                let same = digests.insert(from_scratch(&other), what.clone());
                assert_eq!(same, None, "{what} makes no difference");
                seen += 1;
            }
            playing += usize::from(server.game().is_some());
        });
    }
    assert!(seen > 5_000 && playing > 30, "{seen} {playing}");
}

#[test]
fn a_history_that_went_another_way_to_the_same_board_counts() {
    let there_and_back = |ways: [Direction; 2]| {
        let mut config = config();
        (config.parameters.players_count, config.initial_blocks, config.seed) = (1, 0, 1);
        let mut server = Server::new(config).unwrap();
        let (mut out, peer) = (Outbox::new(), PeerId(0));
        let connected = Input::Connected { peer, role: Role::Player, link: Link::Stream, address: "a".into() };
        server.input(Time::ZERO, connected, &mut out);
        let request = ClientMessage::Join { name: name("Ann") };
        server.input(Time::ZERO, Input::Message { peer, message: request }, &mut out);
        server.input(Time::ZERO, Input::Elapsed, &mut out);
        for way in ways {
            let request = ClientMessage::Action(Action::Move(way));
            server.input(Time::ZERO, Input::Message { peer, message: request }, &mut out);
            let due = server.deadline().unwrap();
            server.input(due, Input::Elapsed, &mut out);
        }
        server
    };
    let [one, other] = [[Direction::Left, Direction::Right], [Direction::Right, Direction::Left]].map(there_and_back);
    let games = [one.game().unwrap(), other.game().unwrap()];
    assert_eq!(games[0].robots(), games[1].robots(), "there is room on both sides");
    assert_eq!(games[0].digest(), games[1].digest());
    assert_ne!(one.digest(), other.digest());
}
