//! Well-behaved players, which record how late they get answers and what they lose.

use std::{
    fmt::Display,
    io,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use anyhow::{Context as _, anyhow, ensure};
use bytes::Bytes;
use clientkit::{Pilot, blackjack_bot, mastermind_bot};
use netcore::{Client, Level, Link, Time};
use netshell::Clock;
use nuggets::{Participant, Typist};
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::{
    attacks::Target,
    clients::robot,
    driver::{Counts, Worker, count, lateness},
    wire::{Visitor, Wire, word},
};

const KEY_PAUSE: Duration = Duration::from_millis(200);
const RETRY: Duration = Duration::from_secs(1);
/// An invalid key causes one error to its sender alone, independent of other players and of walls.
const PROBE: &[u8] = b"KEY x";
const PROBE_ANSWER: &[u8] = b"ERROR";
/// A later answer counts as missing.
const LOST: Duration = Duration::from_secs(5);
/// How long the hub may leave a message unread.
const STALL: Duration = Duration::from_secs(10);
const PAGE_PAUSE: Duration = Duration::from_millis(250);
/// Requested in turn. The last one requests a room to play in.
const PAGES: [(&str, &str); 4] =
    [("GET", "/"), ("GET", "/api/rooms"), ("GET", "/api/leaders?game=nuggets"), ("POST", "/api/play/nuggets")];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Player {
    pub(crate) name: &'static str,
    /// What is measured, and the bound on its p99.
    pub(crate) unit: &'static str,
    pub(crate) bound: Duration,
    /// Its matches have results.
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

#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) answers: Vec<Duration>,
    pub(crate) failed: Counts,
    pub(crate) lost: Counts,
    pub(crate) matches: usize,
}

/// In the order of [`ALL`].
pub(crate) type Records = [Record; ALL.len()];

/// All players on one thread.
pub(crate) fn start(target: Target, records: Arc<Mutex<Records>>) -> io::Result<Worker<()>> {
    Worker::start(async move |stopped| {
        let seat = |place: u8| Seat {
            place: place.into(),
            name: ALL[usize::from(place)].name,
            visitor: Visitor::new(Ipv4Addr::new(127, 0, 0, 2 + place), target.hub),
            records: Arc::clone(&records),
        };
        let Target { nuggets, robots, blackjack, mastermind, .. } = &target;
        let all = async {
            tokio::try_join!(
                play_matches(
                    seat(0),
                    async |visitor, _| Wire::datagrams(visitor.from, nuggets.address).await,
                    play_nuggets
                ),
                play_matches(seat(1), async |visitor, entry| visitor.enter(&nuggets.id, entry).await, play_nuggets),
                play_matches(seat(2), async |visitor, _| Wire::stream(visitor.from, robots.address).await, play_robots),
                play_matches(seat(3), async |visitor, entry| visitor.enter(&robots.id, entry).await, play_robots),
                play_matches(
                    seat(4),
                    async |visitor, _| Wire::stream(visitor.from, blackjack.address).await,
                    play_blackjack
                ),
                play_matches(
                    seat(5),
                    async |visitor, _| Wire::stream(visitor.from, mastermind.address).await,
                    play_mastermind
                ),
                watch_lobby(seat(6), &mastermind.id),
                read_pages(seat(7)),
            )
        };
        tokio::select! {
            // They end only if they fail.
            failed = all => drop(failed?),
            _ = stopped => {}
        }
        Ok(())
    })
}

#[derive(Debug)]
struct Seat {
    place: usize,
    name: &'static str,
    visitor: Visitor,
    records: Arc<Mutex<Records>>,
}

impl Seat {
    fn record(&self, write: impl FnOnce(&mut Record)) {
        write(&mut self.records.lock().expect("recording does not panic")[self.place]);
    }

    fn answered(&self, late: Duration) {
        self.record(|record| record.answers.push(late));
    }

    fn failed(&self, why: impl Display) {
        self.record(|record| count(&mut record.failed, why));
    }

    fn lost(&self, why: impl Display) {
        self.record(|record| count(&mut record.lost, why));
    }
}

// Reconnects after a loss, a browser to its seat. Returns only with an error.
async fn play_matches(
    seat: Seat,
    open: impl AsyncFn(&Visitor, Option<Value>) -> anyhow::Result<Wire>,
    play: impl AsyncFn(&Seat, u32, &mut Wire) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut entry = None;
    for number in 0.. {
        match open(&seat.visitor, entry.take()).await {
            Ok(mut wire) => match play(&seat, number, &mut wire).await {
                Ok(()) => continue,
                Err(error) => {
                    seat.lost(format_args!("{error:#}"));
                    entry = if let Wire::Socket(socket) = wire { socket.entry } else { None };
                }
            },
            Err(error) => seat.failed(format_args!("no connection: {error:#}")),
        }
        sleep(RETRY).await;
    }
    Ok(())
}

async fn play_nuggets(seat: &Seat, seed: u32, wire: &mut Wire) -> anyhow::Result<()> {
    let link = if let Wire::Socket(_) = wire { Link::Message } else { Link::Datagram };
    let player = Participant::Player(nuggets::Name::new(seat.name.as_bytes())?);
    let client = nuggets::Client::with_link(link, player, Time::ZERO);
    play(seat, wire, (client, Typist::new(Level::Hard, Some(KEY_PAUSE), seed.into())), |client| {
        client.end().filter(|end| end.is_game_over()).map(|_| 0)
    })
    .await
}

async fn play_blackjack(seat: &Seat, _: u32, wire: &mut Wire) -> anyhow::Result<()> {
    let bot = blackjack_bot(blackjack::Name::new(seat.name.as_bytes())?, Level::Easy, false);
    play(seat, wire, bot, |client| client.is_over().then_some(0)).await
}

// The connection stays open after a match.
async fn play_mastermind(seat: &Seat, seed: u32, wire: &mut Wire) -> anyhow::Result<()> {
    let bot = mastermind_bot(mastermind::Name::new(seat.name.as_bytes())?, Level::Hard, seed.into(), false);
    play(seat, wire, bot, |client| Some(client.board().filter(|board| board.over.is_some())?.number)).await
}

// The lateness of turns is computed after their match.
async fn play_robots(seat: &Seat, seed: u32, wire: &mut Wire) -> anyhow::Result<()> {
    robot(wire, Some(seat.name), seed, |arrivals| {
        seat.record(|record| {
            record.answers.extend(lateness(&arrivals));
            record.matches += 1;
        });
        None
    })
    .await
}

// Plays until the client is over. The error describes the end of the connection. `over` returns the number of the
// finished match.
async fn play<C: Client<Error: Display>>(
    seat: &Seat,
    wire: &mut Wire,
    (mut client, mut pilot): (C, impl Pilot<C>),
    over: fn(&C) -> Option<u32>,
) -> anyhow::Result<()> {
    let clock = Clock::start();
    // Why sending failed. The last messages of the hub are read nevertheless.
    let (mut broken, mut ended) = (None, None);
    // The time of the pending request, and the start of its answer.
    let mut pending: Option<(Instant, &[u8])> = None;
    loop {
        pilot.act(&mut client, clock.now());
        while let Some(message) = client.take_outgoing() {
            let mut messages = vec![message];
            if pending.is_some_and(|(since, _)| since.elapsed() >= LOST) {
                pending = None;
                seat.failed("no answer");
            }
            // Joining is not measured. A message that is not a key is answered by the next one, since no other player
            // is at the table.
            if pending.is_none() && !messages[0].starts_with(b"PLAY ") {
                let is_key = messages[0].starts_with(b"KEY ");
                pending = Some((Instant::now(), if is_key { PROBE_ANSWER } else { b"" }));
                messages.extend(is_key.then_some(Bytes::from_static(PROBE)));
            }
            for message in messages {
                if broken.is_none() {
                    broken = timeout(STALL, wire.send(message)).await.context("the hub does not read")?.err();
                }
            }
        }
        if client.is_over() {
            ensure!(over(&client).is_some(), "over");
            return Ok(());
        }
        let (deadline, due) = (client.deadline(clock.now()), pilot.due(&client));
        let bytes = tokio::select! {
            received = wire.receive_game() => received.map_err(|why| broken.take().unwrap_or(why))?,
            () = clock.until(deadline) => {
                client.elapsed(clock.now());
                continue;
            }
            () = clock.until(due) => continue,
        };
        client.receive(clock.now(), &bytes).map_err(|error| anyhow!("malformed: {error}"))?;
        if let Some((since, _)) = pending.take_if(|(_, answer)| bytes.starts_with(answer)) {
            seat.answered(since.elapsed());
        }
        if let Some(number) = over(&client)
            && ended.replace(number) != Some(number)
        {
            seat.record(|record| record.matches += 1);
        }
    }
}

// Takes and leaves a seat in this room of mastermind, and measures when the lobby shows it.
async fn watch_lobby(seat: Seat, room: &str) -> anyhow::Result<()> {
    loop {
        // After a loss, another socket receives the whole view again.
        match seat.visitor.socket("/live", Some(json!({ "look": { "text": room } }))).await {
            Ok(mut lobby) => {
                if let Err(error) = take_seats(&seat, &mut lobby, room).await {
                    seat.lost(format_args!("{error:#}"));
                }
            }
            Err(error) => seat.failed(format_args!("no socket: {error:#}")),
        }
        sleep(RETRY).await;
    }
}

async fn take_seats(seat: &Seat, lobby: &mut Wire, room: &str) -> anyhow::Result<()> {
    // `None` if this text of the lobby does not describe the room.
    let is_seated = |text: &str| {
        let lobby: Value = serde_json::from_str(text).ok()?;
        let row = lobby["rooms"].as_array()?.iter().find(|row| row["id"] == room)?;
        Some(row["players"].as_array()?.iter().any(|player| player["name"] == seat.name))
    };
    let hidden = "the lobby does not show a change";
    loop {
        let mut browser = seat.visitor.enter(room, None).await?;
        browser.send(format!("PLAY {}", seat.name)).await?;
        browser.find(LOST, |text| text.starts_with("SEAT")).await.context("no seat in time")?;
        let since = Instant::now();
        let shown = lobby.find(LOST, |text| is_seated(text) == Some(true)).await;
        let took = since.elapsed();
        // In any case, since the hub retains a seat that no player has left permanently.
        browser.leave().await;
        shown.context(hidden)?;
        seat.answered(took);
        lobby.find(LOST, |text| is_seated(text) == Some(false)).await.context(hidden)?;
        sleep(RETRY).await;
    }
}

async fn read_pages(seat: Seat) -> anyhow::Result<()> {
    let mut pauses = interval(PAGE_PAUSE);
    pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for page in PAGES.into_iter().cycle() {
        pauses.tick().await;
        let start = Instant::now();
        match seat.visitor.request(page, &[], "").await {
            Ok((200, _)) => seat.answered(start.elapsed()),
            Ok((status, _)) => seat.failed(format_args!("{}: {status}", page.1)),
            Err(error) => seat.failed(format_args!("{}: {}", page.1, word(&error))),
        }
    }
    Ok(())
}
