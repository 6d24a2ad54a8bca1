//! Set-ups and states that were damaged, or made up by somebody who means harm.

use netcore::{Link, Role, Room, StateError};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

use crate::{
    journal::{MAP, config, link_of, record_in},
    resuming::halls,
    room::{Came, Hall},
};

// A game of all roles over all links, with some who have quit, and something due.
fn busy() -> Hall {
    let mut hall = Hall::new(MAP, config(11));
    for peer in 1..=5 {
        hall.join(peer, link_of(peer), format!("PLAY P{peer}").as_bytes());
        hall.say(peer, link_of(peer), b"KEY H");
    }
    hall.join(6, link_of(6), b"SPECTATE");
    hall.input(&Came::Connected(7, Role::Watcher, Link::Message));
    hall.connect(8, Link::Message);
    hall.say(2, link_of(2), b"KEY Q");
    hall
}

type Case = (&'static str, fn(&mut Value));

const GOLD: &str = "the purses and piles do not hold the gold of the game";
const NAME: &str = "a name that no player has";
const STANDS: &str = "a player stands where none can";
const PILE: &str = "a pile lies where none can, or holds nothing";
const BEEN: &str = "a player has been where nobody can be, or not where it stands";
const BUDGETS: &str = "the budgets of a seat are not those of a seat";
const TWICE: &str = "a peer is there twice";
const SAME: &str = "two peers have the same seat";
const NOT_PLAYING: &str = "somebody who does not play has the seat of a player";
const LATE: &str = "the server is woken too late";

fn list<'a>(state: &'a mut Value, name: &str) -> &'a mut Vec<Value> {
    state[name].as_array_mut().unwrap()
}

// Takes all nuggets out of the purses and the piles.
fn empty(state: &mut Value) {
    state["game"]["piles"] = json!([]);
    for player in list(&mut state["game"], "players") {
        player["purse"] = json!(0);
    }
}

/// What no game can be in, and why it is refused.
const NO_GAMES: &[Case] = &[
    ("a game of that number is never played", |state| state["number"] = json!(0)),
    (GOLD, |state| state["game"]["players"][0]["purse"] = json!(u32::MAX)),
    (GOLD, |state| state["game"]["piles"] = json!([[14, 1], [15, u32::MAX], [16, u32::MAX]])),
    ("more players than letters", |state| {
        let quitter = json!({ "name": "x", "purse": 0, "cell": null });
        list(&mut state["game"], "players").extend(vec![quitter; 26]);
    }),
    (NAME, |state| state["game"]["players"][0]["name"] = json!("")),
    (NAME, |state| state["game"]["players"][0]["name"] = json!("x".repeat(51))),
    (NAME, |state| state["game"]["players"][0]["name"] = json!("a\nb")),
    (STANDS, |state| state["game"]["players"][0]["cell"] = json!(0)),
    (STANDS, |state| state["game"]["players"][0]["cell"] = json!(u16::MAX)),
    (STANDS, |state| state["game"]["players"][0]["cell"] = state["game"]["players"][2]["cell"].clone()),
    (PILE, |state| state["game"]["piles"][0][0] = json!(u16::MAX)),
    (PILE, |state| list(&mut state["game"], "piles").insert(0, json!([14, 0]))),
    (PILE, |state| list(&mut state["game"], "piles").reverse()),
    (PILE, |state| {
        empty(state);
        state["game"]["piles"] = json!([[state["game"]["players"][0]["cell"], 12]]);
    }),
    ("not everybody who plays has been somewhere", |state| drop(list(state, "visited").pop())),
    (BEEN, |state| state["visited"][1] = json!([])),
    (BEEN, |state| state["visited"][1].as_array_mut().unwrap().push(json!(0))),
    (BEEN, |state| state["visited"][1].as_array_mut().unwrap().fill(json!(0))),
    (BEEN, |state| state["visited"][1].as_array_mut().unwrap().fill(json!(u64::MAX))),
];

/// Peers and times that no server has.
const NO_PEERS: &[Case] = &[
    (BUDGETS, |state| state["seats"][0]["drawn"]["bucket"]["rate"]["burst"] = json!(u32::MAX)),
    (BUDGETS, |state| state["seats"][0]["drawn"] = state["seats"][0]["shown"].clone()),
    ("the budget for SPECTATEs is not that of a server", |state| state["spectates"]["what"] = json!(0)),
    ("a peer has two seats", |state| state["seats"][0]["peer"] = state["seats"][1]["peer"].clone()),
    (TWICE, |state| state["strangers"][0][0] = state["seats"][1]["peer"].clone()),
    (TWICE, |state| list(state, "strangers").extend_from_within(..1)),
    (SAME, |state| state["seats"][0]["role"] = state["seats"][1]["role"].clone()),
    ("more spectate than may", |state| state["seats"][0]["role"] = json!("Spectator")),
    (NOT_PLAYING, |state| state["seats"][0]["role"] = json!({ "Player": 1 })),
    (NOT_PLAYING, |state| state["seats"][0]["role"] = json!({ "Player": 255 })),
    ("more addresses have quit than players", |state| state["quitters"] = json!(["a", "b"])),
    ("a server does not end by being deserted", |state| state["outcome"] = json!("Deserted")),
    ("the game is over and the server goes on", |state| {
        empty(state);
        state["game"]["players"][0]["purse"] = json!(12);
    }),
    ("somebody plays and has no seat", |state| drop(list(state, "seats").remove(0))),
    ("something is due and nothing wakes the server", |state| state["wake"] = json!(null)),
    (LATE, |state| state["wake"] = json!(u64::MAX)),
    (LATE, |state| state["catch_up"] = json!(0)),
];

#[test]
fn a_state_that_no_server_can_have_is_refused() {
    let hall = busy();
    let [setup, state] = hall.written();
    let state: Value = serde_json::from_str(&state).unwrap();
    hall.restored(&setup, &state.to_string()).unwrap();
    for &(why, edit) in NO_GAMES.iter().chain(NO_PEERS) {
        let mut edited = state.clone();
        edit(&mut edited["engine"]);
        let refused = hall.restored(&setup, &edited.to_string()).map(|hall| hall.room.digest());
        assert_eq!(refused, Err(StateError::from(why)), "{edited}");
    }
    // Without a limit on idleness somebody has to be woken for what is owed.
    let mut setup: Value = serde_json::from_str(&setup).unwrap();
    setup["config"]["idle_timeout"] = json!(null);
    let mut owing = state.clone();
    owing["engine"]["wake"] = json!(null);
    hall.restored(&setup.to_string(), &owing.to_string()).unwrap();
    owing["engine"]["seats"][0]["owed"] = json!("Own");
    let refused = hall.restored(&setup.to_string(), &owing.to_string()).map(|_| ());
    assert_eq!(refused, Err("something is due and nothing wakes the server".into()));
}

#[test]
fn a_set_up_that_no_server_can_have_is_refused() {
    let hall = busy();
    let [setup, state] = hall.written();
    let setup: Value = serde_json::from_str(&setup).unwrap();
    let cases: &[Case] = &[
        ("is too large", |setup| setup["map"] = json!(" ".repeat(131_015))),
        ("the map is empty", |setup| setup["map"] = json!("")),
        ("is no map character", |setup| setup["map"] = json!("..x..\n")),
        ("the map is too large", |setup| setup["map"] = json!((".".repeat(372) + "\n").repeat(176))),
        ("no room spot", |setup| setup["map"] = json!("#####\n")),
        ("a single room spot", |setup| setup["map"] = json!(".####\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\r\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\n..\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....")),
        ("0 nuggets", |setup| setup["config"]["rules"]["gold"] = json!(0)),
        ("nuggets are not possible", |setup| setup["config"]["rules"]["gold"] = json!(u32::MAX)),
        ("101 percent", |setup| setup["config"]["rules"]["steal_percent"] = json!(101)),
        ("a radius of 0", |setup| setup["config"]["rules"]["vision"]["radius"] = json!(0)),
        ("piles", |setup| setup["config"]["rules"]["min_piles"] = json!(0)),
        ("piles", |setup| setup["config"]["rules"]["max_piles"] = json!(1)),
        ("overflow", |setup| {
            setup["config"]["idle_timeout"] = json!({ "secs": u64::MAX, "nanos": u32::MAX });
        }),
        ("never played", |setup| setup["config"]["rematch"] = json!(false)),
    ];
    for (number, (why, edit)) in cases.iter().enumerate() {
        let (mut setup, mut state) = (setup.clone(), serde_json::from_str::<Value>(&state).unwrap());
        state["engine"]["number"] = json!(2);
        edit(&mut setup);
        let refused = hall.restored(&setup.to_string(), &state.to_string()).map(|_| ());
        assert!(refused.as_ref().is_err_and(|refused| refused.to_string().contains(why)), "case {number}: {refused:?}");
    }
}

// Changes something somewhere in a value.
fn damage(value: &mut Value, chance: &mut Pcg64) {
    let children = match value {
        Value::Array(items) => items.len(),
        Value::Object(fields) => fields.len(),
        _ => 0,
    };
    let go_on = chance.random_range(0..=2 * children) > 0;
    let child = chance.random_range(0..children.max(1));
    let numbers = [0, 1, 2, 25, 26, 255, 256, 65_498, 65_535, 1 << 31, u32::MAX.into(), 1 << 63, u64::MAX];
    match value {
        Value::Array(items) if go_on => damage(&mut items[child], chance),
        Value::Object(fields) if go_on => damage(fields.values_mut().nth(child).unwrap(), chance),
        Value::Array(items) if !items.is_empty() => match chance.random_range(0..5) {
            0 => drop(items.remove(child)),
            1 => items.push(items[child].clone()),
            2 => items.resize(items.len() + 3_000, items[child].clone()),
            3 => items.reverse(),
            _ => {
                let last = items.len() - 1;
                items.swap(child, last);
            }
        },
        Value::Object(fields) => drop(fields.remove(&fields.keys().nth(child).unwrap().clone())),
        Value::Bool(bit) => *bit = !*bit,
        Value::Number(number) => {
            let old = number.as_i64().unwrap_or_default();
            *value = match chance.random_range(0..6) {
                0 => json!(old.wrapping_add(1)),
                1 => json!(old.wrapping_sub(1)),
                2 => json!(old ^ (1 << chance.random_range(0..63))),
                3 => json!([i64::MIN, -1][chance.random_range(0..2)]),
                _ => json!(numbers[chance.random_range(0..numbers.len())]),
            };
        }
        Value::String(text) => match chance.random_range(0..3) {
            0 => text.clear(),
            1 => *text = "x".repeat(70_000),
            _ => text.push('\u{1F980}'),
        },
        Value::Null => *value = json!(numbers[chance.random_range(0..numbers.len())]),
        Value::Array(_) => *value = json!([value.clone()]),
    }
}

#[test]
fn a_damaged_state_is_refused_or_played_on_without_a_panic() {
    let (mut refused, mut played, mut heard) = (0, 0, 0);
    for seed in 0..40 {
        let kind = [0, 0, 0, 2, 0, 2, 0, 1][usize::try_from(seed % 8).unwrap()];
        let [small, main, _, party] = halls(seed);
        let mut hall = [small, main, party][kind].clone();
        let (log, _) = record_in(hall.clone(), seed, 300);
        let cut = Pcg64::seed_from_u64(seed).random_range(20..250);
        for (time, came) in &log[..cut] {
            hall.now = *time;
            hall.input(came);
        }
        let [setup, state] = hall.written().map(|text| serde_json::from_str::<Value>(&text).unwrap());
        let mut chance = Pcg64::seed_from_u64(seed);
        for _ in 0..100 {
            let mut damaged = [setup.clone(), state.clone()];
            for _ in 0..chance.random_range(1..3) {
                damage(&mut damaged[usize::from(chance.random_range(0..10) > 0)], &mut chance);
            }
            let [setup, state] = damaged.map(|value| value.to_string());
            let Ok(mut hall) = hall.restored(&setup, &state) else {
                refused += 1;
                continue;
            };
            played += 1;
            for (time, came) in &log[cut..] {
                if hall.room.deadline().is_some_and(|due| due <= *time) {
                    hall.input(&Came::Elapsed);
                }
                hall.now = *time;
                heard += hall.input(came).len();
            }
            drop(hall.written());
        }
    }
    assert!(refused > 500 && played > 500 && heard > 50_000, "{refused} refused, {played} played, {heard} outputs");
}
