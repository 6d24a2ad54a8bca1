//! The port of a ladder. A program first sends its name and its key.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use ladder::{Input, LatencyMeter, ProgramId};
use netcore::{HostId, Link, Time};
use rand::{TryRng as _, rngs::SysRng};
use servekit::Sockets;
use sha2::{Digest as _, Sha256};
use store::{ALL_TIME, Board, KEY_HASH_LENGTH, LADDER, PlayerKind, StoreError, unix_now};
use tokio::{
    net::{TcpListener, TcpStream, UdpSocket},
    sync::{Semaphore, mpsc},
    time::{Instant, sleep, sleep_until, timeout},
};
use tracing::{debug, info, warn};

use super::board::{LadderMessage, Newcomer, Order, Table, Tunnel, USUAL_RATING};
use super::link::{PATIENCE, ProgramLink};
use crate::{
    games::{
        Game,
        ladder::{First, MAX_FIRST, MessageParser, ProgramEvent},
    },
    hub::{Hub, codes::Purpose, shares::RefusalKind},
    player_name::is_path,
    proxied::{self, Proxied},
};

/// Programs of a ladder whose first message is awaited or checked.
const MAX_ENTERING: usize = 64;
const INBOX: usize = 64;
/// Fits the two orders of a match: to play, and its end.
const ORDERS: usize = 4;
/// The pause after an error of `accept`.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
struct ProgramListener {
    hub: Weak<Hub>,
    game: Game,
    greeting: Bytes,
    ladder_task: mpsc::Sender<LadderMessage>,
    entering: Arc<Semaphore>,
}

/// Accepts programs until the hub is dropped, then drops `held`.
pub(super) fn open(
    hub: &Arc<Hub>,
    (game, greeting): (Game, Bytes),
    sockets: Sockets,
    held: impl Send + Sync + 'static,
    (ladder_task, tunnels): (mpsc::Sender<LadderMessage>, mpsc::Receiver<Tunnel>),
) -> anyhow::Result<()> {
    let entering = Arc::new(Semaphore::new(MAX_ENTERING));
    let server = ProgramListener { hub: Arc::downgrade(hub), game, greeting, ladder_task, entering };
    let held = Arc::new(held);
    match sockets {
        Sockets::Tcp(listeners, _) => {
            for listener in listeners {
                let (listener, server, held) = (TcpListener::from_std(listener)?, server.clone(), Arc::clone(&held));
                tokio::spawn(async move {
                    let _held = held;
                    server.accept(listener).await;
                });
            }
        }
        Sockets::Udp(sockets) => {
            for socket in sockets {
                let (socket, server, held) = (UdpSocket::from_std(socket)?, server.clone(), Arc::clone(&held));
                tokio::spawn(async move {
                    let _held = held;
                    server.receive(Arc::new(socket)).await;
                });
            }
        }
    }
    tokio::spawn(server.connect(tunnels));
    Ok(())
}

impl ProgramListener {
    async fn accept(self, listener: TcpListener) {
        loop {
            let (stream, address) = match listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    debug!(%error, "a connection to the ladder failed");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let Some(hub) = self.hub.upgrade() else { return };
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            netshell::tune_accepted(&stream);
            let callers = &hub.resources().callers;
            if !(callers.proxies.send_headers() && callers.is_proxy(address)) {
                self.admit(&hub, stream.into(), address, enters);
                continue;
            }
            let server = self.clone();
            tokio::spawn(async move {
                let read = proxied::read_header(stream).await;
                let Some(hub) = server.hub.upgrade() else { return };
                match read {
                    Ok((stream, addresses)) => {
                        let client = addresses.map_or(address, |addresses| addresses.source);
                        server.admit(&hub, stream, client, enters);
                    }
                    Err(_) => {
                        hub.resources().callers.complain(RefusalKind::Connections, &proxied::no_header(address));
                    }
                }
            });
        }
    }

    fn admit(&self, hub: &Hub, stream: Proxied<TcpStream>, client: SocketAddr, enters: impl Send + 'static) {
        let host = HostId::from(client);
        // A program uses a file, like a connection to a room.
        let Ok(permit) = hub.resources().files.open(host) else { return };
        if hub.bans().has(host) {
            return;
        }
        let server = self.clone();
        tokio::spawn(async move {
            let _permit = permit;
            server.attend(ProgramLink::Stream(stream), host, enters).await;
        });
    }

    async fn connect(self, mut tunnels: mpsc::Receiver<Tunnel>) {
        let datagrams = self.game.link() == Link::Datagram;
        while let Some(Tunnel { host, inbox, outbox }) = tunnels.recv().await {
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            let (server, line) = (self.clone(), ProgramLink::Tunnel { inbox, outbox, datagrams });
            tokio::spawn(async move { server.attend(line, host, enters).await });
        }
    }

    async fn attend(&self, mut line: ProgramLink, host: HostId, enters: impl Send) {
        let Some(login) = self.first(&mut line).await else { return };
        let program = self.enter(line, host, login).await;
        drop(enters);
        if let Some(program) = program {
            program.run().await;
        }
    }

    // An error states why the name is invalid.
    async fn first(&self, line: &mut ProgramLink) -> Option<Result<String, String>> {
        if !self.greeting.is_empty() {
            line.write(&self.greeting).await.ok()?;
        }
        let mut received = BytesMut::new();
        let first = async {
            loop {
                if !line.read(&mut received).await.unwrap_or(false) {
                    return None;
                }
                match self.game.first(&received) {
                    First::Join(name, _) => return Some(Ok(name)),
                    First::Wrong(why) => return Some(Err(why.to_owned())),
                    First::Incomplete if received.len() > MAX_FIRST => return Some(Err("it is too long".to_owned())),
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
            // The error may concern another program.
            let Ok((_, peer)) = received else { continue };
            let datagram = Bytes::copy_from_slice(&buffer);
            if let Some(inbox) = programs.get(&peer).filter(|inbox| !inbox.is_closed()) {
                let _ = inbox.try_send(datagram);
                continue;
            }
            let host = HostId::from(peer);
            if hub.bans().has(host) || datagram.len() > MAX_FIRST {
                continue;
            }
            // The address may be forged, so other datagrams get no response.
            let First::Join(name, _) = self.game.first(&datagram) else { continue };
            let Ok(enters) = Arc::clone(&self.entering).try_acquire_owned() else { continue };
            programs.retain(|_, inbox| !inbox.is_closed());
            let (sender, inbox) = mpsc::channel(INBOX);
            programs.insert(peer, sender);
            let (server, line) = (self.clone(), ProgramLink::Shared { socket: Arc::clone(&socket), peer, inbox });
            tokio::spawn(async move {
                let program = server.enter(line, host, Ok(name)).await;
                drop(enters);
                if let Some(program) = program {
                    program.run().await;
                }
            });
        }
    }

    async fn enter(&self, line: ProgramLink, host: HostId, login: Result<String, String>) -> Option<Program> {
        let hub = self.hub.upgrade()?;
        // The address may be forged, so it is not charged for a failed try.
        let is_charged = !matches!(line, ProgramLink::Shared { .. });
        match self.prove(&hub, host, login, is_charged).await {
            Ok((name, rating)) => {
                static NEXT: AtomicU64 = AtomicU64::new(0);
                let id = ProgramId(NEXT.fetch_add(1, Ordering::Relaxed));
                let (orders, receiver) = mpsc::channel(ORDERS);
                let latency = Arc::<Mutex<LatencyMeter>>::default();
                let newcomer = Newcomer { name, host, orders, latency: Arc::clone(&latency) };
                self.ladder_task.send(LadderMessage::Connected(id, newcomer, rating)).await.ok()?;
                let ladder_task = self.ladder_task.clone();
                Some(Program { id, game: self.game, line, orders: receiver, ladder_task, latency })
            }
            Err(why) => {
                info!(game = self.game.name(), %why, "rejected a program");
                let mut line = line;
                if let Some(farewell) = self.game.refusal(&why) {
                    let _ = line.write(&farewell).await;
                }
                line.end().await;
                None
            }
        }
    }

    // Uncharged tries do not help to guess a key, which has 80 bits.
    async fn prove(
        &self,
        hub: &Arc<Hub>,
        host: HostId,
        login: Result<String, String>,
        is_charged: bool,
    ) -> Result<(String, i64), String> {
        let (name, key) = split(&login?)?;
        let purpose = Purpose::Key(name.clone());
        if let Some(wait) = hub.tries.wait(host, &purpose) {
            return Err(format!("too many wrong keys came from your address; try again in {} s", wait.as_secs() + 1));
        }
        let store = hub.results().store.clone();
        let away = |error: StoreError| {
            warn!(%error, "cannot look up the keys of programs");
            "names cannot be looked up just now; try again in a moment".to_owned()
        };
        let turn = hub.resources().queries.wait(host).await.map_err(|refusal| refusal.to_string())?;
        let owned = store.names_of(&hash(&key)).await.map_err(away)?;
        if !owned.contains(&name) {
            if is_charged {
                hub.tries.charge(host, &purpose);
            }
            return Err(format!(
                "this key does not prove the name {name}; `arcade ladder join` gives a key for a name"
            ));
        }
        let board = Board { game: self.game.name(), class: LADDER, season: ALL_TIME };
        let known = store.rating(board, (&name, PlayerKind::Proven), unix_now()).await.map_err(away)?;
        drop(turn);
        Ok((name, known.map_or(USUAL_RATING, |(rating, _)| rating)))
    }
}

/// Bytes that a program may send before its match. They are discarded, because they may repeat the key.
const MAX_EARLY: usize = 1 << 20;
/// How often the ladder's task is notified that a program sends data, in games that request no moves.
const PULSE: Duration = Duration::from_millis(500);
/// How long the last datagrams of a finished room may take.
const LINGER: Duration = Duration::from_millis(300);

pub(super) struct Program {
    pub(super) id: ProgramId,
    pub(super) game: Game,
    pub(super) line: ProgramLink,
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) ladder_task: mpsc::Sender<LadderMessage>,
    pub(super) latency: Arc<Mutex<LatencyMeter>>,
}

impl Program {
    /// Returns when the program has disconnected or its match is over.
    pub(super) async fn run(mut self) {
        let (mut early, mut discarded) = (BytesMut::new(), 0);
        let table = loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    Some(Order::Play(table)) => break table,
                    Some(Order::Dismiss(why)) => return self.dismiss(&why).await,
                    Some(Order::HandOver(orders)) => {
                        let _ = orders.try_send(Order::Reconnected(Box::new(self.line)));
                        return;
                    }
                    Some(Order::Over | Order::Reconnected(_)) | None => return self.line.end().await,
                },
                read = self.line.read(&mut early) => {
                    discarded += early.len();
                    early.clear();
                    if !read.unwrap_or(false) || discarded > MAX_EARLY {
                        return self.report(Input::Disconnected(self.id)).await;
                    }
                }
            }
        };
        self.play(*table).await;
    }

    async fn play(mut self, Table { mut room, join, greeting, seat }: Table) {
        let (mut received, mut output) = (BytesMut::new(), BytesMut::new());
        let (mut parser, mut skip) = (MessageParser::default(), greeting.clone());
        // A reconnected program receives the output of the room from these bytes on.
        let mut awaited = Bytes::new();
        let begun = Instant::now();
        let now = || Time::ZERO.plus(begun.elapsed());
        let mut pulse = begun;
        let mut finished = false;
        // When to stop forwarding the output of the room.
        let mut ends: Option<Instant> = None;
        loop {
            if !received.is_empty() {
                // A repeated join contains the key.
                let is_join = self.line.is_datagrams() && matches!(self.game.first(&received), First::Join(..));
                let message = if is_join { &join[..] } else { &received[..] };
                // After the program has finished, the room would interpret its data as leaving.
                if !finished && room.write(message).await.is_err() {
                    finished = true;
                }
                received.clear();
                if !finished {
                    self.latency().answer(now());
                }
                if !finished && (self.game.requests_moves() || pulse <= Instant::now()) {
                    pulse = Instant::now() + PULSE;
                    self.report(Input::Answered(self.id)).await;
                }
            }
            tokio::select! {
                // The output of the room may contain the end of the match, so it comes first.
                biased;
                read = room.read(&mut output) => {
                    if !read.unwrap_or(false) {
                        break;
                    }
                    if !found(&mut output, &mut awaited) {
                        continue;
                    }
                    let from = skipped(&output, &mut skip);
                    let events = self.game.parse_events(&mut parser, &output[from..]);
                    if from < output.len() && self.line.write(&output[from..]).await.is_err() {
                        self.lose_line().await;
                    }
                    output.clear();
                    if !self.game.requests_moves() {
                        self.latency().request(now());
                    }
                    for event in events {
                        match event {
                            ProgramEvent::Requested => {
                                self.latency().request(now());
                                self.report(Input::Requested(self.id)).await;
                            }
                            ProgramEvent::Finished => {
                                finished = true;
                                self.report(Input::Finished(self.id)).await;
                            }
                        }
                    }
                }
                // A closed channel is always ready, and would starve the other branches.
                order = self.orders.recv(), if ends.is_none() => match order {
                    Some(Order::Reconnected(line)) => {
                        self.line = *line;
                        (parser, skip) = (MessageParser::default(), greeting.clone());
                        received.clear();
                        output.clear();
                        awaited = if greeting.is_empty() { self.game.state_start() } else { greeting.clone() };
                        let (room, address) = &seat;
                        if let Some(room) = room.upgrade() {
                            room.refresh(*address);
                        }
                    }
                    Some(Order::Over | Order::Play(_) | Order::HandOver(_)) | None => {
                        ends = Some(Instant::now() + LINGER);
                    }
                    Some(Order::Dismiss(why)) => {
                        // The program leaves first, so that the room records its loss.
                        leave(self.game, room).await;
                        return self.dismiss(&why).await;
                    }
                },
                () = sleep_until(ends.unwrap_or_else(Instant::now)), if ends.is_some() => break,
                read = self.line.read(&mut received), if !finished || !self.line.is_datagrams() => {
                    if !read.unwrap_or(false) {
                        self.lose_line().await;
                        received.clear();
                        if finished {
                            // The seat remains until the other players have finished.
                            return outlast(room, &mut self.orders).await;
                        }
                    }
                }
            }
        }
        self.report(Input::Disconnected(self.id)).await;
        self.line.end().await;
    }

    // The ladder's task decides whether the program may reconnect, or is dismissed.
    async fn lose_line(&mut self) {
        self.line = ProgramLink::Lost;
        self.report(Input::Disconnected(self.id)).await;
    }

    async fn dismiss(mut self, why: &str) {
        if let Some(farewell) = self.game.refusal(why) {
            let _ = self.line.write(&farewell).await;
        }
        self.line.end().await;
    }

    fn latency(&self) -> MutexGuard<'_, LatencyMeter> {
        self.latency.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn report(&self, input: Input) {
        // If the ladder's task has ended, the hub is ending.
        let _ = self.ladder_task.send(LadderMessage::Input(input)).await;
    }
}

// Discards output before the awaited bytes. Returns `false` if they are still awaited.
fn found(output: &mut BytesMut, awaited: &mut Bytes) -> bool {
    if awaited.is_empty() {
        return true;
    }
    if let Some(at) = output.windows(awaited.len()).position(|bytes| bytes == &awaited[..]) {
        output.advance(at);
        awaited.clear();
        return true;
    }
    // They may arrive in pieces.
    output.advance(output.len().saturating_sub(awaited.len() - 1));
    false
}

// Returns the number of bytes that the program already has.
fn skipped(output: &[u8], skip: &mut Bytes) -> usize {
    if skip.is_empty() {
        return 0;
    }
    // A room sends its greeting immediately, so it arrives whole.
    let greeting = std::mem::take(skip);
    if output.starts_with(&greeting) { greeting.len() } else { 0 }
}

async fn leave(game: Game, mut room: ProgramLink) {
    if let Some(goodbye) = game.leave() {
        // Local datagrams are not lost.
        let _ = room.write(&goodbye).await;
    }
    room.cut();
}

async fn outlast(mut room: ProgramLink, orders: &mut mpsc::Receiver<Order>) {
    let mut output = BytesMut::new();
    loop {
        tokio::select! {
            order = orders.recv() => if !matches!(order, Some(Order::Play(_))) {
                return;
            },
            read = timeout(12 * PATIENCE, room.read(&mut output)) => {
                output.clear();
                if !matches!(read, Ok(Ok(true))) {
                    return;
                }
            }
        }
    }
}

/// In bytes.
pub(crate) const MAX_PROGRAM_NAME: usize = 24;
pub(crate) const MARK: char = '#';
/// Without characters that resemble others.
const DIGITS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz123456789";
const LENGTH: usize = 16;

pub(crate) fn draw() -> anyhow::Result<String> {
    let mut drawn = [0_u8; LENGTH];
    SysRng.try_fill_bytes(&mut drawn)?;
    Ok(drawn.iter().map(|byte| char::from(DIGITS[usize::from(byte % 32)])).collect())
}

pub(crate) fn hash(key: &str) -> [u8; KEY_HASH_LENGTH] {
    Sha256::digest(format!("ladder\n{key}")).into()
}

/// Allows only characters that all protocols can transmit.
pub(crate) fn check(name: &str) -> Result<(), String> {
    let is_known = |letter: u8| letter.is_ascii_alphanumeric() || b"._-".contains(&letter);
    if (1..=MAX_PROGRAM_NAME).contains(&name.len()) && name.bytes().all(is_known) && !is_path(name) {
        return Ok(());
    }
    Err(format!(
        "the name of a program has 1 to {MAX_PROGRAM_NAME} letters, digits, '.', '_' or '-', and is not '.' or '..'"
    ))
}

pub(crate) fn split(login: &str) -> Result<(String, String), String> {
    let Some((name, key)) = login.trim_end().split_once(MARK) else {
        return Err("say your name as NAME#KEY; `arcade ladder join NAME` gives a key".into());
    };
    check(name)?;
    Ok((name.to_owned(), key.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::UdpSocket;

    use super::*;

    async fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0").await.unwrap()
    }

    #[tokio::test]
    async fn program_leaves_after_its_match_although_its_room_is_silent() {
        let (room, own, door) = (socket().await, socket().await, socket().await);
        own.connect(room.local_addr().unwrap()).await.unwrap();
        let (order, orders) = mpsc::channel(4);
        let (ladder_task, mut inputs) = mpsc::channel(4);
        let (_inbox, inbox) = mpsc::channel(1);
        let peer = door.local_addr().unwrap();
        let line = ProgramLink::Shared { socket: Arc::new(door), peer, inbox };
        let program =
            Program { id: ProgramId(1), game: Game::Nuggets, line, orders, ladder_task, latency: Arc::default() };
        let seat = (Weak::new(), peer);
        let (join, greeting) = (Bytes::from_static(b"PLAY Ada"), Bytes::new());
        let table = Table { room: ProgramLink::Own(own), join, greeting, seat };
        assert!(order.try_send(Order::Play(Box::new(table))).is_ok());
        assert!(order.try_send(Order::Over).is_ok());
        drop(order);
        timeout(testkit::PATIENCE, program.run()).await.expect("it goes");
        assert!(matches!(inputs.recv().await, Some(LadderMessage::Input(Input::Disconnected(ProgramId(1))))));
    }

    #[test]
    fn login_fits_into_the_shortest_name_of_all_protocols() {
        let (one, other) = (draw().unwrap(), draw().unwrap());
        assert_ne!(one, other);
        let received = format!("{}{MARK}{one}", "x".repeat(MAX_PROGRAM_NAME));
        assert!(received.len() <= 50, "the names of nuggets");
        assert_eq!(split(&received), Ok(("x".repeat(MAX_PROGRAM_NAME), one.clone())));
        assert!(hash(&one) != hash(&other) && hash(&one) == hash(&one.clone()));
    }

    #[test]
    fn names_have_the_characters_of_all_protocols() {
        for name in ["A", "my-bot_2.1", &"x".repeat(MAX_PROGRAM_NAME)] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a#b", "Zoë", "a\0", ".", "..", &"x".repeat(MAX_PROGRAM_NAME + 1)] {
            assert!(check(name).is_err(), "{name}");
        }
        assert!(split("Ann").unwrap_err().contains("NAME#KEY"));
        assert!(split("A n#key").is_err());
    }
}
