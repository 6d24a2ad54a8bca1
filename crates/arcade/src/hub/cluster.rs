use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use mesh::{MAX_ROW, Name};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use tokio::time::sleep;
use tracing::warn;

use super::{
    publisher::Feeding,
    rooms::{Rooms, unreserved},
    subscription::Following,
};
use crate::{
    fleet::{Fleet, NodeStatus, Remote},
    games::Game,
    room::{Room, info::Info},
};

/// Players named in a row that would otherwise be too long.
const NAMED: usize = 8;

/// A room in the directory.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) game: Game,
    /// Unreserved free seats; 0 if no player may join.
    pub(crate) free: usize,
    pub(crate) people: usize,
    /// `None` for an unlisted room.
    pub(crate) info: Option<Box<RawValue>>,
}

impl Row {
    pub(super) fn of(room: &Room, info: &Info) -> serde_json::Result<String> {
        let row = |shown: &Info| {
            let info = room.access.is_listed().then(|| serde_json::value::to_raw_value(shown)).transpose()?;
            let row = Self { game: room.game, free: unreserved(room, shown), people: shown.people, info };
            serde_json::to_string(&row)
        };
        let mut shown = info.for_everybody();
        let text = row(&shown)?;
        if text.len() <= MAX_ROW {
            return Ok(text);
        }
        shown.players.truncate(NAMED);
        row(&shown)
    }
}

#[derive(Debug)]
pub(crate) struct RemoteRoom {
    pub(crate) id: String,
    pub(crate) node: Name,
    pub(crate) row: Row,
    pub(crate) is_public: bool,
    text: Arc<str>,
}

/// The rooms of other nodes, by name.
pub(crate) type RemoteRooms = BTreeMap<String, Arc<RemoteRoom>>;

#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) fleet: Arc<Fleet>,
    pub(crate) feeding: Arc<Feeding>,
    pub(crate) following: Following,
    // With the version of the directory.
    known: Mutex<(u64, Arc<RemoteRooms>)>,
}

impl Cluster {
    pub(super) fn new(fleet: Arc<Fleet>) -> Self {
        Self { fleet, feeding: Arc::default(), following: Following::default(), known: Mutex::default() }
    }

    /// Unchanged rooms keep their `Arc`.
    pub(crate) fn rooms(&self) -> Arc<RemoteRooms> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.fleet.version();
        if known.0 != version {
            let before = &known.1;
            let rooms = self.fleet.rooms().into_iter().filter_map(|remote| {
                let id = remote.room.to_string();
                let same = before.get(&id).filter(|far| Arc::ptr_eq(&far.text, &remote.row) && far.node == remote.node);
                Some((id, same.cloned().or_else(|| read(remote))?))
            });
            let rooms: RemoteRooms = rooms.collect();
            *known = (version, Arc::new(rooms));
        }
        Arc::clone(&known.1)
    }

    pub(super) fn hides(&self, id: &str) -> bool {
        self.rooms().get(id).is_some_and(|far| far.row.info.is_none())
    }

    /// The other node that this file name contains, if it is present.
    pub(crate) fn replay_node(&self, game: &str, journal: &str) -> Option<NodeStatus> {
        let others = self.fleet.nodes().into_iter().filter(|node| node.name.as_str() != self.fleet.name());
        others.into_iter().find(|node| is_of(game, node.name.as_str(), journal))
    }

    pub(super) fn status(&self, own: &Rooms) -> Value {
        let shown = |(NodeStatus { name, address, draining }, Load { rooms, people })| json!({ "name": name, "address": address, "draining": draining, "rooms": rooms, "people": people });
        let copies = self.fleet.copies.status();
        let nodes: Vec<Value> = self.loads(own).into_iter().map(shown).collect();
        json!({
            "node": self.fleet.name(),
            "present": self.fleet.is_present(),
            "silent": !self.fleet.copies.may_publish(),
            "lag_ms": u64::try_from(self.fleet.lag().as_millis()).unwrap_or(u64::MAX),
            "journal_lag_ms": u64::try_from(copies.lag.as_millis()).unwrap_or(u64::MAX),
            "moved": copies.moved,
            "handed_over": copies.handed,
            "fenced": copies.fenced,
            "skipped": self.fleet.skipped(),
            "nodes": nodes,
        })
    }

    fn loads(&self, own: &Rooms) -> Vec<(NodeStatus, Load)> {
        let mut loads: BTreeMap<String, Load> = BTreeMap::new();
        for room in own.all() {
            loads.entry(self.fleet.name().to_owned()).or_default().count(room.info.borrow().people);
        }
        for far in self.rooms().values() {
            loads.entry(far.node.to_string()).or_default().count(far.row.people);
        }
        let load = |node: NodeStatus| {
            let load = loads.remove(node.name.as_str()).unwrap_or_default();
            (node, load)
        };
        self.fleet.nodes().into_iter().map(load).collect()
    }

    /// The node of the room with a free seat and the most people or, if all such rooms are empty, the node with the
    /// fewest people. `None` for this node.
    pub(super) fn preferred_node(&self, game: Game, most_here: usize, own: &Rooms) -> Option<NodeStatus> {
        let loads = self.loads(own);
        let takes = |name: &Name| loads.iter().find(|(node, _)| node.name == *name && !node.draining);
        let rooms = self.rooms();
        let waiting = rooms.values().filter(|far| far.row.game == game && far.row.free > 0);
        let best = waiting.filter(|far| takes(&far.node).is_some()).max_by_key(|far| far.row.people);
        match best.filter(|far| far.row.people > most_here) {
            Some(far) => takes(&far.node).map(|(node, _)| node.clone()),
            None if most_here > 0 => None,
            None => {
                let serving = loads.iter().filter(|(node, _)| !node.draining);
                // Prefers this node among equals, to avoid forwarding.
                let emptiest = serving
                    .min_by_key(|(node, load)| (load.people, load.rooms, node.name.as_str() != self.fleet.name()));
                emptiest.map(|(node, _)| node.clone()).filter(|node| node.name.as_str() != self.fleet.name())
            }
        }
    }
}

// As in `nuggets-ann-2026-11-22T06-37-51Z.journal`.
fn is_of(game: &str, node: &str, journal: &str) -> bool {
    let rest = journal.strip_prefix(game).and_then(|rest| rest.strip_prefix('-'));
    let began = rest.and_then(|rest| rest.strip_prefix(node)).and_then(|rest| rest.strip_prefix('-'));
    began.map(str::as_bytes).is_some_and(|began| began.get(10) == Some(&b'T') && began.get(19) == Some(&b'Z'))
}

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    rooms: usize,
    people: usize,
}

impl Load {
    const fn count(&mut self, people: usize) {
        self.rooms += 1;
        // Other nodes may report any number.
        self.people = self.people.saturating_add(people);
    }
}

#[derive(Deserialize)]
struct WatchRules {
    visibility: String,
}

fn read(remote: Remote) -> Option<Arc<RemoteRoom>> {
    let Remote { room, node, row: text } = remote;
    match serde_json::from_str::<Row>(&text) {
        Ok(row) => {
            let seen = row.info.as_ref().and_then(|info| serde_json::from_str::<WatchRules>(info.get()).ok());
            let is_public = seen.is_some_and(|seen| seen.visibility == "public");
            Some(Arc::new(RemoteRoom { id: room.to_string(), node, row, is_public, text }))
        }
        Err(error) => {
            warn!(room = %room, "cannot decode the room row of the node {node}: {error}");
            None
        }
    }
}

/// The minimum interval between directory updates of a room.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn announce(fleet: Arc<Fleet>, rooms: Weak<Rooms>, room: Arc<Room>) {
    let id = room.file().id.clone();
    if let Some(code) = room.access.code()
        && let Err(error) = fleet.claim_code(code, &id).await
    {
        warn!(room = id, "cannot publish the code of the room to other nodes: {error}");
    }
    let mut now = Some(room);
    while let Some(room) = now {
        let mut info = room.info.clone();
        loop {
            let row = Row::of(&room, &info.borrow_and_update());
            match row {
                Ok(row) => fleet.show(&id, row).await,
                Err(error) => warn!(room = id, "cannot publish the state of the room to other nodes: {error}"),
            }
            sleep(PAUSE).await;
            if info.changed().await.is_err() {
                break;
            }
        }
        // A room that resumes here is announced again.
        if room.is_suspended() {
            return;
        }
        let Some(rooms) = rooms.upgrade() else { return };
        now = rooms.replacement(&room).await;
    }
    fleet.close(&id).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_name_contains_its_node() {
        let moment = "2026-11-22T06-37-51Z";
        let journal = format!("nuggets-ann-2-{moment}-1.journal");
        assert!(is_of("nuggets", "ann-2", &journal));
        for (game, node) in [("nuggets", "ann"), ("robots", "ann-2"), ("nuggets", "ann-2-2026"), ("nuggets", "")] {
            assert!(!is_of(game, node, &journal), "{game} {node}");
        }
        assert!(!is_of("nuggets", "ann", &format!("nuggets-{moment}.journal")));
    }
}
