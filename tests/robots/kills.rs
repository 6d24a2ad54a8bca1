use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{Action, Direction, Player, PlayerId, ServerMessage};
use testkit::{TempDir, seeds::for_each_seed};

use super::{Client, Server};
use crate::{kills::Mortal, programs::program};

/// Players of a game.
const PLAYERS: usize = 3;
/// A board on which they meet, and turns that are over soon: half a second a game.
const GAME: &str = "--bind 127.0.0.1 -p 0 -c 3 -x 5 -y 5 -k 4 -b 3 -e 2 -l 25 -d 20";
/// Messages between two kills, at most.
const MESSAGES: u64 = 60;

/// What somebody who looks on was told, on all of its connections.
#[derive(Default)]
struct Told {
    // Each game: GameStarted, the turns, the scores.
    games: Vec<Vec<ServerMessage>>,
    // Where in the last game this connection is.
    place: usize,
    // Who was accepted in the lobby, as told on this connection and on the one before.
    accepted: BTreeMap<PlayerId, Player>,
    before: BTreeMap<PlayerId, Player>,
    // Whether somebody who was accepted before is not told any more.
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

/// Games, one after the other, of a server that is killed so many times. Its players are somebody new each time.
fn games(seed: u64, kills: u32) {
    let number = seed.to_string();
    let arguments: Vec<&str> = GAME.split(' ').chain(["--seed", &number]).collect();
    let mut server = Mortal::start("robots-server", &arguments, seed);
    let mut dice = Pcg64::seed_from_u64(seed);
    let mut told = Told::default();
    loop {
        // It is there before the players are, so it is told of all that was there before.
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
            // To join again within a game means nothing, but it is long: so the journal grows up to where it holds states.
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
    // The host was shown how many games there were. A server that had forgotten one would have counted less.
    let stdout = server.stop();
    let number = |line: &str| line.strip_prefix("Game ")?.split(' ').next()?.parse::<usize>().ok();
    let played = stdout.lines().filter_map(number).max().unwrap_or(0);
    assert!(told.games.len() <= played, "{} games were told of in\n{stdout}", told.games.len());
    // On a busy machine a game may have come and gone while nobody was there.
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
    // GameStarted and turn 0, as Ann was told behind AcceptedPlayer.
    assert_eq!([late.next(), late.next()], told[1..]);
}
