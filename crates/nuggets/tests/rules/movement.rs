use nuggets::Position;

use crate::table::{datagrams, plain};

const FIELD: &str = "\
.....
.....
..A..
.....
....1";

#[test]
fn small_letter_steps_and_capital_runs() {
    let places = [
        ('h', (2, 1), (2, 0)),
        ('l', (2, 3), (2, 4)),
        ('j', (3, 2), (4, 2)),
        ('k', (1, 2), (0, 2)),
        ('y', (1, 1), (0, 0)),
        ('u', (1, 3), (0, 4)),
        ('b', (3, 1), (4, 0)),
        ('n', (3, 3), (4, 4)),
    ];
    let table = plain(FIELD);
    for (key, step, run) in places {
        for (key, (row, col)) in [(key, step), (key.to_ascii_uppercase(), run)] {
            let mut table = table.clone();
            table.keys("Alice", &key.to_string());
            let cell = table.game().players()[0].cell.unwrap();
            assert_eq!(table.game().grid().position(cell), Position::new(row, col), "{key}");
        }
    }
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

    stepping_onto_a_player_swaps_the_two: plain("A4B1.2") => "
        Alice > KEY l
            Alice < GOLD 4 4 3
            Bob < GOLD 0 0 3
            Alice < DISPLAY [.@B*.*]
            Bob < DISPLAY [.A@*.*]
        Bob > KEY h
            Alice < DISPLAY [.B@*.*]
            Bob < DISPLAY [.@A*.*]
        Alice > KEY h
            Alice < DISPLAY [.@B*.*]
            Bob < DISPLAY [.A@*.*]
        Bob > KEY l
            Alice < GOLD 0 4 2
            Bob < GOLD 1 1 2
            Alice < DISPLAY [.@.B.*]
            Bob < DISPLAY [.A.@.*]
    ";
}

#[test]
fn any_other_key_is_unknown() {
    let mut table = plain("A.B.2");
    let before = table.position();
    for key in (0..=u8::MAX).filter(|key| !b"hljkyubnHLJKYUBNQ".contains(key)) {
        let effects = table.send("Alice", [b"KEY ", &[key][..]].concat());
        assert_eq!(datagrams(&effects, "Alice"), ["ERROR unknown keystroke"], "{key}");
        assert_eq!(effects.len(), 1, "nobody else hears of it");
    }
    assert_eq!(table.position(), before, "nothing moves");
}

#[test]
fn the_spectator_has_no_key_but_q() {
    let mut table = plain("A.2");
    table.send("Sam", "SPECTATE");
    let before = table.position();
    for key in (0..=u8::MAX).filter(|&key| key != b'Q') {
        assert_eq!(table.send("Sam", [b"KEY ", &[key][..]].concat()), [], "{key}");
    }
    assert_eq!(table.position(), before);
    assert_eq!(datagrams(&table.send("Sam", "KEY Q"), "Sam"), ["QUIT Thanks for watching!"]);
}
