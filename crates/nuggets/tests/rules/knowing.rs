//! What a DISPLAY shows of what was seen before, and what it never shows.

use crate::table::{last_display, plain, rows, transcripts};

transcripts! {
    // In the passage Alice sees its next spots only, but remembers the room and the whole way.
    known_cells_stay: plain("..A###.7") => "
        Alice > KEY l
            Alice < DISPLAY [...@#   ]
        Alice > KEY l
            Alice < DISPLAY [...#@#  ]
        Alice > KEY l
            Alice < DISPLAY [...##@.*]
        Alice > KEY l
            Alice < DISPLAY [...###@*]
    ";

    remembered_gold_is_shown_as_bare_map: plain("3.A##.4") => "
        Alice > KEY l
            Alice < DISPLAY [*..@#  ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
    ";

    remembered_players_are_shown_as_bare_map: plain("B.A##.4") => "
        Alice > KEY l
            Alice < DISPLAY [B..@#  ]
            Bob < DISPLAY [@..A   ]
        Alice > KEY l
            Alice < DISPLAY [...#@.*]
            Bob < DISPLAY [@..#   ]
    ";

    gold_that_comes_into_sight_again_is_shown_again: plain("3.A##.4") => "
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
    plain("3.A##.4") => "
        Alice types ll
        Alice > KEY h
            Alice < DISPLAY [*..@#..]
    ";

    what_happens_out_of_sight_is_not_shown: plain("B3.A##.4") => "
        Alice types ll
        Bob > KEY l
            Alice < GOLD 0 0 4
            Bob < GOLD 3 3 4
            Alice < DISPLAY [....#@.*]
            Bob < DISPLAY [.@..#   ]
    ";

    // A pile's spot is an empty one, a passage spot is one again.
    a_cell_left_behind_is_bare_map: plain("A3##.4") => "
        Alice types l
        Alice > KEY l
            Alice < DISPLAY [..@#  ]
        Alice > KEY l
            Alice < DISPLAY [..#@.*]
    ";

    a_run_looks_around_from_each_spot_it_passes: plain("A######\n  #  # \n     #1") => "
        Alice > KEY L
            Alice < DISPLAY
                [.#####@]
                [  #  # ]
                [       ]
    ";

    whoever_is_swapped_away_looks_around_from_where_it_ends_up: plain(".#AB#3") => "
        Alice > KEY h
            Alice < DISPLAY [.@.B# ]
            Bob < DISPLAY [ A.@# ]
        Bob > KEY h
            Alice < DISPLAY [.@B.# ]
            Bob < DISPLAY [ A@.# ]
        Alice > KEY l
            Alice < DISPLAY [.B@.# ]
            Bob < DISPLAY [.@A.# ]
    ";

    one_s_own_place_is_an_at_sign_and_others_are_letters: plain("A.BC2") => "
        Sam watches
        Alice > KEY l
            Alice < DISPLAY [.@BC*]
            Bob < DISPLAY [.A@C*]
            Carol < DISPLAY [.AB@*]
            Sam < DISPLAY [.ABC*]
    ";

    players_and_gold_never_block_sight: plain("A12B3C") => "
        Carol > KEY h
            Alice < GOLD 0 0 3
            Bob < GOLD 0 0 3
            Carol < GOLD 3 3 3
            Alice < DISPLAY [@**BC.]
            Bob < DISPLAY [A**@C.]
            Carol < DISPLAY [A**B@.]
    ";
}

#[test]
fn the_spectator_sees_everything() {
    let drawing = "+--+ #\n|A2| #\n+--+ #\n   #B3";
    let mut table = plain(drawing);
    let said = table.send("Sam", "SPECTATE");
    assert_eq!(rows(&last_display(&said, "Sam").unwrap()), drawing.replace(['2', '3'], "*"));
}

transcripts! {
    a_newcomer_knows_only_what_it_sees: plain("A###.5") => "
        Alice types llh
        Alice > KEY h
            Alice < DISPLAY [@###  ]
        # The spot on the left is taken, so the newcomer's is the other one.
        Bob > PLAY Bob
            Bob < OK B
            Bob < GRID 1 6
            Bob < GOLD 0 0 5
            Bob < DISPLAY [   #@*]
            Alice < DISPLAY [@###  ]
    ";
}
