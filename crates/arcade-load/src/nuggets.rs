//! Clients of nuggets that press keys at random, on a thread of their own: their reads must not delay the clock of the turns of robots.

use std::{
    cell::Cell,
    io,
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::{
    net::UdpSocket,
    sync::oneshot,
    task::JoinSet,
    time::{Instant, interval_at, timeout},
};

use crate::{driver::Worker, hub::Room};

const KEYS: &[u8] = b"hjklyubn";
/// How long a player waits for an answer before it repeats its request.
const ANSWER: Duration = Duration::from_secs(1);
/// How often a request is sent.
const ATTEMPTS: usize = 20;
/// How long a port may be closed, as while a room moves to another hub.
const CLOSED: Duration = Duration::from_secs(30);
/// Bytes of a message that are read.
const BUFFER: usize = 64;
/// Players of a room.
pub(crate) const PLAYERS: u32 = 8;
/// The pause between two keys of a player.
pub(crate) const KEY_PAUSE: Duration = Duration::from_millis(500);

/// A player who has a seat.
#[derive(Debug)]
pub(crate) struct Player {
    socket: UdpSocket,
    chance: Pcg64,
}

impl Player {
    /// Takes a seat.
    pub(crate) async fn join(server: SocketAddr, name: &str, seed: u64) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        socket.connect(server).await?;
        let mut buffer = [0; 256];
        for _ in 0..ATTEMPTS {
            socket.send(format!("PLAY {name}").as_bytes()).await?;
            let Ok(answer) = timeout(ANSWER, socket.recv(&mut buffer)).await else { continue };
            let answer = &buffer[..answer?];
            if answer.starts_with(b"OK ") {
                return Ok(Self { socket, chance: Pcg64::seed_from_u64(seed) });
            }
            bail!("{server} answers {}", answer.escape_ascii());
        }
        Err(anyhow!("no answer")).with_context(|| format!("no seat at {server}"))
    }

    /// Presses a key each `pause`, and counts the displays that arrived meanwhile. Never ends by itself, unless the port stays closed.
    ///
    /// The displays are read when the next key is due, and not when they arrive: thousands of players share a processor with
    /// the hub, and each would wake it for every display.
    pub(crate) async fn play(self, pause: Duration, displays: &Cell<u64>) -> anyhow::Result<()> {
        let Self { socket, mut chance } = self;
        // Non-blocking, and no longer watched by the runtime.
        let socket = socket.into_std()?;
        let mut buffer = [0; BUFFER];
        // Not all at the same moment.
        let first = pause.mul_f64(chance.random_range(0.0..1.0));
        let mut keys = interval_at(Instant::now() + first, pause);
        let mut open = Instant::now();
        loop {
            keys.tick().await;
            let failed = loop {
                match socket.recv(&mut buffer) {
                    Ok(count) if buffer[..count].starts_with(b"DISPLAY") => displays.set(displays.get() + 1),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break None,
                    Err(error) => break Some(error),
                }
            };
            match failed.or_else(|| socket.send(&key(&mut chance)).err()) {
                None => open = Instant::now(),
                Some(error) if error.kind() == io::ErrorKind::ConnectionRefused && open.elapsed() < CLOSED => {}
                Some(error) => return Err(error.into()),
            }
        }
    }

    /// Presses `count` keys, the last of which means nothing, and waits for the answer to that: then all have arrived. Keys are
    /// sent again if an answer is lost.
    pub(crate) async fn keys(&mut self, count: u32) -> anyhow::Result<()> {
        for _ in 1..count {
            self.socket.send(&key(&mut self.chance)).await?;
        }
        let mut buffer = [0; BUFFER];
        for _ in 0..ATTEMPTS {
            self.socket.send(b"KEY x").await?;
            let answered = async {
                loop {
                    let count = self.socket.recv(&mut buffer).await?;
                    if buffer[..count].starts_with(b"ERROR") {
                        return anyhow::Ok(());
                    }
                }
            };
            if let Ok(answered) = timeout(ANSWER, answered).await {
                return answered;
            }
        }
        bail!("the server does not answer any more")
    }
}

fn key(chance: &mut Pcg64) -> [u8; 5] {
    [b'K', b'E', b'Y', b' ', KEYS[chance.random_range(0..KEYS.len())]]
}

/// Seats players in many rooms, who press a key each `pause` until they are stopped, and then return the number of displays that they
/// have read. Returns when all have a seat.
pub(crate) async fn explore(rooms: Vec<Room>, pause: Duration) -> anyhow::Result<Worker<u64>> {
    let (joined, all_joined) = oneshot::channel();
    let explorers = Worker::start("explorers", move |stopped| play(rooms, pause, joined, stopped))?;
    match all_joined.await {
        Ok(()) => Ok(explorers),
        // The thread has ended, and returns the error.
        Err(_) => Err(explorers.stop().err().unwrap_or_else(|| anyhow!("the players of nuggets ended early"))),
    }
}

async fn play(
    rooms: Vec<Room>,
    pause: Duration,
    joined: oneshot::Sender<()>,
    stopped: oneshot::Receiver<()>,
) -> anyhow::Result<u64> {
    let displays = Rc::new(Cell::new(0));
    let mut players = JoinSet::new();
    for (room, seed) in rooms.iter().flat_map(|room| (0..PLAYERS).map(move |seed| (room, seed))) {
        let player =
            Player::join(room.address, &format!("Load {seed}"), seed.into()).await.with_context(|| room.id.clone())?;
        let displays = Rc::clone(&displays);
        players.spawn_local(async move { player.play(pause, &displays).await });
    }
    let _ = joined.send(());
    tokio::select! {
        _ = stopped => Ok(displays.get()),
        // They never end by themselves, unless they fail.
        Some(failed) = players.join_next() => {
            failed?.context("a player of nuggets failed")?;
            Ok(displays.get())
        }
    }
}
