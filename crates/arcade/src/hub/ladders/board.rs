//! The state of ladders that is visible outside of their tasks.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use bytes::Bytes;
use ladder::{FIXED, Forfeit, Input, MatchId, ProgramId};
use netcore::{HostId, Level};
use serde::Serialize;
use store::{Kind, Match};
use tokio::sync::mpsc;

use super::link::ProgramLink;
use crate::{
    games::Game,
    room::{info::Row, register::level_name},
};

/// The ladders of a hub, by their games.
#[derive(Debug, Default)]
pub(crate) struct Ladders(BTreeMap<Game, Arc<Board>>);

/// The public state of a ladder.
#[derive(Debug)]
pub(crate) struct Board {
    pub(crate) game: Game,
    /// The port for programs.
    pub(crate) port: u16,
    view: Mutex<View>,
    // Names that lost a key, until the keeper has removed their programs.
    revoked: Mutex<Vec<String>>,
    tunnels: mpsc::Sender<Tunnel>,
}

impl Board {
    pub(super) fn new(game: Game, port: u16, tunnels: mpsc::Sender<Tunnel>) -> Self {
        Self { game, port, view: Mutex::default(), revoked: Mutex::default(), tunnels }
    }

    /// The waiting programs, the running matches and the last results.
    pub(crate) fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn revoked(&self) -> MutexGuard<'_, Vec<String>> {
        self.revoked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Revokes names: programs whose keys do not prove these names any longer are removed soon.
    pub(crate) fn revoke(&self, names: &[String]) {
        self.revoked().extend_from_slice(names);
    }

    pub(super) fn take_revoked(&self) -> Vec<String> {
        std::mem::take(&mut *self.revoked())
    }

    /// Admits a program over a WebSocket. Its data arrives by `inbox`; data for it is sent to `outbox`, which is
    /// dropped at the end.
    pub(crate) async fn attend(&self, host: HostId, inbox: mpsc::Receiver<Bytes>, outbox: mpsc::Sender<Bytes>) {
        // If the port is closed, the hub is ending.
        let _ = self.tunnels.send(Tunnel { host, inbox, outbox }).await;
    }
}

impl Ladders {
    /// Collects these ladders by their games.
    pub(super) fn of(boards: impl IntoIterator<Item = Arc<Board>>) -> Self {
        Self(boards.into_iter().map(|board| (board.game, board)).collect())
    }

    /// The ladder of a game, if there is one.
    pub(crate) fn get(&self, game: Game) -> Option<&Arc<Board>> {
        self.0.get(&game)
    }

    /// All ladders.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Board>> {
        self.0.values()
    }
}

/// The rating of a new program: that of the bot in the middle.
pub(super) const USUAL_RATING: i64 = FIXED[1].1;

/// A program that has proven its name.
#[derive(Debug)]
pub(super) struct Newcomer {
    pub(super) name: String,
    pub(super) host: HostId,
    pub(super) orders: mpsc::Sender<Order>,
}

/// A message to a keeper.
#[derive(Debug)]
pub(super) enum KeeperMessage {
    /// A program has connected.
    Came(ProgramId, Newcomer, i64),
    Input(Input),
    /// The result of a match is known. A program that leaves from now on is not penalized.
    Settled(MatchId),
    /// A match is over, or could not be played.
    Ended(MatchId, Option<Ended>),
}

/// An order to a program.
#[derive(Debug)]
pub(super) enum Order {
    /// Its match starts in a room.
    Play(Box<Table>),
    /// It is disconnected, for this reason.
    Away(String),
    /// Its match is over, and its room is closed.
    Over,
}

/// The seat of a program in a room.
#[derive(Debug)]
pub(super) struct Table {
    /// The connection to the room.
    pub(super) room: ProgramLink,
    /// The join message that took the seat. It is sent in place of a join that the program repeats, because that
    /// contains the key.
    pub(super) join: Bytes,
    /// The first bytes of the room, which the program has already received.
    pub(super) greeting: Bytes,
}

/// How a match has ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// Its permanent id.
    pub(super) id: String,
    pub(super) rows: Vec<Row>,
    /// The names that belong to programs.
    pub(super) programs: Vec<String>,
    pub(super) bot: Option<Level>,
}

/// A program that connects over a WebSocket.
#[derive(Debug)]
pub(super) struct Tunnel {
    pub(super) host: HostId,
    /// Data from the program.
    pub(super) inbox: mpsc::Receiver<Bytes>,
    /// Data for the program. Dropped when the ladder has finished with it.
    pub(super) outbox: mpsc::Sender<Bytes>,
}

/// The number of listed matches. All matches are in the results.
pub(super) const RECENT: usize = 50;

/// The waiting programs, the running matches and the last results.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct View {
    waiting: Vec<Waits>,
    playing: Vec<Plays>,
    /// The last results, newest first.
    recent: VecDeque<Finished>,
    /// The number of matches since the hub was started.
    played: u64,
    #[serde(skip)]
    lost: Lost,
}

/// The number of forfeited matches since the hub was started.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lost {
    /// The program did not answer in time.
    pub(crate) silent: u64,
    /// The program left before the end, or crashed.
    pub(crate) gone: u64,
}

#[derive(Debug, Clone, Serialize)]
struct Waits {
    name: String,
    /// RFC 3339.
    since: String,
}

#[derive(Debug, Clone, Serialize)]
struct Plays {
    players: Vec<String>,
    since: String,
    /// The id of its room, for watchers.
    #[serde(skip_serializing_if = "Option::is_none")]
    room: Option<String>,
}

/// A finished match.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Finished {
    /// Identifies the match in the results and for replays.
    id: String,
    ended: String,
    /// Best first.
    players: Vec<PlayerShown>,
}

/// A player of a finished match.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct PlayerShown {
    rank: u32,
    name: String,
    score: i64,
    bot: bool,
    /// Whether it has forfeited the match.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lost: bool,
}

impl View {
    /// The number of waiting programs.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The number of running matches.
    pub(crate) fn playing(&self) -> usize {
        self.playing.len()
    }

    /// The number of matches since the hub was started.
    pub(crate) const fn played(&self) -> u64 {
        self.played
    }

    /// The number of forfeited matches.
    pub(crate) const fn lost(&self) -> Lost {
        self.lost
    }

    /// Counts a forfeited match.
    pub(super) const fn lose(&mut self, how: Forfeit) {
        match how {
            Forfeit::TimedOut => self.lost.silent += 1,
            Forfeit::Left => self.lost.gone += 1,
        }
    }

    /// Adds matches that were played before the hub was started, newest first. They are listed after the matches since
    /// then.
    pub(super) fn remember(&mut self, before: Vec<Match>) {
        for old in before {
            if self.recent.len() < RECENT && self.recent.iter().all(|known| known.id != old.id) {
                self.recent.push_back(Finished::stored(old));
            }
        }
    }

    /// Adds a match that ended at `now`.
    pub(super) fn end(&mut self, ended: Ended, now: u64) {
        let Ended { id, rows, programs, bot } = ended;
        let player = |row: Row| {
            let is_bot = !programs.contains(&row.name);
            let level = bot.filter(|_| is_bot).map(|level| format!("bot, {}", level_name(level)));
            let lost = row.left && !is_bot;
            PlayerShown { rank: row.rank, name: level.unwrap_or(row.name), score: row.score, bot: is_bot, lost }
        };
        let players = ordered(rows.into_iter().map(player).collect());
        self.recent.push_front(Finished { id, ended: text(now), players });
        self.recent.truncate(RECENT);
        self.played += 1;
    }

    /// Updates the waiting programs and the running matches.
    pub(super) fn update(
        &mut self,
        waiting: impl Iterator<Item = (String, Duration)>,
        playing: impl Iterator<Item = (Vec<String>, Duration, Option<String>)>,
        now: u64,
    ) {
        let since = |age: Duration| text(now.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)));
        self.waiting = waiting.map(|(name, age)| Waits { name, since: since(age) }).collect();
        self.playing = playing.map(|(players, age, room)| Plays { players, since: since(age), room }).collect();
    }
}

impl Finished {
    // A bot's level is not stored with a match, so bots have the names that they had in their rooms.
    fn stored(Match { id, ended, players, .. }: Match) -> Self {
        let players = players.into_iter().map(|player| {
            let bot = player.kind == Kind::Bot;
            let lost = player.quit && !bot;
            PlayerShown { rank: player.rank, name: player.name, score: player.score, bot, lost }
        });
        Self { id, ended: text(ended), players: ordered(players.collect()) }
    }
}

// Sorts players as the ratings rank them. Players who have forfeited come last.
fn ordered(mut players: Vec<PlayerShown>) -> Vec<PlayerShown> {
    players.sort_by_key(|player| player.lost);
    for (player, place) in players.iter_mut().zip(1..).filter(|(player, _)| player.lost) {
        player.rank = place;
    }
    players
}

fn text(unix: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(unix)).to_string()
}
