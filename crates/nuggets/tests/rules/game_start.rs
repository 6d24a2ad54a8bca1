use std::time::Duration;

use netcore::{Engine, Phase};
use nuggets::{Config, Rules};

use crate::table::{self, Effect, Table};

const HALL: &str = "..........\n..........\n";

fn party(wait_for: u32, countdown: Option<u64>) -> Table {
    let config = Config { wait_for, countdown: countdown.map(Duration::from_secs), seed: 5, ..Config::default() };
    Table::new(HALL, Config { rules: Rules { min_piles: 1, max_piles: 1, ..Rules::default() }, ..config })
}

fn errors(effects: &[Effect], name: &str) -> Vec<String> {
    table::datagrams(effects, name).iter().filter_map(|text| text.strip_prefix("ERROR ").map(str::to_owned)).collect()
}

fn is_waiting(table: &Table) -> bool {
    table.server().status().phase == Phase::Lobby
}

#[test]
fn movement_keys_are_rejected_until_enough_players_have_joined() {
    let mut table = party(3, None);
    assert_eq!(errors(&table.send("Alice", "PLAY Alice"), "Alice"), ["waiting for 2 more players"]);
    table.send("Sam", "SPECTATE");
    let effects = table.send("Bob", "PLAY Bob");
    for who in ["Alice", "Bob", "Sam"] {
        assert_eq!(errors(&effects, who), ["waiting for 1 more player"], "{who}");
    }
    let before = table.position();
    for key in "hljkyubnHLJKYUBN".chars() {
        let effects = table.send("Alice", format!("KEY {key}"));
        assert_eq!(errors(&effects, "Alice"), ["waiting for 1 more player"]);
        assert_eq!(effects.len(), 1, "nobody else hears of it");
    }
    assert_eq!(table.position(), before);
    assert_eq!(errors(&table.send("Bob", "KEY x"), "Bob"), ["unknown keystroke"]);
    assert!(is_waiting(&table));

    let effects = table.send("Carol", "PLAY Carol");
    for who in ["Alice", "Bob", "Carol", "Sam"] {
        assert_eq!(errors(&effects, who), ["the game has begun"], "{who}");
    }
    assert!(!is_waiting(&table));
    table.keys("Alice", "HL");
    assert_ne!(table.position(), before);
}

#[test]
fn countdown_is_announced_each_second_and_starts_the_game() {
    let mut table = party(0, Some(3));
    assert_eq!(errors(&table.send("Alice", "PLAY Alice"), "Alice"), ["the game begins in 3 s"]);
    table.wait(Duration::from_millis(400));
    // A late player does not restart the countdown.
    assert_eq!(errors(&table.send("Bob", "PLAY Bob"), "Alice"), [""; 0]);
    assert_eq!(errors(&table.send("Bob", "KEY l"), "Bob"), ["the game begins in 3 s"]);
    let effects = table.wait(Duration::from_millis(2_599));
    assert_eq!(errors(&effects, "Bob"), ["the game begins in 2 s", "the game begins in 1 s"]);
    assert!(is_waiting(&table));
    assert_eq!(errors(&table.wait(Duration::from_millis(1)), "Alice"), ["the game has begun"]);
    assert!(!is_waiting(&table) && table.server().deadline().is_none());
}

#[test]
fn countdown_stops_when_too_few_players_are_left() {
    let mut table = party(2, Some(10));
    table.send("Alice", "PLAY Alice");
    assert_eq!(errors(&table.send("Bob", "PLAY Bob"), "Alice"), ["the game begins in 10 s"]);
    table.wait(Duration::from_secs(5));
    assert_eq!(errors(&table.send("Bob", "KEY Q"), "Alice"), ["waiting for 1 more player"]);
    assert!(table.wait(Duration::from_secs(60)).is_empty(), "nothing goes on");
    assert_eq!(errors(&table.send("Carol", "PLAY Carol"), "Alice"), ["the game begins in 10 s"]);
    table.wait(Duration::from_secs(10));
    assert!(!is_waiting(&table));
    table.send("Carol", "KEY Q");
    assert!(!is_waiting(&table));
}

#[test]
fn full_map_starts_the_game_early() {
    let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
    let mut table = Table::new("....\n", Config { rules, wait_for: 20, seed: 1, ..Config::default() });
    table.join(&["Alice", "Bob"]);
    assert!(is_waiting(&table));
    table.join(&["Carol"]);
    assert!(!is_waiting(&table));
}

#[test]
fn waiting_for_players_does_not_count_as_idle() {
    let config = Config { wait_for: 2, idle_timeout: Some(Duration::from_secs(5)), seed: 5, ..Config::default() };
    let mut table = Table::new(&HALL.repeat(20), config);
    table.send("Alice", "PLAY Alice");
    assert!(table.wait(Duration::from_secs(60)).is_empty());
    table.send("Bob", "PLAY Bob");
    assert!(!is_waiting(&table));
    assert_eq!(table.wait(Duration::from_millis(4_999)), []);
    table.wait(Duration::from_millis(1));
    assert_eq!(table.peers().count(), 0);
}

#[test]
fn next_game_waits_for_players_too() {
    let rules = Rules { min_piles: 1, max_piles: 1, ..Rules::default() };
    let mut table = Table::new("....\n", Config { rules, rematch: true, wait_for: 2, seed: 2, ..Config::default() });
    table.join(&["Alice", "Bob"]);
    table.keys("Alice", "HL");
    assert!(is_waiting(&table) && table.game().players().is_empty());
    assert_eq!(errors(&table.send("Alice", "PLAY Alice"), "Alice"), ["waiting for 1 more player"]);
}

#[test]
fn default_game_sends_no_waiting_messages() {
    for wait_for in [0, 1] {
        let mut table = party(wait_for, None);
        assert_eq!(errors(&table.send("Alice", "PLAY Alice"), "Alice"), [""; 0]);
        assert!(!is_waiting(&table));
    }
}
