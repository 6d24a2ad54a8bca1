//! A class behind one address: each pupil opens the page and sits down in a game.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::{
    net::TcpStream,
    task::{JoinSet, spawn_blocking},
    time::timeout,
};
use tokio_tungstenite::{client_async, tungstenite::Message};

use crate::{
    args::Class,
    hub::{Hub, agent, json},
    lateness::Distribution,
};

/// How long a pupil waits for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// Has all pupils come at the same moment, and reports how long it took until each was in a game.
pub(crate) async fn measure(program: Option<&Path>, args: &Class) -> anyhow::Result<String> {
    let data = tempfile::tempdir()?;
    // With the limits that every host has.
    let hub = Hub::start_with(program, data.path(), &[], None)?;
    let address = hub.address();
    let mut pupils = JoinSet::new();
    for pupil in 0..args.pupils {
        pupils.spawn(async move { timeout(PATIENCE, join(address, pupil)).await.context("a pupil waits for ever")? });
    }
    let mut times = vec![];
    // All sockets stay open until the last pupil is there.
    let mut sockets = vec![];
    while let Some(pupil) = pupils.join_next().await {
        let (took, held) = pupil?.context("a pupil is not let in")?;
        times.push(took);
        sockets.push(held);
    }
    Ok(format!(
        "{} pupils behind one address, each with the page and its files, the lobby and a seat:\n\n\
         | | p50 | p99 | longest |\n| --- | --- | --- | --- |\n\
         | from the address to the first picture of a game | {} |\n",
        args.pupils,
        Distribution::new(times).cells()
    ))
}

type Socket = tokio_tungstenite::WebSocketStream<TcpStream>;

// One pupil: the page and all that it loads, the lobby, a seat, and the first picture of the game.
async fn join(hub: SocketAddr, pupil: u32) -> anyhow::Result<(Duration, [Socket; 2])> {
    let start = Instant::now();
    spawn_blocking(move || load(hub)).await??;
    let lobby = open(hub, "/live").await?;
    let room = spawn_blocking(move || play(hub)).await??;
    let mut socket = open(hub, &format!("/rooms/{room}/socket")).await?;
    socket.send(Message::text(format!("PLAY pupil{pupil}"))).await?;
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) if text.starts_with("DISPLAY") => return Ok((start.elapsed(), [lobby, socket])),
            Message::Text(text) if text.starts_with("QUIT") => bail!("{text}"),
            Message::Close(close) => bail!("the hub closed the socket: {close:?}"),
            _ => {}
        }
    }
    bail!("the hub closed the socket without a word")
}

async fn open(hub: SocketAddr, path: &str) -> anyhow::Result<Socket> {
    let stream = TcpStream::connect(hub).await?;
    Ok(client_async(format!("ws://{hub}{path}"), stream).await?.0)
}

// The page and the files that it names.
fn load(hub: SocketAddr) -> anyhow::Result<()> {
    let agent = agent();
    let page = get(&agent, hub, "/")?;
    let mut files = vec![];
    for part in page.split(['"', '\'']).filter(|part| part.starts_with("/js/") || part.starts_with("/style/")) {
        if !files.contains(&part) {
            files.push(part);
        }
    }
    for file in files {
        get(&agent, hub, file)?;
    }
    Ok(())
}

fn get(agent: &ureq::Agent, hub: SocketAddr, path: &str) -> anyhow::Result<String> {
    let mut answer = agent.get(format!("http://{hub}{path}")).call()?;
    if !answer.status().is_success() {
        bail!("{path}: {}", answer.status());
    }
    Ok(answer.body_mut().read_to_string()?)
}

// A room with a free seat.
fn play(hub: SocketAddr) -> anyhow::Result<String> {
    let answer = agent().post(format!("http://{hub}/api/play/nuggets")).send_empty()?;
    let room = json(answer).context("no seat")?;
    Ok(room["id"].as_str().context("a room has an id")?.to_owned())
}
