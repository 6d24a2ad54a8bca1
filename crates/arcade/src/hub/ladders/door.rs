//! The port of a ladder: who comes there says its name and its key first.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use ladder::ProgramId;
use netcore::{HostId, Link};
use servekit::Sockets;
use store::{ALL_TIME, Board, Kind, LADDER, StoreError};
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::{Semaphore, mpsc},
    time::{sleep, timeout},
};
use tracing::{debug, info, warn};

use super::{
    attend::Program,
    keys,
    line::{Line, PATIENCE},
    told::{Newcomer, Told, Tunnel, USUAL_RATING},
};
use crate::{
    games::{
        Game,
        ladder::{First, MAX_FIRST},
    },
    hub::{Hub, tries::Purpose},
    results::clock::unix_now,
};

/// Programs whose first message is awaited or looked into, of one ladder.
const MAX_ENTERING: usize = 64;
/// Datagrams that wait for a program to take them.
const INBOX: usize = 64;
/// Orders that wait for a program. There are two at most: to play, and how that ends.
const ORDERS: usize = 4;
/// The pause after the system has refused a connection.
const PAUSE: Duration = Duration::from_secs(1);

/// What all who enter need.
#[derive(Debug, Clone)]
struct Door {
    hub: Weak<Hub>,
    game: Game,
    greeting: Bytes,
    keeper: mpsc::Sender<Told>,
    entering: Arc<Semaphore>,
}

/// Listens until the hub is gone. `held` is kept as long.
///
/// # Errors
/// When the runtime does not accept a socket.
pub(super) fn open(
    hub: &Arc<Hub>,
    (game, greeting): (Game, Bytes),
    sockets: Sockets,
    held: impl Send + Sync + 'static,
    (keeper, tunnels): (mpsc::Sender<Told>, mpsc::Receiver<Tunnel>),
) -> anyhow::Result<()> {
    let entering = Arc::new(Semaphore::new(MAX_ENTERING));
    let door = Door { hub: Arc::downgrade(hub), game, greeting, keeper, entering };
    let held = Arc::new(held);
    match sockets {
        Sockets::Tcp(listeners, _) => {
            for listener in listeners {
                let (listener, door, held) = (TcpListener::from_std(listener)?, door.clone(), Arc::clone(&held));
                tokio::spawn(async move {
                    let _held = held;
                    door.accept(listener).await;
                });
            }
        }
        Sockets::Udp(sockets) => {
            for socket in sockets {
                let (socket, door, held) = (UdpSocket::from_std(socket)?, door.clone(), Arc::clone(&held));
                tokio::spawn(async move {
                    let _held = held;
                    door.receive(Arc::new(socket)).await;
                });
            }
        }
    }
    tokio::spawn(door.connect(tunnels));
    Ok(())
}

impl Door {
    async fn accept(self, listener: TcpListener) {
        loop {
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    debug!(%error, "a connection to the ladder fails");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let Some(hub) = self.hub.upgrade() else { return };
            let host = HostId::from(address);
            // It counts as one of a room, and beyond the bounds it is closed at once.
            let Ok(permit) = hub.resources().files.open(host) else { continue };
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            if hub.bans().has(host) {
                continue;
            }
            let door = self.clone();
            tokio::spawn(async move {
                let _permit = permit;
                netshell::tune_accepted(&stream);
                door.attend(Line::Stream(stream), host, enters).await;
            });
        }
    }

    // Those who come over a WebSocket.
    async fn connect(self, mut tunnels: mpsc::Receiver<Tunnel>) {
        let datagrams = self.game.link() == Link::Datagram;
        while let Some(Tunnel { host, inbox, outbox }) = tunnels.recv().await {
            // Beyond the bound it is closed at once.
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            let (door, line) = (self.clone(), Line::Tunnel { inbox, outbox, datagrams });
            tokio::spawn(async move { door.attend(line, host, enters).await });
        }
    }

    async fn attend(&self, mut line: Line, host: HostId, enters: impl Send) {
        let Some(said) = self.first(&mut line).await else { return };
        let program = self.enter(line, host, said).await;
        drop(enters);
        if let Some(program) = program {
            program.stay().await;
        }
    }

    // What a program says first, or why that is not its name.
    async fn first(&self, line: &mut Line) -> Option<Result<String, String>> {
        if !self.greeting.is_empty() {
            line.write(&self.greeting).await.ok()?;
        }
        let mut said = BytesMut::new();
        let first = async {
            loop {
                if !line.read(&mut said).await.unwrap_or(false) {
                    return None;
                }
                match self.game.first(&said) {
                    First::Join(name, _) => return Some(Ok(name)),
                    First::Wrong(why) => return Some(Err(why.to_owned())),
                    First::Incomplete if said.len() > MAX_FIRST => return Some(Err("it is too long".to_owned())),
                    First::Incomplete => {}
                }
            }
        };
        timeout(PATIENCE, first).await.ok()?
    }

    async fn receive(self, socket: Arc<UdpSocket>) {
        let mut programs: HashMap<SocketAddr, mpsc::Sender<Bytes>> = HashMap::new();
        let mut buffer = BytesMut::with_capacity(1 << 16);
        loop {
            buffer.clear();
            let received = socket.recv_buf_from(&mut buffer).await;
            let Some(hub) = self.hub.upgrade() else { return };
            // What the system says of one program is nothing to the others.
            let Ok((_, peer)) = received else { continue };
            let datagram = Bytes::copy_from_slice(&buffer);
            if let Some(inbox) = programs.get(&peer).filter(|inbox| !inbox.is_closed()) {
                // A lost datagram is not sent again.
                let _ = inbox.try_send(datagram);
                continue;
            }
            let host = HostId::from(peer);
            if hub.bans().has(host) || datagram.len() > MAX_FIRST {
                continue;
            }
            // Anything else is not answered, since the address may be forged.
            let First::Join(name, _) = self.game.first(&datagram) else { continue };
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            programs.retain(|_, inbox| !inbox.is_closed());
            let (sender, inbox) = mpsc::channel(INBOX);
            programs.insert(peer, sender);
            let (door, line) = (self.clone(), Line::Shared { socket: Arc::clone(&socket), peer, inbox });
            tokio::spawn(async move {
                let program = door.enter(line, host, Ok(name)).await;
                drop(enters);
                if let Some(program) = program {
                    program.stay().await;
                }
            });
        }
    }

    // Lets a program in that has said this, or tells it why not.
    async fn enter(&self, line: Line, host: HostId, said: Result<String, String>) -> Option<Program> {
        let hub = self.hub.upgrade()?;
        // The source of a first datagram may be forged, and the owner of that address has not tried anything.
        let is_charged = !matches!(line, Line::Shared { .. });
        match self.prove(&hub, host, said, is_charged).await {
            Ok((name, rating)) => {
                static NEXT: AtomicU64 = AtomicU64::new(0);
                let id = ProgramId(NEXT.fetch_add(1, Ordering::Relaxed));
                let (orders, receiver) = mpsc::channel(ORDERS);
                let newcomer = Newcomer { name, host, orders };
                self.keeper.send(Told::Came(id, newcomer, rating)).await.ok()?;
                Some(Program { id, game: self.game, line, orders: receiver, keeper: self.keeper.clone() })
            }
            Err(why) => {
                info!(game = self.game.name(), %why, "a program is not let onto the ladder");
                let mut line = line;
                if let Some(farewell) = self.game.refusal(&why) {
                    let _ = line.write(&farewell).await;
                }
                line.end().await;
                None
            }
        }
    }

    // The name and the rating of a program, or why it is not let in. A wrong key that is not charged helps no one to guess: it has 80 bits.
    async fn prove(
        &self,
        hub: &Arc<Hub>,
        host: HostId,
        said: Result<String, String>,
        is_charged: bool,
    ) -> Result<(String, i64), String> {
        let (name, key) = keys::split(&said?)?;
        let purpose = Purpose::Key(name.clone());
        if let Some(wait) = hub.tries.wait(host, &purpose) {
            return Err(format!("too many wrong keys came from your address; try again in {} s", wait.as_secs() + 1));
        }
        let store = hub.results().store.clone();
        let away = |error: StoreError| {
            warn!(%error, "keys of programs cannot be looked up");
            "names cannot be looked up just now; try again in a moment".to_owned()
        };
        let turn = hub.resources().queries.wait(host).await.map_err(|refusal| refusal.to_string())?;
        let owned = store.names_of(&keys::hash(&key)).await.map_err(away)?;
        if !owned.contains(&name) {
            if is_charged {
                hub.tries.charge(host, purpose);
            }
            return Err(format!(
                "this key does not prove the name {name}; `arcade ladder join` gives a key for a name"
            ));
        }
        let board = Board { game: self.game.name(), class: LADDER, season: ALL_TIME };
        let known = store.rating(board, (&name, Kind::Proven), unix_now()).await.map_err(away)?;
        drop(turn);
        Ok((name, known.map_or(USUAL_RATING, |(rating, _)| rating)))
    }
}
