//! Lists of rooms, matches and leaders for pages. A page selects a view, receives it once, and then its changes. Pages
//! with the same view share updates.

mod views;
pub(crate) use self::views::{Lists, MAX_VIEWS_OF_HOST, ViewQuery, ViewSubscription};

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use store::Match;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tracing::warn;

use super::{
    cluster::{Cluster, RemoteRoom, RemoteRooms},
    rooms::Rooms,
};
use crate::{
    games::Game,
    results::{
        Results,
        views::{Boards, LeaderView, date, player_json},
    },
    room::{Room, info::Info},
};

/// The minimum interval of updates.
pub(crate) const PAUSE: Duration = Duration::from_millis(250);
/// The same for matches and leaders, which change with every result.
const BOARDS_PAUSE: Duration = Duration::from_secs(2);

/// The lobby in the API.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Lobby {
    pub(crate) rooms: Vec<Open>,
    /// Whether the rooms of other hubs may be out of date.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unsure: bool,
    #[serde(flatten)]
    pub(crate) boards: Boards,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Open {
    Here(Box<Info>),
    Remote(Box<RawValue>),
}

impl Lobby {
    pub(crate) fn of(rooms: &Rooms, results: &Results, cluster: Option<&Cluster>, all: bool) -> Self {
        let mut boards = results.boards().as_ref().clone();
        let shown = |room: &Room| {
            let info = room.info.borrow();
            if all { info.clone() } else { info.for_everybody() }
        };
        let here = rooms.all().into_iter().filter(|room| all || room.access.is_listed());
        let here = here.map(|room| Box::new(shown(&room)));
        let open = match cluster {
            None => here.map(Open::Here).collect(),
            Some(cluster) => with_far(here, &cluster.rooms()),
        };
        if !all {
            boards.recent.retain(|ended| !hides(rooms, cluster, &ended.room));
        }
        let unsure = cluster.is_some_and(|cluster| !cluster.fleet.is_present());
        Self { rooms: open, unsure, boards }
    }
}

// Rows of this node take precedence.
fn with_far(here: impl Iterator<Item = Box<Info>>, far: &RemoteRooms) -> Vec<Open> {
    let far = far.iter().filter_map(|(id, far)| Some((id.clone(), Open::Remote(far.row.info.clone()?))));
    let mut open: BTreeMap<String, Open> = far.collect();
    open.extend(here.map(|info| (info.id.clone(), Open::Here(info))));
    open.into_values().collect()
}

#[derive(Debug)]
pub(crate) struct Publisher {
    open: Arc<Rooms>,
    results: Arc<Results>,
    lists: Arc<Lists>,
    rooms: BTreeMap<Key, PublishedRoom>,
    cluster: Option<Arc<Cluster>>,
    far: BTreeMap<Key, (Arc<RemoteRoom>, Arc<Listed>)>,
    far_rooms: Arc<RemoteRooms>,
    boards: Arc<Boards>,
    highlights: Highlights,
    told_at: Instant,
}

#[derive(Debug)]
struct PublishedRoom {
    info: watch::Receiver<Info>,
    row: Arc<Listed>,
}

impl Publisher {
    pub(crate) fn new(
        open: Arc<Rooms>,
        results: Arc<Results>,
        lists: Arc<Lists>,
        cluster: Option<Arc<Cluster>>,
    ) -> serde_json::Result<Self> {
        let boards = results.boards();
        let highlights = Highlights::of(&boards, |room| hides(&open, cluster.as_deref(), room))?;
        let told_at = Instant::now();
        let (rooms, far, far_rooms) = Default::default();
        let mut publisher = Self { open, results, lists, rooms, cluster, far, far_rooms, boards, highlights, told_at };
        publisher.collect()?;
        publisher.publish();
        Ok(publisher)
    }

    pub(crate) async fn run(mut self) -> serde_json::Result<()> {
        loop {
            sleep(PAUSE).await;
            if self.collect()? {
                self.publish();
            }
            self.lists.advance();
        }
    }

    fn publish(&self) {
        let here = self.rooms.iter().map(|(key, shown)| (key, &shown.row));
        // A room that has moved here is listed with the row of this node.
        let far = self.far.iter().filter(|(key, _)| !self.rooms.contains_key(key)).map(|(key, (_, row))| (key, row));
        let mut rooms: Vec<(&Key, &Arc<Listed>)> = here.chain(far).collect();
        rooms.sort_by_key(|(key, row)| (!row.is_taken, *key));
        self.lists.publish(rooms.into_iter().map(|(_, row)| Arc::clone(row)).collect(), self.highlights.clone());
    }

    fn collect(&mut self) -> serde_json::Result<bool> {
        let mut changed = false;
        let boards = self.results.boards();
        if !Arc::ptr_eq(&boards, &self.boards) && self.told_at.elapsed() >= BOARDS_PAUSE {
            let highlights = Highlights::of(&boards, |room| hides(&self.open, self.cluster.as_deref(), room))?;
            changed = (&highlights.recent, &highlights.leaders) != (&self.highlights.recent, &self.highlights.leaders);
            let highlights = Highlights { unsure: self.highlights.unsure, ..highlights };
            (self.highlights, self.boards, self.told_at) = (highlights, boards, Instant::now());
        }
        let unsure = self.cluster.as_ref().is_some_and(|cluster| !cluster.fleet.is_present());
        changed |= unsure != self.highlights.unsure;
        self.highlights.unsure = unsure;
        let listed = self.open.by_name().into_iter().filter(|(_, room)| room.access.is_listed());
        let rooms: BTreeMap<Key, Arc<Room>> = listed.map(|(id, room)| (Key::new(room.game, &id), room)).collect();
        let before = self.rooms.len();
        self.rooms.retain(|key, _| rooms.contains_key(key));
        changed |= self.rooms.len() != before;
        for (key, room) in rooms {
            if let Some(shown) = self.rooms.get_mut(&key) {
                changed |= shown.update(&room)?;
            } else {
                self.rooms.insert(key, PublishedRoom::new(&room)?);
                changed = true;
            }
        }
        Ok(self.collect_far() | changed)
    }

    fn collect_far(&mut self) -> bool {
        let Some(cluster) = &self.cluster else { return false };
        let rooms = cluster.rooms();
        if Arc::ptr_eq(&rooms, &self.far_rooms) {
            return false;
        }
        let mut before = std::mem::take(&mut self.far);
        let mut changed = false;
        for far in rooms.values() {
            let Some(info) = &far.row.info else { continue };
            let key = Key::new(far.row.game, &far.id);
            let row = match before.remove(&key) {
                Some((same, row)) if Arc::ptr_eq(&same, far) => row,
                known => {
                    let row = match Listed::of_far(far.row.game, info.get()) {
                        Ok(row) => row,
                        Err(error) => {
                            warn!(room = far.id, "cannot list a room of the node {}: {error}", far.node);
                            continue;
                        }
                    };
                    // Equal rows share an allocation, so that pointers can be compared.
                    let same = known.map(|(_, known)| known).filter(|known| **known == row);
                    changed |= same.is_none();
                    same.unwrap_or_else(|| Arc::new(row))
                }
            };
            self.far.insert(key, (Arc::clone(far), row));
        }
        self.far_rooms = rooms;
        changed | !before.is_empty()
    }
}

pub(super) fn hides(rooms: &Rooms, cluster: Option<&Cluster>, id: &str) -> bool {
    rooms.hides(id) || cluster.is_some_and(|cluster| cluster.hides(id))
}

impl PublishedRoom {
    fn new(room: &Room) -> serde_json::Result<Self> {
        let mut info = room.info.clone();
        let row = Arc::new(Listed::of(&info.borrow_and_update())?);
        Ok(Self { info, row })
    }

    fn update(&mut self, room: &Room) -> serde_json::Result<bool> {
        // A restarted room has another channel. The channel of a closed room is closed, so `has_changed` fails.
        if self.info.same_channel(&room.info) && self.info.has_changed().is_ok_and(|changed| !changed) {
            return Ok(false);
        }
        let now = Self::new(room)?;
        self.info = now.info;
        // Equal rows share an allocation, so that pointers can be compared.
        let changed = now.row != self.row;
        if changed {
            self.row = now.row;
        }
        Ok(changed)
    }
}

/// Named players of a room, and winners of a match.
const NAMED: usize = 8;
/// Leaders per game.
const LEADERS: usize = 3;

/// The order of rooms: by game, then by age. Rooms with players come first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    game: Game,
    number: u64,
    id: String,
}

impl Key {
    fn new(game: Game, id: &str) -> Self {
        let number = id.rsplit('-').next().and_then(|number| number.parse().ok()).unwrap_or_default();
        Self { game, number, id: id.to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    id: String,
    game: Game,
    json: String,
    is_taken: bool,
    // In lower case, for searches.
    words: String,
}

#[derive(Serialize)]
struct Row<'a, P> {
    id: &'a str,
    game: Game,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "is_public")]
    visibility: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    locked: bool,
    phase: &'a str,
    taken: u32,
    seats: u32,
    port: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    players: &'a [P],
    /// The number of all players, unless all are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    options: Mode,
    rated: bool,
}

#[derive(Serialize)]
struct Mode {
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<Value>,
}

fn is_public(visibility: &&str) -> bool {
    *visibility == "public"
}

#[derive(Deserialize)]
struct FarInfo {
    id: String,
    title: String,
    name: Option<String>,
    visibility: String,
    locked: bool,
    phase: String,
    taken: u32,
    seats: u32,
    port: u16,
    host: Option<String>,
    players: Vec<Value>,
    options: Value,
    rated: bool,
}

impl Listed {
    fn of(info: &Info) -> serde_json::Result<Self> {
        let info = &info.for_everybody();
        let row = Row {
            id: &info.id,
            game: info.game,
            title: &info.title,
            name: info.name.as_deref(),
            visibility: info.visibility,
            locked: info.locked,
            phase: info.phase,
            taken: info.taken,
            seats: info.seats,
            port: info.port,
            host: info.site.as_ref().map(|site| &*site.host),
            players: &info.players,
            count: None,
            options: Mode { mode: serde_json::to_value(&info.options)?.get("mode").cloned() },
            rated: info.counts.rated,
        };
        Self::from_row(row, |player| player.name.as_str())
    }

    fn of_far(game: Game, info: &str) -> serde_json::Result<Self> {
        let info: FarInfo = serde_json::from_str(info)?;
        let row = Row {
            id: &info.id,
            game,
            title: &info.title,
            name: info.name.as_deref(),
            visibility: &info.visibility,
            locked: info.locked,
            phase: &info.phase,
            taken: info.taken,
            seats: info.seats,
            port: info.port,
            host: info.host.as_deref(),
            players: &info.players,
            count: None,
            options: Mode { mode: info.options.get("mode").cloned() },
            rated: info.rated,
        };
        Self::from_row(row, |player| player["name"].as_str().unwrap_or_default())
    }

    fn from_row<P: Serialize>(mut row: Row<'_, P>, name: impl Fn(&P) -> &str) -> serde_json::Result<Self> {
        let mut words = format!("{}\n{}\n{}", row.id, row.title, row.name.unwrap_or_default()).to_lowercase();
        for player in row.players {
            words.push('\n');
            words += &name(player).to_lowercase();
        }
        if row.players.len() > NAMED {
            row.count = Some(row.players.len());
            row.players = &row.players[..NAMED];
        }
        Ok(Self {
            id: row.id.to_owned(),
            game: row.game,
            is_taken: row.taken > 0,
            json: serde_json::to_string(&row)?,
            words,
        })
    }

    /// `text` is in lower case.
    fn has(&self, text: &str) -> bool {
        self.words.contains(text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Highlights {
    recent: Arc<str>,
    leaders: Arc<str>,
    unsure: bool,
}

impl Highlights {
    /// Omits matches in rooms that `hides` selects.
    fn of(Boards { recent, leaders }: &Boards, hides: impl Fn(&str) -> bool) -> serde_json::Result<Self> {
        let recent: Vec<Value> = recent.iter().filter(|ended| !hides(&ended.room)).map(ended_json).collect();
        let leaders: BTreeMap<&str, &[LeaderView]> =
            leaders.iter().map(|(game, rows)| (*game, &rows[..rows.len().min(LEADERS)])).collect();
        let (recent, leaders) = (serde_json::to_string(&recent)?.into(), serde_json::to_string(&leaders)?.into());
        Ok(Self { recent, leaders, unsure: false })
    }
}

// Names only winners.
fn ended_json(ended: &Match) -> Value {
    let first = ended.players.iter().filter(|player| player.rank == 1).take(NAMED);
    json!({
        "id": ended.id,
        "game": ended.game,
        "title": ended.title,
        "started": date(ended.started),
        "players": first.map(player_json).collect::<Vec<_>>(),
        "count": ended.players.len(),
    })
}
