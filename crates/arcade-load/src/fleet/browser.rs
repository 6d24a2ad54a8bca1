//! How long a browser waits for the display after a key.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::Fleet;
use crate::{hub::Hub, lateness::Distribution};

/// Pairs of keys of which the second leads back.
const PAIRS: [[&str; 2]; 4] = [["h", "l"], ["j", "k"], ["y", "n"], ["u", "b"]];
/// A key against a wall has no display.
const NOTHING: Duration = Duration::from_millis(500);
/// How long a hub may take.
const PATIENCE: Duration = Duration::from_secs(10);

type Browser = WebSocketStream<TcpStream>;

/// Presses keys in a room of nuggets of the first hub, in a browser with the page of `pages`.
pub(super) async fn keys(fleet: &Fleet, pages: usize, keys: u32) -> anyhow::Result<Distribution> {
    let room = fleet.hub(0).open_nuggets()?;
    let mut browser = open(fleet.hub(pages), &room.id).await?;
    browser.send(Message::text("PLAY Load")).await?;
    timeout(PATIENCE, hears(&mut browser, "OK ")).await.context("no seat")??;
    // The first display may still be on its way.
    while timeout(NOTHING, hears(&mut browser, "DISPLAY")).await.is_ok() {}
    let mut pair = None;
    for keys in PAIRS {
        browser.send(Message::text(format!("KEY {}", keys[0]))).await?;
        if let Ok(heard) = timeout(NOTHING, hears(&mut browser, "DISPLAY")).await {
            heard?;
            pair = Some(keys);
            break;
        }
    }
    let [there, back] = pair.context("a player who is surrounded by walls")?;
    let mut waited = vec![];
    for key in [back, there].into_iter().cycle().take(keys as usize) {
        let pressed = Instant::now();
        browser.send(Message::text(format!("KEY {key}"))).await?;
        timeout(PATIENCE, hears(&mut browser, "DISPLAY")).await.context("no display")??;
        waited.push(pressed.elapsed());
    }
    Ok(Distribution::new(waited))
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
