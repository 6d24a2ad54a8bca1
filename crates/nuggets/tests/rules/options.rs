use std::{collections::BTreeSet, time::Duration};

use nuggets::{Config, Grid, Rules, Server, visibility::Vision};

use crate::table::{Table, datagrams, last_display, rows};

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
    let plain = Config {
        rules: PLAIN,
        idle_timeout: None,
        rematch: false,
        wait_for: 0,
        countdown: None,
        seed: 0,
        spectators: 1,
    };
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

    // All GOLDs, all DISPLAYs, then the texts: a GOLD clears a text from a status line.
    run_steals_from_each_player_it_meets_in_order:
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

    disconnected_player_drops_the_purse: Table::drawn(Rules { drop_on_quit: true, ..PLAIN }, "A3B4") => "
        Alice types l
        gone Alice
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [.*@*]
    ";

    idle_player_loses_the_seat: Table::drawn_with(hasty(60), "A.B4") => "
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

    only_keys_keep_the_seat: Table::drawn_with(hasty(10), "AB4") => "
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

    a_lost_seat_drops_its_purse:
    Table::drawn_with(Config { rules: Rules { drop_on_quit: true, ..PLAIN }, ..hasty(10) }, "A3#B4") => "
        Alice types l
        Bob types k
        wait 5000 ms
        Bob > KEY k
        wait 5000 ms
            Alice < QUIT You sent no key for 10 seconds and have lost your seat.
            Alice closed
            Bob < GOLD 0 0 7
            Bob < DISPLAY [  #@*]
    ";
}

#[test]
fn every_pile_holds_at_least_one_nugget() {
    for (gold, min_piles, max_piles) in
        [(250, 10, 30), (1, 1, 1), (30, 30, 30), (7, 2, 30), (1_000, 3, 3), (12, 12, 40)]
    {
        let rules = Rules { gold, min_piles, max_piles, ..PLAIN };
        let mut counts = BTreeSet::new();
        for seed in 0..500 {
            let table = Table::new(&".".repeat(60), Config { rules, seed, ..Config::default() });
            let piles = table.game().piles();
            counts.insert(u32::try_from(piles.len()).unwrap());
            assert_eq!(piles.values().sum::<u32>(), gold);
            assert!(piles.values().all(|&nuggets| nuggets > 0));
        }
        assert!(counts.into_iter().eq(min_piles..=max_piles.min(gold)), "{rules:?}: both ends included");
    }
}

#[test]
fn a_small_map_has_as_many_piles_as_fit_beside_a_player() {
    for spots in 2..12 {
        let rules = Rules { min_piles: 30, ..PLAIN };
        let mut table = Table::new(&".".repeat(spots), Config { rules, ..Config::default() });
        assert_eq!(table.game().piles().len(), spots - 1);
        assert_eq!(datagrams(&table.send("Alice", "PLAY Alice"), "Alice")[0], "OK A");
        assert_eq!(datagrams(&table.send("Bob", "PLAY Bob"), "Bob")[0], "QUIT Game is full: no more players can join.");
    }
}

#[test]
fn rules_that_no_game_can_have_are_refused() {
    let piles = "expected a minimum of at least 1 and at most the maximum";
    let refused = [
        ("...", Rules { gold: 0, ..PLAIN }, "invalid number of nuggets 0: expected 1 to 1000000"),
        ("...", Rules { gold: 1_000_001, ..PLAIN }, "invalid number of nuggets 1000001: expected 1 to 1000000"),
        ("...", Rules { min_piles: 0, ..PLAIN }, &format!("invalid range of piles 0 to 30: {piles}")),
        ("...", Rules { min_piles: 31, ..PLAIN }, &format!("invalid range of piles 31 to 30: {piles}")),
        ("...", Rules { gold: 9, ..PLAIN }, "9 nuggets cannot make 10 piles: each pile holds at least one"),
        ("...", Rules { steal_percent: 101, ..PLAIN }, "invalid percentage of a purse 101: expected at most 100"),
        ("...", Rules { vision: Vision { radius: Some(0) }, ..PLAIN }, "invalid radius 0: expected at least 1"),
        ("#.#", PLAIN, "the map has a single room spot ('.'): a game needs one for gold and one for a player"),
    ];
    for (map, rules, text) in refused {
        let grid = Grid::parse(format!("{map}\n").as_bytes()).unwrap().0;
        let server = Server::new(grid.into(), Config { rules, ..Config::default() });
        assert_eq!(server.err().map(|error| error.to_string()).as_deref(), Some(text));
    }
}

fn hasty(seconds: u64) -> Config {
    Config { idle_timeout: Some(Duration::from_secs(seconds)), ..Config::default() }
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
    let effects = table.send("Bob", "PLAY Bob");
    assert_eq!(datagrams(&effects, "Bob")[..3], ["OK A", "GRID 1 4", "GOLD 0 0 4"]);
    let known = rows(&last_display(&effects, "Bob").unwrap());
    assert!([".@# ", "@.# ", "*@# ", "@*# ", "  #@"].contains(&&*known), "{known}");
    assert_eq!(datagrams(&table.send("Alice", "PLAY Alice"), "Alice")[0], "OK B");
}

#[test]
fn rematch_starts_when_all_letters_are_used_and_no_player_is_left() {
    for rematch in [true, false] {
        let mut table = Table::new(&".".repeat(80), Config { rematch, ..Config::default() });
        for number in 0..26 {
            let name = format!("P{number}");
            assert!(datagrams(&table.send(&name, format!("PLAY {name}")), &name)[0].starts_with("OK "));
            table.keys(&name, "Q");
        }
        let effects = datagrams(&table.send("Late", "PLAY Late"), "Late");
        let expected = if rematch { "OK A" } else { "QUIT Game is full: no more players can join." };
        assert_eq!(effects[0], expected);
    }
}
