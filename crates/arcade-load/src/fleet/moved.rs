//! How long a player hears nothing when the rooms of a hub move to others.

use std::{
    net::{Ipv4Addr, UdpSocket},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, bail};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{Fleet, LOOK, NODES, PATIENCE};
use crate::{
    hub::{Hub, Room},
    lateness::Distribution,
};

/// Between two messages of the player.
const PAUSE: Duration = Duration::from_millis(10);

/// What was measured of a hub that moves its rooms.
pub(super) struct Moved {
    /// How many rooms it had.
    pub(super) rooms: usize,
    /// For how long each stood still that has moved.
    pub(super) pauses: Distribution,
    /// How long a player of one of them was without an answer.
    pub(super) silence: Duration,
    /// After which time all were at others.
    pub(super) all: Duration,
}

/// Has the second hub move its rooms.
pub(super) async fn measure(program: Option<&Path>, fleet: &Fleet) -> anyhow::Result<Moved> {
    let (hub, data) = &fleet.nodes[1];
    let name = NODES[1];
    let player = Player::start(&hub.open_nuggets()?)?;
    let of_it = || anyhow::Ok(fleet.hub(0).shown()?.iter().filter(|(_, node)| node == name).count());
    let rooms = of_it()?;
    let asked = Instant::now();
    let words = ["drain", "--move", "--json"];
    let answer: Value = serde_json::from_str(&Hub::command(program, data.path(), &words)?)?;
    let pauses = answer["moved"]["pauses_ms"].as_array().context("an answer says how long rooms stood still")?;
    let pauses = pauses.iter().filter_map(Value::as_u64).map(Duration::from_millis).collect();
    if answer["moved"]["stays"] != json!({}) {
        bail!("some rooms do not move: {}", answer["moved"]["stays"]);
    }
    while of_it()? > 0 {
        sleep(LOOK).await;
        if asked.elapsed() > PATIENCE {
            bail!("{} of {rooms} rooms have not moved after {} s", of_it()?, PATIENCE.as_secs());
        }
    }
    let all = asked.elapsed();
    // What is answered now is answered by the other hub.
    sleep(Duration::from_secs(1)).await;
    Ok(Moved { rooms, pauses: Distribution::new(pauses), silence: player.stop()?, all })
}

/// A player who sends a key that means nothing again and again, and so is answered at once.
struct Player {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<Duration>>,
}

impl Player {
    fn start(room: &Room) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(room.address)?;
        socket.set_read_timeout(Some(PAUSE))?;
        socket.send(b"PLAY Load")?;
        let stop = Arc::<AtomicBool>::default();
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 64];
            let (mut heard, mut longest) = (Instant::now(), Duration::ZERO);
            while !stopped.load(Ordering::Relaxed) {
                // Nobody listens while the room moves.
                let _ = socket.send(b"KEY x");
                while let Ok(count) = socket.recv(&mut buffer) {
                    if buffer[..count].starts_with(b"ERROR") {
                        longest = longest.max(heard.elapsed());
                        heard = Instant::now();
                        thread::sleep(PAUSE);
                        break;
                    }
                }
            }
            Ok(longest.max(heard.elapsed()))
        });
        Ok(Self { stop, thread })
    }

    fn stop(self) -> anyhow::Result<Duration> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| anyhow!("the player panicked"))?
    }
}
