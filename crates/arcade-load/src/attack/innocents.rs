//! Innocent players of every kind, who note how late they are answered and what they lose.

mod browser;
mod lobby;
mod native;
mod reader;
mod watched;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{sync::oneshot, time::sleep};

use super::{
    meter::{Attacked, Meter, Recorder},
    target::Target,
};
use crate::worker::Worker;

/// Between two keys of a player.
const KEY_PAUSE: Duration = Duration::from_millis(200);
/// Between two attempts to come back.
const RETRY: Duration = Duration::from_secs(1);

/// What an innocent waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// For the answer to its key or its message.
    Key,
    /// For the next turn.
    Turn,
    /// For a page.
    Page,
    /// For a change in the lobby.
    Lobby,
}

/// One of them, by its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Innocent {
    /// By which its results are found, too.
    pub(crate) name: &'static str,
    pub(crate) waits: Waits,
    /// Whether its matches have results.
    pub(crate) plays: bool,
}

pub(crate) const ALL: [Innocent; 8] = [
    Innocent { name: "NuggetsUdp", waits: Waits::Key, plays: true },
    Innocent { name: "NuggetsPage", waits: Waits::Key, plays: true },
    Innocent { name: "RobotsTcp", waits: Waits::Turn, plays: true },
    Innocent { name: "RobotsPage", waits: Waits::Turn, plays: true },
    Innocent { name: "BlackjackTcp", waits: Waits::Key, plays: true },
    Innocent { name: "MastermindTcp", waits: Waits::Key, plays: true },
    Innocent { name: "LobbyPage", waits: Waits::Lobby, plays: false },
    Innocent { name: "Reader", waits: Waits::Page, plays: false },
];

/// The address from which an innocent comes: 127.0.0.2 and the following ones.
pub(crate) fn home(place: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 0, u8::try_from(place + 2).unwrap_or(2))
}

/// Where an innocent is, and where it writes down what it sees.
#[derive(Debug, Clone)]
struct Seat {
    name: &'static str,
    from: Ipv4Addr,
    hub: SocketAddr,
    recorder: Recorder,
}

impl Seat {
    // It is without a seat, and looks for another one.
    async fn lost(&self, why: String) {
        self.recorder.lost(why);
        sleep(RETRY).await;
    }
}

/// All of them, on a thread of their own: they come to the hub and play until they are stopped. Then they tell what each of them saw, in
/// the order of [`ALL`].
pub(crate) fn start(target: Target, attacked: Attacked) -> io::Result<Worker<Vec<Meter>>> {
    Worker::start("innocents", |stopped| live(target, attacked, stopped))
}

async fn live(target: Target, attacked: Attacked, stopped: oneshot::Receiver<()>) -> anyhow::Result<Vec<Meter>> {
    let recorders: Vec<Recorder> = ALL.iter().map(|_| Recorder::new(&attacked)).collect();
    let seat = |place: usize| Seat {
        name: ALL[place].name,
        from: home(place),
        hub: target.hub,
        recorder: recorders[place].clone(),
    };
    let Target { nuggets, robots, blackjack, mastermind, .. } = target.clone();
    let all = async {
        tokio::join!(
            native::nuggets(seat(0), nuggets.address),
            browser::nuggets(seat(1), nuggets.id),
            native::robots(seat(2), robots.address),
            browser::robots(seat(3), robots.id),
            native::blackjack(seat(4), blackjack.address),
            native::mastermind(seat(5), mastermind.address),
            lobby::watch(seat(6), mastermind.id),
            reader::read(seat(7)),
        )
    };
    tokio::select! {
        _ = all => {}
        _ = stopped => {}
    }
    Ok(recorders.iter().map(Recorder::take).collect())
}
