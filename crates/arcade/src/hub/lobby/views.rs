//! What pages look at: views of the list of rooms. Pages with the same view share it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use bytes::Bytes;
use netcore::HostId;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::listed::{Listed, Told};
use crate::games::Game;

/// Rooms of a view.
const MAX_COUNT: usize = 60;
/// Characters of a text that is looked for.
const MAX_TEXT: usize = 40;
/// Bytes of rooms that a view is told of each time. What does not fit follows next time, so that no page is sent more than some
/// kilobytes a second, however much happens.
const MAX_CHANGE: usize = 1_400;
/// Views that are brought up to date each time; others have their turn next time.
const MAX_TURNS: usize = 128;
/// Distinct views of one host. Above that, its pages get the first rooms of the game that they look at, a view that does not count.
pub(crate) const MAX_VIEWS_OF_HOST: usize = 64;

/// What a page looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Look {
    /// The rooms of this game only.
    game: Option<Game>,
    /// Only rooms with this text in their name, their title or the name of a player.
    text: String,
    /// How many rooms come before.
    from: usize,
    /// How many rooms are listed.
    count: usize,
}

impl Default for Look {
    fn default() -> Self {
        Self { game: None, text: String::new(), from: 0, count: MAX_COUNT }
    }
}

impl Look {
    // The same within bounds, and in small letters.
    fn bounded(self) -> Self {
        let text = self.text.trim().to_lowercase().chars().take(MAX_TEXT).collect();
        Self { text, count: self.count.min(MAX_COUNT), ..self }
    }

    // The first rooms of the same game. There is one such view for each game and one for all games.
    fn plain(&self) -> Self {
        Self { game: self.game, ..Self::default() }
    }

    fn has(&self, room: &Listed) -> bool {
        self.game.is_none_or(|game| game == room.game) && (self.text.is_empty() || room.has(&self.text))
    }
}

/// A view at a moment, and what has changed since the moment before.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Counts the frames of a view.
    pub(crate) number: u64,
    look: Look,
    rooms: Vec<Arc<Listed>>,
    total: usize,
    told: Told,
    /// What has changed since the frame before, as a message.
    pub(crate) change: Bytes,
    whole: OnceLock<Bytes>,
}

impl Frame {
    /// All of it, as a message.
    pub(crate) fn whole(&self) -> Bytes {
        let whole = self.whole.get_or_init(|| {
            // A look is made of numbers and texts, which have JSON.
            let look = serde_json::to_string(&self.look).unwrap_or_default();
            let (ids, rooms, Told { recent, leaders, unsure }) = (ids(&self.rooms), rows(&self.rooms), &self.told);
            let front = format!(r#""look":{look},"total":{},{ids},{rooms}"#, self.total);
            let unsure = if *unsure { r#","unsure":true"# } else { "" };
            format!(r#"{{{front},"recent":{recent},"leaders":{leaders}{unsure}}}"#).into()
        });
        whole.clone()
    }
}

fn rows(rooms: &[Arc<Listed>]) -> String {
    let rows: Vec<&str> = rooms.iter().map(|room| room.json.as_str()).collect();
    format!(r#""rooms":[{}]"#, rows.join(","))
}

fn ids(rooms: &[Arc<Listed>]) -> String {
    let ids: Vec<&str> = rooms.iter().map(|room| room.id.as_str()).collect();
    // A list of texts has JSON.
    format!(r#""ids":{}"#, serde_json::to_string(&ids).unwrap_or_default())
}

/// The list of rooms, and all views of it.
#[derive(Debug)]
pub(crate) struct Lists {
    state: Mutex<State>,
    // Told when anything is different.
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    rooms: Vec<Arc<Listed>>,
    told: Told,
    // Counts what was published.
    version: u64,
    views: BTreeMap<Look, View>,
    // How many distinct views each host has that are not plain.
    distinct: BTreeMap<HostId, usize>,
}

#[derive(Debug)]
struct View {
    frames: watch::Sender<Arc<Frame>>,
    // The pages that look at it, by host.
    pages: BTreeMap<HostId, usize>,
    // What was published when all of that was told.
    version: Option<u64>,
    // How often it had no turn since something was published.
    passed: usize,
    // Where the next turn begins, so that no room has to wait for ever.
    start: usize,
}

impl Default for Lists {
    fn default() -> Self {
        let told = Told { recent: "[]".into(), leaders: "{}".into(), unsure: false };
        let (views, distinct) = Default::default();
        let state = State { rooms: vec![], told, version: 0, views, distinct };
        Self { state: Mutex::new(state), changed: watch::Sender::new(0) }
    }
}

/// The subscription of a page to a view.
#[derive(Debug)]
pub(crate) struct Looking {
    lists: Arc<Lists>,
    host: HostId,
    look: Look,
    pub(crate) frames: watch::Receiver<Arc<Frame>>,
}

impl Looking {
    /// Whether this is the view that the page has asked for, and not a plain one in its place.
    pub(crate) fn is_of(&self, look: Look) -> bool {
        self.look == look.bounded()
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        let mut state = self.lists.state();
        let State { views, distinct, .. } = &mut *state;
        let Some(view) = views.get_mut(&self.look) else { return };
        if !count_down(&mut view.pages, self.host) {
            return;
        }
        if view.pages.is_empty() {
            views.remove(&self.look);
        }
        if self.look != self.look.plain() {
            count_down(distinct, self.host);
        }
    }
}

// Returns whether nothing is left.
fn count_down(counts: &mut BTreeMap<HostId, usize>, host: HostId) -> bool {
    let Some(count) = counts.get_mut(&host) else { return false };
    *count -= 1;
    if *count > 0 {
        return false;
    }
    counts.remove(&host);
    true
}

impl Lists {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The view that a page of this host looks at, with all changes from the frame on that it has now. A host with too many views gets a
    /// plain one.
    pub(crate) fn look(self: &Arc<Self>, host: HostId, look: Look) -> Looking {
        let mut look = look.bounded();
        let mut state = self.state();
        let State { rooms, told, version, views, distinct } = &mut *state;
        let is_new = |look: &Look, views: &BTreeMap<Look, View>| {
            *look != look.plain() && !views.get(look).is_some_and(|view| view.pages.contains_key(&host))
        };
        if is_new(&look, views) {
            let count = distinct.entry(host).or_default();
            if *count < MAX_VIEWS_OF_HOST {
                *count += 1;
            } else {
                look = look.plain();
            }
        }
        let view = views.entry(look.clone()).or_insert_with(|| View::new(&look, rooms, told, *version));
        *view.pages.entry(host).or_default() += 1;
        let frames = view.frames.subscribe();
        drop(state);
        Looking { lists: Arc::clone(self), host, look, frames }
    }

    /// Resolves a receiver whenever something else is published.
    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The list is this now; views follow.
    pub(super) fn publish(&self, rooms: Vec<Arc<Listed>>, told: Told) {
        let mut state = self.state();
        (state.rooms, state.told) = (rooms, told);
        state.version += 1;
        self.changed.send_replace(state.version);
    }

    /// Brings views up to date.
    pub(super) fn advance(&self) {
        let mut state = self.state();
        let State { rooms, told, version, views, .. } = &mut *state;
        for look in turns(views, *version) {
            if let Some(view) = views.get_mut(&look) {
                view.update(&look, rooms, told, *version);
                view.passed = 0;
            }
        }
    }
}

// The views that have their turn: those with many pages first, and those that have waited for long. No host has a second turn before each
// host with a view that waits has had its first.
fn turns(views: &mut BTreeMap<Look, View>, version: u64) -> Vec<Look> {
    let mut due: Vec<(&Look, &mut View)> = views.iter_mut().filter(|(_, view)| view.version != Some(version)).collect();
    if due.len() <= MAX_TURNS {
        return due.into_iter().map(|(look, _)| look.clone()).collect();
    }
    for (_, view) in &mut due {
        view.passed += 1;
    }
    due.sort_by_key(|(_, view)| Reverse(view.pages.values().sum::<usize>().saturating_mul(view.passed)));
    let mut taken: BTreeMap<HostId, usize> = BTreeMap::new();
    let mut rounds: Vec<(usize, &Look)> = vec![];
    for (look, view) in due {
        let mut round = usize::MAX;
        for host in view.pages.keys() {
            let taken = taken.entry(*host).or_default();
            round = round.min(*taken);
            *taken += 1;
        }
        rounds.push((round, look));
    }
    rounds.sort_by_key(|(round, _)| *round);
    rounds.into_iter().map(|(_, look)| look.clone()).take(MAX_TURNS).collect()
}

// The rooms of a view, and how many there are in all.
fn matching(look: &Look, rooms: &[Arc<Listed>]) -> (Vec<Arc<Listed>>, usize) {
    let mut total = 0;
    let mut found = vec![];
    for room in rooms.iter().filter(|room| look.has(room)) {
        if total >= look.from && found.len() < look.count {
            found.push(Arc::clone(room));
        }
        total += 1;
    }
    (found, total)
}

impl View {
    fn new(look: &Look, rooms: &[Arc<Listed>], told: &Told, version: u64) -> Self {
        let (rooms, total) = matching(look, rooms);
        let (look, told) = (look.clone(), told.clone());
        let change = Bytes::from_static(b"{}");
        let frame = Frame { number: 0, look, rooms, total, told, change, whole: OnceLock::new() };
        let (pages, version) = (BTreeMap::new(), Some(version));
        Self { frames: watch::Sender::new(Arc::new(frame)), pages, version, passed: 0, start: 0 }
    }

    fn update(&mut self, look: &Look, rooms: &[Arc<Listed>], told: &Told, version: u64) {
        let before = Arc::clone(&self.frames.borrow());
        let (wanted, total) = matching(look, rooms);
        let known: HashMap<&str, &Arc<Listed>> = before.rooms.iter().map(|room| (room.id.as_str(), room)).collect();
        let mut room_left = MAX_CHANGE;
        let mut changed = vec![];
        let mut all = true;
        // As they are told, by their place among those that are wanted; none if the page does not know the room yet.
        let mut shown: Vec<Option<Arc<Listed>>> =
            wanted.iter().map(|room| known.get(room.id.as_str()).map(|room| Arc::clone(room))).collect();
        for step in 0..wanted.len() {
            let at = (self.start + step) % wanted.len();
            if shown[at].as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &wanted[at]) || shown.json == wanted[at].json)
            {
                continue;
            }
            // One always fits.
            let length = wanted[at].json.len();
            if length > room_left && !changed.is_empty() {
                all = false;
                self.start = at;
                break;
            }
            room_left = room_left.saturating_sub(length);
            changed.push(Arc::clone(&wanted[at]));
            shown[at] = Some(Arc::clone(&wanted[at]));
        }
        self.version = all.then_some(version);
        let rooms: Vec<Arc<Listed>> = shown.into_iter().flatten().collect();
        let mut parts = vec![];
        if total != before.total {
            parts.push(format!(r#""total":{total}"#));
        }
        if !rooms.iter().map(|room| &room.id).eq(before.rooms.iter().map(|room| &room.id)) {
            parts.push(ids(&rooms));
        }
        if !changed.is_empty() {
            parts.push(rows(&changed));
        }
        if told.recent != before.told.recent {
            parts.push(format!(r#""recent":{}"#, told.recent));
        }
        if told.leaders != before.told.leaders {
            parts.push(format!(r#""leaders":{}"#, told.leaders));
        }
        if told.unsure != before.told.unsure {
            parts.push(format!(r#""unsure":{}"#, told.unsure));
        }
        if parts.is_empty() {
            return;
        }
        let change = format!("{{{}}}", parts.join(",")).into();
        let look = look.clone();
        let number = before.number + 1;
        let frame = Frame { number, look, rooms, total, told: told.clone(), change, whole: OnceLock::new() };
        self.frames.send_replace(Arc::new(frame));
    }
}

#[cfg(test)]
mod tests;
