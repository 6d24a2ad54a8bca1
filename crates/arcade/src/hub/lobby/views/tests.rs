use serde_json::{Value, json};

use super::*;
use crate::{
    hub::lobby::{PAUSE, listed::Key},
    room::info::{Info, Player},
};

fn info(number: usize, game: Game, names: &[&str]) -> Info {
    let player = |name: &&str| Player {
        peer: netcore::PeerId(0),
        address: None,
        name: (*name).to_owned(),
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

// Tells the lists of these rooms, and the pages of what has changed.
fn publish(lists: &Lists, infos: &[Info]) {
    lists.publish(infos.iter().map(row).collect(), told());
    lists.advance();
}

fn told() -> Told {
    Told { recent: "[]".into(), leaders: "{}".into(), unsure: false }
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn look(value: Value) -> Look {
    serde_json::from_value(value).unwrap()
}

// A page of a host with this number looks at this.
fn looking(lists: &Arc<Lists>, host: u8, value: Value) -> Looking {
    lists.look(HostId::V4([10, 0, 0, host]), look(value))
}

/// What a page knows that is told a view.
#[derive(Default)]
struct Page {
    number: Option<u64>,
    ids: Vec<String>,
    rooms: BTreeMap<String, Value>,
    total: Value,
}

impl Page {
    // Takes the newest frame; gives the bytes that it was sent.
    fn follow(&mut self, Looking { frames, .. }: &Looking) -> usize {
        let frame = Arc::clone(&frames.borrow());
        if self.number == Some(frame.number) {
            return 0;
        }
        let follows = self.number.is_some_and(|number| number + 1 == frame.number);
        let bytes = if follows { frame.change.clone() } else { frame.whole() };
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
fn a_view_has_the_rooms_that_it_looks_at_and_says_how_many_there_are() {
    let lists = Arc::<Lists>::default();
    let mut rooms: Vec<_> = (1..=70).map(|number| row(&info(number, Game::Nuggets, &[]))).collect();
    rooms.push(row(&info(7, Game::Robots, &["Zoë"])));
    lists.publish(rooms, told());
    let ids = |value: Value| {
        let whole = json(&looking(&lists, 1, value).frames.borrow().whole());
        let ids: Vec<String> =
            whole["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect();
        (ids, whole["total"].as_u64().unwrap())
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
    assert!(serde_json::from_value::<Look>(json!({ "game": "chess" })).is_err());
}

#[test]
fn a_page_that_is_told_only_what_changes_knows_the_same_as_a_new_one() {
    let lists = Arc::<Lists>::default();
    let mut infos: Vec<Info> = (1..=30).map(|number| info(number, Game::Nuggets, &[])).collect();
    publish(&lists, &infos);
    let frames = looking(&lists, 1, json!({ "count": 20 }));
    let mut page = Page::default();
    let whole = page.follow(&frames);
    // One that changes, one that goes so that another comes into sight, and one that comes out of sight.
    infos[4].taken = 9;
    publish(&lists, &infos);
    let change = page.follow(&frames);
    assert!(change < whole / 10, "{change} of {whole} bytes");
    infos.remove(2);
    publish(&lists, &infos);
    page.follow(&frames);
    infos.push(info(31, Game::Nuggets, &["Ann"]));
    publish(&lists, &infos);
    assert!(page.follow(&frames) < 30, "only the total has changed");
    let mut other = Page::default();
    other.follow(&looking(&lists, 1, json!({ "count": 20 })));
    assert_eq!((page.shows(), &page.total), (other.shows(), &other.total));
    assert_eq!((page.ids.len(), page.total.clone()), (20, json!(30)));
    // Nothing has changed, so nothing is told.
    publish(&lists, &infos);
    assert_eq!(page.follow(&frames), 0);
}

#[test]
fn a_page_that_missed_a_frame_is_told_all_of_it() {
    let lists = Arc::<Lists>::default();
    let mut infos = vec![info(1, Game::Nuggets, &[]), info(2, Game::Nuggets, &[])];
    publish(&lists, &infos);
    let frames = looking(&lists, 1, json!({}));
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
fn pages_of_a_thousand_rooms_that_all_change_are_sent_twelve_kilobytes_a_second() {
    let lists = Arc::<Lists>::default();
    let names = ["Bot Ada", "Bot Alan", "Ann_the_long_winded_1", "Bob_the_long_winded_2"];
    let mut infos: Vec<Info> = (1..=1_000).map(|number| info(number, Game::Nuggets, &names)).collect();
    let frames = looking(&lists, 1, json!({}));
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
        // And some come and go.
        infos.rotate_left(3);
        publish(&lists, &infos);
        bytes += page.follow(&frames);
    }
    let seconds = f64::from(times) * PAUSE.as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "some kilobytes")]
    let rate = bytes as f64 / seconds;
    assert!(rate < 12_000.0, "{rate:.0} bytes a second");
    // Nobody is forgotten: what is still behind comes when less happens.
    for _ in 0..60 {
        lists.advance();
        page.follow(&frames);
    }
    let mut other = Page::default();
    publish(&lists, &infos);
    page.follow(&frames);
    other.follow(&looking(&lists, 1, json!({})));
    assert_eq!(page.shows(), other.shows());
    assert!(page.shows().iter().all(|room| room["taken"] == (times - 1) % 26), "{:?}", page.shows()[0]);
}

#[test]
fn views_are_shared_and_forgotten_and_all_have_their_turn() {
    let lists = Arc::<Lists>::default();
    let mut infos = [info(1, Game::Nuggets, &["Ann"])];
    lists.publish(infos.iter().map(row).collect(), told());
    let (one, other) = (looking(&lists, 1, json!({ "text": "Ann" })), looking(&lists, 2, json!({ "text": "ann " })));
    assert!(one.frames.same_channel(&other.frames));
    let many: Vec<_> =
        (0..300).zip((0..10).cycle()).map(|(from, host)| looking(&lists, host, json!({ "from": from }))).collect();
    infos[0].taken = 7;
    lists.publish(infos.iter().map(row).collect(), told());
    // 301 views have had their turn after three times.
    (0..3).for_each(|_| lists.advance());
    assert_eq!(one.frames.borrow().number, 1);
    assert_eq!(
        many.iter().filter(|looking| looking.frames.borrow().number > 0).count(),
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
    // No two pages of the crowd look at the same rooms, and it has several hosts.
    let crowd: Vec<_> =
        (0..2_000).zip((10..15).cycle()).map(|(from, host)| looking(&lists, host, json!({ "from": from }))).collect();
    let ann = looking(&lists, 1, json!({ "from": 2_990 }));
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
    // Above its bound a host gets the first rooms of the game.
    let more = looking(&lists, 10, json!({ "game": "robots", "from": 3, "text": "x" }));
    assert!(!more.is_of(look(json!({ "game": "robots", "from": 3, "text": "x" }))));
    assert!(more.is_of(look(json!({ "game": "robots" }))) && looking(&lists, 10, json!({})).is_of(Look::default()));
    drop(crowd);
    assert!(looking(&lists, 10, json!({ "from": 3 })).is_of(look(json!({ "from": 3 }))));
}

#[test]
fn views_with_many_pages_come_first_and_others_have_their_turn_too() {
    let lists = Arc::<Lists>::default();
    let mut infos: Vec<_> = (0..1_000).map(|number| info(number, Game::Nuggets, &[])).collect();
    publish(&lists, &infos);
    let pages = |from: usize| if from < 100 { 3 } else { 1 };
    let crowd: Vec<Vec<_>> = (0..1_000)
        .map(|from| {
            let host = HostId::V6Network(from as u64 / 50);
            (0..pages(from)).map(|_| lists.look(host, look(json!({ "from": from })))).collect()
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
fn rooms_are_in_the_order_of_their_games_and_of_their_age() {
    let mut keys = [
        Key::new(Game::Mastermind, "mastermind-1"),
        Key::new(Game::Nuggets, "nuggets-10"),
        Key::new(Game::Nuggets, "nuggets-9"),
    ];
    keys.sort();
    let expected = [(Game::Nuggets, "nuggets-9"), (Game::Nuggets, "nuggets-10"), (Game::Mastermind, "mastermind-1")];
    assert_eq!(keys.to_vec(), expected.map(|(game, id)| Key::new(game, id)));
}
