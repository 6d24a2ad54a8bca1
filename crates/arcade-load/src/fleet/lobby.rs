//! How soon a page of each hub shows a room that was opened at another one.

use std::time::Instant;

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::{
    net::TcpStream,
    time::{Duration, timeout},
};
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::{Fleet, NODES};
use crate::{hub::Hub, lateness::Distribution};

/// Rooms that a page shows at once.
pub(super) const MOST: u32 = 60;
/// How long a page may take.
const PATIENCE: Duration = Duration::from_secs(30);

type Page = WebSocketStream<TcpStream>;

/// Opens rooms at one hub after the other, and waits for each until the pages of all hubs show it.
pub(super) async fn measure(fleet: &Fleet, rooms: u32) -> anyhow::Result<Distribution> {
    let mut pages = vec![];
    for (hub, _) in &fleet.nodes {
        pages.push(open(hub).await?);
    }
    let mut late = vec![];
    for (_, node) in (0..rooms).zip((0..NODES.len()).cycle()) {
        let opened = Instant::now();
        // The only rooms of this game, so a page is told only of them.
        let room = fleet.hub(node).open(&json!({ "game": "mastermind" }))?;
        for page in &mut pages {
            timeout(PATIENCE, shows(page, &room.id)).await.with_context(|| format!("no page shows {}", room.id))??;
        }
        late.push(opened.elapsed());
    }
    Ok(Distribution::new(late))
}

async fn open(hub: &Hub) -> anyhow::Result<Page> {
    let stream = TcpStream::connect(hub.address()).await?;
    let (mut page, _) =
        client_async(format!("ws://{}/live", hub.address()), stream).await.context("a page is not let in")?;
    let says = json!({ "look": { "game": "mastermind", "text": "", "from": 0, "count": MOST } });
    page.send(Message::text(says.to_string())).await?;
    Ok(page)
}

// Reads until the room is named.
async fn shows(page: &mut Page, room: &str) -> anyhow::Result<()> {
    let quoted = format!("\"{room}\"");
    loop {
        match page.next().await.context("the hub closed the socket of a page")?? {
            Message::Text(text) if text.contains(&quoted) => return Ok(()),
            Message::Close(close) => bail!("the hub closed the socket of a page: {close:?}"),
            _ => {}
        }
    }
}
