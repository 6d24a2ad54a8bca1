//! The extras: each alone, and all off by default.

use std::time::Duration;

use nuggets::{Config, ConfigError, Rules, Server, visibility::Vision};

use crate::table::{Table, last_display, plain, rows, told, transcripts};

const PLAIN: Rules = Rules {
    gold: 250,
    min_piles: 10,
    max_piles: 30,
    vision: Vision { radius: None },
    steal_percent: 0,
    run_stop: false,
    drop_on_quit: false,
};

#[test]
fn all_extras_are_off_by_default() {
    assert_eq!(Rules::default(), PLAIN);
    let plain = Config { rules: PLAIN, idle_timeout: None, rematch: false, wait_for: 0, countdown: None, seed: 0 };
    assert_eq!(Config::default(), plain);
}

transcripts! {
    stealing_takes_the_floor_of_the_share: Table::drawn(Rules { steal_percent: 30, ..PLAIN }, "AB9.1") => "
        Bob types l
        Sam watches
        Alice > KEY l
            Alice < DISPLAY [.@B.*]
            Bob < DISPLAY [.A@.*]
            Sam < DISPLAY [.AB.*]
        Alice > KEY l
            Alice < GOLD 2 2 1
            Bob < GOLD 0 7 1
            Alice < DISPLAY [.B@.*]
            Bob < DISPLAY [.@A.*]
            Sam < DISPLAY [.BA.*]
            Alice < ERROR you stole 2 nuggets from B; you have 2 now
            Bob < ERROR A stole 2 nuggets from you; you have 7 now
    ";

    a_share_below_one_nugget_is_nothing: Table::drawn(Rules { steal_percent: 10, ..PLAIN }, "AB9.1") => "
        Bob types l
        Alice types l
        Alice > KEY l
            Alice < DISPLAY [.B@.*]
            Bob < DISPLAY [.@A.*]
    ",
    // Nor is there anything to take from an empty purse, even all of it.
    Table::drawn(Rules { steal_percent: 100, ..PLAIN }, "AB1") => "
        Alice > KEY l
            Alice < DISPLAY [B@*]
            Bob < DISPLAY [@A*]
    ";

    ten_percent_of_ten_is_one: Table::drawn(Rules { steal_percent: 10, ..PLAIN }, "AB82.1") => "
        Bob types ll
        Alice types ll
        Alice > KEY l
            Alice < GOLD 1 1 1
            Bob < GOLD 0 9 1
            Alice < DISPLAY [..B@.*]
            Bob < DISPLAY [..@A.*]
            Alice < ERROR you stole 1 nuggets from B; you have 1 now
            Bob < ERROR A stole 1 nuggets from you; you have 9 now
    ";

    // All GOLDs, all DISPLAYs, then the texts: a GOLD wipes a text off a status line.
    a_run_steals_from_each_it_meets_and_tells_everything_in_order:
    Table::drawn(Rules { steal_percent: 50, ..PLAIN }, "AB4C63.|1") => "
        Bob types l
        Carol types l
        Sam watches
        Alice > KEY L
            Alice < GOLD 8 8 1
            Bob < GOLD 0 2 1
            Carol < GOLD 0 3 1
            Sam < GOLD 0 0 1
            Alice < DISPLAY [.B.C..@| ]
            Bob < DISPLAY [.@.C..A| ]
            Carol < DISPLAY [.B.@..A| ]
            Sam < DISPLAY [.B.C..A|*]
            Alice < ERROR you stole 2 nuggets from B; you have 8 now
            Bob < ERROR A stole 2 nuggets from you; you have 2 now
            Alice < ERROR you stole 3 nuggets from C; you have 8 now
            Carol < ERROR A stole 3 nuggets from you; you have 3 now
    ";

    only_the_two_hear_of_a_theft: Table::drawn(Rules { steal_percent: 100, ..PLAIN }, "AB4C2") => "
        Bob types l
        Alice types l
        Alice > KEY l
            Alice < GOLD 4 4 2
            Bob < GOLD 0 0 2
            Alice < DISPLAY [.B@C*]
            Bob < DISPLAY [.@AC*]
            Carol < DISPLAY [.BA@*]
            Alice < ERROR you stole 4 nuggets from B; you have 4 now
            Bob < ERROR A stole 4 nuggets from you; you have 0 now
    ";

    with_run_stop_a_run_stops_on_gold: Table::drawn(Rules { run_stop: true, ..PLAIN }, "A.2.3.") => "
        Alice > KEY L
            Alice < GOLD 2 2 3
            Alice < DISPLAY [..@.*.]
        Alice > KEY H
            Alice < DISPLAY [@...*.]
    ";

    with_run_stop_a_run_stops_after_a_swap: Table::drawn(Rules { run_stop: true, ..PLAIN }, "A.B..1") => "
        Alice > KEY L
            Alice < DISPLAY [.B@..*]
            Bob < DISPLAY [.@A..*]
    ",
    Table::drawn(Rules { run_stop: true, steal_percent: 50, ..PLAIN }, "AB4..1") => "
        Bob types l
        Alice > KEY L
            Alice < GOLD 2 2 1
            Bob < GOLD 0 2 1
            Alice < DISPLAY [.B@..*]
            Bob < DISPLAY [.@A..*]
            Alice < ERROR you stole 2 nuggets from B; you have 2 now
            Bob < ERROR A stole 2 nuggets from you; you have 2 now
    ";
}

#[test]
fn every_pile_holds_at_least_one_nugget() {
    // That the sum is right and no pile is empty is looked at after every input; here it is the number of piles.
    let hall = ".".repeat(60);
    let mut counts = [0; 31];
    for seed in 0..500 {
        let table = Table::new(&hall, Config { seed, ..Config::default() });
        table.board();
        counts[table.game().piles().len()] += 1;
    }
    assert_eq!(counts[..10], [0; 10]);
    assert!(counts[10..].iter().all(|&times| times > 0), "both ends included: {counts:?}");
}

#[test]
fn gold_and_piles_are_as_many_as_asked_for() {
    for (gold, min_piles, max_piles) in [(1, 1, 1), (30, 30, 30), (7, 2, 30), (1_000_000, 3, 3), (12, 12, 40)] {
        let rules = Rules { gold, min_piles, max_piles, ..PLAIN };
        for seed in 0..50 {
            let table = Table::new(&".".repeat(60), Config { rules, seed, ..Config::default() });
            let piles = table.game().piles();
            let count = u32::try_from(piles.len()).unwrap();
            assert!((min_piles..=max_piles.min(gold)).contains(&count), "{count} piles with {rules:?}");
            assert_eq!(piles.values().sum::<u32>(), gold);
            assert!(piles.values().all(|&nuggets| nuggets > 0));
        }
    }
}

#[test]
fn a_small_map_has_as_many_piles_as_fit_beside_a_player() {
    for spots in 2..12 {
        let rules = Rules { min_piles: 30, ..PLAIN };
        let mut table = Table::new(&".".repeat(spots), Config { rules, ..Config::default() });
        assert_eq!(table.game().piles().len(), spots - 1);
        assert_eq!(told(&table.send("Alice", "PLAY Alice"), "Alice")[0], "OK A");
        assert_eq!(told(&table.send("Bob", "PLAY Bob"), "Bob")[0], "QUIT Game is full: no more players can join.");
    }
    let grid = std::sync::Arc::new(nuggets::Grid::parse(b"#.#\n").unwrap().0);
    let error = Server::new(grid, Config::default()).err();
    assert_eq!(error, Some(ConfigError::OneSpot));
    let text = "the map has a single room spot ('.'): a game needs one for gold and one for a player";
    assert_eq!(error.map(|error| error.to_string()).as_deref(), Some(text));
}

#[test]
fn rules_that_no_game_can_have_are_refused() {
    let refused = [
        (Rules { gold: 0, ..PLAIN }, ConfigError::Gold { gold: 0 }, "0 nuggets are not possible: 1 to 1000000 are"),
        (
            Rules { gold: 1_000_001, ..PLAIN },
            ConfigError::Gold { gold: 1_000_001 },
            "1000001 nuggets are not possible: 1 to 1000000 are",
        ),
        (
            Rules { min_piles: 0, ..PLAIN },
            ConfigError::Piles { min: 0, max: 30 },
            "0 to 30 piles are not possible: at least 1, and the least number not above the largest",
        ),
        (
            Rules { min_piles: 31, ..PLAIN },
            ConfigError::Piles { min: 31, max: 30 },
            "31 to 30 piles are not possible: at least 1, and the least number not above the largest",
        ),
        (
            Rules { gold: 9, ..PLAIN },
            ConfigError::TooFewNuggets { gold: 9, min: 10 },
            "9 nuggets cannot make 10 piles: each pile holds at least one",
        ),
        (
            Rules { steal_percent: 101, ..PLAIN },
            ConfigError::Steal { percent: 101 },
            "101 percent of a purse cannot be taken: at most 100 can",
        ),
        (
            Rules { vision: Vision { radius: Some(0) }, ..PLAIN },
            ConfigError::Vision,
            "a radius of 0 shows nothing: at least 1 is needed",
        ),
    ];
    let grid = std::sync::Arc::new(nuggets::Grid::parse(b"...\n").unwrap().0);
    for (rules, error, text) in refused {
        let server = Server::new(std::sync::Arc::clone(&grid), Config { rules, ..Config::default() });
        assert_eq!(server.err(), Some(error));
        assert_eq!(error.to_string(), text);
    }
}

transcripts! {
    vision_ends_at_its_radius: Table::drawn(Rules { vision: Vision { radius: Some(2) }, ..PLAIN }, "1.A...B") => "
        Alice > KEY l
            Alice < DISPLAY [...@.. ]
            Bob < DISPLAY [    ..@]
        Bob > KEY h
            Alice < DISPLAY [...@.B ]
            Bob < DISPLAY [   A.@.]
    ";

    a_short_sight_forgets_nothing: Table::drawn(Rules { vision: Vision { radius: Some(1) }, ..PLAIN }, "A..21") => "
        Alice > KEY l
            Alice < DISPLAY [.@.  ]
        Alice > KEY l
            Alice < DISPLAY [..@* ]
        Alice > KEY h
            Alice < DISPLAY [.@.. ]
    ";
}

#[test]
fn vision_of_five_is_a_disc() {
    // (3, 4) is five spots away, (4, 4) is further; in the drawing nothing stands in the way.
    let row = ".".repeat(11);
    let hall = vec![row; 11].join("\n");
    let rules = Rules { gold: 1, min_piles: 1, max_piles: 1, vision: Vision { radius: Some(5) }, ..PLAIN };
    let seen = (0..10_000).find_map(|seed| {
        let mut table = Table::new(&hall, Config { rules, seed, ..Config::default() });
        let said = table.send("Alice", "PLAY Alice");
        let picture = rows(&last_display(&said, "Alice")?);
        (picture.find('@') == Some(5 * 12 + 5)).then_some(picture)
    });
    let disc = [
        "     .     ",
        "  .......  ",
        " ......... ",
        " ......... ",
        " ......... ",
        ".....@.....",
        " ......... ",
        " ......... ",
        " ......... ",
        "  .......  ",
        "     .     ",
    ];
    assert_eq!(seen.unwrap().replace('*', "."), disc.join("\n"));
}

transcripts! {
    a_dropped_purse_lies_where_its_owner_stood: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A3.B4") => r"
        Alice types l
        Sam watches
        # GOLD tells that more is to be found now than before.
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < GOLD 0 0 7
            Sam < GOLD 0 0 7
            Bob < DISPLAY [.*.@*]
            Sam < DISPLAY [.*.B*]
        Bob > KEY H
            Bob < GOLD 3 3 4
            Sam < GOLD 0 0 4
            Bob < DISPLAY [@...*]
            Sam < DISPLAY [B...*]
        stop
            Bob < QUIT The server was stopped.\nA          0 Alice\nB          3 Bob
            Sam < QUIT The server was stopped.\nA          0 Alice\nB          3 Bob
            Bob closed
            Sam closed
    ";

    an_empty_purse_drops_nothing: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A.B4") => "
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < DISPLAY [..@*]
    ";

    a_purse_dropped_in_a_passage_rolls_to_the_nearest_room_spot:
    Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "B.#2A3##.4") => "
        Alice types lll
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < GOLD 0 0 9
            Bob < DISPLAY [@.#       ]
        # From the second passage spot the pile of 4 is two steps away, the empty spot before it one.
        board [B.#*..##**]
    ";

    a_purse_dropped_on_a_pile_makes_it_larger: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A3##4.B") => r"
        Alice types lll
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [   #*.@]
        Bob > KEY H
            Bob < GOLD 7 7 0
            Bob < DISPLAY [@.##...]
            Bob < QUIT GAME OVER:\nA          0 Alice\nB          7 Bob
            Bob closed
            stdout: GAME OVER:\nA          0 Alice\nB          7 Bob
    ";

    a_purse_is_never_dropped_under_a_player: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A3###B.4") => "
        Alice types llll
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [    #@**]
    ";

    whoever_is_gone_drops_its_purse_as_well: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A3B4") => "
        Alice types l
        gone Alice
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [.*@*]
    ";
}

fn hasty(seconds: u64) -> Config {
    Config { idle_timeout: Some(Duration::from_secs(seconds)), ..Config::default() }
}

transcripts! {
    who_sends_no_key_in_time_loses_the_seat: Table::drawn_with(hasty(60), "A.B4") => "
        Sam watches
        wait 30000 ms
        Bob > KEY h
            Alice < DISPLAY [@B.*]
            Bob < DISPLAY [A@.*]
            Sam < DISPLAY [AB.*]
        wait 29999 ms
        wait 1 ms
            Alice < QUIT You sent no key for 60 seconds and have lost your seat.
            Alice closed
            Bob < DISPLAY [.@.*]
            Sam < DISPLAY [.B.*]
        Alice > PLAY Alice
            Alice < QUIT You have left this game and cannot join it again.
            Alice closed
        wait 29999 ms
        wait 1 ms
            Bob < QUIT You sent no key for 60 seconds and have lost your seat.
            Bob closed
            Sam < DISPLAY [...*]
        wait 1000000 ms
        Sam > KEY Q
            Sam < QUIT Thanks for watching!
            Sam closed
    ";

    any_key_keeps_the_seat_and_nothing_else_does: Table::drawn_with(hasty(10), "AB4") => "
        wait 9000 ms
        Alice > KEY ?
            Alice < ERROR unknown keystroke
        Bob > PLAY Bob
            Bob < OK B
            Bob < GRID 1 3
            Bob < GOLD 0 0 4
            Bob < DISPLAY [A@*]
        wait 1000 ms
            Bob < QUIT You sent no key for 10 seconds and have lost your seat.
            Bob closed
            Alice < DISPLAY [@.*]
        wait 8999 ms
        Alice > KEY k
        wait 9999 ms
        wait 1 ms
            Alice < QUIT You sent no key for 10 seconds and have lost your seat.
            Alice closed
    ";

    without_a_timeout_nobody_loses_the_seat: plain("A.4") => "
        wait 1000000000 ms
        Alice > KEY l
            Alice < DISPLAY [.@*]
    ";
}

#[test]
fn a_lost_seat_drops_its_purse() {
    let mut config = hasty(10);
    config.rules.drop_on_quit = true;
    let mut table = Table::drawn_with(config, "A3#B4");
    table.keys("Alice", "l");
    table.keys("Bob", "k");
    table.check(
        "
        wait 5000 ms
        Bob > KEY k
        wait 5000 ms
            Alice < QUIT You sent no key for 10 seconds and have lost your seat.
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [  #@*]
        ",
    );
}

#[test]
fn a_rematch_begins_with_new_gold_and_no_players() {
    let mut table = Table::drawn_with(Config { rematch: true, ..Config::default() }, "AB#4");
    table.send("Sam", "SPECTATE");
    table.keys("Bob", "Q");
    table.check(
        r"
        Alice > KEY L
            Alice < GOLD 4 4 0
            Sam < GOLD 0 0 0
            Alice < DISPLAY [..#@]
            Sam < DISPLAY [..#A]
            Alice < QUIT GAME OVER:\nA          4 Alice\nB          0 Bob
            Sam < QUIT GAME OVER:\nA          4 Alice\nB          0 Bob
            Alice closed
            Sam closed
            stdout: GAME OVER:\nA          4 Alice\nB          0 Bob
        ",
    );
    assert_eq!(netcore::Engine::outcome(table.server()), None, "it goes on");
    assert_eq!((table.game().remaining(), table.game().piles().len(), table.game().players().len()), (4, 1, 0));
    // Letters start again, and quitters of the last game are welcome in the next. Nobody remembers anything.
    let said = table.send("Bob", "PLAY Bob");
    assert_eq!(told(&said, "Bob")[..3], ["OK A", "GRID 1 4", "GOLD 0 0 4"]);
    let known = rows(&last_display(&said, "Bob").unwrap());
    assert!([".@# ", "@.# ", "*@# ", "@*# ", "  #@"].contains(&&*known), "{known}");
    assert_eq!(told(&table.send("Alice", "PLAY Alice"), "Alice")[0], "OK B");
}

#[test]
fn rematches_follow_each_other() {
    let rules = Rules { gold: 2, min_piles: 1, max_piles: 2, ..PLAIN };
    let mut table = Table::new("....", Config { rules, rematch: true, ..Config::default() });
    let mut boards = std::collections::BTreeSet::new();
    for _ in 0..50 {
        boards.insert(table.board());
        assert_eq!(told(&table.send("Alice", "PLAY Alice"), "Alice")[0], "OK A");
        table.keys("Alice", "HLH");
        assert_eq!(table.known().count(), 0, "everybody is sent away at the end");
    }
    assert!(boards.len() > 5, "each game has its own gold: {boards:?}");
}

#[test]
fn a_rematch_begins_when_all_letters_are_gone_and_nobody_plays() {
    for rematch in [true, false] {
        let mut table = Table::new(&".".repeat(80), Config { rematch, ..Config::default() });
        for number in 0..26 {
            let name = format!("P{number}");
            assert!(told(&table.send(&name, format!("PLAY {name}")), &name)[0].starts_with("OK "));
            table.keys(&name, "Q");
        }
        let said = told(&table.send("Late", "PLAY Late"), "Late");
        let expected = if rematch { "OK A" } else { "QUIT Game is full: no more players can join." };
        assert_eq!(said[0], expected);
    }
}
