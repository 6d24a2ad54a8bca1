//! The floor of turns: a bare loop on its own thread that writes to the same number of connections.

use std::{
    io::{self, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
    time::{Duration, Instant},
};

use tokio::io::AsyncReadExt as _;

use crate::{
    lateness::{Arrivals, Distribution},
    robots::TURN,
    rooms::{ROBOTS, lateness},
};

/// Bytes of a turn of the usual size: its number and four moves.
const MESSAGE: usize = 32;

/// How late the turns of so many matches arrive when a thread does nothing but write them when they are due.
///
/// # Errors
/// When a connection fails.
pub(crate) async fn measure(matches: u32, turns: u16) -> anyhow::Result<Distribution> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let count = matches * ROBOTS;
    let server = thread::spawn(move || serve(&listener, count, turns));
    let clients = (0..count).map(|_| {
        tokio::task::spawn_local(async move {
            let mut stream = tokio::net::TcpStream::connect(address).await?;
            let (mut arrivals, mut message) = (Arrivals::default(), [0; MESSAGE]);
            for turn in 0..turns {
                stream.read_exact(&mut message).await?;
                arrivals.push(turn, Instant::now());
            }
            anyhow::Ok(arrivals)
        })
    });
    let late = lateness(clients.collect()).await?;
    server.join().map_err(|_| io::Error::other("the bare loop panicked"))??;
    Ok(late)
}

// Matches begin evenly spread over the duration of a turn, as those of a hub do.
fn serve(listener: &TcpListener, count: u32, turns: u16) -> io::Result<()> {
    let streams = (0..count).map(|_| {
        let (stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        Ok(stream)
    });
    let mut streams = streams.collect::<io::Result<Vec<TcpStream>>>()?;
    let matches = count / ROBOTS;
    let start = Instant::now();
    for turn in 0..turns {
        for (players, place) in streams.chunks_mut(4).zip(0..) {
            let phase = Duration::from_millis(TURN).mul_f64(f64::from(place) / f64::from(matches.max(1)));
            let due = start + Duration::from_millis(TURN) * u32::from(turn) + phase;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            for player in players {
                player.write_all(&[0; MESSAGE])?;
            }
        }
    }
    Ok(())
}
