//! The tester of clients of robots: a right client passes, and for each rule one that breaks just it is found out.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket},
    thread,
    time::Duration,
};

use conformance::{ROBOTS_CLIENT as TESTER, Values};
use robots::{
    Blast, Board, Bomb, BombId, DrawMessage, Event, GamePicture, Incoming, Parameters, Player, PlayerId, Position,
    ServerMessage, protocol::encode,
};

use crate::support::{Console, assert_all_pass, crimes, find_out, tried, tried_for, value};

crimes! {
    None,
    Silent => "connects",
    Crashes => "connects",
    SpeaksFirst => "silent-before-input",
    NoName => "join",
    SameTag => "forwarded",
    TakesBadInput => "bad-input",
    OneAddress => "any-address",
    V4Only => "gui-ipv6",
    TwoInOne => "picture-format",
    NoHelloPicture => "lobby-picture",
    NoTurnNumber => "game-picture",
    DrawsStart => "no-picture",
    KeepsPlayers => "game-ended",
    NoPositions => "positions",
    KeepsBlocks => "blocks",
    SlowTimers => "bombs",
    LateBlocks => "explosions",
    NoScores => "scores",
    CountsTwice => "score-once",
    WholeReads => "pieces",
    SkipsPictures => "late-joiner",
    SmallBuffer => "big-turn",
    KeepsBombs => "second-game",
    IgnoresGarbage => "malformed",
    IgnoresEnd => "connection-lost",
    StaysAlone => "unreachable",
    AnyPort => "taken-port",
    AnyArguments => "wrong-arguments",
    ExitTwo => "exit-status-1",
}

fn run(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    let failure = if crime == C::ExitTwo { 2 } else { 1 };
    let address = |name| value::<String>(values, name)?.to_socket_addrs().ok()?.last();
    let name = value::<String>(values, "name").filter(|name| name.len() < 256);
    let (Some(port), Some(name), Some(gui), Some(server), None) =
        (value::<u16>(values, "port"), name, address("gui"), address("server"), value::<String>(values, "more"))
    else {
        console.refuse("usage: -d, -n, -p and -s");
        return if crime == C::AnyArguments { 0 } else { failure };
    };
    match crime {
        C::Crashes => return 101,
        C::Silent => {
            console.idle();
            return 0;
        }
        _ => {}
    }
    let any: std::net::IpAddr =
        if crime == C::V4Only { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let Ok(socket) = UdpSocket::bind((any, port)) else { return if crime == C::AnyPort { 0 } else { failure } };
    socket.set_nonblocking(true).unwrap();
    // A socket for both families names an IPv4 address by one of IPv6.
    let target = match gui {
        SocketAddr::V4(v4) if any.is_ipv6() => SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port())),
        other => other,
    };
    let Ok(stream) = TcpStream::connect(server) else {
        if crime == C::StaysAlone {
            console.idle();
        }
        return failure;
    };
    stream.set_nonblocking(true).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut client = Client {
        crime,
        name,
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
    while !console.is_stopped() {
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
                self.players = players;
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
            if let Some(score) = game.scores.get_mut(id) {
                *score += 1;
            }
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
        if !self.is(C::SmallBuffer) || bytes.len() < 10_000 {
            let _ = self.socket.send_to(&bytes, self.gui);
        }
    }
}

#[test]
fn a_right_client_passes_all_rules() {
    assert_all_pass(&tried(&TESTER, run, C::None, 5000));
}

#[test]
fn whoever_breaks_a_rule_is_found_out() {
    find_out(&TESTER, CRIMES, CRIMES.len(), |crime, rule| tried_for(&TESTER, run, crime, rule, 700));
}
