use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::{Duration, UNIX_EPOCH},
};

use bytes::Bytes;
use ladder::{FIXED, Forfeit, Input, Latency, LatencyMeter, MatchId, ProgramId};
use netcore::{HostId, Level};
use serde::Serialize;
use store::{Match, PlayerKind};
use tokio::sync::mpsc;

use super::link::ProgramLink;
use crate::{
    games::Game,
    room::{Room, info::Row, register::level_name},
};

#[derive(Debug, Default)]
pub(crate) struct Ladders(BTreeMap<Game, Arc<Board>>);

#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) game: Game,
    pub(crate) port: u16,
    view: Mutex<View>,
    // Names that lost a key. The ladder's task has yet to remove their programs.
    revoked: Mutex<Vec<String>>,
    tunnels: mpsc::Sender<Tunnel>,
}

impl Board {
    pub(super) fn new(game: Game, port: u16, tunnels: mpsc::Sender<Tunnel>) -> Self {
        Self { game, port, view: Mutex::default(), revoked: Mutex::default(), tunnels }
    }

    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revoked(&self) -> MutexGuard<'_, Vec<String>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The ladder's task removes programs whose keys no longer prove these names.
    pub(crate) fn revoke(&self, names: &[String]) {
        self.revoked().extend_from_slice(names);
    }

    pub(super) fn take_revoked(&self) -> Vec<String> {
        std::mem::take(&mut *self.revoked())
    }

    pub(crate) async fn attend(&self, host: HostId, inbox: mpsc::Receiver<Bytes>, outbox: mpsc::Sender<Bytes>) {
        // If the port is closed, the hub is ending.
        let _ = self.tunnels.send(Tunnel { host, inbox, outbox }).await;
    }
}

impl Ladders {
    pub(super) fn of(boards: impl IntoIterator<Item = Arc<Board>>) -> Self {
        Self(boards.into_iter().map(|board| (board.game, board)).collect())
    }

    pub(crate) fn get(&self, game: Game) -> Option<&Arc<Board>> {
        self.0.get(&game)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.0.values()
    }
}

/// The rating of the medium bot.
pub(super) const USUAL_RATING: i64 = FIXED[1].1;

#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) name: String,
    pub(super) host: HostId,
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) latency: Arc<Mutex<LatencyMeter>>,
}

impl Newcomer {
    pub(super) fn latency(&self) -> Option<Latency> {
        self.latency.lock().unwrap_or_else(PoisonError::into_inner).latency()
    }
}

#[derive(Debug)]
pub(super) enum LadderMessage {
    Connected(ProgramId, Newcomer, i64),
    Input(Input),
    /// The match has a result. A program that leaves from now on is not penalized.
    Settled(MatchId),
    /// `None` if there is no result.
    Ended(MatchId, Option<Ended>),
}

#[derive(Debug)]
pub(super) enum Order {
    Play(Box<Table>),
    /// Disconnects the program for this reason.
    Dismiss(String),
    /// The room is closed.
    Over,
    /// Pass the connection to the program with this channel, whose own was lost.
    HandOver(mpsc::Sender<Order>),
    /// Continue with this connection.
    Reconnected(Box<ProgramLink>),
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) room: ProgramLink,
    /// The join that took the seat. It replaces repeated joins, which contain the key.
    pub(super) join: Bytes,
    /// Bytes of the room that the program already has.
    pub(super) greeting: Bytes,
    /// The room, and the address of `room` there.
    pub(super) seat: (Weak<Room>, SocketAddr),
}

#[derive(Debug)]
pub(super) struct Ended {
    /// The id in the results.
    pub(super) id: String,
    pub(super) rows: Vec<Row>,
    /// Names.
    pub(super) programs: Vec<String>,
    pub(super) bot: Option<Level>,
}

#[derive(Debug)]
pub(super) struct Tunnel {
    pub(super) host: HostId,
    pub(super) inbox: mpsc::Receiver<Bytes>,
    /// Dropped when the program is finished.
    pub(super) outbox: mpsc::Sender<Bytes>,
}

/// Listed matches. The results have all.
pub(super) const RECENT: usize = 50;

#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct View {
    waiting: Vec<WaitingProgram>,
    playing: Vec<RunningMatch>,
    /// Newest first.
    recent: VecDeque<Finished>,
    /// Since the start of the hub.
    played: u64,
    #[serde(skip)]
    lost: ForfeitCounts,
}

/// Since the start of the hub.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ForfeitCounts {
    /// The program exceeded the time for a move.
    pub(crate) silent: u64,
    /// The program left or crashed.
    pub(crate) gone: u64,
}

#[derive(Debug, Clone, Serialize)]
struct WaitingProgram {
    name: String,
    /// RFC 3339.
    since: String,
}

#[derive(Debug, Clone, Serialize)]
struct RunningMatch {
    players: Vec<String>,
    since: String,
    /// For watchers.
    #[serde(skip_serializing_if = "Option::is_none")]
    room: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finished {
    /// The id in the results, also for replays.
    id: String,
    ended: String,
    /// Best first.
    players: Vec<RankedPlayer>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct RankedPlayer {
    rank: u32,
    name: String,
    score: i64,
    bot: bool,
    /// Whether the player forfeited.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
    /// Of a program; unknown for matches before the start of the hub.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<Latency>,
}

impl View {
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn playing(&self) -> usize {
        self.playing.len()
    }

    pub(crate) const fn played(&self) -> u64 {
        self.played
    }

    pub(crate) const fn forfeits(&self) -> ForfeitCounts {
        self.lost
    }

    pub(super) const fn lose(&mut self, how: Forfeit) {
        match how {
            Forfeit::TimedOut => self.lost.silent += 1,
            Forfeit::Left => self.lost.gone += 1,
        }
    }

    /// Appends `before`, earlier matches from newest to oldest.
    pub(super) fn remember(&mut self, before: Vec<Match>) {
        for old in before {
            if self.recent.len() < RECENT && self.recent.iter().all(|known| known.id != old.id) {
                self.recent.push_back(Finished::stored(old));
            }
        }
    }

    /// `latencies` are by names of programs.
    pub(super) fn end(&mut self, ended: Ended, latencies: &BTreeMap<String, Latency>, now: u64) {
        let Ended { id, rows, programs, bot } = ended;
        let player = |row: Row| {
            let is_bot = !programs.contains(&row.name);
            let level = bot.filter(|_| is_bot).map(|level| format!("bot, {}", level_name(level)));
            let lost = row.left && !is_bot;
            let latency = latencies.get(&row.name).copied();
            let (rank, score, name) = (row.rank, row.score, level.unwrap_or(row.name));
            RankedPlayer { rank, name, score, bot: is_bot, lost, latency }
        };
        let players = ordered(rows.into_iter().map(player).collect());
        self.recent.push_front(Finished { id, ended: text(now), players });
        self.recent.truncate(RECENT);
        self.played += 1;
    }

    pub(super) fn update(
        &mut self,
        waiting: impl Iterator<Item = (String, Duration)>,
        playing: impl Iterator<Item = (Vec<String>, Duration, Option<String>)>,
        now: u64,
    ) {
        let since = |age: Duration| text(now.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)));
        self.waiting = waiting.map(|(name, age)| WaitingProgram { name, since: since(age) }).collect();
        self.playing = playing.map(|(players, age, room)| RunningMatch { players, since: since(age), room }).collect();
    }
}

impl Finished {
    // The level of a bot is not stored, so bots keep the names from their rooms.
    fn stored(Match { id, ended, players, .. }: Match) -> Self {
        let players = players.into_iter().map(|player| {
            let bot = player.kind == PlayerKind::Bot;
            let lost = player.quit && !bot;
            RankedPlayer { rank: player.rank, name: player.name, score: player.score, bot, lost, latency: None }
        });
        Self { id, ended: text(ended), players: ordered(players.collect()) }
    }
}

// Orders players by rank, and those who forfeited last.
fn ordered(mut players: Vec<RankedPlayer>) -> Vec<RankedPlayer> {
    players.sort_by_key(|player| player.lost);
    for (player, place) in players.iter_mut().zip(1..).filter(|(player, _)| player.lost) {
        player.rank = place;
    }
    players
}

fn text(unix: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(unix)).to_string()
}
