use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use ladder::{Forfeit, Input, Ladder, MatchId, Output, ProgramId, Rejection, Seat, Settings};
use netcore::{Level, Link, Time};
use store::unix_now;
use tokio::{
    net::{TcpSocket, UdpSocket},
    sync::{mpsc, watch},
    task::block_in_place,
    time::{Instant, MissedTickBehavior, interval, sleep_until, timeout},
};
use tracing::{info, warn};

use super::{
    board::{Board, Ended, LadderMessage, Newcomer, Order, Table},
    link::{PATIENCE, ProgramLink},
};
use crate::{
    games::Game,
    hub::{Hub, shares::RefusalKind},
    room::{Room, file::RoomFile, info::Info, register::level_name},
};

/// How often bans and revoked names are checked.
const CHECKS: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Running {
    seats: [Seat; 2],
    stop: watch::Sender<bool>,
    // Set once the match has a room.
    room: Arc<OnceLock<String>>,
}

pub(super) struct LadderTask {
    hub: Weak<Hub>,
    board: Arc<Board>,
    ladder: Ladder,
    start: Instant,
    programs: BTreeMap<ProgramId, Newcomer>,
    running: BTreeMap<MatchId, Running>,
    sender: mpsc::Sender<LadderMessage>,
}

impl LadderTask {
    pub(super) fn new(
        hub: Weak<Hub>,
        board: Arc<Board>,
        settings: Settings,
        sender: mpsc::Sender<LadderMessage>,
    ) -> Self {
        let (programs, running) = (BTreeMap::new(), BTreeMap::new());
        Self { hub, board, ladder: Ladder::new(settings), start: Instant::now(), programs, running, sender }
    }

    pub(super) async fn run(mut self, mut messages: mpsc::Receiver<LadderMessage>) {
        let mut checks = interval(CHECKS);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let due = self.ladder.deadline().map(|due| self.start + due.since(Time::ZERO));
            let inputs = tokio::select! {
                message = messages.recv() => match message {
                    Some(LadderMessage::Connected(program, newcomer, rating)) => {
                        let (name, host) = (newcomer.name.clone(), newcomer.host);
                        self.programs.insert(program, newcomer);
                        vec![Input::Connected { program, name, host, rating }]
                    }
                    Some(LadderMessage::Input(input)) => vec![input],
                    Some(LadderMessage::Settled(number)) => self.settled(number),
                    Some(LadderMessage::Ended(number, ended)) => vec![self.ended(number, ended)],
                    None => return,
                },
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => vec![Input::Elapsed],
                _ = checks.tick() => self.dismissed(),
            };
            if self.hub.upgrade().is_none_or(|hub| hub.rooms.is_draining()) {
                // Rooms are suspended now, and ladder rooms are not restored.
                return;
            }
            for input in inputs {
                self.process(input);
            }
            self.show();
        }
    }

    fn process(&mut self, input: Input) {
        let gone =
            if let Input::Disconnected(program) | Input::Removed(program) = input { Some(program) } else { None };
        let now = Time::ZERO.plus(self.start.elapsed());
        for output in self.ladder.input(now, input) {
            self.carry_out(&output);
        }
        // A playing program stays until the match is over.
        if let Some(gone) = gone.filter(|gone| self.ladder.name(*gone).is_none()) {
            self.programs.remove(&gone);
        }
    }

    // Disconnects programs that are banned or no longer prove their name. They thereby leave their matches.
    fn dismissed(&self) -> Vec<Input> {
        let Some(hub) = self.hub.upgrade() else { return vec![] };
        let revoked = self.board.take_revoked();
        let mut gone = vec![];
        for (program, newcomer) in &self.programs {
            let why = if hub.bans().has(newcomer.host) {
                RefusalKind::Banned.message().to_string()
            } else if revoked.contains(&newcomer.name) {
                "this key no longer owns this name".to_owned()
            } else {
                continue;
            };
            order(newcomer, Order::Dismiss(why));
            gone.push(Input::Removed(*program));
        }
        gone
    }

    fn settled(&self, number: MatchId) -> Vec<Input> {
        let seats = self.running.get(&number).map(|running| running.seats).into_iter().flatten();
        let finished = |seat| match seat {
            Seat::Program(program) => Some(Input::Finished(program)),
            Seat::Fixed(_) => None,
        };
        seats.filter_map(finished).collect()
    }

    fn carry_out(&mut self, output: &Output) {
        match *output {
            Output::Start { number, seats } => self.begin(number, seats),
            Output::Rejected(program, why) => {
                let why = match why {
                    Rejection::Full => "the ladder is full; try again later",
                    Rejection::Host => "too many programs of your address are on the ladder",
                    Rejection::Replaced => "another program with your name has connected",
                };
                if let Some(newcomer) = self.programs.remove(&program) {
                    order(&newcomer, Order::Dismiss(why.into()));
                }
            }
            Output::Reconnected { program, by } => {
                let Some(new) = self.programs.remove(&by) else { return };
                let Some(newcomer) = self.programs.get_mut(&program) else { return };
                info!(game = self.board.game.name(), name = newcomer.name, "a program has reconnected to its match");
                newcomer.host = new.host;
                order(&new, Order::HandOver(newcomer.orders.clone()));
            }
            Output::Forfeited(number, program, how) => {
                let Some(newcomer) = self.programs.get(&program) else { return };
                let why = match how {
                    Forfeit::TimedOut => "it did not answer in time",
                    Forfeit::Left => "it left before the end",
                };
                let (game, name) = (self.board.game.name(), &newcomer.name);
                info!(game, name, number = number.0, why, "a program lost its match");
                self.board.view().lose(how);
                order(newcomer, Order::Dismiss(format!("your program has lost the match: {why}")));
            }
            Output::Stop(number) => {
                if let Some(running) = self.running.get(&number) {
                    running.stop.send_replace(true);
                }
            }
        }
    }

    fn begin(&mut self, number: MatchId, seats: [Seat; 2]) {
        let (stop, stopped) = watch::channel(false);
        let player = |seat: &Seat| match seat {
            Seat::Program(program) => {
                let newcomer = &self.programs[program];
                Player::Program { name: newcomer.name.clone(), orders: newcomer.orders.clone() }
            }
            Seat::Fixed(level) => Player::Bot(*level),
        };
        let players = seats.iter().map(player).collect();
        let room = Arc::<OnceLock<String>>::default();
        self.running.insert(number, Running { seats, stop, room: Arc::clone(&room) });
        let Some(hub) = self.hub.upgrade() else { return };
        let (fixture, sender) = (Fixture { game: self.board.game, players, room }, self.sender.clone());
        tokio::spawn(async move {
            // If the ladder's task has ended, the hub is ending.
            let settled = async { drop(sender.send(LadderMessage::Settled(number)).await) };
            let ended = play(&hub, fixture, stopped, settled).await;
            let _ = sender.send(LadderMessage::Ended(number, ended)).await;
        });
    }

    fn ended(&mut self, number: MatchId, ended: Option<Ended>) -> Input {
        let mut latencies = BTreeMap::new();
        if let Some(running) = self.running.remove(&number) {
            for seat in running.seats {
                let Seat::Program(program) = seat else { continue };
                if let Some(newcomer) = self.programs.remove(&program) {
                    order(&newcomer, Order::Over);
                    latencies.extend(newcomer.latency().map(|latency| (newcomer.name, latency)));
                }
            }
        }
        if let Some(ended) = ended {
            self.board.view().end(ended, &latencies, unix_now());
        }
        Input::MatchEnded(number)
    }

    fn show(&self) {
        let now = Time::ZERO.plus(self.start.elapsed());
        let waiting = self.ladder.waiting().values();
        let waiting = waiting.map(|waiting| (waiting.name.clone(), now.since(waiting.since)));
        let name = |seat: &Seat| match seat {
            Seat::Program(program) => self.ladder.name(*program).unwrap_or_default().to_owned(),
            Seat::Fixed(level) => format!("bot, {}", level_name(*level)),
        };
        let room = |number: &MatchId| self.running.get(number).and_then(|running| running.room.get().cloned());
        let playing = self.ladder.playing().iter();
        let playing = playing.map(|(number, playing)| {
            (playing.seats.iter().map(name).collect(), now.since(playing.since), room(number))
        });
        self.board.view().update(waiting, playing, unix_now());
    }
}

// Orders may be lost: a program that does not take them is disconnected soon.
fn order(newcomer: &Newcomer, order: Order) {
    let _ = newcomer.orders.try_send(order);
}

/// How long a room may take to notice which players have left.
const NOTICE: Duration = Duration::from_secs(2);
const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

#[derive(Debug)]
pub(super) enum Player {
    Program { name: String, orders: mpsc::Sender<Order> },
    Bot(Level),
}

#[derive(Debug)]
pub(super) struct Fixture {
    pub(super) game: Game,
    pub(super) players: Vec<Player>,
    /// Set to the id of the room.
    pub(super) room: Arc<OnceLock<String>>,
}

/// Plays a match. Returns `None` without a result. Awaits `settled` once no program can lose any more, and then closes
/// the connections.
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
            warn!(game = game.name(), "cannot play a match of the ladder: {error}");
            return None;
        }
    };
    let _ = named.set(room.file().id.clone());
    let ended = match gather(hub, &room, &fixture).await {
        Ok(()) => watch_over(&room, stop, players).await,
        Err(error) => {
            warn!(game = game.name(), "cannot play a match of the ladder: {error:#}");
            None
        }
    };
    settled.await;
    block_in_place(|| hub.rooms.close(&room, "the match is over"));
    let mut info = room.info.clone();
    // The room may have output left.
    let _ = timeout(PATIENCE, info.wait_for(|info| info.phase == "over")).await;
    ended
}

async fn gather(hub: &Arc<Hub>, room: &Arc<Room>, Fixture { game, players, .. }: &Fixture) -> anyhow::Result<()> {
    let greeting = game.greeting()?;
    for player in players {
        let Player::Program { name, orders } = player else { continue };
        let table = sit(room, *game, name, greeting.clone()).await.with_context(|| format!("{name} has no seat"))?;
        // A disconnected program leaves its seat empty.
        let _ = orders.try_send(Order::Play(Box::new(table)));
    }
    for player in players {
        let Player::Bot(level) = player else { continue };
        block_in_place(|| hub.rooms.seat_bot(room, *level, None))?;
    }
    Ok(())
}

async fn sit(room: &Arc<Room>, game: Game, name: &str, greeting: Bytes) -> anyhow::Result<Table> {
    let known = |own: SocketAddr, link: Link| {
        // The address in the room, which admits no other client.
        let shown = room.roster.mask.room_address(link, own);
        room.roster.open_seat(shown);
        room.roster.set_names(shown, &[name.to_owned()]);
        room.roster.add_member(shown, name, "");
        shown
    };
    let (mut line, address) = match game.link() {
        Link::Datagram => {
            let socket = UdpSocket::bind(HERE).await?;
            socket.connect(room.address).await?;
            let address = known(socket.local_addr()?, Link::Datagram);
            (ProgramLink::Own(socket), address)
        }
        link => {
            let socket = TcpSocket::new_v4()?;
            socket.bind(HERE)?;
            let address = known(socket.local_addr()?, link);
            let stream = socket.connect(room.address).await?;
            netshell::tune_stream(&stream);
            (ProgramLink::Stream(stream.into()), address)
        }
    };
    let join = game.join(name);
    line.write(&join).await?;
    Ok(Table { room: line, join, greeting, seat: (Arc::downgrade(room), address) })
}

// Waits for the result, or for `stop` to end the match early.
async fn watch_over(room: &Arc<Room>, mut stop: watch::Receiver<bool>, players: &[Player]) -> Option<Ended> {
    let mut info = room.info.clone();
    let is_over = |info: &Info| info.result.is_some() || info.phase == "over";
    let is_stopped = tokio::select! {
        () = async { drop(info.wait_for(is_over).await) } => false,
        // If the ladder's task has ended, the hub is ending.
        () = async { drop(stop.wait_for(|stop| *stop).await) } => true,
    };
    if is_stopped {
        let seats = players.len();
        // Removed players leave first. If all are present, the time is up.
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
