//! Native clients of robots and nuggets that act at random, without the board, so that thousands of them leave the
//! processors to the hub.

use std::{
    cell::Cell,
    io::{self, ErrorKind},
    iter::repeat_n,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    thread,
    time::Duration,
};

use anyhow::{Context as _, bail, ensure};
use bytes::BytesMut;
use netcore::wire::ShortText;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use robots::{Action, ClientMessage, Direction, Incoming, ServerMessage, protocol::encode};
use tokio::{
    task::{JoinSet, spawn_local, yield_now},
    time::{Instant, interval_at},
};

use crate::{
    driver::{Arrival, Distribution, Room, Worker, lateness},
    wire::Wire,
};

pub(crate) const ROBOTS: u32 = 4;
/// Between two reads: clients that woke up for each turn would interrupt the hub. The system records the arrival times.
const READ_PAUSE: Duration = Duration::from_millis(10);
/// Percentage of turns without an action, as for the hub's bots.
const IDLE: u32 = 15;

pub(crate) const PLAYERS: u32 = 8;
pub(crate) const KEY_PAUSE: Duration = Duration::from_millis(500);
const KEYS: &[u8] = b"hjklyubn";
/// After this time, a request is repeated.
const ANSWER: Duration = Duration::from_secs(1);
/// The time limit of a request.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a port may be closed, as while a room moves to another hub.
const CLOSED: Duration = Duration::from_secs(30);

/// Each client plays one match, and returns when turns arrived. Matches begin `pause` apart.
pub(crate) fn play_robots(rooms: &[Room], pause: Duration) -> io::Result<Worker<Vec<Vec<Arrival>>>> {
    let servers: Vec<SocketAddr> = rooms.iter().map(|room| room.address).collect();
    Worker::start(async move |_| {
        // A task like those of the clients, so that all messages are processed before the thread sleeps again.
        let pacing = async move {
            let (begun, mut clients) = (Instant::now(), JoinSet::new());
            for (server, place) in servers.into_iter().zip(0..) {
                while begun.elapsed() < pause * place {
                    thread::sleep((pause * place).saturating_sub(begun.elapsed()).min(READ_PAUSE));
                    yield_now().await;
                }
                for seed in 0..ROBOTS {
                    clients.spawn_local(native_robot(server, seed));
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
    Ok(Distribution::new(clients.finish().await?.iter().flat_map(|arrivals| lateness(arrivals)).collect()))
}

async fn native_robot(server: SocketAddr, seed: u32) -> anyhow::Result<Vec<Arrival>> {
    // A hub grants a host at most half of its connections. Only Linux has more than one loopback address by default.
    let host = u8::try_from(seed + 1).unwrap_or(1);
    let from = if cfg!(target_os = "linux") { Ipv4Addr::new(127, 0, 1, host) } else { Ipv4Addr::LOCALHOST };
    let mut wire = Wire::stream(from, server).await.with_context(|| format!("cannot join at {server}"))?;
    robot(&mut wire, Some(&format!("Load {seed}")), seed, Some).await
}

/// Plays, or watches without a name. `over` receives the arrival times of each match. The client ends with its result,
/// if any.
pub(crate) async fn robot<T>(
    wire: &mut Wire,
    name: Option<&str>,
    seed: u32,
    mut over: impl FnMut(Vec<Arrival>) -> Option<T>,
) -> anyhow::Result<T> {
    let (mut chance, mut incoming, mut arrivals) = (Pcg64::seed_from_u64(seed.into()), Incoming::default(), vec![]);
    let join = ClientMessage::Join { name: ShortText::try_from(name.unwrap_or_default())? };
    loop {
        incoming.buffer().extend_from_slice(&wire.receive_game().await?);
        let mut answers = BytesMut::new();
        while let Some(message) = incoming.next_message()? {
            let answer = match message {
                ServerMessage::Hello(_) => Some(join.clone()),
                ServerMessage::Turn { turn, .. } => {
                    arrivals.push((turn, wire.arrived()));
                    action(&mut chance).map(ClientMessage::Action)
                }
                ServerMessage::GameEnded { .. } => match over(std::mem::take(&mut arrivals)) {
                    Some(result) => return Ok(result),
                    None => Some(join.clone()),
                },
                ServerMessage::AcceptedPlayer { .. } | ServerMessage::GameStarted { .. } => None,
            };
            if let Some(answer) = answer.filter(|_| name.is_some()) {
                encode(&answer, &mut answers);
            }
        }
        if !answers.is_empty() {
            wire.send(answers).await?;
        }
    }
}

// Mostly moves, as users do.
fn action(chance: &mut Pcg64) -> Option<Action> {
    (chance.random_range(0..100) >= IDLE).then(|| match chance.random_range(0..10) {
        0 => Action::PlaceBomb,
        1 => Action::PlaceBlock,
        2 | 3 => Action::Move(Direction::Up),
        4 | 5 => Action::Move(Direction::Right),
        6 | 7 => Action::Move(Direction::Down),
        _ => Action::Move(Direction::Left),
    })
}

#[derive(Debug)]
pub(crate) struct Explorer {
    wire: Wire,
    chance: Pcg64,
}

impl Explorer {
    pub(crate) async fn join(server: SocketAddr, seed: u32) -> anyhow::Result<Self> {
        let wire = Wire::datagrams(Ipv4Addr::LOCALHOST, server).await?;
        let mut explorer = Self { wire, chance: Pcg64::seed_from_u64(seed.into()) };
        explorer.request(&format!("PLAY Load {seed}"), "OK ", ANSWER).await?;
        Ok(explorer)
    }

    // Repeats the request without an answer, also while the port is closed.
    async fn request(&mut self, request: &str, answer: &str, repeated: Duration) -> anyhow::Result<()> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let _ = self.wire.send(request.to_owned()).await;
            if let Ok(found) =
                self.wire.find(repeated, |text| [answer, "QUIT"].iter().any(|&start| text.starts_with(start))).await
            {
                ensure!(!found.starts_with(b"QUIT"), "the server sends {}", found.escape_ascii());
                return Ok(());
            }
        }
        bail!("the server does not answer '{request}'")
    }

    /// Sends an invalid key until it is answered, which shows that all earlier keys have arrived.
    pub(crate) async fn probe(&mut self, repeated: Duration) -> anyhow::Result<()> {
        self.request("KEY x", "ERROR", repeated).await
    }

    /// The last of `count` keys is a probe.
    pub(crate) async fn press(&mut self, count: u32) -> anyhow::Result<()> {
        for _ in 1..count {
            self.wire.send(key(&mut self.chance)).await?;
        }
        self.probe(ANSWER).await
    }
}

/// The clients send a key each `pause` until they are stopped. Returns the number of displays that arrived.
pub(crate) async fn explore(rooms: &[Room], pause: Duration) -> anyhow::Result<Worker<u64>> {
    let mut explorers = vec![];
    // Different seeds, so that the keys of different rooms do not arrive together.
    for (room, seed) in rooms.iter().flat_map(|room| repeat_n(room, PLAYERS as usize)).zip(0..) {
        let Explorer { wire, chance } = Explorer::join(room.address, seed).await?;
        let Wire::Datagrams(socket) = wire else { continue };
        // Non-blocking, and not watched by the runtime: displays are read when the next key is due. Otherwise, each
        // would wake up its client, and thousands of clients would interrupt the hub.
        explorers.push((socket.into_std()?, chance));
    }
    let worker = Worker::start(async move |stopped| {
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
    });
    Ok(worker?)
}

async fn press_keys(
    socket: std::net::UdpSocket,
    mut chance: Pcg64,
    pause: Duration,
    displays: Rc<Cell<u64>>,
) -> anyhow::Result<()> {
    let mut buffer = [0; 16];
    // A random start, so that clients do not act at the same moment.
    let mut keys = interval_at(Instant::now() + pause.mul_f64(chance.random_range(0.0..1.0)), pause);
    let mut open = Instant::now();
    loop {
        keys.tick().await;
        let failed = loop {
            match socket.recv(&mut buffer) {
                Ok(count) => displays.set(displays.get() + u64::from(buffer[..count].starts_with(b"DISPLAY"))),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break None,
                Err(error) => break Some(error),
            }
        };
        match failed.or_else(|| socket.send(key(&mut chance).as_bytes()).err()) {
            None => open = Instant::now(),
            Some(error) if error.kind() == ErrorKind::ConnectionRefused && open.elapsed() < CLOSED => {}
            Some(error) => return Err(error.into()),
        }
    }
}

fn key(chance: &mut Pcg64) -> String {
    format!("KEY {}", char::from(KEYS[chance.random_range(0..KEYS.len())]))
}
