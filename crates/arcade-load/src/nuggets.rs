//! Clients of nuggets that press keys at random.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::{Context as _, bail};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use tokio::{
    net::UdpSocket,
    time::{Instant, interval_at, timeout},
};

const KEYS: &[u8] = b"hjklyubn";
/// How long one waits for an answer before asking again.
const ANSWER: Duration = Duration::from_secs(1);
/// How often a seat is asked for.
const ATTEMPTS: usize = 20;
/// For how long nobody may listen, as while a room moves to another hub.
const CLOSED: Duration = Duration::from_secs(30);
/// The front of a display; the rest is not looked at.
const BUFFER: usize = 64;

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
        Err(anyhow::anyhow!("no answer")).with_context(|| format!("no seat at {server}"))
    }

    /// Presses a key each `pause`, and counts the displays that arrived meanwhile. Never ends by itself, unless the port stays closed.
    ///
    /// The displays are read when the next key is due, and not when they arrive: thousands of players share a processor with
    /// the hub, and each would wake it for every display.
    pub(crate) async fn play(self, pause: Duration, displays: &std::cell::Cell<u64>) -> anyhow::Result<()> {
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
