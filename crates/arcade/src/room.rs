//! One room: its host, the ways in which it is reached, and what the lobby shows of it.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::Context as _;
use cmdkit::Sockets;
use journal::{JournalEnd, Parts, Writing};
use netcore::{GameEvent, Hosted, Leave, Outbox, Outcome, Phase, Progress, Recorded, RoomInput, Status, Time};
use netshell::{Clock, Host, Observer, serve};
use serde::Serialize;
use store::Kind;
use tokio::sync::{oneshot, watch};
use tracing::{info, warn};

use crate::{
    games::{Engine, Game, Options},
    results::{Results, ledger::Ledger, seats::Seats},
    transport::{Gate, WebSockets},
};

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
    /// The result of the last game.
    pub(crate) result: Option<Vec<Row>>,
    /// The id of the match that is played or was played last.
    pub(crate) r#match: Option<String>,
}

/// A player as the page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Player {
    #[serde(skip)]
    peer: netcore::PeerId,
    pub(crate) name: String,
    pub(crate) seat: String,
    /// Whether the name is proven to be its own.
    pub(crate) proven: bool,
}

/// A row of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) rank: u32,
    pub(crate) name: String,
    pub(crate) seat: String,
    pub(crate) score: i64,
}

/// A room that is open.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) game: Game,
    pub(crate) gate: Gate,
    pub(crate) info: watch::Receiver<Info>,
    /// What is known of its seats besides what they say.
    pub(crate) known: Arc<Seats>,
    stop: Mutex<Option<oneshot::Sender<Leave>>>,
}

impl Room {
    /// Asks the room to end.
    pub(crate) fn stop(&self, leave: Leave) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The room may have ended already.
            let _ = stop.send(leave);
        }
    }
}

/// Where rooms listen and write.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) bind: Vec<IpAddr>,
    pub(crate) journals: PathBuf,
    pub(crate) writing: Writing,
    pub(crate) open_files: Option<u64>,
    pub(crate) results: Arc<Results>,
}

/// Opens a new room. The future runs it to its end and gives how that came.
///
/// # Errors
/// When the options do not go together, or the port or the journal cannot be had.
pub(crate) fn open(
    id: String,
    options: &Options,
    place: &Place,
) -> anyhow::Result<(Arc<Room>, impl Future<Output = ()> + Send + 'static)> {
    let sockets = Sockets::bind(options.game().wire(), &place.bind, 0)?;
    let listen = sockets.addresses()?;
    let title = options.title();
    let begun = match options.engine()? {
        Engine::Nuggets(engine) => begin(*engine, place, &listen)?,
        Engine::Robots(engine) => begin(*engine, place, &listen)?,
        Engine::Blackjack(engine) => begin(*engine, place, &listen)?,
    };
    let port = listen.first().map_or(0, SocketAddr::port);
    let status = begun.status;
    let info = Info {
        id: id.clone(),
        game: options.game(),
        title,
        phase: phase(status.phase),
        taken: status.taken,
        seats: status.seats,
        port,
        players: vec![],
        result: None,
        r#match: None,
    };
    let ledger = Ledger::open(&place.results, &begun.journal, &info.id, &info.title)?;
    let known = ledger.seats();
    let (sender, receiver) = watch::channel(info);
    let sender = Arc::new(sender);
    let (gate, web) = WebSockets::new();
    let chronicle = Chronicle { info: Arc::clone(&sender), ledger };
    let host = (begun.host)(Arc::clone(&sender)).with_observer(chronicle).with_transport(web);
    let host = sockets.let_in(host, place.open_files)?;
    let (stop, stopped) = oneshot::channel();
    let room = Arc::new(Room { game: options.game(), gate, info: receiver, known, stop: Mutex::new(Some(stop)) });
    let end = begun.end;
    let run = async move {
        let leave = async {
            match stopped.await {
                Ok(leave) => leave,
                // The hub has forgotten the room.
                Err(_) => Leave::Over,
            }
        };
        match serve(host, Clock::start_at(Time::ZERO), leave).await {
            Ok(outcome) => finish(&id, outcome, &end),
            Err(error) => warn!(room = id, %error, "the room has failed"),
        }
        sender.send_modify(|info| info.phase = "over");
    };
    Ok((room, run))
}

fn finish(id: &str, outcome: Outcome, end: &JournalEnd) {
    end.close();
    info!(room = id, ?outcome, "the room is over");
}

/// A host without transports, made once it is known whom to tell of its status.
struct Begun {
    host: Box<dyn FnOnce(Arc<watch::Sender<Info>>) -> Host + Send>,
    end: JournalEnd,
    journal: PathBuf,
    status: Status,
}

fn begin<E: Recorded + Send + 'static>(engine: E, place: &Place, listen: &[SocketAddr]) -> anyhow::Result<Begun> {
    let hosted = Hosted::new(engine);
    let status = netcore::Room::status(&hosted);
    let created = place.writing.create(&place.journals, hosted, env!("CARGO_PKG_VERSION"), listen.to_vec());
    let (journal, (room, hold, end)): (_, Parts<E>) =
        created.with_context(|| format!("cannot begin a journal in '{}'", place.journals.display()))?;
    let host = Box::new(move |info| Host::new(Published { room, info, status }).with_hold(hold));
    Ok(Begun { host, end, journal, status })
}

const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Lobby => "lobby",
        Phase::Playing => "playing",
        Phase::Over => "over",
    }
}

/// A room that tells the lobby of its status.
struct Published<R> {
    room: R,
    info: Arc<watch::Sender<Info>>,
    status: Status,
}

impl<R: netcore::Room> netcore::Room for Published<R> {
    fn input(&mut self, now: Time, input: RoomInput<'_>, out: &mut Outbox) -> Progress {
        let progress = self.room.input(now, input, out);
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

    fn max_message(&self) -> usize {
        self.room.max_message()
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

/// Keeps what the lobby shows of the players and the last result, and passes results on.
struct Chronicle {
    info: Arc<watch::Sender<Info>>,
    ledger: Ledger,
}

impl Observer for Chronicle {
    fn event(&mut self, now: Time, event: &GameEvent, address: Option<&str>) {
        if let Some(begun) = self.ledger.event(now, event, address) {
            self.info.send_modify(|info| info.r#match = Some(begun));
        }
        match event {
            // Whoever only looks on has no name.
            GameEvent::Joined { peer, name, seat } if !name.is_empty() => {
                let proven = self.ledger.kind(address, name) == Kind::Proven;
                let player = Player { peer: *peer, name: name.clone(), seat: seat.clone(), proven };
                self.info.send_modify(|info| info.players.push(player));
            }
            GameEvent::Left { peer, .. } => {
                self.info.send_modify(|info| info.players.retain(|player| player.peer != *peer));
            }
            GameEvent::Started { .. } => self.info.send_modify(|info| info.result = None),
            GameEvent::Ended { standings, .. } => {
                let row = |row: &netcore::Standing| Row {
                    rank: row.rank,
                    name: row.name.clone(),
                    seat: row.seat.clone(),
                    score: row.score,
                };
                let result = standings.iter().map(row).collect();
                self.info.send_modify(|info| {
                    info.result = Some(result);
                    info.players.clear();
                });
            }
            _ => {}
        }
    }

    fn gone(&mut self, _: Time, _: netcore::PeerId, address: &str, _: netcore::Gone) {
        self.ledger.gone(address);
    }
}
