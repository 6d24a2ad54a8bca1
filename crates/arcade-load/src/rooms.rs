//! Many rooms at the same time. The floor is two bare loops that only receive and send the same messages as a hub.

use std::{
    collections::{BTreeMap, HashMap},
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ::robots::{Event, PlayerId, Position, ServerMessage, protocol::encode};
use anyhow::{Context as _, anyhow, ensure};
use bytes::BytesMut;
use cmdkit::whole_number;
use serde_json::json;
use tokio::{task::JoinSet, time::sleep};

use crate::{
    clients::{Explorer, KEY_PAUSE, PLAYERS, ROBOTS, explore, late_turns, play_robots},
    driver::{Distribution, Hub, PROXY, Report, Room, TURN, Usage},
};

/// Spreads the turns of matches over the time between two turns.
const START_PAUSE: Duration = Duration::from_micros(7_300);
/// In bytes, with the default map.
const DISPLAY: usize = 8 + 21 * 80;
/// One in this number of random keys leads into a wall, which causes no display. Measured.
const WALLS: u64 = 4;
const LOOK: Duration = Duration::from_millis(100);
/// How long pages are open before the measurement.
const SETTLE: Duration = Duration::from_secs(1);
pub(crate) const SHOWN: u32 = 60;
/// Of a page.
const IN_VIEW: usize = 12;
/// Keys before a client waits for an answer.
const BURST: u32 = 10;
/// Enough active rooms to keep the hub busy, but few enough that no datagram is lost.
const ACTIVE: usize = 8;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of rooms
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=3_000_u32, 1_000))]
    rooms: u32,

    /// Turns of a match of robots, ten a second
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(10..=10_000_u16, 1_000))]
    turns: u16,

    /// Pages that show the lobby in the second half of the time
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=2_000_u32, 200))]
    pages: u32,

    /// Also measure bare loops that receive and send the same messages, without a hub
    #[arg(long)]
    floor: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RestartOptions {
    /// The number of rooms, each with a journal
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(1..=1_000_u32, 1_000))]
    rooms: u32,

    /// Messages that each room receives before the hub is killed
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=100_000_u32, 1_000))]
    arrivals: u32,
}

pub(crate) async fn measure(
    program: Command,
    &Options { rooms, turns, pages, floor }: &Options,
) -> anyhow::Result<Report> {
    let (half, others) = (rooms / 2, rooms - rooms / 2);
    let mut report = Report::default();
    report.head(format_args!("{half} rooms of robots with {ROBOTS} clients, {others} of nuggets with {PLAYERS}:"));
    let mut bare = None;
    if floor {
        let (late, processors) = play_bare(half, others, turns).await?;
        report.row(format_args!("bare loops: {} turns late by", late.len()), &late);
        bare = Some(processors);
    }
    let hub = Hub::start(program, &PROXY)?;
    let empty = hub.usage()?.memory()?;
    let (mut robots, mut nuggets) = (vec![], vec![]);
    for _ in 0..half {
        robots.push(hub.open_robots(ROBOTS, turns, TURN).await?);
    }
    for _ in 0..others {
        nuggets.push(hub.open_nuggets().await?);
    }
    let explorers = explore(&nuggets, KEY_PAUSE).await?;
    let usage = hub.usage()?;
    let clients = play_robots(&robots, START_PAUSE)?;
    let mut paged = None;
    if pages > 0 {
        sleep(TURN * u32::from(turns) / 2).await;
        let alone = usage.processors()?;
        let ids: Vec<&str> = robots.iter().zip(&nuggets).flat_map(|(one, other)| [&*one.id, &*other.id]).collect();
        paged = Some((alone, show_pages(&hub, pages, &ids, TURN * u32::from(turns) / 4).await?));
    }
    let late = late_turns(clients).await?;
    report.row(format_args!("the hub: {} turns late by", late.len()), &late);
    let processors = if let Some((alone, _)) = paged { alone } else { usage.processors()? };
    // While all clients are still connected.
    let kilobytes = usage.memory()?.saturating_sub(empty) / 1_000 / u64::from(rooms);
    report.line(format_args!(
        "\nThe hub took {kilobytes} kB a room after matches of {turns} turns, and kept {processors:.2} processors busy."
    ));
    if let Some(bare) = bare {
        let ratio = processors / bare;
        report.line(format_args!(
            "Bare loops for the same messages kept {bare:.2} busy; the hub {ratio:.2} times as many."
        ));
    }
    report.line(format_args!("{} displays of nuggets arrived.", explorers.finish().await?));
    if let Some((_, (rate, processors))) = paged {
        let rate = rate / 1_000.0;
        report.line(format_args!(
            "{pages} pages received {rate:.1} kB a second each, and the hub kept {processors:.2} processors busy meanwhile."
        ));
    }
    Ok(report)
}

// Pages show the lobby and the pictures of some rooms. Returns the bytes per second of each after its first view, and
// the processors that the hub kept busy.
async fn show_pages(hub: &Hub, count: u32, rooms: &[&str], time: Duration) -> anyhow::Result<(f64, f64)> {
    let (bytes, mut pages) = (Arc::<AtomicU64>::default(), JoinSet::<anyhow::Result<()>>::new());
    let visitor = hub.visitor();
    for place in 0..count as usize {
        let rooms: Vec<&str> = rooms.iter().cycle().skip(place).take(IN_VIEW.min(rooms.len())).copied().collect();
        let look = json!({ "look": { "game": null, "text": "", "from": 0, "count": SHOWN }, "pictures": rooms });
        let (mut page, bytes) = (visitor.socket("/live", Some(look)).await?, Arc::clone(&bytes));
        page.receive().await?;
        pages.spawn(async move {
            loop {
                bytes.fetch_add(page.receive().await?.len() as u64, Ordering::Relaxed);
            }
        });
    }
    bytes.store(0, Ordering::Relaxed);
    let since = Instant::now();
    sleep(SETTLE).await;
    let usage = hub.usage()?;
    sleep(time).await;
    let processors = usage.processors()?;
    if let Some(page) = pages.try_join_next() {
        page?.context("the socket of a page ended")?;
    }
    #[expect(clippy::cast_precision_loss, reason = "far from the limits of a float")]
    let bytes = bytes.load(Ordering::Relaxed) as f64;
    Ok((bytes / since.elapsed().as_secs_f64() / f64::from(count), processors))
}

// Without a hub. Returns how late turns were, and the processors that the two loops kept busy.
async fn play_bare(matches: u32, explored: u32, turns: u16) -> anyhow::Result<(Distribution, f64)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let rooms = vec![Room { id: "floor".into(), address: socket.local_addr()? }; explored as usize];
    let stop = Arc::<AtomicBool>::default();
    let stopped = Arc::clone(&stop);
    let displays = thread::spawn(move || send_displays(&socket, &stopped));
    let explorers = explore(&rooms, KEY_PAUSE).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let bare = Room { id: "floor".into(), address: listener.local_addr()? };
    let start = Instant::now();
    let server = thread::spawn(move || send_turns(&listener, matches * ROBOTS, turns));
    let late = late_turns(play_robots(&vec![bare; matches as usize], Duration::ZERO)?).await?;
    let took = start.elapsed();
    stop.store(true, Ordering::Release);
    let panicked = |_| anyhow!("a bare loop panicked");
    let (_connections, mut busy) = server.join().map_err(panicked)??;
    busy += displays.join().map_err(panicked)??;
    explorers.finish().await?;
    Ok((late, busy.as_secs_f64() / took.as_secs_f64()))
}

// Spreads the starts of matches evenly over a turn, as a hub does. Returns the processor time, and the connections,
// which must stay open while a client still answers the last turn.
fn send_turns(listener: &TcpListener, count: u32, turns: u16) -> anyhow::Result<(Vec<TcpStream>, Duration)> {
    let usage = Usage::start("thread-self")?;
    let streams = (0..count).map(|_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    });
    let mut streams = streams.collect::<io::Result<Vec<TcpStream>>>()?;
    // A turn of the usual size: all robots move.
    let moved = |id| Event::PlayerMoved { id: PlayerId(id), position: Position { x: 1, y: 1 } };
    let mut message = BytesMut::new();
    encode(&ServerMessage::Turn { turn: 0, events: (0..4).map(moved).collect() }, &mut message);
    let (start, phase) = (Instant::now(), TURN / (count / ROBOTS).max(1));
    let mut actions = [0; 256];
    for turn in 0..turns {
        // After the tag.
        message[1..3].copy_from_slice(&turn.to_be_bytes());
        for (players, place) in streams.chunks_mut(ROBOTS as usize).zip(0..) {
            let due = start + TURN * u32::from(turn) + phase * place;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            for player in players {
                match player.read(&mut actions) {
                    Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                    _ => player.write_all(&message)?,
                }
            }
        }
    }
    message.clear();
    encode(&ServerMessage::GameEnded { scores: BTreeMap::new() }, &mut message);
    streams.iter_mut().try_for_each(|player| player.write_all(&message))?;
    Ok((streams, usage.cpu()?))
}

// Clients that join one after another share a room. Returns the processor time.
fn send_displays(socket: &UdpSocket, stop: &AtomicBool) -> anyhow::Result<Duration> {
    let usage = Usage::start("thread-self")?;
    socket.set_read_timeout(Some(LOOK))?;
    let mut display = vec![b'.'; DISPLAY];
    display[..8].copy_from_slice(b"DISPLAY\n");
    let (mut players, mut places) = (Vec::<SocketAddr>::new(), HashMap::new());
    let (mut datagram, mut keys) = ([0; 256], 0_u64);
    while !stop.load(Ordering::Acquire) {
        let (length, from) = match socket.recv_from(&mut datagram) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) => return Err(error.into()),
        };
        if datagram[..length].starts_with(b"PLAY") {
            places.entry(from).or_insert_with(|| {
                players.push(from);
                players.len() - 1
            });
            socket.send_to(b"OK A", from)?;
            continue;
        }
        keys += 1;
        if let Some(&place) = places.get(&from)
            && !keys.is_multiple_of(WALLS)
        {
            for player in players.chunks(PLAYERS as usize).nth(place / PLAYERS as usize).unwrap_or_default() {
                socket.send_to(&display, player)?;
            }
        }
    }
    usage.cpu()
}

/// Plays in rooms of nuggets, kills the hub, and reports how long another takes to open them.
pub(crate) async fn restart(
    program: Command,
    &RestartOptions { rooms: count, arrivals }: &RestartOptions,
) -> anyhow::Result<Report> {
    let mut hub = Hub::start(program, &PROXY)?;
    let mut rooms = vec![];
    for _ in 0..count {
        rooms.push(hub.open_nuggets().await?);
    }
    for batch in rooms.chunks(ACTIVE) {
        let playing: JoinSet<_> = batch.iter().cloned().map(|room| fill_journal(room, arrivals)).collect();
        playing.join_all().await.into_iter().collect::<anyhow::Result<()>>()?;
    }
    hub.kill()?;
    let killed = Instant::now();
    hub.restart()?;
    let open = killed.elapsed().as_secs_f64();
    let back = hub.rooms().await?.len();
    ensure!(back == rooms.len(), "only {back} of {count} rooms are back");
    let mut report = Report::default();
    report.line(format_args!(
        "A hub with {back} rooms, each with a journal of {arrivals} arrivals, was killed. \
         Another one had all of them open after {open:.2} s."
    ));
    Ok(report)
}

// Two players join, and press keys in turn.
async fn fill_journal(room: Room, arrivals: u32) -> anyhow::Result<()> {
    let mut players = [Explorer::join(room.address, 0).await?, Explorer::join(room.address, 1).await?];
    for (burst, place) in (2..arrivals).step_by(BURST as usize).zip([0, 1].into_iter().cycle()) {
        players[place].press(BURST.min(arrivals - burst)).await.with_context(|| room.id.clone())?;
    }
    Ok(())
}
