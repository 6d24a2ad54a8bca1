//! Innocents at the ports of rooms.

use std::{future, net::SocketAddr};

use clientkit::{Ended, Pilot, Wire, blackjack_bot, mastermind_bot, robots_bot, run};
use netcore::{Client, Level, Time, wire::ShortText};
use nuggets::{Participant, Typist};
use tokio::time::{sleep, timeout};

use super::{
    super::net::PATIENCE,
    KEY_PAUSE, RETRY, Seat,
    watched::{Answers, Keys, Steered, Turns, Watch, Watched},
};

// Plays until the server ends it; why, unless the client is over.
async fn play<C, W, P>(wire: &mut Wire, client: &mut Watched<C, W>, pilot: P) -> Result<(), String>
where
    C: Client<Error: std::fmt::Display>,
    W: Watch<C>,
    P: Pilot<C>,
{
    match run(wire, client, &mut Steered(pilot), future::pending()).await {
        Ended::Over | Ended::Stopped => Ok(()),
        Ended::Lost(why) => Err(why),
    }
}

impl Seat {
    // A connection to a room, as soon as it can be had.
    async fn connection(&self, room: SocketAddr) -> Wire {
        loop {
            match timeout(PATIENCE, Wire::stream((self.from, 0).into(), room, |_| ())).await {
                Ok(Ok(wire)) => return wire,
                Ok(Err(error)) => self.recorder.failed(format!("no connection: {error}")),
                Err(_) => self.recorder.failed("no connection in time"),
            }
            sleep(RETRY).await;
        }
    }
}

/// A player of nuggets over datagrams.
pub(super) async fn nuggets(seat: Seat, room: SocketAddr) {
    let Ok(name) = nuggets::Name::new(seat.name.as_bytes()) else { return };
    for number in 0.. {
        let mut wire = match Wire::datagrams((seat.from, 0).into(), room) {
            Ok(wire) => wire,
            Err(error) => {
                seat.lost(error.to_string()).await;
                continue;
            }
        };
        let client = nuggets::Client::new(Participant::Player(name.clone()), Time::ZERO);
        let mut client = Watched::new(client, Keys::new(seat.recorder.clone()));
        let played = play(&mut wire, &mut client, Typist::new(Level::Hard, Some(KEY_PAUSE), number)).await;
        match (played, client.client.end()) {
            (Ok(()), Some(end)) if end.is_game_over() => seat.recorder.ended(),
            (Ok(()), end) => seat.lost(end.map_or_else(|| "left".into(), |end| format!("{end:?}"))).await,
            (Err(why), _) => seat.lost(why).await,
        }
    }
}

/// A player of robots over a connection.
pub(super) async fn robots(seat: Seat, room: SocketAddr) {
    let Ok(name) = ShortText::try_from(seat.name) else { return };
    for number in 0.. {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = robots_bot(name.clone(), wire.address().ok(), Level::Normal, number);
        let mut client = Watched::new(client, Turns::new(seat.recorder.clone()));
        let played = play(&mut wire, &mut client, pilot).await;
        seat.lost(played.err().unwrap_or_else(|| "over".into())).await;
    }
}

/// A player of blackjack over a connection.
pub(super) async fn blackjack(seat: Seat, room: SocketAddr) {
    let Ok(name) = blackjack::Name::new(seat.name.as_bytes()) else { return };
    loop {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = blackjack_bot(name.clone(), Level::Easy);
        let mut client = Watched::new(client, Answers::new(seat.recorder.clone()));
        match play(&mut wire, &mut client, pilot).await {
            Ok(()) => seat.recorder.ended(),
            Err(why) => seat.lost(why).await,
        }
    }
}

/// A player of mastermind over a connection.
pub(super) async fn mastermind(seat: Seat, room: SocketAddr) {
    let Ok(name) = mastermind::Name::new(seat.name.as_bytes()) else { return };
    for number in 0.. {
        let mut wire = seat.connection(room).await;
        let (client, pilot) = mastermind_bot(name.clone(), Level::Hard, number);
        let mut client = Watched::new(client, Answers::new(seat.recorder.clone()));
        let played = play(&mut wire, &mut client, pilot).await;
        seat.lost(played.err().unwrap_or_else(|| "over".into())).await;
    }
}
