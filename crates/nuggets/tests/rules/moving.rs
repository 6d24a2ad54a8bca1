//! Keys: steps, runs, swaps, gold, and who hears of it in which order.

use crate::table::{plain, told, transcripts};

const FIELD: &str = "\
.....
.....
..A..
.....
....1";

#[test]
fn a_small_letter_is_one_step() {
    let steps =
        [('h', 2, 1), ('l', 2, 3), ('j', 3, 2), ('k', 1, 2), ('y', 1, 1), ('u', 1, 3), ('b', 3, 1), ('n', 3, 3)];
    let table = plain(FIELD);
    for (key, row, col) in steps {
        let mut table = table.clone();
        table.keys("Alice", &key.to_string());
        assert_eq!(table.board().find('A'), Some(row * 6 + col), "{key}");
    }
}

#[test]
fn a_capital_letter_steps_until_it_is_no_longer_possible() {
    // To the edges of the grid: nothing frames this map.
    let runs = [('H', 2, 0), ('L', 2, 4), ('J', 4, 2), ('K', 0, 2), ('Y', 0, 0), ('U', 0, 4), ('B', 4, 0)];
    let table = plain(FIELD);
    for (key, row, col) in runs {
        let mut table = table.clone();
        table.keys("Alice", &key.to_string());
        assert_eq!(table.board().find('A'), Some(row * 6 + col), "{key}");
    }
    let mut table = plain("A...\n....\n....\n...1");
    let said = table.send("Alice", "KEY N");
    assert_eq!(told(&said, "Alice")[0], "GOLD 1 1 0", "and down to the last corner");
}

transcripts! {
    a_diagonal_between_two_walls_is_allowed: plain("A|1\n-.|\n1-.") => "
        Sam > SPECTATE
            Sam < GRID 3 3
            Sam < GOLD 0 0 2
            Sam < DISPLAY
                [A|*]
                [-.|]
                [*-.]
        Alice > KEY n
            Alice < DISPLAY
                [.|*]
                [-@|]
                [*-.]
            Sam < DISPLAY
                [.|*]
                [-A|]
                [*-.]
        Alice > KEY n
            Alice < DISPLAY
                [.|.]
                [-.|]
                [.-@]
            Sam < DISPLAY
                [.|*]
                [-.|]
                [*-A]
    ";
}

#[test]
fn what_is_no_spot_is_not_entered_and_nothing_is_said() {
    let mut table = plain("+-+\n|A|\n+ 1");
    for key in "hljkyubHLJKYUB".chars() {
        assert_eq!(table.send("Alice", format!("KEY {key}")), [], "{key}");
    }
    // Beyond the edges there is nothing either.
    let mut table = plain("A 1");
    let before = table.game().digest();
    for key in "hljkyubnHLJKYUBN".chars() {
        assert_eq!(table.send("Alice", format!("KEY {key}")), [], "{key}");
    }
    assert_eq!(table.game().digest(), before);
}

#[test]
fn rows_do_not_run_into_each_other() {
    // Right of the last column is not the first column of the next row.
    let mut table = plain("..A\n...\n..1");
    assert_eq!(table.send("Alice", "KEY l"), []);
    assert_eq!(table.send("Alice", "KEY u"), []);
    assert_eq!(table.send("Alice", "KEY n"), []);
    let mut table = plain("...\nA..\n..1");
    assert_eq!(table.send("Alice", "KEY h"), []);
    assert_eq!(table.send("Alice", "KEY y"), []);
    assert_eq!(table.send("Alice", "KEY b"), []);
}

transcripts! {
    passages_are_walked: plain("A##1") => "
        Alice > KEY l
            Alice < DISPLAY [.@# ]
        Alice > KEY l
            Alice < DISPLAY [.#@*]
        Alice > KEY H
            Alice < DISPLAY [@##.]
        Alice > KEY L
            Alice < GOLD 1 1 0
            Alice < DISPLAY [.##@]
            Alice < QUIT GAME OVER:\\nA          1 Alice
            Alice closed
            stdout: GAME OVER:\\nA          1 Alice
    ";

    a_pile_goes_into_the_purse_whole: plain("A5.2") => "
        Alice > KEY l
            Alice < GOLD 5 5 2
            Alice < DISPLAY [.@.*]
        Alice > KEY h
            Alice < DISPLAY [@..*]
        Alice > KEY l
            Alice < DISPLAY [.@.*]
    ";

    a_run_does_not_stop_on_gold: plain("A.2.3.|4") => "
        Alice > KEY L
            Alice < GOLD 5 5 4
            Alice < DISPLAY [.....@| ]
    ";

    a_run_does_not_stop_at_players: plain("AB.C.|2") => "
        Sam > SPECTATE
            Sam < GRID 1 7
            Sam < GOLD 0 0 2
            Sam < DISPLAY [AB.C.|*]
        Alice > KEY L
            Alice < DISPLAY [B.C.@| ]
            Bob < DISPLAY [@.C.A| ]
            Carol < DISPLAY [B.@.A| ]
            Sam < DISPLAY [B.C.A|*]
    ";

    a_run_through_players_and_gold_is_told_once: plain("A2B3.|4") => "
        Alice > KEY L
            Alice < GOLD 5 5 4
            Bob < GOLD 0 0 4
            Alice < DISPLAY [.B..@| ]
            Bob < DISPLAY [.@..A| ]
    ";
}

#[test]
fn stepping_onto_a_player_swaps_the_two() {
    let mut table = plain("A4B1");
    table.check(
        "
        Alice > KEY l
            Alice < GOLD 4 4 1
            Bob < GOLD 0 0 1
            Alice < DISPLAY [.@B*]
            Bob < DISPLAY [.A@*]
        Bob > KEY h
            Alice < DISPLAY [.B@*]
            Bob < DISPLAY [.@A*]
        Alice > KEY h
            Alice < DISPLAY [.@B*]
            Bob < DISPLAY [.A@*]
        ",
    );
    let purses: Vec<u32> = table.game().players().iter().map(|player| player.purse).collect();
    assert_eq!(purses, [4, 0], "purses do not change");
}

transcripts! {
    players_swap_in_a_passage_too: plain("A#B3") => "
        Alice > KEY l
            Alice < DISPLAY [.@B*]
            Bob < DISPLAY [ A@*]
        Bob > KEY h
            Alice < DISPLAY [.B@*]
            Bob < DISPLAY [.@A*]
    ";

    gold_is_told_to_everybody_before_any_display: plain("A5B2C9") => "
        Sam > SPECTATE
            Sam < GRID 1 6
            Sam < GOLD 0 0 16
            Sam < DISPLAY [A*B*C*]
        Alice > KEY l
            Alice < GOLD 5 5 11
            Bob < GOLD 0 0 11
            Carol < GOLD 0 0 11
            Sam < GOLD 0 0 11
            Alice < DISPLAY [.@B*C*]
            Bob < DISPLAY [.A@*C*]
            Carol < DISPLAY [.AB*@*]
            Sam < DISPLAY [.AB*C*]
        Bob > KEY l
            Alice < GOLD 0 5 9
            Bob < GOLD 2 2 9
            Carol < GOLD 0 0 9
            Sam < GOLD 0 0 9
            Alice < DISPLAY [.@.BC*]
            Bob < DISPLAY [.A.@C*]
            Carol < DISPLAY [.A.B@*]
            Sam < DISPLAY [.A.BC*]
    ";

    gold_is_told_on_collection_only: plain("A..5") => "
        Alice > KEY l
            Alice < DISPLAY [.@.*]
        Alice > KEY h
            Alice < DISPLAY [@..*]
    ";
}

#[test]
fn any_other_key_is_unknown() {
    let mut table = plain("A.B.2");
    let before = table.game().digest();
    for key in (0..=u8::MAX).filter(|key| !b"hljkyubnHLJKYUBNQ".contains(key)) {
        let said = table.send("Alice", [b"KEY ", &[key][..]].concat());
        assert_eq!(told(&said, "Alice"), ["ERROR unknown keystroke"], "{key}");
        assert_eq!(said.len(), 1, "nobody else hears of it");
    }
    assert_eq!(table.game().digest(), before, "nothing moves");
}

#[test]
fn the_spectator_has_no_key_but_q() {
    let mut table = plain("A.2");
    table.send("Sam", "SPECTATE");
    let before = table.game().digest();
    for key in (0..=u8::MAX).filter(|&key| key != b'Q') {
        assert_eq!(table.send("Sam", [b"KEY ", &[key][..]].concat()), [], "{key}");
    }
    assert_eq!(table.game().digest(), before);
    table.check(
        "
        Sam > KEY Q
            Sam < QUIT Thanks for watching!
            Sam closed
        ",
    );
}

#[test]
fn a_stranger_s_keys_have_no_effect_and_no_answer() {
    let mut table = plain("A.2");
    table.send("Sam", "SPECTATE");
    for key in (0..=u8::MAX).filter(u8::is_ascii_graphic) {
        assert_eq!(table.send("Mallory", [b"KEY ", &[key][..]].concat()), []);
    }
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
        ",
    );
}
