//! One room: its host, the ways in which it is reached, and what the lobby shows of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use journal::{JournalEnd, JournalWatch, Writing};
use netcore::{
    GameEvent, Gone, Input, Leave, Link, Occupant, Outbox, Outcome, PeerId, Phase, Progress, Role, Split, Status, Time,
};
use netshell::{Clock, Observer, Precision, serve};
use serde::{Deserialize, Serialize};
use store::Kind;
use tokio::{
    sync::{Notify, oneshot, watch},
    time::sleep,
};
use tracing::{info, warn};

use crate::{
    begin::{Before, Begun, begin},
    bots::{Addresses, Bots, come_back},
    fuse::Broken,
    games::{Game, Options},
    metrics::{GameMetrics, Metrics},
    ports::{Lease, Ports},
    record::Record,
    results::{
        Results,
        ledger::Ledger,
        seats::{Seats, address_text},
    },
    transport::{Gate, WebSockets},
    warden::{Bans, Guard, Removals},
};

/// How long a room whose engine has panicked keeps its port before it begins anew, so that one that fails at once fills neither disk nor
/// log.
const BROKEN_PAUSE: Duration = Duration::from_secs(1);

/// What the lobby and the page of a room show of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Info {
    pub(crate) id: String,
    pub(crate) game: Game,
    pub(crate) title: String,
    /// `lobby`, `playing` or `over`.
    pub(crate) phase: &'static str,
    pub(crate) taken: u32,
    pub(crate) seats: u32,
    /// The port for native clients.
    pub(crate) port: u16,
    /// Who is in the game, in the order of joining.
    pub(crate) players: Vec<Player>,
    /// How many look on: they are connected and have no seat. Pictures of the lobby do not count.
    pub(crate) watchers: usize,
    /// The result of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// The id of the match that is played or was played last.
    pub(crate) r#match: Option<String>,
    /// Whether it stays open though nobody is in it.
    pub(crate) permanent: bool,
    pub(crate) options: Options,
    /// Why it is being closed.
    pub(crate) closing: Option<String>,
    /// How many are connected, without bots and pictures of the lobby.
    #[serde(skip)]
    pub(crate) people: usize,
}

/// A player as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Player {
    #[serde(skip)]
    pub(crate) peer: PeerId,
    #[serde(skip)]
    address: Option<String>,
    pub(crate) name: String,
    /// The seat in the game's own terms; empty for somebody who waits for one.
    pub(crate) seat: String,
    /// Whether it is a bot of the hub.
    pub(crate) bot: bool,
    /// Whether the name is proven to be its own.
    pub(crate) proven: bool,
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) rank: u32,
    pub(crate) name: String,
    pub(crate) seat: String,
    pub(crate) score: i64,
}

/// What becomes of a room when its task ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is over.
    Closed,
    /// It comes back when the hub is started again.
    Kept,
    /// It begins anew at once, with another journal.
    Renewed,
}

/// A room that is open.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) game: Game,
    pub(crate) gate: Gate,
    pub(crate) info: watch::Receiver<Info>,
    /// The address at which a program on this machine reaches it.
    pub(crate) address: SocketAddr,
    pub(crate) bots: Bots,
    /// Where pages watch that only show a picture of it.
    pub(crate) previews: Arc<Addresses>,
    pub(crate) removals: Arc<Removals>,
    /// What is known of its seats besides what they say.
    pub(crate) known: Arc<Seats>,
    /// How its journal is doing.
    pub(crate) journal: JournalWatch,
    // Somebody wants company, if need be that of bots.
    fill: Notify,
    // Changes what is shown of it; gone with the room.
    sender: std::sync::Weak<watch::Sender<Info>>,
    broken: Broken,
    record: Mutex<Record>,
    ending: Mutex<Ending>,
}

/// How a room is to end.
#[derive(Debug)]
struct Ending {
    stop: Option<oneshot::Sender<Leave>>,
    fate: Fate,
}

impl Room {
    /// Asks the room to end. A room that is to be closed is closed, also if it was to end in another way before.
    pub(crate) fn stop(&self, leave: Leave, fate: Fate) {
        let mut ending = self.ending();
        if let Some(stop) = ending.stop.take() {
            ending.fate = fate;
            // The room may have ended already.
            let _ = stop.send(leave);
        } else if fate == Fate::Closed {
            ending.fate = fate;
        }
    }

    /// Closes the room for good, and tells everybody in it why.
    pub(crate) fn close(&self, why: &str) {
        info!(room = self.record().id, why, "the room is closed");
        if let Some(sender) = self.sender.upgrade() {
            sender.send_modify(|info| info.closing = Some(why.to_owned()));
        }
        self.stop(Leave::Over, Fate::Closed);
    }

    /// Somebody in the room wants company: bots come if nobody else does.
    pub(crate) fn ask_for_company(&self) {
        self.fill.notify_one();
    }

    /// Resolves once for each request for company that is pending. Cancellation safe.
    pub(crate) async fn fill_requested(&self) {
        self.fill.notified().await;
    }

    /// Looks again whose names are proven: a browser has come back with its key.
    pub(crate) fn recognize(&self) {
        let Some(sender) = self.sender.upgrade() else { return };
        sender.send_if_modified(|info| {
            let mut changed = false;
            for player in info.players.iter_mut().filter(|player| !player.bot && !player.proven) {
                player.proven = self.known.kind(player.address.as_deref(), &player.name) == Kind::Proven;
                changed |= player.proven;
            }
            changed
        });
    }

    /// What is written down of the room.
    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What becomes of it when its task has ended.
    pub(crate) fn fate(&self) -> Fate {
        let ending = self.ending();
        let by_itself = ending.stop.is_some();
        if by_itself && self.broken.is_set() { Fate::Renewed } else { ending.fate }
    }

    /// Whether somebody wants it to be closed for good.
    pub(crate) fn is_to_close(&self) -> bool {
        let ending = self.ending();
        ending.stop.is_none() && ending.fate == Fate::Closed
    }

    fn ending(&self) -> MutexGuard<'_, Ending> {
        self.ending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where rooms listen and write.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) ports: Ports,
    pub(crate) journals: PathBuf,
    pub(crate) writing: Writing,
    pub(crate) open_files: Option<u64>,
    pub(crate) bans: Arc<Bans>,
    pub(crate) results: Arc<Results>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Opens a room as its record says: a new one, or one that comes back. The future runs it to its end and gives its journal.
///
/// # Errors
/// When the options do not go together, or the port or the journal cannot be had.
pub(crate) fn open(
    mut record: Record,
    place: &Place,
) -> anyhow::Result<(Arc<Room>, impl Future<Output = JournalEnd> + Send + 'static)> {
    let options = record.options.clone();
    let (sockets, lease) = place.ports.open(options.game().wire(), record.port)?;
    let listen = sockets.addresses()?;
    let address = reachable(&listen, lease.port);
    // Before anything is sent to them.
    let back = come_back(&mut record.bots, options.game(), address);
    let journal = record.journal.as_ref().map(|name| place.journals.join(name));
    let Begun { host, broken, journal, id, end, status, before } = begin(&options, journal.as_deref(), place, &listen)?;
    if before.is_none() {
        record.begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    }
    record.journal = journal.file_name().map(|name| name.to_string_lossy().into_owned());
    record.port = lease.port;
    let bots = Bots::new(back);
    let mut info = Info {
        id: record.id.clone(),
        game: options.game(),
        title: options.title(),
        phase: phase(status.phase),
        taken: status.taken,
        seats: status.seats,
        port: lease.port,
        players: vec![],
        watchers: 0,
        result: record.result.clone(),
        r#match: None,
        permanent: record.permanent,
        options: options.shown(),
        closing: None,
        people: 0,
    };
    let ledger = Ledger::open(&place.results, (&journal, id), before.is_none(), &info);
    let known = ledger.seats();
    let previews = Arc::<Addresses>::default();
    let present = Present::of(before.as_ref(), bots.addresses(), Arc::clone(&previews), &mut info);
    let (sender, receiver) = watch::channel(info);
    let sender = Arc::new(sender);
    let (gate, web) = WebSockets::new();
    let removals = Arc::<Removals>::default();
    let host = host(Arc::clone(&sender))
        .with_observer(Chronicle { info: Arc::clone(&sender), present, ledger })
        .with_warden(Guard::new(Arc::clone(&place.bans), Arc::clone(&removals)))
        .with_transport(web);
    let mut host = sockets.let_in(host, place.open_files)?;
    let mut at = Time::ZERO;
    if let Some(before) = before {
        at = before.at;
        if options.is_daily() {
            // Days go on while the hub is away.
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            at = at.max(Time::ZERO.plus(now.saturating_sub(Duration::from_secs(record.begun))));
        }
        host.resume(at, before.peers);
        for (address, frames) in before.farewells {
            host.repeat_farewell(at, address, frames);
        }
    }
    let (stop, stopped) = oneshot::channel();
    let id = record.id.clone();
    let room = Arc::new(Room {
        game: record.options.game(),
        gate,
        info: receiver,
        address,
        bots,
        previews,
        removals,
        known,
        journal: end.watch(),
        fill: Notify::new(),
        sender: Arc::downgrade(&sender),
        broken: broken.clone(),
        record: Mutex::new(record),
        ending: Mutex::new(Ending { stop: Some(stop), fate: Fate::Closed }),
    });
    let run = run(id, host, at, stopped, end, (sender, lease, broken));
    Ok((room, run))
}

async fn run(
    id: String,
    host: netshell::Host,
    at: Time,
    stopped: oneshot::Receiver<Leave>,
    end: JournalEnd,
    (sender, _lease, broken): (Arc<watch::Sender<Info>>, Lease, Broken),
) -> JournalEnd {
    let leave = async {
        match stopped.await {
            // A journal that was cut cannot be resumed, so players are told that it is over.
            Ok(Leave::Resumable) if !end.is_open() => Leave::Over,
            Ok(leave) => leave,
            // The hub has forgotten the room.
            Err(_) => Leave::Over,
        }
    };
    // A millisecond is nothing beside the network, and hundreds of timers of their own would cost more than the rooms.
    let clock = Clock::start_at(at).with_precision(Precision::Millisecond);
    match serve(host, clock, leave).await {
        Ok(outcome) => info!(room = id, ?outcome, "the room has ended"),
        Err(error) => warn!(room = id, %error, "the room has failed"),
    }
    end.close();
    sender.send_modify(|info| info.phase = "over");
    if broken.is_set() {
        sleep(BROKEN_PAUSE).await;
    }
    end
}

// The address at which a program on this machine reaches a room.
fn reachable(listen: &[SocketAddr], port: u16) -> SocketAddr {
    let ip = listen.first().map_or(std::net::Ipv4Addr::LOCALHOST.into(), |address| match address.ip() {
        // One socket for both families listens here too.
        ip if ip.is_unspecified() => std::net::Ipv4Addr::LOCALHOST.into(),
        ip => ip,
    });
    SocketAddr::new(ip, port)
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Lobby => "lobby",
        Phase::Playing => "playing",
        Phase::Over => "over",
    }
}

/// A room that tells the lobby of its status.
pub(crate) struct Published<R> {
    room: R,
    info: Arc<watch::Sender<Info>>,
    status: Status,
    metrics: GameMetrics,
}

impl<R> Published<R> {
    pub(crate) const fn new(room: R, info: Arc<watch::Sender<Info>>, status: Status, metrics: GameMetrics) -> Self {
        Self { room, info, status, metrics }
    }
}

impl<R: netcore::Room> netcore::Room for Published<R> {
    fn split(&mut self, peer: PeerId, bytes: &[u8]) -> Split {
        self.room.split(peer, bytes)
    }

    fn input(&mut self, now: Time, input: Input<'_, &[u8]>, out: &mut Outbox) -> Progress {
        let is_message = matches!(input, Input::Message { .. } | Input::Malformed { .. });
        if let (Input::Elapsed, Some(due)) = (&input, self.room.deadline()) {
            self.metrics.late(now.since(due));
        }
        let progress = self.room.input(now, input, out);
        if is_message && matches!(progress, Progress::Decoded | Progress::Malformed(_)) {
            self.metrics.received(progress == Progress::Decoded);
        }
        let status = self.room.status();
        if status != self.status {
            self.status = status;
            self.info.send_modify(|info| {
                info.phase = phase(status.phase);
                info.taken = status.taken;
                info.seats = status.seats;
            });
        }
        progress
    }

    fn admits(&self, datagram: &[u8]) -> netcore::Admission {
        self.room.admits(datagram)
    }

    fn deadline(&self) -> Option<Time> {
        self.room.deadline()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.room.outcome()
    }

    fn digest(&self) -> u64 {
        self.room.digest()
    }

    fn status(&self) -> Status {
        self.status
    }
}

/// Who is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Who {
    Person,
    Bot,
    /// A page that only shows a picture of the room.
    Preview,
}

/// Who is connected, whether with a seat or not.
struct Present {
    peers: BTreeMap<PeerId, Who>,
    // Those that look on over UDP: nobody notices when they go, so they keep no room open.
    silent: BTreeSet<PeerId>,
    bots: Arc<Addresses>,
    previews: Arc<Addresses>,
}

impl Present {
    // Those who were there when the hub ended, as far as they do not have to come anew.
    fn of(before: Option<&Before>, bots: Arc<Addresses>, previews: Arc<Addresses>, info: &mut Info) -> Self {
        let mut present = Self { peers: BTreeMap::new(), silent: BTreeSet::new(), bots, previews };
        let Some(Before { peers, roster, .. }) = before else { return present };
        for &(peer, link, address) in peers {
            if link != Link::Stream {
                present.peers.insert(peer, present.who(address));
            }
            if link == Link::Datagram && !roster.iter().any(|occupant| occupant.peer == peer) {
                present.silent.insert(peer);
            }
        }
        let seated = |occupant: &&Occupant| present.peers.contains_key(&occupant.peer) && !occupant.name.is_empty();
        let player = |Occupant { peer, name, seat }: &Occupant| Player {
            peer: *peer,
            address: peers.iter().find(|(other, ..)| other == peer).map(|&(.., address)| address_text(address)),
            name: name.clone(),
            seat: seat.clone(),
            bot: present.is_bot(*peer),
            // Until the browser is back with its key.
            proven: false,
        };
        info.players = roster.iter().filter(seated).map(player).collect();
        present.count(info);
        present
    }

    fn who(&self, address: SocketAddr) -> Who {
        if self.bots.has(address) {
            Who::Bot
        } else if self.previews.has(address) {
            Who::Preview
        } else {
            Who::Person
        }
    }

    fn is_bot(&self, peer: PeerId) -> bool {
        self.peers.get(&peer) == Some(&Who::Bot)
    }

    fn count(&self, info: &mut Info) {
        let people = || self.peers.iter().filter(|(_, who)| **who == Who::Person).map(|(&peer, _)| peer);
        info.people = people().filter(|peer| !self.silent.contains(peer)).count();
        info.watchers = people().filter(|peer| !info.players.iter().any(|player| player.peer == *peer)).count();
    }
}

/// Keeps what the lobby shows of those who are there, and the last result; passes results on.
struct Chronicle {
    info: Arc<watch::Sender<Info>>,
    present: Present,
    ledger: Ledger,
}

impl Chronicle {
    // Changes what is shown, and then counts again.
    fn change(&self, change: impl FnOnce(&mut Info)) {
        self.info.send_modify(|info| {
            change(info);
            self.present.count(info);
        });
    }
}

impl Observer for Chronicle {
    fn connected(&mut self, _: Time, peer: PeerId, _: Role, address: &str) {
        let who = address.parse().map_or(Who::Person, |address| self.present.who(address));
        self.present.peers.insert(peer, who);
        self.change(|_| {});
    }

    fn closed(&mut self, _: Time, peer: PeerId) {
        self.present.peers.remove(&peer);
        self.present.silent.remove(&peer);
        self.change(|_| {});
    }

    fn gone(&mut self, _: Time, _: PeerId, address: &str, _: Gone) {
        self.ledger.gone(address);
    }

    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        let is_bot = |peer: PeerId| self.present.is_bot(peer);
        if let Some(id) = self.ledger.event(now, event, address, is_bot) {
            self.info.send_modify(|info| info.r#match = Some(id));
        }
        match event {
            // Whoever only looks on has no name.
            GameEvent::Joined { peer, name, seat } if !name.is_empty() => {
                let bot = self.present.is_bot(*peer);
                let proven = self.ledger.is_proven(address, name);
                let address = address.map(str::to_owned);
                let player = Player { peer: *peer, address, name: name.clone(), seat: seat.clone(), bot, proven };
                self.change(|info| {
                    // It may have waited for the seat.
                    info.players.retain(|before| before.peer != player.peer);
                    info.players.push(player);
                });
            }
            GameEvent::Joined { peer, seat, .. } if seat == nuggets::server::SPECTATOR => {
                self.present.silent.insert(*peer);
                self.change(|_| {});
            }
            GameEvent::Waiting { peer, name, .. } => {
                let bot = self.present.is_bot(*peer);
                let proven = self.ledger.is_proven(address, name);
                let address = address.map(str::to_owned);
                let player = Player { peer: *peer, address, name: name.clone(), seat: String::new(), bot, proven };
                self.change(|info| info.players.push(player));
            }
            GameEvent::Left { peer, .. } => {
                self.change(|info| info.players.retain(|player| player.peer != *peer));
            }
            GameEvent::Started { .. } => self.change(|info| info.result = None),
            GameEvent::Ended { standings, .. } => {
                let row = |row: &netcore::Standing| Row {
                    rank: row.rank,
                    name: row.name.clone(),
                    seat: row.seat.clone(),
                    score: row.score,
                };
                let result: Vec<Row> = standings.iter().map(row).collect();
                self.change(|info| {
                    // Those who wait have a place in the next game, and others may be in a game of their own.
                    info.players.retain(|player| !result.iter().any(|row| row.seat == player.seat));
                    info.result = Some(result);
                });
            }
            _ => {}
        }
    }
}
