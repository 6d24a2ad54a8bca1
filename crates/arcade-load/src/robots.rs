//! Clients of robots that act at random. They decide without looking at the board, so that they cost next to nothing.

use std::{io, net::SocketAddr, time::Instant};

use bytes::BytesMut;
use netcore::wire::ShortText;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use robots::{Action, ClientMessage, Direction, Incoming, ServerMessage, protocol::encode};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::lateness::Arrivals;

/// Milliseconds of a turn: ten a second.
pub(crate) const TURN: u64 = 100;

/// Plays one match as one player. Returns when its turns arrived.
///
/// # Errors
/// When the connection breaks, or the server sends what is no message.
pub(crate) async fn play(server: SocketAddr, name: String, seed: u64) -> anyhow::Result<Arrivals> {
    let mut chance = Pcg64::seed_from_u64(seed);
    let mut stream = TcpStream::connect(server).await?;
    netshell::tune_stream(&stream);
    let (mut incoming, mut arrivals, mut answers) = (Incoming::default(), Arrivals::default(), BytesMut::new());
    loop {
        if stream.read_buf(incoming.buffer()).await? == 0 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        let now = Instant::now();
        while let Some(message) = incoming.next_message()? {
            let answer = match message {
                ServerMessage::Hello(_) => ClientMessage::Join { name: ShortText::try_from(&*name)? },
                ServerMessage::Turn { turn, .. } => {
                    arrivals.push(turn, now);
                    ClientMessage::Action(action(&mut chance))
                }
                ServerMessage::GameEnded { .. } => return Ok(arrivals),
                ServerMessage::AcceptedPlayer { .. } | ServerMessage::GameStarted { .. } => continue,
            };
            answers.clear();
            encode(&answer, &mut answers);
            stream.write_all(&answers).await?;
        }
    }
}

// Mostly moves, as people do.
fn action(chance: &mut Pcg64) -> Action {
    match chance.random_range(0..10) {
        0 => Action::PlaceBomb,
        1 => Action::PlaceBlock,
        2 | 3 => Action::Move(Direction::Up),
        4 | 5 => Action::Move(Direction::Right),
        6 | 7 => Action::Move(Direction::Down),
        _ => Action::Move(Direction::Left),
    }
}
