//! Many live rooms, half robots and half nuggets; and the floor: two bare loops on threads of their own that receive and send the same
//! messages as a hub and do nothing else.

use std::{
    collections::{BTreeMap, HashMap},
    fmt::Write as _,
    fs,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use ::robots::{Event, PlayerId, Position, ServerMessage, protocol::encode};
use anyhow::Context as _;
use bytes::BytesMut;
use cmdkit::whole_number;
use tokio::time::sleep;

use crate::{
    driver::{Distribution, Load, processor_time},
    hub::{Hub, Room},
    nuggets::{self, PLAYERS},
    page::{Pages, SETTLE},
    robots::{self, Players, ROBOTS, TURN},
};

/// The pause between the starts of two matches of robots: the turns of all matches are spread over the time between two turns.
const START_PAUSE: Duration = Duration::from_micros(7_300);
/// Bytes of a display of the map that rooms have by default.
const DISPLAY: usize = 8 + 21 * 80;
/// One of this number of keys leads into a wall, so that no display is sent; as measured with players who press keys at random.
const WALLS: u64 = 4;
/// How often the loop of nuggets checks whether it is stopped.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many rooms
    #[arg(long = "rooms", value_name = "N", default_value_t = 1_000, value_parser = whole_number(2..=3_000_u32, 1_000))]
    pub(crate) count: u32,

    /// Turns of a match of robots, ten a second
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = whole_number(10..=10_000_u16, 1_000))]
    pub(crate) turns: u16,

    /// Pages that look at the lobby in the second half of the time
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0..=2_000_u32, 200))]
    pub(crate) pages: u32,

    /// Measure bare loops too that receive and send the same messages, without a hub
    #[arg(long)]
    pub(crate) floor: bool,
}

/// Opens the rooms, plays a match of robots in half of them and nuggets in the others, and reports how late turns were and what a room
/// needs.
pub(crate) async fn measure(program: Option<&Path>, options: &Options) -> anyhow::Result<String> {
    let mut report = String::new();
    let half = options.count / 2;
    writeln!(
        report,
        "{half} rooms of robots with {ROBOTS} clients, {} of nuggets with {PLAYERS}:",
        options.count - half
    )?;
    writeln!(report, "\n| turns of robots | p50 | p99 | longest |\n| --- | --- | --- | --- |")?;
    let mut bare = String::new();
    if options.floor {
        let (late, processors) = floor(half, options.count - half, options.turns).await?;
        writeln!(report, "| bare loops: {} turns late by | {} |", late.len(), late.cells())?;
        bare = format!(" Bare loops for the same messages kept {processors:.2} busy.");
    }
    let hub = Hub::start(program)?;
    let empty = hub.memory()?;
    let robots = open(&hub, half, &robots::options(ROBOTS, options.turns))?;
    let nuggets = (half..options.count).map(|_| hub.open_nuggets()).collect::<anyhow::Result<Vec<_>>>()?;
    let (late, displays, processors, told) = play(&hub, &robots, nuggets, options).await?;
    writeln!(report, "| the hub: {} turns late by | {} |\n", late.len(), late.cells())?;
    // While all clients are still there.
    let kilobytes = hub.memory()?.saturating_sub(empty) / 1_000 / u64::from(options.count);
    writeln!(
        report,
        "The hub took {kilobytes} kB a room after matches of {} turns, and kept {processors:.2} processors busy.{bare}",
        options.turns
    )?;
    writeln!(report, "{displays} displays of nuggets arrived.")?;
    if let Some((rate, with_pages)) = told {
        writeln!(
            report,
            "{} pages were told {:.1} kB a second each, and the hub kept {with_pages:.2} processors busy meanwhile.",
            options.pages,
            rate / 1_000.0
        )?;
    }
    Ok(report)
}

fn open(hub: &Hub, count: u32, options: &serde_json::Value) -> anyhow::Result<Vec<Room>> {
    (0..count).map(|_| hub.open(options)).collect()
}

type Played = (Distribution, u64, f64, Option<(f64, f64)>);

async fn play(hub: &Hub, robots: &[Room], nuggets: Vec<Room>, options: &Options) -> anyhow::Result<Played> {
    let ids: Vec<String> = robots.iter().zip(&nuggets).flat_map(|(one, other)| [&one.id, &other.id]).cloned().collect();
    let explorers = nuggets::explore(nuggets, nuggets::KEY_PAUSE).await?;
    let load = Load::start(hub)?;
    let players = Players::start(robots.iter().map(|room| room.address).collect(), START_PAUSE)?;
    let mut told = None;
    let processors = if options.pages == 0 {
        None
    } else {
        sleep(Duration::from_millis(TURN) * u32::from(options.turns) / 2).await;
        let alone = load.processors(hub)?;
        let pages = Pages::open(hub.address(), options.pages, ids)?;
        sleep(SETTLE).await;
        let load = Load::start(hub)?;
        sleep(Duration::from_millis(TURN) * u32::from(options.turns) / 4).await;
        let with_pages = load.processors(hub)?;
        told = Some((pages.close()?, with_pages));
        Some(alone)
    };
    let late = players.lateness()?;
    let processors = processors.map_or_else(|| load.processors(hub), Ok)?;
    Ok((late, explorers.stop()?, processors, told))
}

// Plays matches of robots beside rooms of nuggets without a hub. Returns how late turns were, and the processors that the two loops kept busy.
async fn floor(matches: u32, explored: u32, turns: u16) -> anyhow::Result<(Distribution, f64)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let rooms = vec![Room { id: "floor".into(), address: socket.local_addr()? }; explored as usize];
    let stop = Arc::new(AtomicBool::new(false));
    let displays = {
        let stop = Arc::clone(&stop);
        thread::spawn(move || answer(&socket, &stop))
    };
    let explorers = nuggets::explore(rooms, nuggets::KEY_PAUSE).await?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let start = Instant::now();
    let count = matches * ROBOTS;
    let server = thread::spawn(move || serve(&listener, count, turns));
    let late = Players::start(vec![address; matches as usize], Duration::ZERO)?.lateness()?;
    let took = start.elapsed();
    stop.store(true, Ordering::Release);
    let panicked = || io::Error::other("a bare loop panicked");
    let (_connections, serving) = server.join().map_err(|_| panicked())??;
    let busy = serving + displays.join().map_err(|_| panicked())??;
    explorers.stop()?;
    Ok((late, busy.as_secs_f64() / took.as_secs_f64()))
}

// The loop of robots. Matches start evenly spread over the duration of a turn, as those of a hub do. Returns its processor time, and the
// connections, which must stay open while a player still answers the last turn.
fn serve(listener: &TcpListener, count: u32, turns: u16) -> anyhow::Result<(Vec<TcpStream>, Duration)> {
    let streams = (0..count).map(|_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    });
    let mut streams = streams.collect::<io::Result<Vec<TcpStream>>>()?;
    let matches = count / ROBOTS;
    // A turn of the usual size, in which all robots move.
    let moved = |id| Event::PlayerMoved { id: PlayerId(id), position: Position { x: 1, y: 1 } };
    let mut message = BytesMut::new();
    encode(&ServerMessage::Turn { turn: 0, events: (0..4).map(moved).collect() }, &mut message);
    let start = Instant::now();
    let mut actions = [0; 256];
    for turn in 0..turns {
        // After the tag.
        message[1..3].copy_from_slice(&turn.to_be_bytes());
        for (players, place) in streams.chunks_mut(ROBOTS as usize).zip(0..) {
            let phase = Duration::from_millis(TURN).mul_f64(f64::from(place) / f64::from(matches.max(1)));
            let due = start + Duration::from_millis(TURN) * u32::from(turn) + phase;
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
    let busy = busy()?;
    Ok((streams, busy))
}

// The loop of nuggets. Players who arrive one after another share a room. Returns its processor time.
fn answer(socket: &UdpSocket, stop: &AtomicBool) -> anyhow::Result<Duration> {
    socket.set_read_timeout(Some(LOOK))?;
    let mut display = vec![b'.'; DISPLAY];
    display[..8].copy_from_slice(b"DISPLAY\n");
    let mut rooms: Vec<Vec<SocketAddr>> = vec![];
    let mut places = HashMap::new();
    let mut datagram = [0; 256];
    let mut keys = 0_u64;
    while !stop.load(Ordering::Acquire) {
        let (length, from) = match socket.recv_from(&mut datagram) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) => return Err(error.into()),
        };
        if datagram[..length].starts_with(b"PLAY") {
            places.entry(from).or_insert_with(|| {
                match rooms.last_mut().filter(|room| room.len() < PLAYERS as usize) {
                    Some(room) => room.push(from),
                    None => rooms.push(vec![from]),
                }
                rooms.len() - 1
            });
            socket.send_to(b"OK A", from)?;
            continue;
        }
        keys += 1;
        if let Some(&place) = places.get(&from)
            && !keys.is_multiple_of(WALLS)
        {
            for player in &rooms[place] {
                socket.send_to(&display, player)?;
            }
        }
    }
    busy()
}

// The processor time of this thread.
fn busy() -> anyhow::Result<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").context("cannot read the processor time")?;
    processor_time(&text).context("no processor time")
}
