use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use robots::{Action, Direction, Event, Player, PlayerId, Position, ServerMessage};

use super::{Client, Server, text};

fn turn(number: u16, events: Vec<Event>) -> ServerMessage {
    ServerMessage::Turn { turn: number, events }
}

fn moved(id: u8, x: u16, y: u16) -> Event {
    Event::PlayerMoved { id: PlayerId(id), position: Position::new(x, y) }
}

/// The short game of the task: with seed 1234 the robot starts at (59566414 mod 5, 1997250508 mod 5) = (4, 3), and is
/// reborn at (148423250 mod 5, 533254358 mod 5) = (0, 3).
#[test]
fn a_short_game_from_hello_to_the_scores() {
    let server = Server::start("-n short -b 1 -c 1 -l 3 -x 5 -y 5 -e 2 -k 0 -s 1234 -d 400");
    let mut ann = Client::connect(server.v4());
    assert_eq!(ann.hello().server_name, text("short"));
    ann.join("Ann");
    let player = Player { name: text("Ann"), address: text(&ann.address()) };
    assert_eq!(ann.next(), ServerMessage::AcceptedPlayer { id: PlayerId(0), player: player.clone() });
    let started = ServerMessage::GameStarted { players: BTreeMap::from([(PlayerId(0), player)]) };
    assert_eq!(ann.next(), started);
    let place = Position::new(4, 3);
    assert_eq!(ann.next(), turn(0, vec![moved(0, 4, 3)]));
    // The last one counts, and a second Join displaces nothing.
    ann.act(Action::PlaceBlock);
    ann.act(Action::PlaceBomb);
    ann.join("Ann again");
    let bomb = robots::BombId(0);
    let first = turn(1, vec![Event::BombPlaced { id: bomb, position: place }]);
    assert_eq!(ann.next(), first);
    let mut late = Client::connect(server.v4());
    late.hello();
    ann.act(Action::Move(Direction::Down));
    let exploded = Event::BombExploded { id: bomb, robots_destroyed: vec![PlayerId(0)], blocks_destroyed: vec![] };
    let second = turn(2, vec![exploded, moved(0, 0, 3)]);
    assert_eq!(ann.next(), second);
    ann.act(Action::Move(Direction::Down));
    let third = turn(3, vec![moved(0, 0, 2)]);
    assert_eq!(ann.next(), third);
    let ended = ServerMessage::GameEnded { scores: BTreeMap::from([(PlayerId(0), 1)]) };
    assert_eq!(ann.next(), ended);
    let seen: Vec<ServerMessage> = (0..6).map(|_| late.next()).collect();
    assert_eq!(seen, [started, turn(0, vec![moved(0, 4, 3)]), first, second, third, ended]);
}

#[test]
fn games_follow_one_another_and_the_generator_runs_on() {
    let server = Server::start("-c 1 -l 0 -x 65535 -y 65535 -k 0 -s 1234 -d 0");
    let mut ann = server.client();
    let mut starts = vec![];
    for _ in 0..3 {
        ann.join("Ann");
        starts.push(ann.await_message(|message| match message {
            ServerMessage::Turn { turn: 0, events } => Some(events.clone()),
            _ => None,
        }));
        ann.await_end();
    }
    let draws = [59_566_414, 1_997_250_508, 148_423_250, 533_254_358, 982_122_076, 165_739_424_u32];
    let at = |draw: u32| u16::try_from(draw % 65_535).unwrap();
    let expected: Vec<Vec<Event>> = draws.chunks(2).map(|pair| vec![moved(0, at(pair[0]), at(pair[1]))]).collect();
    assert_eq!(starts, expected);
}

#[test]
fn a_late_joiner_is_told_the_very_bytes_that_the_others_were_told() {
    let server = Server::start("-c 2 -l 60 -x 6 -y 6 -k 9 -b 3 -d 5 -s 7");
    let (mut ann, mut bob) = (server.client(), server.client());
    ann.join("Ann");
    bob.join("Bob");
    let mut told = vec![];
    let mut late = None;
    loop {
        let message = ann.next();
        let end = matches!(message, ServerMessage::GameEnded { .. });
        if let ServerMessage::Turn { turn, .. } = message {
            let action =
                if turn % 3 == 0 { Action::PlaceBomb } else { Action::Move(Direction::ALL[usize::from(turn) % 4]) };
            ann.act(action);
            bob.act(action);
            if turn == 30 {
                late = Some(server.client());
            }
        }
        if !matches!(message, ServerMessage::AcceptedPlayer { .. }) {
            told.push(message);
        }
        if end {
            break;
        }
    }
    let mut late = late.unwrap();
    assert_eq!(told.len(), 1 + 61 + 1);
    for message in told {
        assert_eq!(late.next(), message);
    }
}

#[test]
fn who_leaves_stays_on_the_list_and_who_returns_is_somebody_new() {
    let server = Server::start("-c 2 -l 2 -x 5 -y 5 -d 0");
    let mut ann = server.client();
    ann.join("Ann");
    ann.next();
    ann.leave();
    let mut again = server.client();
    let ServerMessage::AcceptedPlayer { id: PlayerId(0), .. } = again.next() else {
        panic!("Ann is still on the list")
    };
    again.join("Ann");
    let players = again.await_message(|message| match message {
        ServerMessage::GameStarted { players } => Some(players.clone()),
        _ => None,
    });
    assert_eq!(players.values().map(|player| &*player.name).collect::<Vec<_>>(), ["Ann", "Ann"]);
    again.await_end();
    // The lobby is open again, for everybody and from 0.
    again.join("Ann");
    let ServerMessage::AcceptedPlayer { id: PlayerId(0), .. } = again.next() else { panic!("the first of a new game") };
}

#[test]
fn messages_count_however_they_are_cut() {
    let server = Server::start("-c 2 -l 1 -x 5 -y 5 -k 0 -d 1500");
    let (mut ann, mut bob) = (server.client(), server.client());
    for byte in [0, 3, b'A', b'n', b'n'] {
        ann.write(&[byte]);
    }
    ann.next();
    // Joining and acting in one piece, and half a message more.
    bob.write(&[0, 3, b'B', b'o', b'b', 1, 3]);
    bob.await_turn(0);
    ann.write(&[1, 2, 2, 1, 3]);
    bob.write(&[0, 2]);
    let events = ann.await_message(|message| match message {
        ServerMessage::Turn { turn: 1, events } => Some(events.clone()),
        _ => None,
    });
    // What Ann began was not whole when the turn ended; Bob's half message was ended by the rest of it.
    assert!(matches!(events[0], Event::BombPlaced { .. }), "{events:?}");
    ann.write(&[0]);
    ann.await_end();
}

/// That lateness does not add up is for the engine's own tests, which have the clock in their hands.
#[test]
fn no_turn_comes_early() {
    let server = Server::start("-c 1 -l 100 -x 5 -y 5 -d 10");
    let mut ann = server.client();
    ann.join("Ann");
    ann.await_turn(0);
    let start = Instant::now();
    ann.await_turn(100);
    // Turn 0 was under way for a moment when it was seen, so the last may seem early by as much.
    assert!(start.elapsed() >= Duration::from_millis(900), "{:?}", start.elapsed());
    ann.await_end();
}
