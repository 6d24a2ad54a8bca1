//! What a DISPLAY shows of what was seen before, and what it never shows.

use nuggets::Rules;

use crate::table::{Table, last_display, rows};

#[test]
fn known_cells_stay() {
    // In the passage Alice sees its next spots only, but remembers the room and the whole way.
    let mut table = Table::drawn(Rules::default(), "..A###.7");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [...@#   ]
        Alice > KEY l
            Alice < DISPLAY [...#@#  ]
        Alice > KEY l
            Alice < DISPLAY [...##@.*]
        Alice > KEY l
            Alice < DISPLAY [...###@*]
        ",
    );
}

#[test]
fn remembered_gold_is_shown_as_bare_map() {
    let mut table = Table::drawn(Rules::default(), "3.A##.4");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [*..@#  ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
        ",
    );
}

#[test]
fn remembered_players_are_shown_as_bare_map() {
    let mut table = Table::drawn(Rules::default(), "B.A##.4");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [B..@#  ]
            Bob < DISPLAY [@..A   ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
            Bob < DISPLAY [@..#   ]
        ",
    );
}

#[test]
fn gold_that_comes_into_sight_again_is_shown_again() {
    let mut table = Table::drawn(Rules::default(), "3.A##.4");
    table.check(
        "
        Alice > KEY L
            Alice < GOLD 4 4 3
            Alice < DISPLAY [...##.@]
        Alice > KEY H
            Alice < GOLD 3 7 0
            Alice < DISPLAY [@..##..]
            Alice < QUIT GAME OVER:\\nA          7 Alice
            Alice closed
            stdout: GAME OVER:\\nA          7 Alice
        ",
    );
    let mut table = Table::drawn(Rules::default(), "3.A##.4");
    table.keys("Alice", "ll");
    table.check(
        "
        Alice > KEY h
            Alice < DISPLAY [*..@#..]
        ",
    );
}

#[test]
fn what_happens_out_of_sight_is_not_shown() {
    let mut table = Table::drawn(Rules::default(), "B3.A##.4");
    table.keys("Alice", "ll");
    table.check(
        "
        Bob > KEY l
            Alice < GOLD 0 0 4
            Bob < GOLD 3 3 4
            Alice < DISPLAY [....#@.*]
            Bob < DISPLAY [.@..#   ]
        ",
    );
}

#[test]
fn a_cell_left_behind_is_bare_map() {
    // A pile's spot is an empty one, a passage spot is one again.
    let mut table = Table::drawn(Rules::default(), "A3##.4");
    table.keys("Alice", "l");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [..@#  ]
        Alice > KEY l
            Alice < DISPLAY [..#@.*]
        ",
    );
}

#[test]
fn a_run_looks_around_from_each_spot_it_passes() {
    let mut table = Table::drawn(Rules::default(), "A######\n  #  # \n     #1");
    table.check(
        "
        Alice > KEY L
            Alice < DISPLAY
                [.#####@]
                [  #  # ]
                [       ]
        ",
    );
}

#[test]
fn whoever_is_swapped_away_looks_around_from_where_it_ends_up() {
    let mut table = Table::drawn(Rules::default(), ".#AB#3");
    table.check(
        "
        Alice > KEY h
            Alice < DISPLAY [.@.B# ]
            Bob < DISPLAY [ A.@# ]
        Bob > KEY h
            Alice < DISPLAY [.@B.# ]
            Bob < DISPLAY [ A@.# ]
        Alice > KEY l
            Alice < DISPLAY [.B@.# ]
            Bob < DISPLAY [.@A.# ]
        ",
    );
}

#[test]
fn one_s_own_place_is_an_at_sign_and_others_are_letters() {
    let mut table = Table::drawn(Rules::default(), "A.BC2");
    table.send("Sam", "SPECTATE");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@BC*]
            Bob < DISPLAY [.A@C*]
            Carol < DISPLAY [.AB@*]
            Sam < DISPLAY [.ABC*]
        ",
    );
}

#[test]
fn players_and_gold_never_block_sight() {
    let mut table = Table::drawn(Rules::default(), "A12B3C");
    table.check(
        "
        Carol > KEY h
            Alice < GOLD 0 0 3
            Bob < GOLD 0 0 3
            Carol < GOLD 3 3 3
            Alice < DISPLAY [@**BC.]
            Bob < DISPLAY [A**@C.]
            Carol < DISPLAY [A**B@.]
        ",
    );
}

#[test]
fn the_spectator_sees_everything() {
    let drawing = "+--+ #\n|A2| #\n+--+ #\n   #B3";
    let mut table = Table::drawn(Rules::default(), drawing);
    let said = table.send("Sam", "SPECTATE");
    assert_eq!(rows(&last_display(&said, "Sam").unwrap()), drawing.replace(['2', '3'], "*"));
}

#[test]
fn a_newcomer_knows_only_what_it_sees() {
    let mut table = Table::drawn(Rules::default(), "A###.5");
    table.keys("Alice", "llh");
    table.check(
        "
        Alice > KEY h
            Alice < DISPLAY [@###  ]
        ",
    );
    // The spot on the left is taken, so the newcomer's is the other one.
    table.check(
        "
        Bob > PLAY Bob
            Bob < OK B
            Bob < GRID 1 6
            Bob < GOLD 0 0 5
            Bob < DISPLAY [   #@*]
            Alice < DISPLAY [@###  ]
        ",
    );
}
