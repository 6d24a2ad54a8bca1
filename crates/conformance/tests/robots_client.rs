//! The tester of clients of robots: a right client passes, and for each rule one that breaks just it is found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use conformance::{Exit, Launcher, Options, Report, Run, Values, robots_client::TESTER};
use robots::{
    Blast, Board, Bomb, BombId, DrawMessage, Event, GamePicture, Incoming, Parameters, Player, PlayerId, Position,
    ServerMessage, protocol::encode,
};

/// What a client does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crime {
    None,
    Silent,
    Crashes,
    SpeaksFirst,
    NoName,
    SameTag,
    TakesBadInput,
    OneAddress,
    V4Only,
    TwoInOne,
    NoHelloPicture,
    NoTurnNumber,
    DrawsStart,
    KeepsPlayers,
    NoPositions,
    KeepsBlocks,
    SlowTimers,
    LateBlocks,
    NoScores,
    CountsTwice,
    WholeReads,
    SkipsPictures,
    FirstIsZero,
    KeepsBombs,
    IgnoresGarbage,
    IgnoresEnd,
    StaysAlone,
    AnyPort,
    AnyArguments,
    ExitTwo,
}

use Crime as C;

/// Each crime and the rule that it breaks.
const CRIMES: &[(Crime, &str)] = &[
    (C::Silent, "connects"),
    (C::Crashes, "connects"),
    (C::SpeaksFirst, "silent-before-input"),
    (C::NoName, "join"),
    (C::SameTag, "forwarded"),
    (C::TakesBadInput, "bad-input"),
    (C::OneAddress, "any-address"),
    (C::V4Only, "gui-ipv6"),
    (C::TwoInOne, "picture-format"),
    (C::NoHelloPicture, "lobby-picture"),
    (C::NoTurnNumber, "game-picture"),
    (C::DrawsStart, "no-picture"),
    (C::KeepsPlayers, "game-ended"),
    (C::NoPositions, "positions"),
    (C::KeepsBlocks, "blocks"),
    (C::SlowTimers, "bombs"),
    (C::LateBlocks, "explosions"),
    (C::NoScores, "scores"),
    (C::CountsTwice, "score-once"),
    (C::WholeReads, "pieces"),
    (C::SkipsPictures, "late-joiner"),
    (C::FirstIsZero, "map-order"),
    (C::KeepsBombs, "second-game"),
    (C::IgnoresGarbage, "malformed"),
    (C::IgnoresEnd, "connection-lost"),
    (C::StaysAlone, "unreachable"),
    (C::AnyPort, "taken-port"),
    (C::AnyArguments, "wrong-arguments"),
    (C::ExitTwo, "exit-status-1"),
];

struct Court(Crime);

struct Cell {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<i32>>,
    code: Option<i32>,
}

impl Run for Cell {
    fn line(&mut self, _: Instant) -> Option<String> {
        None
    }

    fn type_bytes(&mut self, _: &[u8]) {}

    fn exit(&mut self, by: Instant) -> Option<Exit> {
        while self.code.is_none() {
            if self.thread.as_ref().is_some_and(JoinHandle::is_finished) {
                self.code = self.thread.take().map(|thread| thread.join().unwrap());
            } else if Instant::now() >= by {
                return None;
            } else {
                thread::park_timeout(Duration::from_millis(2));
            }
        }
        Some(Exit { code: self.code })
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

impl Launcher for Court {
    fn takes(&self, _: &str) -> bool {
        true
    }

    fn start(&self, values: Values<'_>) -> anyhow::Result<Box<dyn Run>> {
        let stop = Arc::new(AtomicBool::new(false));
        let values: Vec<_> = values.to_vec();
        let (crime, stopped) = (self.0, Arc::clone(&stop));
        let thread = thread::spawn(move || run(crime, &values, &stopped));
        Ok(Box::new(Cell { stop, thread: Some(thread), code: None }))
    }
}

fn value<'a>(values: &'a [(&str, String)], name: &str) -> &'a str {
    &values.iter().find(|(other, _)| *other == name).unwrap().1
}

fn run(crime: Crime, values: &[(&'static str, String)], stop: &AtomicBool) -> i32 {
    let failure = if crime == C::ExitTwo { 2 } else { 1 };
    let Ok(port) = value(values, "port").parse::<u16>() else {
        return if crime == C::AnyArguments { 0 } else { failure };
    };
    let wait = || {
        while !stop.load(Ordering::SeqCst) {
            thread::park_timeout(Duration::from_millis(2));
        }
    };
    match crime {
        C::Crashes => return 101,
        C::Silent => {
            wait();
            return 0;
        }
        _ => {}
    }
    let any: std::net::IpAddr =
        if crime == C::V4Only { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let Ok(socket) = UdpSocket::bind((any, port)) else { return if crime == C::AnyPort { 0 } else { failure } };
    socket.set_nonblocking(true).unwrap();
    let gui: SocketAddr = value(values, "gui").parse().unwrap();
    // A socket for both families names an IPv4 address by one of IPv6.
    let target = match gui {
        SocketAddr::V4(v4) if any.is_ipv6() => SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port())),
        other => other,
    };
    let server: SocketAddr = value(values, "server").parse().unwrap();
    let Ok(stream) = TcpStream::connect(server) else {
        if crime == C::StaysAlone {
            wait();
        }
        return failure;
    };
    stream.set_nonblocking(true).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut client = Client {
        crime,
        name: value(values, "name").to_owned(),
        stream,
        socket,
        gui: target,
        incoming: Incoming::default(),
        parameters: None,
        players: BTreeMap::new(),
        game: None,
        old_bombs: BTreeMap::new(),
    };
    if crime == C::SpeaksFirst {
        client.stream.write_all(b"\x00\x01a").unwrap();
    }
    while !stop.load(Ordering::SeqCst) {
        if !client.step() {
            return failure;
        }
        thread::park_timeout(Duration::from_millis(1));
    }
    0
}

struct Game {
    board: Board,
    turn: u16,
    positions: BTreeMap<PlayerId, Position>,
    bombs: BTreeMap<BombId, (Position, u16)>,
    explosions: BTreeSet<Position>,
    scores: BTreeMap<PlayerId, u32>,
}

struct Client {
    crime: Crime,
    name: String,
    stream: TcpStream,
    socket: UdpSocket,
    gui: SocketAddr,
    incoming: Incoming,
    parameters: Option<Parameters>,
    players: BTreeMap<PlayerId, Player>,
    game: Option<Game>,
    old_bombs: BTreeMap<BombId, (Position, u16)>,
}

impl Client {
    fn is(&self, crime: Crime) -> bool {
        self.crime == crime
    }

    // False when it must end.
    fn step(&mut self) -> bool {
        let mut chunk = [0; 4096];
        match self.stream.read(&mut chunk) {
            Ok(0) => return self.is(C::IgnoresEnd),
            Ok(read) => {
                self.incoming.buffer().extend_from_slice(&chunk[..read]);
                let mut due = false;
                loop {
                    match self.incoming.next_message() {
                        Ok(Some(message)) => {
                            if self.is(C::SkipsPictures) {
                                due |= self.message(message);
                            } else if self.message(message) {
                                self.draw();
                            }
                        }
                        Ok(None) => break,
                        Err(_) if self.is(C::IgnoresGarbage) => break,
                        Err(_) => return false,
                    }
                }
                if due {
                    self.draw();
                }
                if self.is(C::WholeReads) && self.incoming.is_within_message() {
                    self.incoming = Incoming::default();
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return self.is(C::IgnoresEnd),
        }
        while let Ok((length, from)) = self.socket.recv_from(&mut chunk) {
            if self.is(C::OneAddress) && from != self.gui {
                continue;
            }
            self.input(&chunk[..length]);
        }
        true
    }

    fn input(&mut self, input: &[u8]) {
        let valid = matches!(input, [0 | 1] | [2, 0..=3]);
        let taken = valid || self.is(C::TakesBadInput) && input.len() > 1;
        if !taken {
            return;
        }
        let bytes = if self.game.is_some() {
            let mut bytes = input.to_vec();
            bytes[0] += u8::from(!self.is(C::SameTag));
            bytes
        } else {
            let name = if self.is(C::NoName) { "?" } else { &self.name };
            [&[0, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat()
        };
        // A server that has gone is found when one reads.
        let _ = self.stream.write_all(&bytes);
    }

    fn message(&mut self, message: ServerMessage) -> bool {
        match message {
            ServerMessage::Hello(parameters) => {
                self.parameters = Some(parameters);
                !self.is(C::NoHelloPicture)
            }
            ServerMessage::AcceptedPlayer { id, player } => {
                self.players.insert(id, player);
                true
            }
            ServerMessage::GameStarted { players } => {
                let parameters = self.parameters.as_ref().unwrap();
                // The incoming map is sorted already, so the crime is to take the first of the bytes for player 0.
                self.players = if self.is(C::FirstIsZero) && players.len() == 3 {
                    players.keys().copied().zip(players.values().rev().cloned()).collect()
                } else {
                    players
                };
                self.game = Some(Game {
                    board: Board::new(parameters.size_x, parameters.size_y),
                    turn: 0,
                    positions: BTreeMap::new(),
                    bombs: std::mem::take(&mut self.old_bombs),
                    explosions: BTreeSet::new(),
                    scores: self.players.keys().map(|&id| (id, 0)).collect(),
                });
                self.is(C::DrawsStart)
            }
            ServerMessage::Turn { turn, events } => {
                self.turn(turn, &events);
                true
            }
            ServerMessage::GameEnded { .. } => {
                if let Some(game) = self.game.take()
                    && self.is(C::KeepsBombs)
                {
                    self.old_bombs = game.bombs;
                }
                if !self.is(C::KeepsPlayers) {
                    self.players.clear();
                }
                true
            }
        }
    }

    fn turn(&mut self, turn: u16, events: &[Event]) {
        let crime = self.crime;
        let parameters = self.parameters.as_ref().unwrap();
        let game = self.game.as_mut().unwrap();
        if crime != C::NoTurnNumber {
            game.turn = turn;
        }
        game.explosions.clear();
        let before = game.board.clone();
        for bomb in game.bombs.values_mut() {
            bomb.1 = bomb.1.saturating_sub(u16::from(crime != C::SlowTimers));
        }
        let mut destroyed = vec![];
        for event in events {
            match event {
                &Event::BombPlaced { id, position } => {
                    game.bombs.insert(id, (position, parameters.bomb_timer));
                }
                Event::BombExploded { id, robots_destroyed, blocks_destroyed } => {
                    if let Some((center, _)) = game.bombs.remove(id) {
                        let board = if crime == C::LateBlocks { &game.board } else { &before };
                        game.explosions.extend(Blast::new(board, center, parameters.explosion_radius).cells());
                    }
                    for &block in blocks_destroyed {
                        if crime != C::KeepsBlocks {
                            game.board.remove_block(block);
                        }
                    }
                    destroyed.extend(robots_destroyed);
                }
                &Event::PlayerMoved { id, position } => {
                    game.positions.insert(id, position);
                }
                &Event::BlockPlaced { position } => {
                    game.board.put_block(position);
                }
            }
        }
        if crime != C::CountsTwice {
            destroyed.sort();
            destroyed.dedup();
        }
        for id in destroyed {
            *game.scores.get_mut(id).unwrap() += 1;
        }
    }

    fn draw(&self) {
        let parameters = self.parameters.clone().unwrap();
        let message = match &self.game {
            None => DrawMessage::Lobby { parameters, players: self.players.clone() },
            Some(game) => DrawMessage::Game(GamePicture {
                server_name: parameters.server_name,
                size_x: parameters.size_x,
                size_y: parameters.size_y,
                game_length: parameters.game_length,
                turn: game.turn,
                players: self.players.clone(),
                player_positions: if self.is(C::NoPositions) { BTreeMap::new() } else { game.positions.clone() },
                blocks: game.board.blocks().collect(),
                bombs: game.bombs.values().map(|&(position, timer)| Bomb { position, timer }).collect(),
                explosions: game.explosions.iter().rev().copied().collect(),
                scores: if self.is(C::NoScores) { BTreeMap::new() } else { game.scores.clone() },
            }),
        };
        let mut bytes = bytes::BytesMut::new();
        encode(&message, &mut bytes);
        if self.is(C::TwoInOne) {
            encode(&message, &mut bytes);
        }
        let _ = self.socket.send_to(&bytes, self.gui);
    }
}

fn tried(crime: Crime, patience: u64) -> Report {
    let options = Options { patience: Duration::from_millis(patience), players: 1 };
    (TESTER.test)(&Court(crime), &options).unwrap()
}

#[test]
fn a_right_client_passes_all_rules() {
    let report = tried(C::None, 5000);
    let all = report.to_string();
    assert!(report.passed() && report.failed().is_empty() && !all.contains("not tested"), "{all}");
}

#[test]
fn each_rule_is_broken_by_a_crime() {
    let rules: BTreeSet<_> = TESTER.rules.iter().map(|rule| rule.id).collect();
    let broken: BTreeSet<_> = CRIMES.iter().map(|(_, rule)| *rule).collect();
    assert_eq!(rules, broken);
}

#[test]
fn whoever_breaks_a_rule_is_found_out() {
    let trials: Vec<_> =
        CRIMES.iter().map(|&(crime, rule)| (crime, rule, thread::spawn(move || tried(crime, 700)))).collect();
    let mut missed = vec![];
    for (crime, rule, trial) in trials {
        let report = trial.join().unwrap();
        if !report.failed().contains(&rule) {
            missed.push(format!("{crime:?} does not break {rule} but {:?}\n", report.failed()));
        }
    }
    assert!(missed.is_empty(), "{}", missed.concat());
}
