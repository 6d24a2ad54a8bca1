//! A server of robots that can be told to break one rule.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use bytes::{Buf as _, BytesMut};
use conformance::Values;
use netcore::{
    DecodeError,
    wire::{ShortText, read_message},
};
use robots::{
    Action, Blast, Board, BombId, ClientMessage, Direction, Event, MinStd, Parameters, Player, PlayerId, Position,
    ServerMessage,
    protocol::{MAX_CLIENT_MESSAGE, encode},
};

use crate::{
    C, Crime,
    support::{Console, value},
};

/// Runs the server until its end, and returns its exit status.
pub(crate) fn serve(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    let failure = if crime == C::ExitTwo { 2 } else { 1 };
    let Some(port) = value::<u16>(values, "port") else { return if crime == C::AnyArguments { 0 } else { failure } };
    if crime == C::Crashes {
        return 101;
    }
    let listener = if crime == C::V4Only {
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))
    } else {
        TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|error| match error.kind() {
            ErrorKind::AddrInUse => Err(error),
            _ => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
        })
    };
    let Ok(listener) = listener else { return if crime == C::AnyPort { 0 } else { failure } };
    listener.set_nonblocking(true).unwrap();
    let number = |name| value::<u16>(values, name).unwrap();
    let duration = Duration::from_millis(value(values, "turn").unwrap());
    let seed = match value(values, "seed") {
        None if crime == C::NeedsSeed => return failure,
        // Any that is not the same each time.
        seed => seed.unwrap_or_else(|| port.into()),
    };
    let mut server = Server {
        crime,
        parameters: Parameters {
            server_name: value(values, "name").unwrap(),
            players_count: value(values, "players").unwrap(),
            size_x: number("x"),
            size_y: number("y"),
            game_length: number("length"),
            explosion_radius: number("radius"),
            bomb_timer: number("bomb-timer"),
        },
        duration: if crime == C::ShortTurns { duration / 5 } else { duration },
        initial: number("blocks"),
        seed,
        draws: MinStd::new(seed),
        peers: vec![],
        players: vec![],
        log: vec![],
        game: None,
        next_id: 0,
        dead: false,
        ending: None,
    };
    while !console.is_stopped() && !server.dead {
        while let Ok((stream, _)) = listener.accept() {
            server.accept(stream);
        }
        server.step();
        thread::park_timeout(Duration::from_millis(2));
    }
    i32::from(server.dead)
}

struct Peer {
    stream: TcpStream,
    input: BytesMut,
    output: BytesMut,
    seat: Option<usize>,
    gone: bool,
    remembered: Option<Action>,
}

struct Game {
    turn: u16,
    due: Instant,
    board: Board,
    robots: Vec<Position>,
    scores: Vec<u32>,
    // Id, field and the turn of the explosion.
    bombs: Vec<(BombId, Position, u32)>,
    next_bomb: u32,
    actions: Vec<Option<Action>>,
    left: BTreeSet<usize>,
}

struct Server {
    crime: Crime,
    parameters: Parameters,
    duration: Duration,
    initial: u16,
    seed: u32,
    draws: MinStd,
    peers: Vec<Peer>,
    players: Vec<(PlayerId, Player)>,
    log: Vec<BytesMut>,
    game: Option<Game>,
    next_id: u8,
    dead: bool,
    ending: Option<Instant>,
}

fn encoded(message: &ServerMessage) -> BytesMut {
    let mut bytes = BytesMut::new();
    encode(message, &mut bytes);
    bytes
}

impl Server {
    fn is(&self, crime: Crime) -> bool {
        self.crime == crime
    }

    fn draw(&mut self, bound: u16) -> u16 {
        u16::try_from(self.draws.draw() % u32::from(bound)).unwrap()
    }

    fn draw_field(&mut self) -> Position {
        let Parameters { size_x, size_y, .. } = self.parameters;
        let early = self.is(C::YBeforeX).then(|| self.draw(size_y));
        let x = self.draw(size_x);
        Position { x, y: early.unwrap_or_else(|| self.draw(size_y)) }
    }

    fn accept(&mut self, stream: TcpStream) {
        if self.is(C::Few) && self.peers.len() >= 20 {
            return;
        }
        stream.set_nonblocking(!self.is(C::Blocks)).unwrap();
        stream.set_nodelay(!self.is(C::NoDelay)).unwrap();
        let mut parameters = self.parameters.clone();
        parameters.bomb_timer += u16::from(self.is(C::HelloTimer));
        let mut output = encoded(&ServerMessage::Hello(parameters));
        match self.crime {
            C::Silent => output.clear(),
            C::Garbage => output.extend_from_slice(&[77]),
            C::LateGetsLast if self.game.is_some() => output.extend_from_slice(self.log.last().unwrap()),
            C::NoNews if self.game.is_none() => {}
            _ => output.extend_from_slice(&self.log.concat()),
        }
        self.peers.push(Peer { stream, input: BytesMut::new(), output, seat: None, gone: false, remembered: None });
    }

    fn tell(&mut self, message: &ServerMessage) {
        let bytes = encoded(message);
        let others = match message {
            &ServerMessage::Turn { turn, .. } if self.is(C::TellsOneOnly) => {
                encoded(&ServerMessage::Turn { turn, events: vec![] })
            }
            _ => bytes.clone(),
        };
        for (index, peer) in self.peers.iter_mut().enumerate() {
            peer.output.extend_from_slice(if index == 0 { &bytes } else { &others });
        }
        self.log.push(bytes);
    }

    fn step(&mut self) {
        for index in 0..self.peers.len() {
            self.read(index);
        }
        if self.ending.take_if(|at| Instant::now() >= *at).is_some() {
            self.end();
        }
        if self.ending.is_none()
            && let Some(game) = &self.game
            && Instant::now() >= game.due
        {
            self.turn();
        }
        for peer in &mut self.peers {
            while !peer.output.is_empty() && !peer.gone {
                match peer.stream.write(&peer.output) {
                    Ok(written) => peer.output.advance(written),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(_) => peer.gone = true,
                }
            }
        }
        for index in (0..self.peers.len()).rev() {
            if self.peers[index].gone {
                let peer = self.peers.remove(index);
                if let (Some(seat), Some(game)) = (peer.seat, &mut self.game) {
                    game.left.insert(seat);
                } else if let Some(seat) = peer.seat
                    && self.is(C::ForgetsLeaver)
                {
                    self.players.remove(seat);
                    self.log.remove(seat);
                    self.next_id -= 1;
                }
            }
        }
    }

    fn read(&mut self, index: usize) {
        let mut chunk = [0; 4096];
        let peer = &mut self.peers[index];
        if self.crime == C::Blocks {
            peer.stream.set_nonblocking(true).unwrap();
        }
        match peer.stream.read(&mut chunk) {
            Ok(0) => peer.gone = true,
            Ok(read) => {
                peer.input.extend_from_slice(&chunk[..read]);
                self.parse(index);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => peer.gone = true,
        }
        if self.crime == C::Blocks {
            self.peers[index].stream.set_nonblocking(false).unwrap();
        }
    }

    fn parse(&mut self, index: usize) {
        loop {
            let input = &mut self.peers[index].input;
            match read_message::<ClientMessage>(input, MAX_CLIENT_MESSAGE, 0) {
                Ok(Some((message, length))) => {
                    input.advance(length);
                    if self.crime == C::OneOfRead {
                        input.clear();
                    }
                    match message {
                        ClientMessage::Join { name } => self.join(index, name),
                        ClientMessage::Action(action) => self.act(index, action),
                    }
                }
                Ok(None) => {
                    if self.crime == C::WholeReads {
                        input.clear();
                    }
                    return;
                }
                Err(wrong) => {
                    input.clear();
                    let bad_name = matches!(wrong, DecodeError::NotUtf8 { .. });
                    match self.crime {
                        C::BadKills => self.dead = true,
                        C::IgnoresBad if !bad_name => {}
                        C::AnyName if bad_name => self.join(index, "?".parse().unwrap()),
                        _ => self.peers[index].gone = true,
                    }
                    return;
                }
            }
        }
    }

    fn act(&mut self, index: usize, action: Action) {
        let (crime, peer) = (self.crime, &mut self.peers[index]);
        let Some(game) = &mut self.game else {
            peer.remembered = (crime == C::RemembersLobby).then_some(action);
            return;
        };
        let seat = match peer.seat {
            Some(seat) => seat,
            None if crime == C::ObserverPlays => 0,
            None => return,
        };
        let board = &game.board;
        let possible = match action {
            Action::Move(way) => board.step(game.robots[seat], way).is_some_and(|to| !board.is_block(to)),
            Action::PlaceBomb | Action::PlaceBlock => true,
        };
        match crime {
            C::FirstCounts if game.actions[seat].is_some() => {}
            C::PossibleCounts if !possible => {}
            C::DropsActions if seat == 2 => {}
            _ => game.actions[seat] = Some(action),
        }
    }

    fn join(&mut self, index: usize, name: ShortText) {
        let peer = &mut self.peers[index];
        if let Some(game) = &mut self.game {
            if let (C::JoinDisplaces, Some(seat)) = (self.crime, peer.seat) {
                game.actions[seat] = None;
            }
            return;
        }
        if peer.seat.is_some() && self.crime != C::JoinsTwice {
            return;
        }
        peer.seat = Some(self.players.len());
        let address = peer.stream.peer_addr().unwrap();
        let address = SocketAddr::new(address.ip().to_canonical(), address.port());
        let address = match self.crime {
            C::AddressWithoutPort => address.ip().to_string(),
            C::AddressOfOther => "127.0.0.1:1".to_owned(),
            _ => address.to_string(),
        };
        let id = PlayerId(self.next_id + u8::from(self.is(C::IdsFromOne)));
        self.next_id += 1;
        let player = Player { name, address: address.parse().unwrap() };
        self.players.push((id, player.clone()));
        self.tell(&ServerMessage::AcceptedPlayer { id, player });
        if self.players.len() == usize::from(self.parameters.players_count) {
            self.start();
        }
    }

    fn start(&mut self) {
        self.log.clear();
        let players = if self.is(C::StartsEmpty) { BTreeMap::new() } else { self.players.iter().cloned().collect() };
        self.tell(&ServerMessage::GameStarted { players });
        let mut board = Board::new(self.parameters.size_x, self.parameters.size_y);
        let (mut events, mut robots) = (vec![], vec![]);
        for id in (0..self.parameters.players_count).map(PlayerId) {
            let position = self.draw_field();
            robots.push(position);
            events.push(Event::PlayerMoved { id, position });
        }
        for _ in 0..self.initial {
            let position = self.draw_field();
            if board.put_block(position) || self.is(C::BlockTwiceAtStart) {
                events.push(Event::BlockPlaced { position });
            }
        }
        if self.is(C::BlockTwiceAtStart) && board.blocks().next().is_some() {
            events.push(events.last().unwrap().clone());
        }
        let mut actions = vec![None; robots.len()];
        for peer in &self.peers {
            if let Some(seat) = peer.seat {
                actions[seat] = peer.remembered;
            }
        }
        let scores = vec![0; robots.len()];
        let due = Instant::now() + self.duration;
        let bombs = vec![];
        self.game =
            Some(Game { turn: 0, due, board, robots, scores, bombs, next_bomb: 0, actions, left: BTreeSet::new() });
        self.tell(&ServerMessage::Turn { turn: 0, events });
    }

    fn turn(&mut self) {
        let mut game = self.game.take().unwrap();
        game.turn += 1;
        game.due = if self.is(C::Drifts) { Instant::now() } else { game.due } + self.duration;
        let (mut explosions, mut events) = (vec![], vec![]);
        let (mut hits, mut gone) = (vec![0; game.robots.len()], vec![]);
        let turn = u32::from(game.turn);
        let due: Vec<_> = game.bombs.iter().copied().filter(|bomb| bomb.2 == turn).collect();
        game.bombs.retain(|bomb| bomb.2 != turn);
        let radius = self.parameters.explosion_radius.saturating_add(u16::from(self.is(C::LongBlast)));
        for (id, center, _) in due {
            let blast = Blast::new(&game.board, center, radius);
            let mut robots_destroyed = vec![];
            for ((id, &robot), hits) in PlayerId::all().zip(&game.robots).zip(&mut hits) {
                if blast.contains(robot) {
                    *hits += 1;
                    robots_destroyed.push(id);
                }
            }
            let blocks_destroyed: Vec<_> = blast.blocks().collect();
            if self.is(C::OneAfterTheOther) {
                for &block in &blocks_destroyed {
                    game.board.remove_block(block);
                }
            }
            gone.extend_from_slice(&blocks_destroyed);
            explosions.push(Event::BombExploded { id, robots_destroyed, blocks_destroyed });
        }
        for block in gone {
            game.board.remove_block(block);
        }
        for ((seat, id), hits) in PlayerId::all().enumerate().zip(hits) {
            if hits > 0 {
                game.scores[seat] += if self.is(C::CountsHits) { hits } else { 1 };
                game.robots[seat] = self.draw_field();
                if !self.is(C::NoRebirth) {
                    events.push(Event::PlayerMoved { id, position: game.robots[seat] });
                }
                game.actions[seat] = None;
                continue;
            }
            let action = if self.is(C::PlaysAgain) { game.actions[seat] } else { game.actions[seat].take() };
            let walks = self.is(C::LeaverWalks) && game.left.contains(&seat);
            let action = if walks { Some(Action::PlaceBomb) } else { action };
            if let Some(action) = action {
                events.extend(self.play(&mut game, id, action));
            }
        }
        let turn = game.turn + u16::from(self.is(C::SkipsTurn));
        let over = game.turn >= self.parameters.game_length;
        self.game = Some(game);
        let order = if self.is(C::ExplosionsLast) { [events, explosions] } else { [explosions, events] };
        self.tell(&ServerMessage::Turn { turn, events: order.concat() });
        if over && self.is(C::LateEnd) {
            self.ending = Some(Instant::now() + self.duration);
        } else if over {
            self.end();
        }
    }

    fn play(&self, game: &mut Game, id: PlayerId, action: Action) -> Option<Event> {
        let seat = usize::from(id.0);
        let from = game.robots[seat];
        match action {
            Action::PlaceBomb => {
                if self.is(C::NoBombOnBlock) && game.board.is_block(from) {
                    return None;
                }
                let bomb = BombId(game.next_bomb);
                game.next_bomb += u32::from(!self.is(C::SameBombId));
                let timer = u32::from(self.parameters.bomb_timer) + u32::from(self.is(C::SlowBombs));
                game.bombs.push((bomb, from, u32::from(game.turn) + timer));
                Some(Event::BombPlaced { id: bomb, position: from })
            }
            Action::PlaceBlock => {
                let new = game.board.put_block(from) || self.is(C::BlockTwice);
                (new && !self.is(C::NoBlocks)).then_some(Event::BlockPlaced { position: from })
            }
            Action::Move(way) => {
                let way = match way {
                    Direction::Up if self.is(C::UpIsDown) => Direction::Down,
                    Direction::Down if self.is(C::UpIsDown) => Direction::Up,
                    way => way,
                };
                let position = match game.board.step(from, way) {
                    None if self.is(C::NoEdge) => from,
                    to => to?,
                };
                if game.board.is_block(position) && !self.is(C::WalksIntoBlocks) {
                    return None;
                }
                game.robots[seat] = position;
                Some(Event::PlayerMoved { id, position })
            }
        }
    }

    fn end(&mut self) {
        let game = self.game.take().unwrap();
        let zeros = !self.is(C::NoZeros);
        let scores = PlayerId::all().zip(game.scores).filter(|(_, score)| zeros || *score > 0).collect();
        self.tell(&ServerMessage::GameEnded { scores });
        self.log.clear();
        self.players.clear();
        for peer in &mut self.peers {
            (peer.seat, peer.remembered) = (None, None);
        }
        if !self.is(C::IdsGoOn) {
            self.next_id = 0;
        }
        if self.is(C::Resets) {
            self.draws = MinStd::new(self.seed);
        }
    }
}
