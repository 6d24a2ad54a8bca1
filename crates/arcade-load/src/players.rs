//! Well-behaved players, which record how late they are answered and what they lose.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt::Display,
    io::{self, ErrorKind},
    net::{Ipv4Addr, SocketAddr},
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use ::nuggets::{Participant, Typist};
use anyhow::{Context as _, anyhow, ensure};
use bytes::{Bytes, BytesMut};
use clientkit::{Pilot, blackjack_bot, mastermind_bot, robots_bot};
use futures_util::SinkExt as _;
use netcore::{Client, Level, Link, Time, wire::ShortText};
use netshell::Clock;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UdpSocket,
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::{
    attacks::Target,
    driver::{Arrival, Worker, lateness},
    hub::{Room, TURN},
    wire::{self, Browser, Http, Stamped, connect, word},
};

const KEY_PAUSE: Duration = Duration::from_millis(200);
const RETRY: Duration = Duration::from_secs(1);
/// An invalid key is answered with an error to its sender alone: one answer for each, independent of other players and
/// of walls.
const PROBE: &[u8] = b"KEY x";
const PROBE_ANSWER: &[u8] = b"ERROR";
/// An answer that takes longer counts as missing.
const LOST: Duration = Duration::from_secs(5);
/// How long the hub may leave a message unread.
const STALL: Duration = Duration::from_secs(10);
/// Bytes of the longest datagram, and of a connection that are read at a time.
const DATAGRAM: usize = 1 << 16;
const CHUNK: usize = 1 << 12;
const PAGE_PAUSE: Duration = Duration::from_millis(250);
/// The pages are requested in turn. The last one requests a room to play in.
const PAGES: [(&str, &str); 4] =
    [("GET", "/"), ("GET", "/api/rooms"), ("GET", "/api/leaders?game=nuggets"), ("POST", "/api/play/nuggets")];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Player {
    pub(crate) name: &'static str,
    /// What is measured, and the bound on its p99.
    pub(crate) unit: &'static str,
    pub(crate) bound: Duration,
    /// Whether its matches have results.
    pub(crate) plays: bool,
}

pub(crate) const ALL: [Player; 8] = [
    Player { name: "NuggetsUdp", unit: "keys", bound: Duration::from_millis(250), plays: true },
    Player { name: "NuggetsPage", unit: "keys", bound: Duration::from_millis(250), plays: true },
    Player { name: "RobotsTcp", unit: "turns", bound: Duration::from_millis(250), plays: true },
    Player { name: "RobotsPage", unit: "turns", bound: Duration::from_millis(250), plays: true },
    Player { name: "BlackjackTcp", unit: "keys", bound: Duration::from_millis(250), plays: true },
    Player { name: "MastermindTcp", unit: "keys", bound: Duration::from_millis(250), plays: true },
    Player { name: "LobbyPage", unit: "changes", bound: Duration::from_secs(1), plays: false },
    Player { name: "Reader", unit: "pages", bound: Duration::from_secs(1), plays: false },
];

pub(crate) const PHASES: [&str; 2] = ["alone", "under attack"];

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) answers: Vec<Duration>,
    pub(crate) failed: u64,
    pub(crate) lost: u64,
    pub(crate) matches: u64,
    /// Counts of the reasons.
    pub(crate) why: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Default)]
struct Recorder {
    phase: Arc<AtomicUsize>,
    records: Rc<RefCell<[Record; 2]>>,
}

impl Recorder {
    fn write(&self, write: impl FnOnce(&mut Record)) {
        write(&mut self.records.borrow_mut()[self.phase.load(Ordering::Acquire)]);
    }

    fn answered(&self, late: Duration) {
        self.write(|record| record.answers.push(late));
    }

    fn failed(&self, why: impl Display) {
        self.count(|record| &mut record.failed, why);
    }

    fn lost(&self, why: impl Display) {
        self.count(|record| &mut record.lost, why);
    }

    fn count(&self, counter: fn(&mut Record) -> &mut u64, why: impl Display) {
        self.write(|record| {
            *counter(record) += 1;
            *record.why.entry(why.to_string()).or_default() += 1;
        });
    }

    fn ended(&self) {
        self.write(|record| record.matches += 1);
    }
}

/// All players on one thread. They record in the phase of this index, and return their records in the order of [`ALL`].
pub(crate) fn start(target: Target, phase: Arc<AtomicUsize>) -> io::Result<Worker<Vec<[Record; 2]>>> {
    Worker::start("players", async move |stopped| {
        let recorders = ALL.map(|_| Recorder { phase: Arc::clone(&phase), records: Rc::default() });
        let seat = |place: u8| Seat {
            name: ALL[usize::from(place)].name,
            from: Ipv4Addr::new(127, 0, 0, 2 + place),
            hub: target.hub,
            recorder: recorders[usize::from(place)].clone(),
        };
        let Target { nuggets, robots, blackjack, mastermind, .. } = &target;
        let all = async {
            tokio::try_join!(
                play_matches(seat(0), Endpoint::Datagrams(nuggets), walker),
                play_matches(seat(1), Endpoint::Page(nuggets, false), walker),
                play_matches(seat(2), Endpoint::Stream(robots), robot),
                play_matches(seat(3), Endpoint::Page(robots, true), robot),
                play_matches(seat(4), Endpoint::Stream(blackjack), |seat, _, _| {
                    Ok(blackjack_bot(blackjack::Name::new(seat.name.as_bytes())?, Level::Easy, false))
                }),
                play_matches(seat(5), Endpoint::Stream(mastermind), |seat, number, _| {
                    Ok(mastermind_bot(mastermind::Name::new(seat.name.as_bytes())?, Level::Hard, number.into(), false))
                }),
                watch_lobby(seat(6), &mastermind.id),
                read_pages(seat(7)),
            )
        };
        tokio::select! {
            // They end only if they fail.
            failed = all => {
                failed?;
            }
            _ = stopped => {}
        }
        Ok(recorders.map(|recorder| recorder.records.take()).into())
    })
}

#[derive(Debug, Clone)]
struct Seat {
    name: &'static str,
    from: Ipv4Addr,
    hub: SocketAddr,
    recorder: Recorder,
}

/// The messages of a page are binary or text.
#[derive(Debug, Clone, Copy)]
enum Endpoint<'a> {
    Datagrams(&'a Room),
    Stream(&'a Room),
    Page(&'a Room, bool),
}

#[derive(Debug)]
enum Wire {
    Datagrams(UdpSocket),
    Stream(Stamped),
    Page(Box<Browser>, bool),
}

impl Wire {
    // At the page with the token of a former seat if there is one.
    async fn open(seat: &Seat, endpoint: Endpoint<'_>, token: Option<&str>) -> anyhow::Result<Self> {
        Ok(match endpoint {
            Endpoint::Datagrams(room) => {
                let socket = UdpSocket::bind((seat.from, 0)).await?;
                socket.connect(room.address).await?;
                Self::Datagrams(socket)
            }
            Endpoint::Stream(room) => Self::Stream(connect(seat.from, room.address).await?),
            Endpoint::Page(room, is_binary) => {
                let entry = token.map(|token| json!({ "seat": token }));
                Self::Page(Box::new(wire::enter(seat.from, seat.hub, &room.id, entry).await?), is_binary)
            }
        })
    }

    async fn send(&mut self, message: Bytes) -> anyhow::Result<()> {
        match self {
            Self::Datagrams(socket) => drop(socket.send(&message).await?),
            Self::Stream(stream) => stream.write_all(&message).await?,
            Self::Page(browser, true) => browser.send(Message::Binary(message)).await?,
            Self::Page(browser, false) => {
                browser.send(Message::Text(Utf8Bytes::try_from(message)?)).await?;
            }
        }
        Ok(())
    }

    async fn receive(&mut self) -> anyhow::Result<Bytes> {
        match self {
            Self::Datagrams(socket) => loop {
                let mut datagram = BytesMut::with_capacity(DATAGRAM);
                match socket.recv_buf(&mut datagram).await {
                    // Only reports that an earlier datagram was rejected.
                    Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                    received => return Ok(received.map(|_| datagram.freeze())?),
                }
            },
            Self::Stream(stream) => {
                let mut bytes = BytesMut::with_capacity(CHUNK);
                ensure!(stream.read_buf(&mut bytes).await? > 0, "closed");
                Ok(bytes.freeze())
            }
            Self::Page(browser, _) => loop {
                let message = wire::next(browser).await?;
                if message.is_text() || message.is_binary() {
                    return Ok(message.into_data());
                }
            },
        }
    }
}

fn walker(seat: &Seat, number: u32, wire: &Wire) -> anyhow::Result<(::nuggets::Client, Typist)> {
    let link = if let Wire::Page(..) = wire { Link::Message } else { Link::Datagram };
    let player = Participant::Player(::nuggets::Name::new(seat.name.as_bytes())?);
    let client = ::nuggets::Client::with_link(link, player, Time::ZERO);
    Ok((client, Typist::new(Level::Hard, Some(KEY_PAUSE), number.into())))
}

fn robot(
    seat: &Seat,
    number: u32,
    wire: &Wire,
) -> anyhow::Result<(::robots::Client, impl Pilot<::robots::Client> + use<>)> {
    let own = if let Wire::Stream(stream) = wire { stream.stream.local_addr().ok() } else { None };
    Ok(robots_bot(ShortText::try_from(seat.name)?, own, Level::Normal, number))
}

// Reconnects after a loss. Never returns without an error.
async fn play_matches<C: Measured, P: Pilot<C>>(
    seat: Seat,
    endpoint: Endpoint<'_>,
    start: impl Fn(&Seat, u32, &Wire) -> anyhow::Result<(C, P)>,
) -> anyhow::Result<()> {
    let mut token = None;
    for number in 0.. {
        let mut wire = match Wire::open(&seat, endpoint, token.as_deref()).await {
            Ok(wire) => wire,
            Err(error) => {
                seat.recorder.failed(format_args!("no connection: {error:#}"));
                token = None;
                sleep(RETRY).await;
                continue;
            }
        };
        let (mut client, mut pilot) = start(&seat, number, &wire)?;
        let mut meter = Meter { recorder: seat.recorder.clone(), since: None, arrivals: vec![], match_number: None };
        let played = play(&mut wire, &mut client, &mut pilot, &mut meter, &mut token).await;
        if played.is_ok() {
            token = None;
        }
        if client.has_ended() {
            token = None;
            seat.recorder.ended();
        } else {
            seat.recorder.lost(played.map_or_else(|error| format!("{error:#}"), |()| "over".into()));
            sleep(RETRY).await;
        }
    }
    Ok(())
}

// Plays until the client is over. The error is how the connection ended. Sets `token` once the hub has sent that of the
// seat.
async fn play<C: Measured>(
    wire: &mut Wire,
    client: &mut C,
    pilot: &mut impl Pilot<C>,
    meter: &mut Meter,
    token: &mut Option<String>,
) -> anyhow::Result<()> {
    let clock = Clock::start();
    // Why sending failed. The last messages of the hub are read nevertheless.
    let mut broken = None;
    loop {
        pilot.act(client, clock.now());
        while let Some(message) = client.take_outgoing() {
            let probe = C::sent(meter, &message);
            for message in [message].into_iter().chain(probe) {
                if broken.is_some() {
                    break;
                }
                broken = timeout(STALL, wire.send(message)).await.context("the hub does not read")?.err();
            }
        }
        if client.is_over() {
            return Ok(());
        }
        let (deadline, due) = (client.deadline(clock.now()), pilot.due(client));
        let bytes = tokio::select! {
            received = wire.receive() => received.map_err(|why| broken.take().unwrap_or(why))?,
            () = clock.until(deadline) => {
                client.elapsed(clock.now());
                continue;
            }
            () = clock.until(due) => continue,
        };
        if matches!(wire, Wire::Page(..)) && bytes.starts_with(b"{") {
            *token = wire::token(&bytes).or(token.take());
            continue;
        }
        client.receive(clock.now(), &bytes).map_err(|error| anyhow!("malformed: {error}"))?;
        client.received(meter, &bytes);
    }
}

#[derive(Debug)]
struct Meter {
    recorder: Recorder,
    since: Option<Instant>,
    arrivals: Vec<Arrival>,
    // The match of mastermind that ended last.
    match_number: Option<u32>,
}

impl Meter {
    // Starts a measurement, unless another answer is pending. Returns whether it has started.
    fn start(&mut self) -> bool {
        match self.since {
            Some(since) if since.elapsed() < LOST => return false,
            Some(_) => self.recorder.failed("no answer"),
            None => {}
        }
        self.since = Some(Instant::now());
        true
    }

    fn answered(&mut self) {
        if let Some(since) = self.since.take() {
            self.recorder.answered(since.elapsed());
        }
    }
}

/// By default the next message is the answer, since no other player is at the table.
trait Measured: Client<Error: Display> {
    /// Returns another message that follows.
    fn sent(meter: &mut Meter, _: &Bytes) -> Option<Bytes> {
        meter.start();
        None
    }

    /// After the client has processed the bytes.
    fn received(&self, meter: &mut Meter, _: &[u8]) {
        meter.answered();
    }

    fn has_ended(&self) -> bool {
        false
    }
}

/// Each key is followed by a probe, whose answer is measured.
impl Measured for ::nuggets::Client {
    fn sent(meter: &mut Meter, message: &Bytes) -> Option<Bytes> {
        (message.starts_with(b"KEY ") && meter.start()).then(|| Bytes::from_static(PROBE))
    }

    fn received(&self, meter: &mut Meter, bytes: &[u8]) {
        if bytes.starts_with(PROBE_ANSWER) {
            meter.answered();
        }
    }

    fn has_ended(&self) -> bool {
        self.end().is_some_and(::nuggets::End::is_game_over)
    }
}

impl Measured for blackjack::Client {
    fn has_ended(&self) -> bool {
        self.is_over()
    }
}

/// The connection stays open after a match.
impl Measured for mastermind::Client {
    fn received(&self, meter: &mut Meter, _: &[u8]) {
        meter.answered();
        if let Some(board) = self.board()
            && board.over.is_some()
            && meter.match_number.replace(board.number) != Some(board.number)
        {
            meter.recorder.ended();
        }
    }
}

/// The lateness of turns is computed after their match, without a last turn that arrives together with the end.
impl Measured for ::robots::Client {
    fn sent(_: &mut Meter, _: &Bytes) -> Option<Bytes> {
        None
    }

    fn received(&self, meter: &mut Meter, _: &[u8]) {
        let Some(game) = self.game() else {
            if !meter.arrivals.is_empty() {
                for late in lateness(&meter.arrivals, Duration::from_millis(TURN)) {
                    meter.recorder.answered(late);
                }
                meter.arrivals.clear();
                meter.recorder.ended();
            }
            return;
        };
        // Before the first turn no player has a position. Several turns may have arrived together.
        let first = match meter.arrivals.last() {
            None if game.positions().is_empty() => return,
            None => 0,
            Some((last, _)) => last + 1,
        };
        meter.arrivals.extend((first..=game.turn()).map(|turn| (turn, SystemTime::now())));
    }
}

// Takes and leaves a seat in this room of mastermind, and measures when the lobby shows it.
async fn watch_lobby(seat: Seat, room: &str) -> anyhow::Result<()> {
    loop {
        // After a loss it opens another socket, which receives the whole view again.
        match wire::lobby(seat.from, seat.hub, &json!({ "look": { "text": room } })).await {
            Ok(mut lobby) => {
                if let Err(error) = take_seats(&seat, &mut lobby, room).await {
                    seat.recorder.lost(format_args!("{error:#}"));
                }
            }
            Err(error) => seat.recorder.failed(format_args!("no socket: {error:#}")),
        }
        sleep(RETRY).await;
    }
}

async fn take_seats(seat: &Seat, lobby: &mut Browser, room: &str) -> anyhow::Result<()> {
    loop {
        let mut browser = wire::enter(seat.from, seat.hub, room, None).await?;
        wire::send(&mut browser, format!("PLAY {}", seat.name)).await?;
        let seated = timeout(LOST, wire::receive(&mut browser, |text| text.starts_with("SEAT"))).await;
        seated.context("no seat in time")??;
        let since = Instant::now();
        let shown = wait_shown(seat, lobby, room, true).await;
        let took = since.elapsed();
        // In any case, since the hub retains a seat that no player has left permanently.
        wire::leave(browser).await;
        shown?;
        seat.recorder.answered(took);
        wait_shown(seat, lobby, room, false).await?;
        sleep(RETRY).await;
    }
}

async fn wait_shown(seat: &Seat, lobby: &mut Browser, room: &str, sits: bool) -> anyhow::Result<()> {
    let shown = wire::receive(lobby, |text| has_player(text, room, seat.name) == Some(sits));
    timeout(LOST, shown).await.context("the lobby does not show a change")??;
    Ok(())
}

// `None` if this text of the lobby does not describe the room.
fn has_player(text: &str, room: &str, name: &str) -> Option<bool> {
    let lobby: Value = serde_json::from_str(text).ok()?;
    let row = lobby["rooms"].as_array()?.iter().find(|row| row["id"] == room)?;
    Some(row["players"].as_array()?.iter().any(|player| player["name"] == name))
}

async fn read_pages(seat: Seat) -> anyhow::Result<()> {
    let (http, mut pauses) = (Http::new(seat.from, seat.hub), interval(PAGE_PAUSE));
    pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for (method, path) in PAGES.into_iter().cycle() {
        pauses.tick().await;
        let start = Instant::now();
        match http.request(method, path, &[], "").await {
            Ok((200, _)) => seat.recorder.answered(start.elapsed()),
            Ok((status, _)) => seat.recorder.failed(format_args!("{path}: {status}")),
            Err(error) => seat.recorder.failed(format_args!("{path}: {}", word(&error))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_belong_to_the_current_phase() {
        let recorder = Recorder::default();
        recorder.answered(Duration::from_millis(3));
        recorder.phase.store(1, Ordering::Release);
        recorder.clone().lost("close 4003");
        recorder.failed("429");
        let [alone, attacked] = recorder.records.take();
        assert_eq!((alone.answers.len(), alone.failed, alone.lost), (1, 0, 0));
        assert_eq!((attacked.answers.len(), attacked.failed, attacked.lost), (0, 1, 1));
        assert_eq!(attacked.why.keys().collect::<Vec<_>>(), ["429", "close 4003"]);
    }

    #[test]
    fn lobby_names_the_players_of_a_room() {
        let text = r#"{"rooms": [{"id": "a-1", "players": []}, {"id": "b-2", "players": [{"name": "Ann"}]}]}"#;
        assert_eq!((has_player(text, "a-1", "Ann"), has_player(text, "b-2", "Ann")), (Some(false), Some(true)));
        for other in [r#"{"total": 3}"#, "[]", "", text] {
            assert_eq!(has_player(other, "c-3", "Ann"), None, "{other}");
        }
    }
}
