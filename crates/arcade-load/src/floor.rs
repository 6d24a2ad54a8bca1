//! The floor: two bare loops on threads of their own that receive and send what a hub does, and nothing else. One writes the turns of
//! robots, the other answers keys of nuggets with displays.

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use bytes::BytesMut;
use robots::{Event, PlayerId, Position, ServerMessage, protocol::encode};

use crate::{
    explorers::{self, PLAYERS},
    hub::{Room, processor_time},
    lateness::Distribution,
    robots::{Players, ROBOTS, TURN},
};

/// Bytes of a display of the map that rooms have by default.
const DISPLAY: usize = 8 + 21 * 80;
/// One key of so many leads into a wall, so that nobody is sent anything; as seen with players who press keys at random.
const WALLS: u64 = 4;
/// How often the loop of nuggets looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Plays so many matches of robots with as many turns, beside so many rooms of nuggets. Returns how late turns were, and the processors
/// that the two loops kept busy.
pub(crate) async fn measure(matches: u32, explored: u32, turns: u16) -> anyhow::Result<(Distribution, f64)> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let rooms = vec![Room { id: "floor".into(), address: socket.local_addr()? }; explored as usize];
    let stop = Arc::new(AtomicBool::new(false));
    let displays = {
        let stop = Arc::clone(&stop);
        thread::spawn(move || answer(&socket, &stop))
    };
    let explorers = explorers::start(rooms, explorers::KEY_PAUSE).await?;
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

// The loop of robots. Matches begin evenly spread over the duration of a turn, as those of a hub do. Returns its processor time, and the
// connections: closed at once, they could break while a player still answers the last turn.
fn serve(listener: &TcpListener, count: u32, turns: u16) -> anyhow::Result<(Vec<TcpStream>, Duration)> {
    let streams = (0..count).map(|_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    });
    let mut streams = streams.collect::<io::Result<Vec<TcpStream>>>()?;
    let matches = count / ROBOTS;
    // A turn of the usual size, in which everybody moves.
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
