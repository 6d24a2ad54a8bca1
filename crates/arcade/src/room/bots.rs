//! Bots for empty seats. They connect to the port of the room, like native clients.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, bail};
use clientkit::{Ended, Wire};
use netcore::{HostId, Level, Link};
use rand::{TryRng as _, rngs::SysRng};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::watch,
    task::AbortHandle,
    time::{sleep, timeout},
};
use tracing::{debug, info};

use super::{info::Info, pseudonyms::bot_seed, roster::Roster};
use crate::{
    games::{Bot as Player, Game, GameKind, with_kind},
    message::message,
};

/// Bots in all rooms, shared fairly among the hosts that request them.
pub(crate) const MAX_BOTS: usize = 1_000;
/// The pause before the next game.
const REST: Duration = Duration::from_secs(1);
/// How long a bot waits for more people once one wants to play again.
const OTHERS: Duration = Duration::from_secs(5);
/// The first and the longest pause before reconnecting.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// In the order of use.
#[rustfmt::skip]
const NAMES: [&str; 25] = [
    "Ada", "Alan", "Grace", "Edsger", "Barbara", "Donald", "Frances", "Dennis", "Radia", "Ken", "Margaret", "John",
    "Katherine", "Tony", "Jean", "Niklaus", "Shafi", "Alonzo", "Adele", "Kurt", "Emmy", "Claude", "Hedy", "Blaise", "Sofia",
];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seating {
    pub(crate) name: String,
    pub(crate) level: Level,
    /// Of its UDP socket; identifies the bot after a restart of the room.
    pub(crate) address: Option<SocketAddr>,
    /// `None` if the hub or an earlier version has added the bot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) host: Option<HostId>,
}

#[derive(Debug)]
pub(crate) struct Bots {
    game: Game,
    // The address of the room on this machine.
    room: SocketAddr,
    info: watch::Receiver<Info>,
    roster: Arc<Roster>,
    // Whether the bots play against programs only, without pauses.
    brisk: bool,
    // Of a daily challenge, whose bots are the same for all players.
    seed: Option<[u8; 32]>,
    // Bots from before a restart, until the room runs.
    reopened: Mutex<Vec<(Seating, Option<Wire>)>>,
    here: Mutex<BTreeMap<String, Running>>,
}

#[derive(Debug)]
struct Running {
    leave: watch::Sender<bool>,
    task: AbortHandle,
}

/// Removes bots that cannot have their previous addresses: over UDP, addresses identify seats.
pub(super) fn reopen(bots: &mut Vec<Seating>, game: Game, room: SocketAddr) -> Vec<(Seating, Option<Wire>)> {
    let mut back = vec![];
    bots.truncate(NAMES.len());
    bots.retain(|bot| {
        let wire = match (game.wire(), bot.address) {
            (servekit::Wire::Udp, Some(address)) => Wire::datagrams(address, room).map(Some),
            (servekit::Wire::Udp, None) => return false,
            (servekit::Wire::Tcp(_), _) => Ok(None),
        };
        match wire {
            Ok(wire) => back.push((bot.clone(), wire)),
            Err(error) => info!(name = bot.name.escape_debug().to_string(), %error, "cannot restore a bot"),
        }
        back.last().is_some_and(|(last, _)| last == bot)
    });
    back
}

impl Bots {
    pub(crate) fn new(
        game: Game,
        room: SocketAddr,
        info: watch::Receiver<Info>,
        roster: Arc<Roster>,
        reopened: Vec<(Seating, Option<Wire>)>,
    ) -> Self {
        Self {
            game,
            room,
            info,
            roster,
            brisk: false,
            seed: None,
            reopened: Mutex::new(reopened),
            here: Mutex::default(),
        }
    }

    pub(crate) fn with_pace(self, brisk: bool) -> Self {
        Self { brisk, ..self }
    }

    pub(crate) fn with_seed(self, seed: Option<[u8; 32]>) -> Self {
        Self { seed, ..self }
    }

    pub(crate) fn count(&self) -> usize {
        self.here().len()
    }

    pub(crate) fn start(&self) {
        let reopened = std::mem::take(&mut *self.reopened.lock().unwrap_or_else(PoisonError::into_inner));
        for (seating, wire) in reopened {
            let name = seating.name.clone();
            let running = self.run(seating, wire);
            self.here().insert(name, running);
        }
    }

    pub(crate) fn add(&self, level: Level, host: Option<HostId>) -> anyhow::Result<Seating> {
        let info = self.info.borrow().clone();
        // Held until the bot is added, so that concurrent calls choose different names and seats.
        let mut here = self.here();
        has_seat(&info, here.len())?;
        let mut names = NAMES.iter().map(|name| self.game.bot_name(name));
        let name = names.find(|name| !here.contains_key(name)).context("no more bots are available")?;
        let wire = match self.game.wire() {
            servekit::Wire::Udp => Some(Wire::datagrams(own_address(self.room), self.room)?),
            servekit::Wire::Tcp(_) => None,
        };
        let address = wire.as_ref().map(Wire::address).transpose()?;
        let seating = Seating { name, level, address, host };
        if let Some(address) = address {
            self.roster.add_bot(address, level, &seating.name);
        }
        here.insert(seating.name.clone(), self.run(seating.clone(), wire));
        Ok(seating)
    }

    /// All bots leave. Returns whether there were any.
    pub(crate) fn dismiss(&self) -> bool {
        let here = std::mem::take(&mut *self.here());
        for bot in here.values() {
            bot.leave.send_replace(true);
        }
        !here.is_empty()
    }

    /// `count` bots leave, those with the last names first. Returns their names.
    pub(crate) fn dismiss_last(&self, count: usize) -> Vec<String> {
        let mut here = self.here();
        let order = |name: &String| NAMES.iter().position(|known| self.game.bot_name(known) == *name);
        let mut names: Vec<String> = here.keys().cloned().collect();
        names.sort_by_key(|name| std::cmp::Reverse(order(name)));
        names.truncate(count);
        for bot in names.iter().filter_map(|name| here.remove(name)) {
            bot.leave.send_replace(true);
        }
        names
    }

    /// Stops the bots without leaving, because the room will resume with them.
    pub(crate) fn abort(&self) {
        for bot in std::mem::take(&mut *self.here()).into_values() {
            bot.task.abort();
        }
    }

    fn run(&self, seating: Seating, wire: Option<Wire>) -> Running {
        let (leave, left) = watch::channel(false);
        let (game, room, info, brisk) = (self.game, self.room, self.info.clone(), self.brisk);
        let seed = self.seed.map(|seed| bot_seed(&seed, &seating.name));
        let bot = Bot { game, room, info, roster: Arc::clone(&self.roster), seating, brisk, seed };
        let task = tokio::spawn(bot.run(wire, left)).abort_handle();
        Running { leave, task }
    }

    fn here(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Fails if the room has no seat for another bot. One stays free for a person.
fn has_seat(info: &Info, bots: usize) -> anyhow::Result<()> {
    let seats = usize::try_from(info.seats).unwrap_or(usize::MAX);
    let people = info.players.iter().filter(|player| !player.bot).count();
    if bots.saturating_add(1) >= seats {
        bail!(message!("seat_for_person", "the last seat is for a person, so the room has no seat for another bot"));
    }
    if bots.saturating_add(people) >= seats {
        bail!(message!("room_full", "all seats are taken"));
    }
    Ok(())
}

fn own_address(room: SocketAddr) -> SocketAddr {
    SocketAddr::new(room.ip(), 0)
}

struct Bot {
    game: Game,
    room: SocketAddr,
    info: watch::Receiver<Info>,
    roster: Arc<Roster>,
    seating: Seating,
    brisk: bool,
    seed: Option<u64>,
}

impl Bot {
    // Plays game after game until the bot has to leave.
    async fn run(mut self, mut wire: Option<Wire>, mut left: watch::Receiver<bool>) {
        let mut retry = RETRY.0;
        loop {
            let pause = match self.play(&mut wire, left.clone()).await {
                Ok(Ended::Stopped) => break,
                Ok(Ended::Over) => {
                    retry = RETRY.0;
                    tokio::select! {
                        () = invited(&mut self.info) => {}
                        () = leaving(&mut left) => break,
                    }
                    REST
                }
                Ok(Ended::Lost(why)) => {
                    debug!(name = self.seating.name, why, "a bot lost its room");
                    longer(&mut retry)
                }
                Err(error) => {
                    debug!(name = self.seating.name, "a bot failed: {error:#}");
                    longer(&mut retry)
                }
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = leaving(&mut left) => break,
            }
        }
        if let Some(address) = self.seating.address {
            self.roster.remove_bot(address);
        }
    }

    async fn play(&self, wire: &mut Option<Wire>, mut left: watch::Receiver<bool>) -> anyhow::Result<Ended> {
        let Seating { name, level, .. } = &self.seating;
        let seed = self.seed.map_or_else(|| SysRng.try_next_u64(), Ok)?;
        let player = Player { name: name.clone(), level: *level, seed, brisk: self.brisk };
        // Registered while the bot is connected.
        let mut known = None;
        let way = async {
            if matches!(self.game.wire(), servekit::Wire::Tcp(_)) {
                *wire = Some(self.connect(&mut known).await?);
            }
            let wire = wire.as_mut().context("it has no socket")?;
            let own = match self.game.wire() {
                servekit::Wire::Udp => wire.address()?,
                servekit::Wire::Tcp(_) => self.roster.mask.room_address(Link::Stream, wire.address()?),
            };
            Ok((wire, own))
        };
        with_kind!(self.game, K => K::play(player, way, leaving(&mut left)).await)
    }

    async fn connect(&self, known: &mut Option<BotAddress>) -> std::io::Result<Wire> {
        let connected = Wire::stream(own_address(self.room), self.room, |own| {
            let own = self.roster.mask.room_address(Link::Stream, own);
            self.roster.add_bot(own, self.seating.level, &self.seating.name);
            *known = Some(BotAddress(own, Arc::clone(&self.roster)));
        });
        connected.await
    }
}

struct BotAddress(SocketAddr, Arc<Roster>);

impl Drop for BotAddress {
    fn drop(&mut self) {
        self.1.remove_bot(self.0);
    }
}

// Returns the pause before this attempt, and doubles the next one.
fn longer(retry: &mut Duration) -> Duration {
    let pause = *retry;
    *retry = (pause * 2).min(RETRY.1);
    pause
}

// Resolves when all connected people have joined, or [`OTHERS`] after the first. The bots then do not start a match
// alone, or while people still read the result.
async fn invited(info: &mut watch::Receiver<Info>) {
    let seated = |info: &Info| info.players.iter().filter(|player| !player.bot).count();
    // Also resolves when the room has ended.
    let _ = info.wait_for(|info| seated(info) > 0).await;
    let _ = timeout(OTHERS, info.wait_for(|info| seated(info) >= info.people)).await;
}

// Also resolves when the room has ended.
async fn leaving(left: &mut watch::Receiver<bool>) {
    let _ = left.wait_for(|left| *left).await;
}

#[cfg(test)]
mod tests {
    use netcore::PeerId;
    use tokio::time::Instant;

    use super::*;
    use crate::room::info::Player as Seated;

    fn seated(number: u64, bot: bool) -> Seated {
        let (name, seat) = (format!("player {number}"), number.to_string());
        Seated { peer: PeerId(number), address: None, name, wire: None, seat, bot, proven: false, owner: false }
    }

    #[tokio::test(start_paused = true)]
    async fn bots_rejoin_when_people_do_and_wait_for_more_of_them() {
        let people = |people, players| Info { players, people, ..Info::usual(Game::Robots) };
        let (sender, mut info) = watch::channel(people(2, vec![seated(1, true)]));
        assert!(timeout(100 * OTHERS, invited(&mut info)).await.is_err(), "no person wants to play");
        sender.send_replace(people(2, vec![seated(1, true), seated(2, false)]));
        let start = Instant::now();
        invited(&mut info).await;
        assert_eq!(start.elapsed(), OTHERS, "one of two wants to play");
        sender.send_replace(people(2, vec![seated(2, false), seated(3, false)]));
        let start = Instant::now();
        invited(&mut info).await;
        assert_eq!(start.elapsed(), Duration::ZERO, "both do");
    }
}
