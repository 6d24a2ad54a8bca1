//! Native clients of robots and nuggets that act at random. They do not look at the board, so that thousands of them
//! leave the processors to the hub.

use std::{
    cell::Cell,
    io::{self, ErrorKind},
    iter::repeat_n,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, bail};
use bytes::BytesMut;
use netcore::wire::ShortText;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use robots::{Action, ClientMessage, Direction, Incoming, ServerMessage, protocol::encode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UdpSocket,
    task::{JoinSet, spawn_local, yield_now},
    time::{Instant, interval_at, timeout},
};

use crate::{
    driver::{Arrival, Distribution, Worker, lateness},
    hub::{Room, TURN},
    wire::connect,
};

/// Robots in a match.
pub(crate) const ROBOTS: u32 = 4;
/// The pause between two reads. If clients woke up for each turn, they would interrupt the hub. The system records the
/// arrival times.
const READ_PAUSE: Duration = Duration::from_millis(10);
/// The percentage of turns without an action, as for the hub's bots.
const IDLE: u32 = 15;
const BUFFER: usize = 4096;

/// Players in a room.
pub(crate) const PLAYERS: u32 = 8;
pub(crate) const KEY_PAUSE: Duration = Duration::from_millis(500);
const KEYS: &[u8] = b"hjklyubn";
/// A request is repeated after this time, up to this number of attempts.
const ANSWER: Duration = Duration::from_secs(1);
const ATTEMPTS: usize = 20;
/// How long a port may be closed, as while a room moves to another hub.
const CLOSED: Duration = Duration::from_secs(30);

/// Each client plays one match, and returns when turns arrived. Matches begin with a `pause` in between.
pub(crate) fn play_robots(servers: Vec<SocketAddr>, pause: Duration) -> io::Result<Worker<Vec<Vec<Arrival>>>> {
    Worker::start("robots", async move |_| {
        // A task like those of the clients, so that all messages are processed before the thread sleeps again.
        let pacing = async move {
            let (begun, mut clients) = (Instant::now(), JoinSet::new());
            for (server, place) in servers.into_iter().zip(0..) {
                loop {
                    let left = (pause * place).saturating_sub(begun.elapsed());
                    if left.is_zero() {
                        break;
                    }
                    thread::sleep(left.min(READ_PAUSE));
                    yield_now().await;
                }
                for seed in 0..ROBOTS {
                    clients.spawn_local(robot(server, seed));
                }
            }
            let mut arrivals = vec![];
            while !clients.is_empty() {
                thread::sleep(READ_PAUSE);
                yield_now().await;
                while let Some(client) = clients.try_join_next() {
                    arrivals.push(client?.context("a client of robots failed")?);
                }
            }
            Ok(arrivals)
        };
        spawn_local(pacing).await?
    })
}

pub(crate) async fn late_turns(clients: Worker<Vec<Vec<Arrival>>>) -> anyhow::Result<Distribution> {
    let turn = Duration::from_millis(TURN);
    Ok(Distribution::new(clients.join().await?.iter().flat_map(|arrivals| lateness(arrivals, turn)).collect()))
}

async fn robot(server: SocketAddr, seed: u32) -> anyhow::Result<Vec<Arrival>> {
    // A hub grants a single host at most half of its connections. Only Linux has more than one loopback address by
    // default.
    let host = u8::try_from(seed + 1).unwrap_or(1);
    let from = if cfg!(target_os = "linux") { Ipv4Addr::new(127, 0, 1, host) } else { Ipv4Addr::LOCALHOST };
    let mut stream = connect(from, server).await.with_context(|| format!("cannot join at {server}"))?;
    let (name, mut chance) = (format!("Load {seed}"), Pcg64::seed_from_u64(seed.into()));
    let (mut incoming, mut arrivals) = (Incoming::default(), vec![]);
    loop {
        incoming.buffer().reserve(BUFFER);
        if stream.read_buf(incoming.buffer()).await? == 0 {
            bail!("the server closed the connection");
        }
        let mut answers = BytesMut::new();
        while let Some(message) = incoming.next_message()? {
            let answer = match message {
                ServerMessage::Hello(_) => ClientMessage::Join { name: ShortText::try_from(&*name)? },
                ServerMessage::Turn { turn, .. } => {
                    arrivals.push((turn, stream.arrived));
                    if chance.random_range(0..100) < IDLE {
                        continue;
                    }
                    ClientMessage::Action(action(&mut chance))
                }
                ServerMessage::GameEnded { .. } => return Ok(arrivals),
                ServerMessage::AcceptedPlayer { .. } | ServerMessage::GameStarted { .. } => continue,
            };
            encode(&answer, &mut answers);
        }
        stream.write_all(&answers).await?;
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

#[derive(Debug)]
pub(crate) struct Explorer {
    socket: UdpSocket,
    chance: Pcg64,
}

impl Explorer {
    pub(crate) async fn join(server: SocketAddr, seed: u32) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        socket.connect(server).await?;
        let explorer = Self { socket, chance: Pcg64::seed_from_u64(seed.into()) };
        explorer.request(&format!("PLAY Load {seed}"), "OK ").await.with_context(|| format!("no seat at {server}"))?;
        Ok(explorer)
    }

    async fn request(&self, request: &str, answer: &str) -> anyhow::Result<()> {
        let mut buffer = [0; 256];
        for _ in 0..ATTEMPTS {
            self.socket.send(request.as_bytes()).await?;
            let answered = async {
                loop {
                    let count = self.socket.recv(&mut buffer).await?;
                    match &buffer[..count] {
                        found if found.starts_with(answer.as_bytes()) => return Ok(()),
                        found if found.starts_with(b"QUIT") => bail!("the server sends {}", found.escape_ascii()),
                        _ => {}
                    }
                }
            };
            if let Ok(answered) = timeout(ANSWER, answered).await {
                return answered;
            }
        }
        bail!("the server does not answer {request}")
    }

    /// The last of `count` keys is invalid, and its answer shows that all have arrived.
    pub(crate) async fn press(&mut self, count: u32) -> anyhow::Result<()> {
        for _ in 1..count {
            self.socket.send(&key(&mut self.chance)).await?;
        }
        self.request("KEY x", "ERROR").await
    }
}

/// Clients that send a key each `pause` until they are stopped. Returns the number of displays that arrived.
pub(crate) async fn explore(rooms: &[Room], pause: Duration) -> anyhow::Result<Worker<u64>> {
    let mut explorers = vec![];
    // Different seeds, so that the keys of different rooms do not arrive together.
    for (room, seed) in rooms.iter().flat_map(|room| repeat_n(room, PLAYERS as usize)).zip(0..) {
        let Explorer { socket, chance } = Explorer::join(room.address, seed).await?;
        // Non-blocking, and no longer watched by the runtime: displays are read when the next key is due. If each woke
        // up its client, thousands of clients would interrupt the hub.
        explorers.push((socket.into_std()?, chance));
    }
    Worker::start("explorers", async move |stopped| {
        let (displays, mut running) = (Rc::<Cell<u64>>::default(), JoinSet::new());
        for (socket, chance) in explorers {
            running.spawn_local(press_keys(socket, chance, pause, Rc::clone(&displays)));
        }
        tokio::select! {
            _ = stopped => {}
            // They end only if they fail.
            Some(failed) = running.join_next() => failed?.context("a client of nuggets failed")?,
        }
        Ok(displays.get())
    })
    .context("cannot start a thread")
}

async fn press_keys(
    socket: std::net::UdpSocket,
    mut chance: Pcg64,
    pause: Duration,
    displays: Rc<Cell<u64>>,
) -> anyhow::Result<()> {
    let mut buffer = [0; 16];
    // Starts at a random time, so that not all clients act at the same moment.
    let mut keys = interval_at(Instant::now() + pause.mul_f64(chance.random_range(0.0..1.0)), pause);
    let mut open = Instant::now();
    loop {
        keys.tick().await;
        let failed = loop {
            match socket.recv(&mut buffer) {
                Ok(count) if buffer[..count].starts_with(b"DISPLAY") => displays.set(displays.get() + 1),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break None,
                Err(error) => break Some(error),
            }
        };
        match failed.or_else(|| socket.send(&key(&mut chance)).err()) {
            None => open = Instant::now(),
            Some(error) if error.kind() == ErrorKind::ConnectionRefused && open.elapsed() < CLOSED => {}
            Some(error) => return Err(error.into()),
        }
    }
}

fn key(chance: &mut Pcg64) -> [u8; 5] {
    [b'K', b'E', b'Y', b' ', KEYS[chance.random_range(0..KEYS.len())]]
}
