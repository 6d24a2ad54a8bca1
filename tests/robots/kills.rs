use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
    net::{SocketAddr, TcpStream},
    thread,
};

use bytes::BytesMut;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use robots::{Action, ClientMessage, Direction, Event, Player, PlayerId, ServerMessage, protocol::encode};
use testkit::{PATIENCE, TempDir, seeds::for_each_seed};

use super::{Client, Server, text};
use crate::{
    kills::{Lives, Mortal},
    programs::program,
};

/// Players of a game.
const PLAYERS: usize = 3;
/// A board on which they meet, and turns that are over soon: half a second a game.
const GAME: &str = "--bind 127.0.0.1 -p 0 -c 3 -x 5 -y 5 -k 4 -b 3 -e 2 -l 25 -d 20";
/// Messages between two kills, at most.
const MESSAGES: u64 = 60;

/// What one client was told of the games, on all of its connections.
#[derive(Default)]
struct Told {
    hello: Option<ServerMessage>,
    games: Vec<Game>,
    // Of lobbies that were left with their connection: who was accepted there. The last one is not played in.
    lobbies: Vec<BTreeMap<PlayerId, Player>>,
    // The game that was on when the last connection ended.
    current: Option<ServerMessage>,
}

/// A game as far as somebody was told: who plays, and then the turns and the scores.
#[derive(Debug)]
struct Game {
    started: ServerMessage,
    log: Vec<ServerMessage>,
}

/// What this connection has told so far.
#[derive(Default)]
struct Connection {
    accepted: BTreeMap<PlayerId, Player>,
    // How many messages of the game that is on.
    place: Option<usize>,
}

impl Told {
    fn take(&mut self, connection: &mut Connection, message: ServerMessage) {
        match message {
            ServerMessage::Hello(_) => assert_eq!(*self.hello.get_or_insert_with(|| message.clone()), message),
            ServerMessage::AcceptedPlayer { id, player } => {
                assert_eq!(usize::from(id.0), connection.accepted.len(), "they are counted from 0");
                connection.accepted.insert(id, player);
            }
            ServerMessage::GameStarted { ref players } => {
                let accepted = std::mem::take(&mut connection.accepted);
                assert!(accepted.is_empty() || accepted == *players, "{accepted:?} and {players:?}");
                connection.place = Some(0);
                // The same players may well play again.
                if self.games.last().is_none_or(|game| game.started != message || game.is_over()) {
                    self.games.push(Game { started: message, log: vec![] });
                }
            }
            ServerMessage::Turn { .. } | ServerMessage::GameEnded { .. } => {
                let log = &mut self.games.last_mut().unwrap().log;
                let place = connection.place.as_mut().expect("a game has started");
                match log.get(*place) {
                    Some(before) => assert_eq!(*before, message, "this was told otherwise before"),
                    None => log.push(message.clone()),
                }
                *place += 1;
                if let ServerMessage::GameEnded { .. } = message {
                    connection.place = None;
                }
            }
        }
    }

    fn leave(&mut self, connection: Connection) {
        self.current = self.games.last().filter(|_| connection.place.is_some()).map(|game| game.started.clone());
        self.lobbies.push(connection.accepted);
    }
}

/// Plays, or looks on, until the server is stopped; comes again whenever it was killed.
fn play(server: SocketAddr, name: Option<&str>, seed: u64, lives: &Lives) -> Told {
    let _bot = lives.bot();
    let mut dice = Pcg64::seed_from_u64(seed);
    let (mut told, mut life) = (Told::default(), 0);
    while let Some(next) = lives.after(life) {
        life = next;
        // It may be killed before it knows of us.
        let Ok(stream) = TcpStream::connect(server) else { continue };
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut client = Client::over(stream);
        let mut connection = Connection::default();
        while let Some(message) = client.read() {
            lives.message();
            let join = |name: &str| ClientMessage::Join { name: text(name) };
            let wishes = match (&message, name) {
                (ServerMessage::Hello(_) | ServerMessage::GameEnded { .. }, Some(name)) => vec![join(name)],
                // To join again means nothing, but it is long: so the journal grows up to where it holds states.
                (ServerMessage::Turn { .. }, Some(name)) => vec![ClientMessage::Action(act(&mut dice)), join(name)],
                _ => vec![],
            };
            told.take(&mut connection, message);
            for wish in wishes {
                // Whether it is there to read it is found out by reading on.
                let mut bytes = BytesMut::new();
                encode(&wish, &mut bytes);
                let _ = client.stream.write_all(&bytes);
            }
        }
        told.leave(connection);
    }
    told
}

fn act(dice: &mut Pcg64) -> Action {
    let ways = [Direction::Up, Direction::Right, Direction::Down, Direction::Left];
    match dice.random_range(0..6_usize) {
        way @ 0..4 => Action::Move(ways[way]),
        4 => Action::PlaceBlock,
        _ => Action::PlaceBomb,
    }
}

/// Games, one after the other, of a server that is killed so many times.
fn games(seed: u64, kills: u32) {
    let arguments: Vec<&str> = GAME.split(' ').collect();
    let number = seed.to_string();
    let mut server = Mortal::start("robots-server", &[&arguments[..], &["--seed", &number]].concat(), seed);
    let (address, lives) = (server.address(), Lives::default());
    let (told, stdout) = thread::scope(|scope| {
        let lives = &lives;
        let names = (0..PLAYERS).map(|player| Some(format!("bot {player:0>200}"))).chain([None]);
        let bots: Vec<_> = (seed..)
            .zip(names)
            .map(|(seed, name)| scope.spawn(move || play(address, name.as_deref(), seed, lives)))
            .collect();
        while server.kills < kills {
            let messages = server.below(MESSAGES);
            assert!(lives.wait(messages, PLAYERS + 1) && server.kill(), "robots go on for ever");
            lives.next();
        }
        // One more game, which is told to its end.
        server.wait_stdout("the end of two games", |stdout| (stdout.matches("is over").count() >= 2).then_some(()));
        lives.end();
        let stdout = server.stop();
        (bots.into_iter().map(|bot| bot.join().unwrap()).collect::<Vec<Told>>(), stdout)
    });
    check(&told, &stdout);
}

// What all were told, together, and what the host was shown.
fn check(told: &[Told], stdout: &str) {
    let mut games: Vec<&Game> = vec![];
    for game in told.iter().flat_map(|told| &told.games) {
        match games.iter_mut().find(|known| known.is(game)) {
            None => games.push(game),
            Some(known) => {
                let both = known.log.iter().zip(&game.log);
                assert!(both.into_iter().all(|(one, other)| one == other), "{known:?} and {game:?}");
                if game.log.len() > known.log.len() {
                    *known = game;
                }
            }
        }
    }
    let ended = games.iter().filter(|game| game.is_ended_well()).count();
    assert!(ended > 0, "somebody sees the end of a game");
    // The host was shown how many games there were. A server that had forgotten one would have counted less.
    let number = |line: &str| line.strip_prefix("Game ")?.split(' ').next()?.parse::<usize>().ok();
    let played = stdout.lines().filter_map(number).max().unwrap_or(0);
    let current: Vec<&ServerMessage> = told.iter().filter_map(|told| told.current.as_ref()).collect();
    games.retain(|game| !current.contains(&&game.started));
    assert!(games.len() <= played, "{} games were told of in\n{stdout}", games.len());
    // Whoever was accepted has played; there is one lobby more for each at the end.
    let lobbies = told.iter().flat_map(|told| told.lobbies.split_last().map_or(&[][..], |(_, before)| before));
    let mut forgotten = lobbies.filter(|accepted| !told.iter().any(|told| told.has_seen(accepted)));
    // On a busy machine a game may have come and gone while they were away.
    assert!(played > games.len() || forgotten.next().is_none(), "who was accepted is forgotten");
}

impl Told {
    // Whether those who were accepted have played, as far as it knows.
    fn has_seen(&self, accepted: &BTreeMap<PlayerId, Player>) -> bool {
        self.games.iter().any(|game| match &game.started {
            ServerMessage::GameStarted { players } => {
                accepted.iter().all(|(id, player)| players.get(id) == Some(player))
            }
            _ => false,
        })
    }
}

impl Game {
    fn is_over(&self) -> bool {
        matches!(self.log.last(), Some(ServerMessage::GameEnded { .. }))
    }

    // Whether it is the same game. The same players may have played twice, but then turn 0 is another.
    fn is(&self, other: &Self) -> bool {
        self.started == other.started && self.log.iter().zip(&other.log).take(1).all(|(one, other)| one == other)
    }

    /// Whether it was told to its end, without a gap and with the right scores.
    fn is_ended_well(&self) -> bool {
        let ServerMessage::GameStarted { players } = &self.started else { unreachable!("so it is made") };
        let mut scores: BTreeMap<PlayerId, u32> = players.keys().map(|&player| (player, 0)).collect();
        for (number, message) in (0..).zip(&self.log) {
            match message {
                ServerMessage::Turn { turn, events } => {
                    assert_eq!(*turn, number, "no turn is missing");
                    let mut destroyed = BTreeSet::new();
                    for event in events {
                        if let Event::BombExploded { robots_destroyed, .. } = event {
                            destroyed.extend(robots_destroyed);
                        }
                    }
                    for player in destroyed {
                        *scores.get_mut(player).unwrap() += 1;
                    }
                }
                ServerMessage::GameEnded { scores: told } => {
                    assert_eq!(*told, scores);
                    return true;
                }
                other => panic!("{other:?} is no message of a game"),
            }
        }
        false
    }
}

#[test]
fn a_server_that_is_killed_goes_on_with_all_that_it_has_told() {
    for_each_seed(2, |seed| games(seed, 5));
}

#[test]
#[ignore = "half a minute; part of `just prove`"]
fn killed_a_hundred_times_it_goes_on_with_all_that_it_has_told() {
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
    server.process.terminate();
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(!finished.stdout.contains("was stopped"), "{}", finished.stdout);
    assert!(finished.stderr.contains("goes on with the match"), "{}", finished.stderr);
    assert_eq!(ann.rest(), []);

    let again = Server::of(program("robots-server").arg("--resume").arg(place.path()));
    assert_eq!(again.port, port);
    let mut late = again.client();
    // GameStarted and turn 0, as Ann was told behind AcceptedPlayer.
    assert_eq!([late.next(), late.next()], told[1..]);
}
