//! A server of robots that can be told to break one rule.

mod game;

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, Ipv6Addr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use bytes::{Buf as _, BytesMut};
use conformance::Values;
use netcore::{DecodeError, wire::read_message};
use robots::{
    Action, ClientMessage, MinStd, Parameters, Player, PlayerId, ServerMessage,
    protocol::{MAX_CLIENT_MESSAGE, encode},
};

use self::game::Game;
use super::{C, Crime};
use crate::support::{Console, value};

/// Runs the server until its end, and returns its exit status.
pub(crate) fn serve(crime: Crime, values: Values<'_>, console: &Console) -> i32 {
    let failure = if crime == C::ExitTwo { 2 } else { 1 };
    let Some(words) = words(values) else {
        console.print("usage");
        return 0;
    };
    let Some(Setup { port, duration, initial, seed, parameters }) = setup(&words) else {
        console.complain("wrong arguments");
        return if crime == C::AnyArguments { 0 } else { failure };
    };
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
    let seed = match seed {
        None if crime == C::NeedsSeed => return failure,
        // Any that is not the same each time.
        seed => seed.unwrap_or_else(|| port.into()),
    };
    let mut server = Server {
        crime,
        parameters,
        duration: if crime == C::ShortTurns { duration / 5 } else { duration },
        initial,
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

struct Setup {
    port: u16,
    duration: Duration,
    initial: u16,
    seed: Option<u32>,
    parameters: Parameters,
}

// The values by their short names, or nothing if they ask for help.
fn words(values: &[(&'static str, String)]) -> Option<Vec<(&'static str, String)>> {
    let (further, mut words): (Vec<_>, Vec<_>) = values.iter().cloned().partition(|(name, _)| *name == "extra");
    let names = ["bomb-timer", "players", "turn", "radius", "blocks", "length", "name", "port", "seed", "x", "y"];
    for pair in further.chunks(2) {
        let (_, option) = &pair[0];
        match (option.as_str(), pair.get(1), names.get(words.len())) {
            ("-h", _, _) => return None,
            (_, Some((_, value)), Some(name)) => words.push((name, value.clone())),
            // Whatever has no value is not known.
            _ => words.clear(),
        }
    }
    Some(words)
}

fn setup(words: &[(&'static str, String)]) -> Option<Setup> {
    let number = |name| value::<u16>(words, name);
    let positive = |name| number(name).filter(|number| *number > 0);
    let has_seed = words.iter().any(|(name, _)| *name == "seed");
    let seed = value(words, "seed");
    (!has_seed || seed.is_some()).then_some(())?;
    Some(Setup {
        port: number("port")?,
        duration: Duration::from_millis(value(words, "turn")?),
        initial: number("blocks")?,
        seed,
        parameters: Parameters {
            server_name: value(words, "name")?,
            players_count: value(words, "players").filter(|players| *players > 0)?,
            size_x: positive("x")?,
            size_y: positive("y")?,
            game_length: number("length")?,
            explosion_radius: number("radius")?,
            bomb_timer: positive("bomb-timer")?,
        },
    })
}

struct Peer {
    stream: TcpStream,
    input: BytesMut,
    output: BytesMut,
    seat: Option<usize>,
    gone: bool,
    remembered: Option<Action>,
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
}
