//! A server of robots, written from the protocol, that can be told to break one rule.

use std::{
    collections::BTreeSet,
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use conformance::Values;

use crate::{
    Crime::{self, self as C},
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
    let mut server = Server {
        crime,
        timer: number("bomb-timer"),
        count: value(values, "players").unwrap(),
        duration: Duration::from_millis(value(values, "turn").unwrap()),
        radius: number("radius"),
        initial: number("blocks"),
        length: number("length"),
        name: value(values, "name").unwrap(),
        x: number("x"),
        y: number("y"),
        seed: value(values, "seed").unwrap(),
        state: value(values, "seed").unwrap(),
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
    input: Vec<u8>,
    output: Vec<u8>,
    seat: Option<usize>,
    gone: bool,
    remembered: Option<[u8; 2]>,
}

type Field = (u16, u16);

struct Game {
    turn: u16,
    due: Instant,
    robots: Vec<Field>,
    scores: Vec<u32>,
    blocks: BTreeSet<Field>,
    // Id, field and the turn of the explosion.
    bombs: Vec<(u32, Field, u32)>,
    next_bomb: u32,
    actions: Vec<Option<[u8; 2]>>,
    left: BTreeSet<usize>,
}

struct Server {
    crime: Crime,
    timer: u16,
    count: u8,
    duration: Duration,
    radius: u16,
    initial: u16,
    length: u16,
    name: String,
    x: u16,
    y: u16,
    seed: u32,
    state: u32,
    peers: Vec<Peer>,
    players: Vec<(u8, Vec<u8>)>,
    log: Vec<Vec<u8>>,
    game: Option<Game>,
    next_id: u8,
    dead: bool,
    ending: Option<Instant>,
}

fn text(text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(text.len()).unwrap()];
    bytes.extend_from_slice(text);
    bytes
}

fn field((x, y): Field) -> Vec<u8> {
    [x.to_be_bytes(), y.to_be_bytes()].concat()
}

fn count(count: usize) -> [u8; 4] {
    u32::try_from(count).unwrap().to_be_bytes()
}

impl Server {
    fn is(&self, crime: Crime) -> bool {
        self.crime == crime
    }

    fn draw(&mut self, bound: u16) -> u16 {
        self.state = u32::try_from(u64::from(self.state) * 48_271 % 2_147_483_647).unwrap();
        u16::try_from(self.state % u32::from(bound)).unwrap()
    }

    fn draw_field(&mut self) -> Field {
        if self.is(C::YBeforeX) {
            let y = self.draw(self.y);
            return (self.draw(self.x), y);
        }
        let x = self.draw(self.x);
        (x, self.draw(self.y))
    }

    fn accept(&mut self, stream: TcpStream) {
        if self.is(C::Few) && self.peers.len() >= 20 {
            return;
        }
        stream.set_nonblocking(!self.is(C::Blocks)).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut output = vec![0];
        output.extend(text(self.name.as_bytes()));
        output.push(self.count);
        let timer = self.timer + u16::from(self.is(C::HelloTimer));
        for number in [self.x, self.y, self.length, self.radius, timer] {
            output.extend(number.to_be_bytes());
        }
        match self.crime {
            C::Silent => output.clear(),
            C::Garbage => output.push(77),
            C::LateGetsLast if self.game.is_some() => output.extend(self.log.last().unwrap()),
            C::NoNews if self.game.is_none() => {}
            _ => output.extend(self.log.concat()),
        }
        self.peers.push(Peer { stream, input: vec![], output, seat: None, gone: false, remembered: None });
    }

    fn tell(&mut self, bytes: &[u8]) {
        let alone = self.is(C::TellsOneOnly) && bytes.starts_with(&[3]);
        for (index, peer) in self.peers.iter_mut().enumerate() {
            if alone && index > 0 {
                peer.output.extend_from_slice(&bytes[..3]);
                peer.output.extend(count(0));
            } else {
                peer.output.extend_from_slice(bytes);
            }
        }
        self.log.push(bytes.to_vec());
    }

    fn step(&mut self) {
        for index in 0..self.peers.len() {
            self.read(index);
        }
        if let Some(at) = self.ending
            && Instant::now() >= at
        {
            self.ending = None;
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
                    Ok(written) => drop(peer.output.drain(..written)),
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
            let input = &self.peers[index].input;
            let (length, bad) = match **input {
                [] => return,
                [0, length, ..] => (2 + usize::from(length), false),
                [1 | 2, ..] => (1, false),
                [3, way, ..] => (2, way > 3),
                [0 | 3] => (2, false),
                _ => (1, true),
            };
            if bad || (input.first() == Some(&0) && input.len() >= length && str::from_utf8(&input[2..length]).is_err())
            {
                match self.crime {
                    C::BadKills => self.dead = true,
                    C::IgnoresBad if bad => self.peers[index].input.clear(),
                    C::AnyName if !bad => self.join(index, b"?"),
                    _ => self.peers[index].gone = true,
                }
                self.peers[index].input.clear();
                return;
            }
            if input.len() < length {
                if self.is(C::WholeReads) {
                    self.peers[index].input.clear();
                }
                return;
            }
            let message: Vec<_> = self.peers[index].input.drain(..length).collect();
            if self.is(C::OneOfRead) {
                self.peers[index].input.clear();
            }
            if message[0] == 0 {
                self.join(index, &message[2..]);
            } else {
                self.act(index, [message[0], message.get(1).copied().unwrap_or(0)]);
            }
        }
    }

    fn act(&mut self, index: usize, action: [u8; 2]) {
        let (crime, peer) = (self.crime, &mut self.peers[index]);
        let Some(game) = &mut self.game else {
            peer.remembered = Some(action);
            return;
        };
        let seat = match peer.seat {
            Some(seat) => seat,
            None if crime == C::ObserverPlays => 0,
            None => return,
        };
        let from = game.robots[seat];
        let (x, y) = (self.x, self.y);
        let possible = action[0] != 3 || target(from, action[1], x, y).is_some_and(|to| !game.blocks.contains(&to));
        match crime {
            C::FirstCounts if game.actions[seat].is_some() => {}
            C::PossibleCounts if !possible => {}
            C::DropsActions if seat == 2 => {}
            _ => game.actions[seat] = Some(action),
        }
    }

    fn join(&mut self, index: usize, name: &[u8]) {
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
        let address = std::net::SocketAddr::new(address.ip().to_canonical(), address.port());
        let address = match self.crime {
            C::AddressWithoutPort => address.ip().to_string(),
            C::AddressOfOther => "127.0.0.1:1".to_owned(),
            _ => address.to_string(),
        };
        let id = self.next_id + u8::from(self.is(C::IdsFromOne));
        self.next_id += 1;
        let player = [text(name), text(address.as_bytes())].concat();
        self.players.push((id, player.clone()));
        self.tell(&[vec![1, id], player].concat());
        if self.players.len() == usize::from(self.count) {
            self.start();
        }
    }

    fn start(&mut self) {
        self.log.clear();
        let players = if self.is(C::StartsEmpty) { vec![] } else { self.players.clone() };
        let mut bytes = vec![2];
        bytes.extend(count(players.len()));
        for (id, player) in players {
            bytes.push(id);
            bytes.extend(player);
        }
        self.tell(&bytes);
        let (mut events, mut robots, mut blocks) = (vec![], vec![], BTreeSet::new());
        for id in 0..self.count {
            let position = self.draw_field();
            robots.push(position);
            events.push([vec![2, id], field(position)].concat());
        }
        for _ in 0..self.initial {
            let position = self.draw_field();
            if blocks.insert(position) || self.is(C::BlockTwiceAtStart) {
                events.push([vec![3], field(position)].concat());
            }
        }
        if self.is(C::BlockTwiceAtStart) && !blocks.is_empty() {
            events.push(events.last().unwrap().clone());
        }
        let mut actions = vec![None; robots.len()];
        if self.is(C::RemembersLobby) {
            for peer in &self.peers {
                if let Some(seat) = peer.seat {
                    actions[seat] = peer.remembered;
                }
            }
        }
        let scores = vec![0; robots.len()];
        let due = Instant::now() + if self.is(C::ShortTurns) { self.duration / 5 } else { self.duration };
        let bombs = vec![];
        self.game =
            Some(Game { turn: 0, due, robots, scores, blocks, bombs, next_bomb: 0, actions, left: BTreeSet::new() });
        self.tell_turn(0, &events);
    }

    fn tell_turn(&mut self, turn: u16, events: &[Vec<u8>]) {
        let mut bytes = vec![3];
        bytes.extend(turn.to_be_bytes());
        bytes.extend(count(events.len()));
        bytes.extend(events.concat());
        self.tell(&bytes);
    }

    fn blast(&self, game: &Game, center: Field) -> (BTreeSet<Field>, BTreeSet<Field>) {
        let (mut covered, mut blocks) = (BTreeSet::from([center]), BTreeSet::new());
        if game.blocks.contains(&center) {
            blocks.insert(center);
            return (covered, blocks);
        }
        let radius = self.radius.saturating_add(u16::from(self.is(C::LongBlast)));
        for way in 0..4 {
            let mut at = center;
            for _ in 0..radius {
                let Some(to) = target(at, way, self.x, self.y) else { break };
                at = to;
                covered.insert(at);
                if game.blocks.contains(&at) {
                    blocks.insert(at);
                    break;
                }
            }
        }
        (covered, blocks)
    }

    fn turn(&mut self) {
        let mut game = self.game.take().unwrap();
        game.turn += 1;
        game.due += if self.is(C::ShortTurns) { self.duration / 5 } else { self.duration };
        let (mut explosions, mut events) = (vec![], vec![]);
        let (mut hits, mut gone) = (vec![0; game.robots.len()], BTreeSet::new());
        let turn = u32::from(game.turn);
        let due: Vec<_> = game.bombs.iter().copied().filter(|bomb| bomb.2 == turn).collect();
        game.bombs.retain(|bomb| bomb.2 != turn);
        for (id, center, _) in due {
            let (covered, blocks) = self.blast(&game, center);
            let mut event = vec![1];
            event.extend(id.to_be_bytes());
            let robots: Vec<_> = (0..game.robots.len()).filter(|&seat| covered.contains(&game.robots[seat])).collect();
            event.extend(count(robots.len()));
            for seat in robots {
                hits[seat] += 1;
                event.push(u8::try_from(seat).unwrap());
            }
            event.extend(count(blocks.len()));
            for &block in &blocks {
                event.extend(field(block));
                if self.is(C::OneAfterTheOther) {
                    game.blocks.remove(&block);
                }
            }
            gone.extend(blocks);
            explosions.push(event);
        }
        game.blocks.retain(|block| !gone.contains(block));
        for (seat, &hits) in hits.iter().enumerate() {
            let id = u8::try_from(seat).unwrap();
            if hits > 0 {
                game.scores[seat] += if self.is(C::CountsHits) { hits } else { 1 };
                game.robots[seat] = self.draw_field();
                if !self.is(C::NoRebirth) {
                    events.push([vec![2, id], field(game.robots[seat])].concat());
                }
                game.actions[seat] = None;
                continue;
            }
            let action = if self.is(C::PlaysAgain) { game.actions[seat] } else { game.actions[seat].take() };
            let walks = self.is(C::LeaverWalks) && game.left.contains(&seat);
            let action = if walks { Some([1, 0]) } else { action };
            if let Some(action) = action {
                events.extend(self.play(&mut game, seat, action));
            }
        }
        let told = game.turn + u16::from(self.is(C::SkipsTurn));
        let over = game.turn >= self.length;
        self.game = Some(game);
        let order = if self.is(C::ExplosionsLast) { [events, explosions] } else { [explosions, events] };
        self.tell_turn(told, &order.concat());
        if over && self.is(C::LateEnd) {
            self.ending = Some(Instant::now() + self.duration);
        } else if over {
            self.end();
        }
    }

    fn play(&self, game: &mut Game, seat: usize, action: [u8; 2]) -> Option<Vec<u8>> {
        let id = u8::try_from(seat).unwrap();
        let from = game.robots[seat];
        match action {
            [1, _] => {
                if self.is(C::NoBombOnBlock) && game.blocks.contains(&from) {
                    return None;
                }
                let bomb = game.next_bomb;
                game.next_bomb += u32::from(!self.is(C::SameBombId));
                let explodes = u32::from(game.turn) + u32::from(self.timer) + u32::from(self.is(C::SlowBombs));
                game.bombs.push((bomb, from, explodes));
                Some([vec![0], bomb.to_be_bytes().to_vec(), field(from)].concat())
            }
            [2, _] => {
                let new = game.blocks.insert(from) || self.is(C::BlockTwice);
                (new && !self.is(C::NoBlocks)).then(|| [vec![3], field(from)].concat())
            }
            [_, way] => {
                let way = if self.is(C::UpIsDown) && way % 2 == 0 { 2 - way } else { way };
                let to = match target(from, way, self.x, self.y) {
                    None if self.is(C::NoEdge) => from,
                    to => to?,
                };
                if game.blocks.contains(&to) && !self.is(C::WalksIntoBlocks) {
                    return None;
                }
                game.robots[seat] = to;
                Some([vec![2, id], field(to)].concat())
            }
        }
    }

    fn end(&mut self) {
        let game = self.game.take().unwrap();
        let zeros = !self.is(C::NoZeros);
        let scores: Vec<_> = (0_u8..).zip(&game.scores).filter(|(_, score)| zeros || **score > 0).collect();
        let mut bytes = vec![4];
        bytes.extend(count(scores.len()));
        for (id, score) in scores {
            bytes.push(id);
            bytes.extend(score.to_be_bytes());
        }
        self.tell(&bytes);
        self.log.clear();
        self.players.clear();
        for peer in &mut self.peers {
            (peer.seat, peer.remembered) = (None, None);
        }
        if !self.is(C::IdsGoOn) {
            self.next_id = 0;
        }
        if self.is(C::Resets) {
            self.state = self.seed;
        }
    }
}

fn target((x, y): Field, way: u8, size_x: u16, size_y: u16) -> Option<Field> {
    let (x, y) = match way {
        0 => (x, y + 1),
        1 => (x + 1, y),
        2 => (x, y.checked_sub(1)?),
        _ => (x.checked_sub(1)?, y),
    };
    (x < size_x && y < size_y).then_some((x, y))
}
