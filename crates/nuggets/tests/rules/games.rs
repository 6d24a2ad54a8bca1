//! The start and the end of a game.

use std::time::Duration;

use netcore::{Engine, Input, Link, Outcome, Phase, Role};
use nuggets::{ClientMessage, Config, Rules};
use serde_json::{Value, json};

use crate::{
    room::{MAP, RoomInput, TestRoom, config, link_of},
    table::{self, Effect, Table, plain},
};

// A room with all roles over all links, with quitters and a pending deadline.
fn busy() -> TestRoom {
    let mut room = TestRoom::new(MAP, config(11));
    for peer in 1..=5 {
        room.join(peer, link_of(peer), format!("PLAY P{peer}").as_bytes());
        room.send(peer, link_of(peer), b"KEY H");
    }
    room.join(6, link_of(6), b"SPECTATE");
    room.input(&RoomInput::Connected(7, Role::Watcher, Link::Message));
    room.connect(8, Link::Message);
    room.send(2, link_of(2), b"KEY Q");
    room
}

type Case = (&'static str, fn(&mut Value));

#[test]
fn invalid_setup_is_rejected() {
    let room = busy();
    let [setup, state] = room.written();
    let setup: Value = serde_json::from_str(&setup).unwrap();
    let cases: &[Case] = &[
        ("is too large", |setup| setup["map"] = json!(" ".repeat(131_015))),
        ("the map is empty", |setup| setup["map"] = json!("")),
        ("is not a map character", |setup| setup["map"] = json!("..x..\n")),
        ("the map is too large", |setup| setup["map"] = json!((".".repeat(372) + "\n").repeat(176))),
        ("no room spot", |setup| setup["map"] = json!("#####\n")),
        ("a single room spot", |setup| setup["map"] = json!(".####\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\r\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....\n..\n")),
        ("not written as a server writes it", |setup| setup["map"] = json!(".....")),
        // `options` tests the rules as a whole.
        ("invalid number of nuggets", |setup| setup["config"]["rules"]["gold"] = json!(u32::MAX)),
        ("overflow", |setup| {
            setup["config"]["idle_timeout"] = json!({ "secs": u64::MAX, "nanos": u32::MAX });
        }),
    ];
    for (number, (why, edit)) in cases.iter().enumerate() {
        let mut setup = setup.clone();
        edit(&mut setup);
        let refused = room.restored(&setup.to_string(), &state).map(|_| ());
        assert!(refused.as_ref().is_err_and(|refused| refused.to_string().contains(why)), "case {number}: {refused:?}");
    }
}

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

transcripts! {
    quitter_receives_one_quit_and_no_further_messages: plain("A.B4") => "
        Sam watches
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < DISPLAY [..@*]
            Sam < DISPLAY [..B*]
        Bob > KEY h
            Bob < DISPLAY [.@.*]
            Sam < DISPLAY [.B.*]
        Alice > KEY l
        Alice > KEY Q
        Bob > KEY h
            Bob < DISPLAY [@..*]
            Sam < DISPLAY [B..*]
    ";

    a_player_whose_port_is_closed_has_quit: plain("A2B..4") => "
        Alice types l
        gone Alice
            Alice closed
            Bob < DISPLAY [..@..*]
        Alice > PLAY Alice
            Alice < QUIT You have left this game and cannot join it again.
            Alice closed
        Sam > SPECTATE
            Sam < GRID 1 6
            Sam < GOLD 0 0 4
            Sam < DISPLAY [..B..*]
        gone Sam
            Sam closed
        Bob > KEY l
            Bob < DISPLAY [...@.*]
    ";

    gold_and_display_come_before_the_quit: plain("A.B3") => r"
        Sam watches
        Bob > KEY l
            Alice < GOLD 0 0 0
            Bob < GOLD 3 3 0
            Sam < GOLD 0 0 0
            Alice < DISPLAY [@..B]
            Bob < DISPLAY [A..@]
            Sam < DISPLAY [A..B]
            Alice < QUIT GAME OVER:\nA          0 Alice\nB          3 Bob
            Bob < QUIT GAME OVER:\nA          0 Alice\nB          3 Bob
            Sam < QUIT GAME OVER:\nA          0 Alice\nB          3 Bob
            Alice closed
            Bob closed
            Sam closed
            stdout: GAME OVER:\nA          0 Alice\nB          3 Bob
    ";

    /// The example of the requirements: Bob takes from Carol, Alice takes from Bob.
    final_table_matches_the_requirements_to_the_byte: rich(250, 8, "ABC11", &[136, 114]) => r"
        Carol > KEY l
            Alice < GOLD 0 0 114
            Bob < GOLD 0 0 114
            Carol < GOLD 136 136 114
            Alice < DISPLAY [@B.C*]
            Bob < DISPLAY [A@.C*]
            Carol < DISPLAY [AB.@*]
        # 8 percent of 136 and of 126, then four times 8 percent of what Bob has then: 20, 19, 18 and 17.
        Bob types llh
        Alice types llhlh
        Carol > KEY L
            Alice < GOLD 0 4 0
            Bob < GOLD 0 16 0
            Carol < GOLD 114 230 0
            Alice < DISPLAY [.@B.C]
            Bob < DISPLAY [.A@.C]
            Carol < DISPLAY [.AB.@]
            Alice < QUIT GAME OVER:\nA          4 Alice\nB         16 Bob\nC        230 Carol
            Bob < QUIT GAME OVER:\nA          4 Alice\nB         16 Bob\nC        230 Carol
            Carol < QUIT GAME OVER:\nA          4 Alice\nB         16 Bob\nC        230 Carol
            Alice closed
            Bob closed
            Carol closed
            stdout: GAME OVER:\nA          4 Alice\nB         16 Bob\nC        230 Carol
    ";

    a_purse_of_any_size_fits_the_table: rich(1_000_000, 0, "A1", &[1_000_000]) => r"
        Alice > KEY l
            Alice < GOLD 1000000 1000000 0
            Alice < DISPLAY [.@]
            Alice < QUIT GAME OVER:\nA    1000000 Alice
            Alice closed
            stdout: GAME OVER:\nA    1000000 Alice
    ";

    quitters_have_a_row_in_the_table_but_do_not_receive_it: plain("A2BC3") => r"
        Alice types lQ
        Bob types Q
        Carol > KEY l
            Carol < GOLD 3 3 0
            Carol < DISPLAY [....@]
            Carol < QUIT GAME OVER:\nA          2 Alice\nB          0 Bob\nC          3 Carol
            Carol closed
            stdout: GAME OVER:\nA          2 Alice\nB          0 Bob\nC          3 Carol
    ";
}

#[test]
fn quit_key_of_an_unadmitted_peer_does_not_remove_the_spectator() {
    let mut table = plain("A.4");
    table.send("Sam", "SPECTATE");
    assert_eq!(table.send("Mallory", "KEY Q"), []);
    // Even if a shell forwards such a key.
    let mut effects = vec![];
    let peer = table.connect("Mallory", Role::Player, Link::Datagram, &mut effects);
    effects.extend(table.input(Input::Message { peer, message: ClientMessage::Key(b'Q') }));
    assert_eq!(effects, [Effect::Closed("Mallory".into())]);
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
        ",
    );
}

fn rich(gold: u32, steal_percent: u8, drawing: &str, piles: &[u32]) -> Table {
    let config = Config { rules: Rules { gold, steal_percent, ..Rules::default() }, ..Config::default() };
    Table::fitting(config, drawing, |game| game.piles().values().eq(piles))
}

#[test]
fn ended_server_ignores_inputs_and_has_no_deadline() {
    let config = Config { idle_timeout: Some(Duration::from_secs(60)), ..Config::default() };
    let mut table = Table::drawn_with(config, "A3");
    assert!(table.server().deadline().is_some());
    let mut stopped = table.clone();
    stopped.stop();
    assert_eq!(stopped.server().deadline(), None);
    table.keys("Alice", "l");
    assert_eq!((table.server().outcome(), table.server().deadline()), (Some(Outcome::Finished), None));
    table.check(
        "
        Alice > KEY h
        Sam > SPECTATE
        Bob > PLAY Bob
        Mallory > nonsense
        wait 100000 ms
        stop
        ",
    );
    assert_eq!(table.server().outcome(), Some(Outcome::Finished), "it stays finished");
}

#[test]
fn stopped_server_sends_quit_with_the_table() {
    let mut table = plain("A2.B3");
    table.send("Sam", "SPECTATE");
    table.keys("Alice", "l");
    table.keys("Bob", "Q");
    assert_eq!(table.server().outcome(), None);
    table.check(
        r"
        stop
            Alice < QUIT The server was stopped.\nA          2 Alice\nB          0 Bob
            Sam < QUIT The server was stopped.\nA          2 Alice\nB          0 Bob
            Alice closed
            Sam closed
        ",
    );
    assert_eq!(table.server().outcome(), Some(Outcome::Stopped));
}
