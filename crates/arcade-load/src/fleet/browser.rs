//! How long a browser waits for the display after a key.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    net::TcpStream,
    time::{sleep, timeout},
};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::Fleet;
use crate::{hub::Hub, lateness::Distribution};

/// Pairs of keys of which the second leads back.
const PAIRS: [[&str; 2]; 4] = [["h", "l"], ["j", "k"], ["y", "n"], ["u", "b"]];
/// Between two keys: a socket is sent pictures 50 times a second at most.
const BETWEEN: Duration = Duration::from_millis(25);
/// A key against a wall has no display.
const NOTHING: Duration = Duration::from_millis(500);
/// How long a hub may take.
const PATIENCE: Duration = Duration::from_secs(10);

type Browser = WebSocketStream<TcpStream>;

/// Presses keys in two rooms of nuggets of the first hub, one after another in turn, in a browser with its page and in one with the page of the
/// second hub.
pub(super) async fn keys(fleet: &Fleet, keys: u32) -> anyhow::Result<[Distribution; 2]> {
    let mut players = [Player::sit(fleet, 0).await?, Player::sit(fleet, 1).await?];
    let mut waited = [vec![], vec![]];
    for _ in 0..keys {
        sleep(BETWEEN).await;
        for (player, waited) in players.iter_mut().zip(&mut waited) {
            waited.push(player.press().await?);
        }
    }
    Ok(waited.map(Distribution::new))
}

/// Somebody with a key that leads to a display, and one that leads back.
struct Player {
    browser: Browser,
    next: &'static str,
    then: &'static str,
}

impl Player {
    // Takes a seat in a room of the first hub, with the page of the hub `pages`.
    async fn sit(fleet: &Fleet, pages: usize) -> anyhow::Result<Self> {
        let room = fleet.hub(0).open_nuggets()?;
        fleet.shows(&room).await?;
        let mut browser = open(fleet.hub(pages), &room.id).await?;
        browser.send(Message::text("PLAY Load")).await?;
        timeout(PATIENCE, hears(&mut browser, "OK ")).await.context("no seat")??;
        // The first display may still be on its way.
        while timeout(NOTHING, hears(&mut browser, "DISPLAY")).await.is_ok() {}
        for [there, back] in PAIRS {
            browser.send(Message::text(format!("KEY {there}"))).await?;
            if let Ok(heard) = timeout(NOTHING, hears(&mut browser, "DISPLAY")).await {
                heard?;
                return Ok(Self { browser, next: back, then: there });
            }
        }
        bail!("a player who is surrounded by walls")
    }

    // How long it takes from a key to its display.
    async fn press(&mut self) -> anyhow::Result<Duration> {
        let pressed = Instant::now();
        self.browser.send(Message::text(format!("KEY {}", self.next))).await?;
        timeout(PATIENCE, hears(&mut self.browser, "DISPLAY")).await.context("no display")??;
        std::mem::swap(&mut self.next, &mut self.then);
        Ok(pressed.elapsed())
    }
}

async fn open(hub: &Hub, room: &str) -> anyhow::Result<Browser> {
    let stream = TcpStream::connect(hub.address()).await?;
    stream.set_nodelay(true)?;
    let url = format!("ws://{}/rooms/{room}/socket", hub.address());
    Ok(client_async(url, stream).await.context("a browser is not let in")?.0)
}

// Reads until a message that begins so.
async fn hears(browser: &mut Browser, front: &str) -> anyhow::Result<()> {
    loop {
        match browser.next().await.context("the hub closed the socket")?? {
            Message::Text(text) if text.starts_with(front) => return Ok(()),
            Message::Close(close) => bail!("the hub closed the socket: {close:?}"),
            _ => {}
        }
    }
}
