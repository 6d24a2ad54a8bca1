//! Clients of robots that act at random. They decide without looking at the board, so that they cost next to nothing.

use std::{
    io::{self, ErrorKind, Write as _},
    net::{Ipv4Addr, SocketAddr},
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, anyhow, bail};
use bytes::BytesMut;
use mio::{Events, Interest, Poll, Token, net::TcpStream};
use netcore::wire::ShortText;
#[cfg(target_os = "linux")]
use nix::sys::time::TimeSpec;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use robots::{Action, ClientMessage, Direction, Incoming, ServerMessage, protocol::encode};
use serde_json::{Value, json};
#[cfg(not(target_os = "linux"))]
use socket2::SockRef;
use socket2::{Domain, Socket, Type};

use crate::driver::{Arrivals, Distribution};

/// Milliseconds of a turn: ten a second.
pub(crate) const TURN: u64 = 100;
/// Robots of a match.
pub(crate) const ROBOTS: u32 = 4;

/// How often the clients read. Thousands of them share the processors with the hub; if each woke up for its turn, it would
/// interrupt the hub. The times of arrival come from the system.
const LOOK: Duration = Duration::from_millis(10);
/// The share of turns in which a client does nothing, in percent: that of the hub's bots.
const IDLE: u32 = 15;
/// How many clients are served at a time.
const BATCH: usize = 1024;
/// How much is read at a time.
const BUFFER: usize = 4096;

/// The clients of matches, on a thread of their own.
#[derive(Debug)]
pub(crate) struct Players(JoinHandle<anyhow::Result<Vec<Arrivals>>>);

impl Players {
    /// Lets [`ROBOTS`] clients play one match at each of these servers, which begin one after another with a `pause` in between.
    pub(crate) fn start(servers: Vec<SocketAddr>, pause: Duration) -> io::Result<Self> {
        Ok(Self(thread::Builder::new().name("robots".into()).spawn(move || play(&servers, pause))?))
    }

    /// Waits for the end of all matches. Returns when the turns arrived, for each client.
    pub(crate) fn finish(self) -> anyhow::Result<Vec<Arrivals>> {
        self.0.join().map_err(|_| anyhow!("the players of robots panicked"))?
    }

    /// Waits for the end of all matches. Returns how late their turns were.
    pub(crate) fn lateness(self) -> anyhow::Result<Distribution> {
        let turn = Duration::from_millis(TURN);
        Ok(Distribution::new(self.finish()?.iter().flat_map(|arrivals| arrivals.lateness(turn)).collect()))
    }
}

/// The options of a room for a match of so many players and turns.
pub(crate) fn options(players: u32, turns: u16) -> Value {
    options_at(players, turns, TURN)
}

/// The same with turns of so many milliseconds.
pub(crate) fn options_at(players: u32, turns: u16, turn: u64) -> Value {
    json!({
        "game": "robots", "players": players, "columns": 16, "rows": 12, "turns": turns, "turn_duration": turn,
    })
}

fn play(servers: &[SocketAddr], pause: Duration) -> anyhow::Result<Vec<Arrivals>> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(BATCH);
    let mut receiver = Receiver::new();
    let mut players: Vec<Player> = vec![];
    let mut coming = servers.iter().zip(0..).peekable();
    let begun = Instant::now();
    loop {
        while let Some((&server, _)) = coming.next_if(|&(_, place)| pause * place <= begun.elapsed()) {
            for seed in 0..ROBOTS {
                let mut player = Player::connect(server, seed).with_context(|| format!("cannot join at {server}"))?;
                poll.registry().register(&mut player.stream, Token(players.len()), Interest::READABLE)?;
                players.push(player);
            }
        }
        loop {
            match poll.poll(&mut events, Some(Duration::ZERO)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                polled => polled?,
            }
            if events.is_empty() {
                break;
            }
            for event in &events {
                players[event.token().0].look(&mut receiver).context("a player of robots failed")?;
            }
        }
        if coming.peek().is_none() && players.iter().all(|player| player.over) {
            return Ok(players.into_iter().map(|player| player.arrivals).collect());
        }
        // Matches begin when they are to, and not together.
        let next = coming.peek().map(|&(_, place)| (pause * place).saturating_sub(begun.elapsed()));
        thread::sleep(next.map_or(LOOK, |next| next.min(LOOK)));
    }
}

/// One client.
#[derive(Debug)]
struct Player {
    stream: TcpStream,
    name: String,
    chance: Pcg64,
    incoming: Incoming,
    arrivals: Arrivals,
    over: bool,
}

// A hub gives a single host at most half of its connections, so players come from several. Only Linux has more than one address of
// this machine by itself.
fn own_address(seed: u32) -> Option<SocketAddr> {
    const HOSTS: u32 = 8;
    let last = u8::try_from(seed % HOSTS).unwrap_or_default();
    cfg!(target_os = "linux").then(|| (Ipv4Addr::new(127, 0, 1, last + 1), 0).into())
}

impl Player {
    fn connect(server: SocketAddr, seed: u32) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(server), Type::STREAM, None)?;
        if let Some(own) = own_address(seed) {
            socket.bind(&own.into())?;
        }
        socket.connect(&server.into())?;
        let stream = std::net::TcpStream::from(socket);
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Receiver::prepare(&stream)?;
        Ok(Self {
            stream: TcpStream::from_std(stream),
            name: format!("Load {seed}"),
            chance: Pcg64::seed_from_u64(seed.into()),
            incoming: Incoming::default(),
            arrivals: Arrivals::default(),
            over: false,
        })
    }

    // Reads what has arrived, and answers turns.
    fn look(&mut self, receiver: &mut Receiver) -> anyhow::Result<()> {
        let mut buffer = [0; BUFFER];
        while !self.over {
            let (count, at) = match receiver.receive(&self.stream, &mut buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                read => read?,
            };
            if count == 0 {
                bail!("the server closed the connection");
            }
            self.incoming.buffer().extend_from_slice(&buffer[..count]);
            let mut answers = BytesMut::new();
            while let Some(message) = self.incoming.next_message()? {
                let answer = match message {
                    ServerMessage::Hello(_) => ClientMessage::Join { name: ShortText::try_from(&*self.name)? },
                    ServerMessage::Turn { turn, .. } => {
                        self.arrivals.push(turn, at);
                        if self.chance.random_range(0..100) < IDLE {
                            continue;
                        }
                        ClientMessage::Action(action(&mut self.chance))
                    }
                    ServerMessage::GameEnded { .. } => {
                        self.over = true;
                        break;
                    }
                    ServerMessage::AcceptedPlayer { .. } | ServerMessage::GameStarted { .. } => continue,
                };
                encode(&answer, &mut answers);
            }
            if !answers.is_empty() && !self.over {
                self.stream.write_all(&answers)?;
            }
            if count < buffer.len() {
                return Ok(());
            }
        }
        Ok(())
    }
}

// Mostly moves, as people do.
fn action(chance: &mut Pcg64) -> Action {
    match chance.random_range(0..10) {
        0 => Action::PlaceBomb,
        1 => Action::PlaceBlock,
        2 | 3 => Action::Move(Direction::Up),
        4 | 5 => Action::Move(Direction::Right),
        6 | 7 => Action::Move(Direction::Down),
        _ => Action::Move(Direction::Left),
    }
}

/// Receives with a time: that at which the system queued the last of the received bytes. Elsewhere than on Linux it is the time at which
/// they are read.
#[derive(Debug)]
pub(crate) struct Receiver {
    #[cfg(target_os = "linux")]
    control: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl Receiver {
    pub(crate) fn new() -> Self {
        Self { control: nix::cmsg_space!(TimeSpec) }
    }

    /// Asks the system for times at `socket`.
    pub(crate) fn prepare(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
        Ok(nix::sys::socket::setsockopt(socket, nix::sys::socket::sockopt::ReceiveTimestampns, &true)?)
    }

    /// Receives what is there; no bytes at the end of the stream.
    pub(crate) fn receive(
        &mut self,
        socket: &impl std::os::fd::AsRawFd,
        buffer: &mut [u8],
    ) -> io::Result<(usize, SystemTime)> {
        use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};

        let mut space = [io::IoSliceMut::new(buffer)];
        let received = recvmsg::<()>(socket.as_raw_fd(), &mut space, Some(&mut self.control), MsgFlags::empty())?;
        let stamp = received.cmsgs().find_map(|message| match message {
            ControlMessageOwned::ScmTimestampns(stamp) => Some(SystemTime::UNIX_EPOCH + stamp.into()),
            _ => None,
        });
        // Bytes that arrived before the system was asked have none.
        Ok((received.bytes, stamp.unwrap_or_else(SystemTime::now)))
    }
}

#[cfg(not(target_os = "linux"))]
impl Receiver {
    pub(crate) fn new() -> Self {
        Self {}
    }

    /// Does nothing here.
    pub(crate) fn prepare<T>(_: &T) -> io::Result<()> {
        Ok(())
    }

    /// Receives what is there; no bytes at the end of the stream.
    pub(crate) fn receive<T>(&mut self, socket: &T, buffer: &mut [u8]) -> io::Result<(usize, SystemTime)>
    where
        for<'a> SockRef<'a>: From<&'a T>,
    {
        use io::Read as _;

        Ok(((&*SockRef::from(socket)).read(buffer)?, SystemTime::now()))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::Write as _,
        net::{Ipv4Addr, TcpListener},
        time::Duration,
    };

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn stamps_are_the_times_of_arrival_and_not_of_reading() -> io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let client = std::net::TcpStream::connect(listener.local_addr()?)?;
        Receiver::prepare(&client)?;
        let (mut server, _) = listener.accept()?;
        let start = SystemTime::now();
        // The system starts to note times some moments after the first socket has requested them.
        loop {
            let sent = SystemTime::now();
            server.write_all(b"turn")?;
            let mut buffer = [0; 16];
            assert_eq!(client.peek(&mut buffer)?, 4);
            let seen = SystemTime::now();
            let (count, stamp) = Receiver::new().receive(&client, &mut buffer)?;
            assert_eq!(&buffer[..count], b"turn");
            assert!(sent < stamp, "{sent:?} {stamp:?}");
            if stamp < seen {
                return Ok(());
            }
            let waited = seen.duration_since(start).unwrap_or_default();
            assert!(waited < PATIENCE, "the time is always that of reading: {seen:?} {stamp:?}");
        }
    }
}
