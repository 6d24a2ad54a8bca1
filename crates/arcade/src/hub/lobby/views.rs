//! Views of the list of rooms. Pages with the same selection share a view.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use bytes::Bytes;
use netcore::HostId;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{Highlights, Listed};
use crate::games::Game;

/// Rooms per view.
const MAX_COUNT: usize = 60;
/// Characters per search.
const MAX_TEXT: usize = 40;
/// Bytes of rooms per update of a view. The rest follows in the next update, so a page receives at most some kilobytes
/// a second.
const MAX_CHANGE: usize = 1_400;
/// Views per update.
const MAX_TURNS: usize = 128;
/// Distinct views of one host. Above the limit, its pages get a plain view, which is not counted: the first rooms of a
/// game.
pub(crate) const MAX_VIEWS_OF_HOST: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ViewQuery {
    game: Option<Game>,
    /// Matches parts of the id, the title and the names of players.
    text: String,
    /// Matching rooms to skip.
    from: usize,
    count: usize,
}

impl Default for ViewQuery {
    fn default() -> Self {
        Self { game: None, text: String::new(), from: 0, count: MAX_COUNT }
    }
}

impl ViewQuery {
    fn bounded(self) -> Self {
        let text = self.text.trim().to_lowercase().chars().take(MAX_TEXT).collect();
        Self { text, count: self.count.min(MAX_COUNT), ..self }
    }

    // There is one for each game, and one for all games.
    fn plain(&self) -> Self {
        Self { game: self.game, ..Self::default() }
    }

    fn has(&self, room: &Listed) -> bool {
        self.game.is_none_or(|game| game == room.game) && (self.text.is_empty() || room.has(&self.text))
    }
}

#[derive(Debug)]
pub(crate) struct Frame {
    /// The sequence number within the view.
    pub(crate) number: u64,
    query: ViewQuery,
    rooms: Vec<Arc<Listed>>,
    total: usize,
    highlights: Highlights,
    /// The message with the changes since the previous frame.
    pub(crate) change: Bytes,
    full: OnceLock<Bytes>,
}

impl Frame {
    pub(crate) fn full(&self) -> Bytes {
        let full = self.full.get_or_init(|| {
            // Numbers and strings can be serialized.
            let query = serde_json::to_string(&self.query).unwrap_or_default();
            let (ids, rooms, Highlights { recent, leaders, unsure }) =
                (ids(&self.rooms), rows(&self.rooms), &self.highlights);
            let front = format!(r#""look":{query},"total":{},{ids},{rooms}"#, self.total);
            let unsure = if *unsure { r#","unsure":true"# } else { "" };
            format!(r#"{{{front},"recent":{recent},"leaders":{leaders}{unsure}}}"#).into()
        });
        full.clone()
    }
}

fn rows(rooms: &[Arc<Listed>]) -> String {
    let rows: Vec<&str> = rooms.iter().map(|room| room.json.as_str()).collect();
    format!(r#""rooms":[{}]"#, rows.join(","))
}

fn ids(rooms: &[Arc<Listed>]) -> String {
    let ids: Vec<&str> = rooms.iter().map(|room| room.id.as_str()).collect();
    format!(r#""ids":{}"#, serde_json::to_string(&ids).unwrap_or_default())
}

#[derive(Debug)]
pub(crate) struct Lists {
    state: Mutex<ViewsState>,
    changed: watch::Sender<u64>,
}

#[derive(Debug)]
struct ViewsState {
    rooms: Vec<Arc<Listed>>,
    highlights: Highlights,
    version: u64,
    views: BTreeMap<ViewQuery, View>,
    // Counts views that are not plain.
    distinct: BTreeMap<HostId, usize>,
}

#[derive(Debug)]
struct View {
    frames: watch::Sender<Arc<Frame>>,
    pages: BTreeMap<HostId, usize>,
    // The publication that the view completely shows.
    version: Option<u64>,
    // How many turns the view has missed since its last update.
    passed: usize,
    // The room at which the next update starts, so that all rooms get an update.
    start: usize,
}

impl Default for Lists {
    fn default() -> Self {
        let highlights = Highlights { recent: "[]".into(), leaders: "{}".into(), unsure: false };
        let (views, distinct) = Default::default();
        let state = ViewsState { rooms: vec![], highlights, version: 0, views, distinct };
        Self { state: Mutex::new(state), changed: watch::Sender::new(0) }
    }
}

#[derive(Debug)]
pub(crate) struct ViewSubscription {
    lists: Arc<Lists>,
    host: HostId,
    query: ViewQuery,
    pub(crate) frames: watch::Receiver<Arc<Frame>>,
}

impl ViewSubscription {
    /// A page may have a plain view instead.
    pub(crate) fn is_of(&self, query: ViewQuery) -> bool {
        self.query == query.bounded()
    }
}

impl Drop for ViewSubscription {
    fn drop(&mut self) {
        let mut state = self.lists.state();
        let ViewsState { views, distinct, .. } = &mut *state;
        let Some(view) = views.get_mut(&self.query) else { return };
        if !count_down(&mut view.pages, self.host) {
            return;
        }
        if view.pages.is_empty() {
            views.remove(&self.query);
        }
        if self.query != self.query.plain() {
            count_down(distinct, self.host);
        }
    }
}

// Returns whether the count is now zero.
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
    fn state(&self) -> MutexGuard<'_, ViewsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes a page to a view, from the next frame on. A host with too many views gets a plain one.
    pub(crate) fn subscribe(self: &Arc<Self>, host: HostId, query: ViewQuery) -> ViewSubscription {
        let mut query = query.bounded();
        let mut state = self.state();
        let ViewsState { rooms, highlights, version, views, distinct } = &mut *state;
        let is_new = |query: &ViewQuery, views: &BTreeMap<ViewQuery, View>| {
            *query != query.plain() && !views.get(query).is_some_and(|view| view.pages.contains_key(&host))
        };
        if is_new(&query, views) {
            let count = distinct.entry(host).or_default();
            if *count < MAX_VIEWS_OF_HOST {
                *count += 1;
            } else {
                query = query.plain();
            }
        }
        let view = views.entry(query.clone()).or_insert_with(|| View::new(&query, rooms, highlights, *version));
        *view.pages.entry(host).or_default() += 1;
        let frames = view.frames.subscribe();
        drop(state);
        ViewSubscription { lists: Arc::clone(self), host, query, frames }
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// `advance` updates the views.
    pub(super) fn publish(&self, rooms: Vec<Arc<Listed>>, highlights: Highlights) {
        let mut state = self.state();
        (state.rooms, state.highlights) = (rooms, highlights);
        state.version += 1;
        self.changed.send_replace(state.version);
    }

    pub(super) fn advance(&self) {
        let mut state = self.state();
        let ViewsState { rooms, highlights, version, views, .. } = &mut *state;
        for query in turns(views, *version) {
            if let Some(view) = views.get_mut(&query) {
                view.update(&query, rooms, highlights, *version);
                view.passed = 0;
            }
        }
    }
}

// The views to update now. Those with many pages and long waits come first, but each host with a due view has a turn
// before any host has a second one.
fn turns(views: &mut BTreeMap<ViewQuery, View>, version: u64) -> Vec<ViewQuery> {
    let mut due: Vec<(&ViewQuery, &mut View)> =
        views.iter_mut().filter(|(_, view)| view.version != Some(version)).collect();
    if due.len() <= MAX_TURNS {
        return due.into_iter().map(|(query, _)| query.clone()).collect();
    }
    for (_, view) in &mut due {
        view.passed += 1;
    }
    due.sort_by_key(|(_, view)| Reverse(view.pages.values().sum::<usize>().saturating_mul(view.passed)));
    let mut taken: BTreeMap<HostId, usize> = BTreeMap::new();
    let mut rounds: Vec<(usize, &ViewQuery)> = vec![];
    for (query, view) in due {
        let mut round = usize::MAX;
        for host in view.pages.keys() {
            let taken = taken.entry(*host).or_default();
            round = round.min(*taken);
            *taken += 1;
        }
        rounds.push((round, query));
    }
    rounds.sort_by_key(|(round, _)| *round);
    rounds.into_iter().map(|(_, query)| query.clone()).take(MAX_TURNS).collect()
}

fn matching(query: &ViewQuery, rooms: &[Arc<Listed>]) -> (Vec<Arc<Listed>>, usize) {
    let mut total = 0;
    let mut found = vec![];
    for room in rooms.iter().filter(|room| query.has(room)) {
        if total >= query.from && found.len() < query.count {
            found.push(Arc::clone(room));
        }
        total += 1;
    }
    (found, total)
}

impl View {
    fn new(query: &ViewQuery, rooms: &[Arc<Listed>], highlights: &Highlights, version: u64) -> Self {
        let (rooms, total) = matching(query, rooms);
        let (query, highlights) = (query.clone(), highlights.clone());
        let change = Bytes::from_static(b"{}");
        let frame = Frame { number: 0, query, rooms, total, highlights, change, full: OnceLock::new() };
        let (pages, version) = (BTreeMap::new(), Some(version));
        Self { frames: watch::Sender::new(Arc::new(frame)), pages, version, passed: 0, start: 0 }
    }

    fn update(&mut self, query: &ViewQuery, rooms: &[Arc<Listed>], highlights: &Highlights, version: u64) {
        let before = Arc::clone(&self.frames.borrow());
        let (wanted, total) = matching(query, rooms);
        let known: HashMap<&str, &Arc<Listed>> = before.rooms.iter().map(|room| (room.id.as_str(), room)).collect();
        let mut room_left = MAX_CHANGE;
        let mut changed = vec![];
        let mut all = true;
        // The rooms as the page has them, in the order of `wanted`.
        let mut shown: Vec<Option<Arc<Listed>>> =
            wanted.iter().map(|room| known.get(room.id.as_str()).map(|room| Arc::clone(room))).collect();
        for step in 0..wanted.len() {
            let at = (self.start + step) % wanted.len();
            if shown[at].as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &wanted[at]) || shown.json == wanted[at].json)
            {
                continue;
            }
            // The first room always fits.
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
        if highlights.recent != before.highlights.recent {
            parts.push(format!(r#""recent":{}"#, highlights.recent));
        }
        if highlights.leaders != before.highlights.leaders {
            parts.push(format!(r#""leaders":{}"#, highlights.leaders));
        }
        if highlights.unsure != before.highlights.unsure {
            parts.push(format!(r#""unsure":{}"#, highlights.unsure));
        }
        if parts.is_empty() {
            return;
        }
        let change = format!("{{{}}}", parts.join(",")).into();
        let query = query.clone();
        let number = before.number + 1;
        let frame =
            Frame { number, query, rooms, total, highlights: highlights.clone(), change, full: OnceLock::new() };
        self.frames.send_replace(Arc::new(frame));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{
        hub::lobby::{Key, PAUSE},
        room::info::{Info, Player},
    };

    use super::*;

    fn info(number: usize, game: Game, names: &[&str]) -> Info {
        let player = |name: &&str| Player {
            peer: netcore::PeerId(0),
            address: None,
            name: (*name).to_owned(),
            wire: None,
            seat: "A".to_owned(),
            bot: false,
            proven: false,
            owner: false,
        };
        Info {
            id: format!("{}-{number}", game.name()),
            taken: 1,
            players: names.iter().map(player).collect(),
            people: 1,
            ..Info::usual(game)
        }
    }

    fn row(info: &Info) -> Arc<Listed> {
        Arc::new(Listed::of(info).unwrap())
    }

    fn publish(lists: &Lists, infos: &[Info]) {
        lists.publish(infos.iter().map(row).collect(), highlights());
        lists.advance();
    }

    fn highlights() -> Highlights {
        Highlights { recent: "[]".into(), leaders: "{}".into(), unsure: false }
    }

    fn json(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap()
    }

    fn query(value: Value) -> ViewQuery {
        serde_json::from_value(value).unwrap()
    }

    fn subscription(lists: &Arc<Lists>, host: u8, value: Value) -> ViewSubscription {
        lists.subscribe(HostId::V4([10, 0, 0, host]), query(value))
    }

    #[derive(Default)]
    struct Page {
        number: Option<u64>,
        ids: Vec<String>,
        rooms: BTreeMap<String, Value>,
        total: Value,
    }

    impl Page {
        // Returns the number of received bytes.
        fn follow(&mut self, ViewSubscription { frames, .. }: &ViewSubscription) -> usize {
            let frame = Arc::clone(&frames.borrow());
            if self.number == Some(frame.number) {
                return 0;
            }
            let follows = self.number.is_some_and(|number| number + 1 == frame.number);
            let bytes = if follows { frame.change.clone() } else { frame.full() };
            self.number = Some(frame.number);
            let message = json(&bytes);
            if let Some(ids) = message["ids"].as_array() {
                self.ids = ids.iter().map(|id| id.as_str().unwrap().to_owned()).collect();
            }
            for room in message["rooms"].as_array().into_iter().flatten() {
                self.rooms.insert(room["id"].as_str().unwrap().to_owned(), room.clone());
            }
            if !message["total"].is_null() {
                self.total = message["total"].clone();
            }
            bytes.len()
        }

        fn shows(&self) -> Vec<&Value> {
            self.ids.iter().map(|id| &self.rooms[id]).collect()
        }
    }

    #[test]
    fn view_has_the_selected_rooms_and_their_total() {
        let lists = Arc::<Lists>::default();
        let mut rooms: Vec<_> = (1..=70).map(|number| row(&info(number, Game::Nuggets, &[]))).collect();
        rooms.push(row(&info(7, Game::Robots, &["Zoë"])));
        lists.publish(rooms, highlights());
        let ids = |value: Value| {
            let full = json(&subscription(&lists, 1, value).frames.borrow().full());
            let ids: Vec<String> =
                full["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
            (ids, full["total"].as_u64().unwrap())
        };
        let (first, total) = ids(json!({}));
        assert_eq!((first.len(), total, first[59].as_str()), (60, 71, "nuggets-60"));
        assert_eq!(ids(json!({ "from": 60 })).0.len(), 11);
        assert_eq!(ids(json!({ "from": 60, "count": 2 })).0, ["nuggets-61", "nuggets-62"]);
        assert_eq!(ids(json!({ "count": 1_000_000 })).0.len(), 60);
        assert_eq!(ids(json!({ "game": "robots" })), (vec!["robots-7".to_owned()], 1));
        assert_eq!(ids(json!({ "text": " ZOË " })), (vec!["robots-7".to_owned()], 1));
        assert_eq!(ids(json!({ "text": "nuggets-70" })), (vec!["nuggets-70".to_owned()], 1));
        assert_eq!(ids(json!({ "game": "mastermind" })), (vec![], 0));
        assert!(serde_json::from_value::<ViewQuery>(json!({ "game": "chess" })).is_err());
    }

    #[test]
    fn changes_lead_to_the_same_view_as_a_new_subscription() {
        let lists = Arc::<Lists>::default();
        let mut infos: Vec<Info> = (1..=30).map(|number| info(number, Game::Nuggets, &[])).collect();
        publish(&lists, &infos);
        let frames = subscription(&lists, 1, json!({ "count": 20 }));
        let mut page = Page::default();
        let full = page.follow(&frames);
        // Also moves one room into the view and one out of it.
        infos[4].taken = 9;
        publish(&lists, &infos);
        let change = page.follow(&frames);
        assert!(change < full / 10, "{change} of {full} bytes");
        infos.remove(2);
        publish(&lists, &infos);
        page.follow(&frames);
        infos.push(info(31, Game::Nuggets, &["Ann"]));
        publish(&lists, &infos);
        assert!(page.follow(&frames) < 30, "only the total has changed");
        let mut other = Page::default();
        other.follow(&subscription(&lists, 1, json!({ "count": 20 })));
        assert_eq!((page.shows(), &page.total), (other.shows(), &other.total));
        assert_eq!((page.ids.len(), page.total.clone()), (20, json!(30)));
        publish(&lists, &infos);
        assert_eq!(page.follow(&frames), 0);
    }

    #[test]
    fn page_that_missed_a_frame_receives_the_whole_view() {
        let lists = Arc::<Lists>::default();
        let mut infos = vec![info(1, Game::Nuggets, &[]), info(2, Game::Nuggets, &[])];
        publish(&lists, &infos);
        let frames = subscription(&lists, 1, json!({}));
        let mut page = Page::default();
        page.follow(&frames);
        for at in [0, 1] {
            infos[at].taken = 5;
            publish(&lists, &infos);
        }
        page.follow(&frames);
        assert_eq!(page.shows().iter().map(|room| room["taken"].clone()).collect::<Vec<_>>(), [json!(5), json!(5)]);
    }

    #[test]
    fn view_of_a_thousand_changing_rooms_takes_twelve_kilobytes_a_second() {
        let lists = Arc::<Lists>::default();
        let names = ["Bot Ada", "Bot Alan", "Ann_the_long_winded_1", "Bob_the_long_winded_2"];
        let mut infos: Vec<Info> = (1..=1_000).map(|number| info(number, Game::Nuggets, &names)).collect();
        let frames = subscription(&lists, 1, json!({}));
        let mut page = Page::default();
        page.follow(&frames);
        publish(&lists, &infos);
        page.follow(&frames);
        let times = 20;
        let mut bytes = 0;
        for time in 0..times {
            for info in &mut infos {
                info.taken = time % 26;
            }
            infos.rotate_left(3);
            publish(&lists, &infos);
            bytes += page.follow(&frames);
        }
        let seconds = f64::from(times) * PAUSE.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "some kilobytes")]
        let rate = bytes as f64 / seconds;
        assert!(rate < 12_000.0, "{rate:.0} bytes a second");
        // The remaining changes follow.
        for _ in 0..60 {
            lists.advance();
            page.follow(&frames);
        }
        let mut other = Page::default();
        publish(&lists, &infos);
        page.follow(&frames);
        other.follow(&subscription(&lists, 1, json!({})));
        assert_eq!(page.shows(), other.shows());
        assert!(page.shows().iter().all(|room| room["taken"] == (times - 1) % 26), "{:?}", page.shows()[0]);
    }

    #[test]
    fn views_are_shared_dropped_and_updated_in_turn() {
        let lists = Arc::<Lists>::default();
        let mut infos = [info(1, Game::Nuggets, &["Ann"])];
        lists.publish(infos.iter().map(row).collect(), highlights());
        let (one, other) =
            (subscription(&lists, 1, json!({ "text": "Ann" })), subscription(&lists, 2, json!({ "text": "ann " })));
        assert!(one.frames.same_channel(&other.frames));
        let many: Vec<_> = (0..300)
            .zip((0..10).cycle())
            .map(|(from, host)| subscription(&lists, host, json!({ "from": from })))
            .collect();
        infos[0].taken = 7;
        lists.publish(infos.iter().map(row).collect(), highlights());
        // Enough for 301 views.
        (0..3).for_each(|_| lists.advance());
        assert_eq!(one.frames.borrow().number, 1);
        assert_eq!(
            many.iter().filter(|subscription| subscription.frames.borrow().number > 0).count(),
            1,
            "one of these shows the room"
        );
        assert!(lists.state().views.values().all(|view| view.version == Some(2)));
        drop((one, other, many));
        let state = lists.state();
        assert!(state.views.is_empty() && state.distinct.is_empty());
    }

    #[test]
    fn host_with_thousands_of_views_delays_no_view_of_another_host() {
        let lists = Arc::<Lists>::default();
        let mut infos: Vec<_> = (0..3_000).map(|number| info(number, Game::Nuggets, &[])).collect();
        publish(&lists, &infos);
        let crowd: Vec<_> = (0..2_000)
            .zip((10..15).cycle())
            .map(|(from, host)| subscription(&lists, host, json!({ "from": from })))
            .collect();
        let ann = subscription(&lists, 1, json!({ "from": 2_990 }));
        for taken in 2..5 {
            for info in &mut infos {
                info.taken = taken;
            }
            let before = ann.frames.borrow().number;
            publish(&lists, &infos);
            assert_eq!(ann.frames.borrow().number, before + 1, "at once");
        }
        let (count, views) = (crowd.len(), lists.state().views.len());
        assert_eq!((count, views), (2_000, 5 * MAX_VIEWS_OF_HOST + 2));
        let more = subscription(&lists, 10, json!({ "game": "robots", "from": 3, "text": "x" }));
        assert!(!more.is_of(query(json!({ "game": "robots", "from": 3, "text": "x" }))));
        assert!(
            more.is_of(query(json!({ "game": "robots" })))
                && subscription(&lists, 10, json!({})).is_of(ViewQuery::default())
        );
        drop(crowd);
        assert!(subscription(&lists, 10, json!({ "from": 3 })).is_of(query(json!({ "from": 3 }))));
    }

    #[test]
    fn views_with_many_pages_come_first_and_none_starves() {
        let lists = Arc::<Lists>::default();
        let mut infos: Vec<_> = (0..1_000).map(|number| info(number, Game::Nuggets, &[])).collect();
        publish(&lists, &infos);
        let pages = |from: usize| if from < 100 { 3 } else { 1 };
        let crowd: Vec<Vec<_>> = (0..1_000)
            .map(|from| {
                let host = HostId::V6Network(from as u64 / 50);
                (0..pages(from)).map(|_| lists.subscribe(host, query(json!({ "from": from })))).collect()
            })
            .collect();
        for taken in 2..102 {
            for info in &mut infos {
                info.taken = taken;
            }
            publish(&lists, &infos);
        }
        let turns = |range: std::ops::Range<usize>| {
            crowd[range].iter().map(|pages| pages[0].frames.borrow().number).collect::<Vec<_>>()
        };
        let least = turns(0..1_000).into_iter().min().unwrap();
        let sum = |turns: Vec<u64>| turns.iter().sum::<u64>() / turns.len() as u64;
        assert!(least > 3, "{least} turns of a hundred");
        assert!(sum(turns(0..100)) > sum(turns(100..1_000)), "{:?}", turns(0..200));
    }

    #[test]
    fn rooms_are_ordered_by_game_and_age() {
        let mut keys = [
            Key::new(Game::Mastermind, "mastermind-1"),
            Key::new(Game::Nuggets, "nuggets-10"),
            Key::new(Game::Nuggets, "nuggets-9"),
        ];
        keys.sort();
        let expected =
            [(Game::Nuggets, "nuggets-9"), (Game::Nuggets, "nuggets-10"), (Game::Mastermind, "mastermind-1")];
        assert_eq!(keys.to_vec(), expected.map(|(game, id)| Key::new(game, id)));
    }
}
