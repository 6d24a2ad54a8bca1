//! Bots for empty seats. They play over the same wire as everybody: a UDP socket or a TCP connection to the port of the room.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail};
use clientkit::{Ended, Level, Wire, blackjack_bot, mastermind_bot, nuggets_bot, robots_bot, run};
use netcore::wire::ShortText;
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::watch,
    task::{AbortHandle, spawn_blocking},
    time::sleep,
};
use tracing::{debug, info};

use crate::{
    games::Game,
    room::{Info, Room},
};

/// Bots at the same time, in all rooms.
pub(crate) const MAX_BOTS: usize = 1_000;
/// How long a bot waits before it takes part in the next game.
const REST: Duration = Duration::from_secs(1);
/// How long a bot that has lost its room waits before it tries again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// What bots are called, in the order in which they come.
const NAMES: [&str; 25] = [
    "Ada",
    "Alan",
    "Grace",
    "Edsger",
    "Barbara",
    "Donald",
    "Frances",
    "Dennis",
    "Radia",
    "Ken",
    "Margaret",
    "John",
    "Katherine",
    "Tony",
    "Jean",
    "Niklaus",
    "Shafi",
    "Alonzo",
    "Adele",
    "Kurt",
    "Emmy",
    "Claude",
    "Hedy",
    "Blaise",
    "Sofia",
];

/// A bot of a room, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seating {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// The address of its UDP socket, at which its room knows it after a restart.
    pub(crate) address: Option<SocketAddr>,
}

/// Addresses in a room, by which bots, or the pictures of a lobby, are told from people.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<BTreeSet<SocketAddr>>);

impl Addresses {
    /// Whether a bot has this address.
    pub(crate) fn has(&self, address: SocketAddr) -> bool {
        self.set().contains(&address)
    }

    /// Whoever has this address is no person.
    pub(crate) fn insert(&self, address: SocketAddr) {
        self.set().insert(address);
    }

    /// Nobody has this address any more.
    pub(crate) fn remove(&self, address: SocketAddr) {
        self.set().remove(&address);
    }

    fn set(&self) -> MutexGuard<'_, BTreeSet<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bots of a room.
#[derive(Debug)]
pub(crate) struct Bots {
    addresses: Arc<Addresses>,
    // Those that come back, until the room runs.
    back: Mutex<Vec<(Seating, Option<Wire>)>>,
    here: Mutex<BTreeMap<String, Running>>,
}

#[derive(Debug)]
struct Running {
    leave: watch::Sender<bool>,
    task: AbortHandle,
}

/// Opens the sockets of the bots of a room that comes back. Over UDP an address is a seat, so a bot needs its old one; one that cannot
/// have it is gone.
pub(crate) fn come_back(bots: &mut Vec<Seating>, game: Game, room: SocketAddr) -> Vec<(Seating, Option<Wire>)> {
    let mut back = vec![];
    bots.truncate(NAMES.len());
    bots.retain(|bot| {
        let wire = match (game.wire(), bot.address) {
            (cmdkit::Wire::Udp, Some(address)) => Wire::datagrams(address, room).map(Some),
            (cmdkit::Wire::Udp, None) => return false,
            (cmdkit::Wire::Tcp(_), _) => Ok(None),
        };
        match wire {
            Ok(wire) => back.push((bot.clone(), wire)),
            Err(error) => info!(name = bot.name.escape_debug().to_string(), %error, "a bot does not come back"),
        }
        back.last().is_some_and(|(last, _)| last == bot)
    });
    back
}

impl Bots {
    /// The bots that come back.
    pub(crate) fn new(back: Vec<(Seating, Option<Wire>)>) -> Self {
        let addresses = Addresses::default();
        addresses.set().extend(back.iter().filter_map(|(seating, _)| seating.address));
        Self { addresses: Arc::new(addresses), back: Mutex::new(back), here: Mutex::default() }
    }

    /// Their addresses.
    pub(crate) fn addresses(&self) -> Arc<Addresses> {
        Arc::clone(&self.addresses)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.here().len()
    }

    /// Lets those play that come back.
    pub(crate) fn start(&self, room: &Room) {
        let back = std::mem::take(&mut *self.back.lock().unwrap_or_else(PoisonError::into_inner));
        for (seating, wire) in back {
            let name = seating.name.clone();
            let running = self.let_in(room, seating, wire);
            self.here().insert(name, running);
        }
    }

    /// Seats one more bot.
    ///
    /// # Errors
    /// When there is no seat for it, or the system refuses a socket.
    pub(crate) fn add(&self, room: &Room, level: Level) -> anyhow::Result<Seating> {
        let info = room.info.borrow().clone();
        // Held until the bot is in it, so that two requests do not get the same name or seat.
        let mut here = self.here();
        has_seat(&info, here.len())?;
        let mut names = NAMES.iter().map(|name| called(room.game, name));
        let name = names.find(|name| !here.contains_key(name)).context("there are no more bots")?;
        let wire = match room.game.wire() {
            cmdkit::Wire::Udp => Some(Wire::datagrams(SocketAddr::new(own_ip(room.address), 0), room.address)?),
            cmdkit::Wire::Tcp(_) => None,
        };
        let address = wire.as_ref().map(Wire::address).transpose()?;
        let seating = Seating { name, level, address };
        self.addresses.set().extend(address);
        here.insert(seating.name.clone(), self.let_in(room, seating.clone(), wire));
        Ok(seating)
    }

    /// Has all of them leave, and gives whether there were any.
    pub(crate) fn dismiss(&self) -> bool {
        let here = std::mem::take(&mut *self.here());
        for bot in here.values() {
            bot.leave.send_replace(true);
        }
        !here.is_empty()
    }

    /// Ends them without a goodbye, because the room goes on later with them.
    pub(crate) fn abort(&self) {
        for bot in std::mem::take(&mut *self.here()).into_values() {
            bot.task.abort();
        }
    }

    fn let_in(&self, room: &Room, seating: Seating, wire: Option<Wire>) -> Running {
        let (leave, left) = watch::channel(false);
        let bot = Bot { game: room.game, room: room.address, addresses: self.addresses(), seating };
        let task = tokio::spawn(bot.stay(wire, left)).abort_handle();
        Running { leave, task }
    }

    fn here(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Whether one more bot has a seat in a room with so many of them. One seat stays free, because bots alone play for nobody.
fn has_seat(info: &Info, bots: usize) -> anyhow::Result<()> {
    let seats = usize::try_from(info.seats).unwrap_or(usize::MAX);
    let people = info.players.iter().filter(|player| !player.bot).count();
    if bots.saturating_add(1) >= seats {
        bail!("one seat is for a person, so no seat is left for another bot");
    }
    if bots.saturating_add(people) >= seats {
        bail!("all seats are taken");
    }
    Ok(())
}

// Names in blackjack have no spaces.
fn called(game: Game, name: &str) -> String {
    match game {
        Game::Nuggets | Game::Robots | Game::Mastermind => format!("Bot {name}"),
        Game::Blackjack => format!("Bot-{name}"),
    }
}

// The own address of a connection to a room on this machine is that of the room.
fn own_ip(room: SocketAddr) -> IpAddr {
    room.ip()
}

/// One bot.
struct Bot {
    game: Game,
    room: SocketAddr,
    addresses: Arc<Addresses>,
    seating: Seating,
}

impl Bot {
    // Plays one game after another until it is to leave.
    async fn stay(self, mut wire: Option<Wire>, mut left: watch::Receiver<bool>) {
        let mut retry = RETRY.0;
        loop {
            let pause = match self.play(&mut wire, left.clone()).await {
                Ok(Ended::Stopped) => break,
                Ok(Ended::Over) => {
                    retry = RETRY.0;
                    REST
                }
                Ok(Ended::Lost(why)) => {
                    debug!(name = self.seating.name, why, "a bot has lost its room");
                    longer(&mut retry)
                }
                Err(error) => {
                    debug!(name = self.seating.name, "a bot cannot play: {error:#}");
                    longer(&mut retry)
                }
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = leaving(&mut left) => break,
            }
        }
        if let Some(address) = self.seating.address {
            self.addresses.set().remove(&address);
        }
    }

    async fn play(&self, wire: &mut Option<Wire>, mut left: watch::Receiver<bool>) -> anyhow::Result<Ended> {
        let Seating { name, level, .. } = &self.seating;
        let seed = SysRng.try_next_u64()?;
        let left = leaving(&mut left);
        match self.game {
            Game::Nuggets => {
                let name = nuggets::Name::new(name.as_bytes()).context("its name is empty")?;
                let (mut client, mut pilot) = nuggets_bot(name, *level, seed);
                let wire = wire.as_mut().context("it has no socket")?;
                Ok(run(wire, &mut client, &mut pilot, left).await)
            }
            Game::Robots => {
                let name = ShortText::try_from(&**name)?;
                let (mut wire, own) = self.connect().await?;
                let seed = u32::try_from(seed >> 32).unwrap_or_default();
                let (mut client, mut pilot) = robots_bot(name, Some(own.0), *level, seed);
                Ok(run(&mut wire, &mut client, &mut pilot, left).await)
            }
            Game::Blackjack => {
                let (name, level) = (blackjack::Name::new(name.as_bytes())?, *level);
                // The best table takes a moment to compute.
                let (mut client, mut pilot) = spawn_blocking(move || blackjack_bot(name, level)).await?;
                let (mut wire, _own) = self.connect().await?;
                Ok(run(&mut wire, &mut client, &mut pilot, left).await)
            }
            Game::Mastermind => {
                let name = mastermind::Name::new(name.as_bytes()).context("its name is empty")?;
                let (mut wire, _own) = self.connect().await?;
                let (mut client, mut pilot) = mastermind_bot(name, *level, seed);
                Ok(run(&mut wire, &mut client, &mut pilot, left).await)
            }
        }
    }

    async fn connect(&self) -> anyhow::Result<(Wire, Known)> {
        let mut known = None;
        let wire = Wire::stream(SocketAddr::new(own_ip(self.room), 0), self.room, |own| {
            self.addresses.set().insert(own);
            known = Some(Known(own, Arc::clone(&self.addresses)));
        });
        Ok((wire.await?, known.context("the socket has no address")?))
    }
}

/// The address of a connection, known as that of a bot as long as this value lives.
struct Known(SocketAddr, Arc<Addresses>);

impl Drop for Known {
    fn drop(&mut self) {
        self.1.set().remove(&self.0);
    }
}

// The pause before this attempt; the next one is longer.
fn longer(retry: &mut Duration) -> Duration {
    let pause = *retry;
    *retry = (pause * 2).min(RETRY.1);
    pause
}

// Resolves when a bot is to leave, or when its room is gone.
async fn leaving(left: &mut watch::Receiver<bool>) {
    let _ = left.wait_for(|left| *left).await;
}
