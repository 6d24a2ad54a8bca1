//! One match of the ladder, in a room that is open to nobody else.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use netcore::{Level, Link};
use tokio::{
    net::{TcpSocket, UdpSocket},
    sync::{mpsc, watch},
    task::block_in_place,
    time::timeout,
};
use tracing::warn;

use super::{
    line::{Line, PATIENCE},
    told::{Ended, Order, Table},
};
use crate::{
    games::Game,
    hub::Hub,
    room::{Room, file::RoomFile, info::Info},
};

/// How long a room may take until it has noticed who has left.
const NOTICE: Duration = Duration::from_secs(2);
/// The own end of a connection to a room.
const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Who plays.
#[derive(Debug)]
pub(super) enum Player {
    Program { name: String, orders: mpsc::Sender<Order> },
    Bot(Level),
}

/// A match that is about to be played.
#[derive(Debug)]
pub(super) struct Fixture {
    pub(super) game: Game,
    pub(super) players: Vec<Player>,
    /// Takes the name of its room.
    pub(super) room: Arc<OnceLock<String>>,
}

/// Plays a match until it is over or told to stop. None if it could not be played to any result. `settled` is awaited as soon as nobody
/// can lose any more, before connections are closed.
pub(super) async fn play(
    hub: &Arc<Hub>,
    fixture: Fixture,
    stop: watch::Receiver<bool>,
    settled: impl Future<Output = ()> + Send,
) -> Option<Ended> {
    let Fixture { game, players, room: named } = &fixture;
    let opened = block_in_place(|| {
        let set = |file: &mut RoomFile| {
            (file.ladder, file.locked, file.name) = (true, true, Some("Ladder".to_owned()));
            Ok(())
        };
        hub.open_with(&game.of_the_ladder(), None, set)
    });
    let room = match opened {
        Ok(room) => room,
        Err(error) => {
            warn!(game = game.name(), "a match of the ladder cannot be played: {error}");
            return None;
        }
    };
    // Given once.
    let _ = named.set(room.file().id.clone());
    let ended = match gather(hub, &room, &fixture).await {
        Ok(()) => watch_over(&room, stop, players).await,
        Err(error) => {
            warn!(game = game.name(), "a match of the ladder cannot be played: {error:#}");
            None
        }
    };
    settled.await;
    block_in_place(|| hub.rooms.close(&room, "the match is over"));
    let mut info = room.info.clone();
    // What it has still to say.
    let _ = timeout(PATIENCE, info.wait_for(|info| info.phase == "over")).await;
    ended
}

// Gives each program its seat, and seats the bot.
async fn gather(hub: &Arc<Hub>, room: &Arc<Room>, Fixture { game, players, .. }: &Fixture) -> anyhow::Result<()> {
    let greeting = game.greeting()?;
    for player in players {
        let Player::Program { name, orders } = player else { continue };
        let table = sit(room, *game, name, greeting.clone()).await.with_context(|| format!("{name} has no seat"))?;
        // One that is gone meanwhile leaves its seat empty.
        let _ = orders.try_send(Order::Play(Box::new(table)));
    }
    for player in players {
        let Player::Bot(level) = player else { continue };
        block_in_place(|| hub.rooms.seat_bot(room, *level, None))?;
    }
    Ok(())
}

// Connects to a room, as a proven name, and takes a seat.
async fn sit(room: &Room, game: Game, name: &str, greeting: Bytes) -> anyhow::Result<Table> {
    let known = |own: SocketAddr, link: Link| {
        // As the room is told of it; it lets nobody else in.
        let shown = room.roster.mask.shown(link, own);
        room.roster.open_seat(shown);
        room.roster.set_names(shown, &[name.to_owned()]);
        room.roster.add_member(shown, name, "");
    };
    let mut line = match game.link() {
        Link::Datagram => {
            let socket = UdpSocket::bind(HERE).await?;
            socket.connect(room.address).await?;
            known(socket.local_addr()?, Link::Datagram);
            Line::Own(socket)
        }
        link => {
            let socket = TcpSocket::new_v4()?;
            socket.bind(HERE)?;
            known(socket.local_addr()?, link);
            let stream = socket.connect(room.address).await?;
            netshell::tune_stream(&stream);
            Line::Stream(stream)
        }
    };
    let join = game.join(name);
    line.write(&join).await?;
    Ok(Table { room: line, join, greeting })
}

// Waits for the result, or for the word that the match ends as it stands.
async fn watch_over(room: &Arc<Room>, mut stop: watch::Receiver<bool>, players: &[Player]) -> Option<Ended> {
    let mut info = room.info.clone();
    let is_over = |info: &Info| info.result.is_some() || info.phase == "over";
    let is_stopped = tokio::select! {
        () = async { drop(info.wait_for(is_over).await) } => false,
        // Without a keeper the hub ends.
        () = async { drop(stop.wait_for(|stop| *stop).await) } => true,
    };
    if is_stopped {
        let seats = players.len();
        // Those who were removed leave first; if nobody was, the time is up.
        let has_left = |info: &Info| is_over(info) || info.players.len() < seats;
        let _ = timeout(NOTICE, info.wait_for(has_left)).await;
        block_in_place(|| room.close("the match is over"));
        let _ = timeout(PATIENCE, info.wait_for(|info| info.phase == "over")).await;
    }
    let info = info.borrow();
    let (id, rows) = (info.r#match.clone()?, info.result.clone()?);
    let mut programs = vec![];
    let mut bot = None;
    for player in players {
        match player {
            Player::Program { name, .. } => programs.push(name.clone()),
            Player::Bot(level) => bot = Some(*level),
        }
    }
    Some(Ended { id, rows, programs, bot })
}
