use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{Action, Direction, Player, PlayerId, ServerMessage};
use testkit::{TempDir, seeds::for_each_seed};

use super::{Client, Server};
use crate::{kills::Mortal, programs::program};

/// Players of a game.
const PLAYERS: usize = 3;
/// A small board and short turns: a game takes half a second.
const GAME: &str = "--bind 127.0.0.1 -p 0 -c 3 -x 5 -y 5 -k 4 -b 3 -e 2 -l 25 -d 20";
/// Messages between two kills, at most.
const MESSAGES: u64 = 60;

/// The messages that a spectator received on all its connections.
#[derive(Default)]
struct Told {
    // Each game: GameStarted, the turns, the scores.
    games: Vec<Vec<ServerMessage>>,
    // Index of this connection's next message in the last game.
    place: usize,
    // Players accepted in the lobby, on this connection and on the previous one.
    accepted: BTreeMap<PlayerId, Player>,
    before: BTreeMap<PlayerId, Player>,
    // Whether the server has forgotten a player that it had accepted.
    is_forgotten: bool,
}

impl Told {
    fn take(&mut self, message: ServerMessage) {
        match message {
            ServerMessage::Hello(_) => self.before = std::mem::take(&mut self.accepted),
            ServerMessage::AcceptedPlayer { id, player } => {
                assert_eq!(usize::from(id.0), self.accepted.len(), "they are counted from 0");
                self.is_forgotten |= self.before.get(&id).is_some_and(|before| *before != player);
                self.accepted.insert(id, player);
            }
            ServerMessage::GameStarted { ref players } => {
                let accepted = std::mem::take(&mut self.accepted);
                assert!(accepted.is_empty() || accepted == *players, "{accepted:?} and {players:?}");
                let before = std::mem::take(&mut self.before);
                self.is_forgotten |= before.iter().any(|(id, player)| players.get(id) != Some(player));
                // The same players may well play again.
                if self.games.last().is_none_or(|game| game[0] != message || is_over(game)) {
                    self.games.push(vec![message]);
                }
                self.place = 1;
            }
            ServerMessage::Turn { .. } | ServerMessage::GameEnded { .. } => {
                let game = self.games.last_mut().expect("a game has started");
                if let ServerMessage::Turn { turn, .. } = message {
                    assert_eq!(usize::from(turn) + 1, self.place, "no turn is missing");
                }
                match game.get(self.place) {
                    Some(before) => assert_eq!(*before, message, "this was told otherwise before"),
                    None => game.push(message),
                }
                self.place += 1;
            }
        }
    }
}

fn is_over(game: &[ServerMessage]) -> bool {
    matches!(game.last(), Some(ServerMessage::GameEnded { .. }))
}

fn join(players: &mut [Client]) {
    for (number, player) in players.iter_mut().enumerate() {
        player.join(&format!("bot {number:0>200}"));
    }
}

/// Plays games on a server that is killed `kills` times. New players connect after each kill.
fn games(seed: u64, kills: u32) {
    let number = seed.to_string();
    let arguments: Vec<&str> = GAME.split(' ').chain(["--seed", &number]).collect();
    let mut server = Mortal::start("robots-server", &arguments, seed);
    let mut dice = Pcg64::seed_from_u64(seed);
    let mut told = Told::default();
    loop {
        // The spectator connects before the players, so it receives the complete state from before the kill.
        let mut watcher = Client::connect(server.address());
        let mut players: Vec<Client> = (0..PLAYERS).map(|_| Client::connect(server.address())).collect();
        told.take(watcher.next());
        join(&mut players);
        let is_last = server.kills >= kills;
        let mut ends = 0;
        for _ in 0..if is_last { u64::MAX } else { server.below(MESSAGES) } {
            let message = watcher.next();
            let is_turn = matches!(message, ServerMessage::Turn { .. });
            let is_end = matches!(message, ServerMessage::GameEnded { .. });
            told.take(message);
            ends += u8::from(is_end);
            if is_last && ends == 2 {
                break;
            }
            if is_turn {
                for player in &mut players {
                    player.act(action(&mut dice));
                }
            }
            // A Join during a game has no effect, but its length makes the journal grow until it contains snapshots.
            if is_turn || is_end {
                join(&mut players);
            }
        }
        if is_last {
            break;
        }
        assert!(server.kill(), "robots go on for ever");
        watcher.rest().into_iter().for_each(|message| told.take(message));
    }
    let process = server.process();
    process.wait_stdout("the end of two games", |stdout| (stdout.matches("is over").count() >= 2).then_some(()));
    // The output numbers the games. A server that had forgotten one would show a lower number.
    let stdout = server.stop();
    let number = |line: &str| line.strip_prefix("Game ")?.split(' ').next()?.parse::<usize>().ok();
    let played = stdout.lines().filter_map(number).max().unwrap_or(0);
    assert!(told.games.len() <= played, "{} games were told of in\n{stdout}", told.games.len());
    // On a busy machine a game may have been played while no spectator was connected.
    assert!(played > told.games.len() || !told.is_forgotten, "who was accepted is forgotten");
}

fn action(dice: &mut Pcg64) -> Action {
    match dice.random_range(0..6_usize) {
        4 => Action::PlaceBlock,
        5 => Action::PlaceBomb,
        way => Action::Move(Direction::ALL[way]),
    }
}

#[test]
fn killed_server_loses_nothing_that_it_sent() {
    for_each_seed(2, |seed| games(seed, 5));
}

#[test]
#[ignore = "half a minute; part of `just prove`"]
fn killed_a_hundred_times_it_loses_nothing_that_it_sent() {
    for_each_seed(2, |seed| games(seed, 50));
}

#[test]
fn a_signal_suspends_the_games_of_a_server_with_a_journal() {
    let place = TempDir::new();
    let mut command = program("robots-server");
    command.args("--bind 127.0.0.1 -p 0 -c 1 -x 3 -y 3 -d 60000 -s 7 --journal".split(' ')).arg(place.path());
    let server = Server::of(&mut command);
    let mut ann = server.client();
    ann.join("Ann");
    let told: Vec<ServerMessage> = std::iter::repeat_with(|| ann.next()).take(3).collect();
    let port = server.port;
    let finished = server.process.stop();
    assert!(!finished.stdout.contains("was stopped"), "{}", finished.stdout);
    assert!(finished.stderr.contains("continues the match"), "{}", finished.stderr);
    assert_eq!(ann.rest(), []);

    let again = Server::of(program("robots-server").arg("--resume").arg(place.path()));
    assert_eq!(again.port, port);
    let mut late = again.client();
    // GameStarted and turn 0, as Ann received them after AcceptedPlayer.
    assert_eq!([late.next(), late.next()], told[1..]);
}
