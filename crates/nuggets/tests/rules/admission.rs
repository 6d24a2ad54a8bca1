use netcore::{Link, Role};
use nuggets::{Config, Rules};

use crate::table::{NAMES, Table, datagrams, plain};

#[test]
fn joining_player_gets_ok_grid_gold_and_display() {
    let mut table = plain("+----+\n|.A.7|\n+----+");
    let effects = table.send("Bob", "PLAY Bob");
    let picture = table.board().replace('B', "@");
    let rows: Vec<String> = picture.lines().map(|row| format!("\n[{row}]")).collect();
    assert_eq!(
        datagrams(&effects, "Bob"),
        ["OK B".to_owned(), "GRID 3 6".to_owned(), "GOLD 0 0 7".to_owned(), format!("DISPLAY{}", rows.concat())]
    );
}

transcripts! {
    a_name_of_white_space_is_refused_and_costs_no_letter: plain("A.5") => r"
        Bob > PLAY\x20
            Bob < QUIT Sorry - you must provide player's name.
            Bob closed
        Bob > PLAY  \x09\n\x0b\x0c\x0d
            Bob < QUIT Sorry - you must provide player's name.
            Bob closed
        Bob > KEY h
        Bob > PLAY Bob
            Bob < OK B
            Bob < GRID 1 3
            Bob < GOLD 0 0 5
            Bob < DISPLAY [A@*]
            Alice < DISPLAY [@B*]
    ";

    // Another port of the same host is another player.
    a_quitter_is_not_readmitted_but_may_watch: plain("A.5") => "
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
        Alice > PLAY Alice
            Alice < QUIT You have left this game and cannot join it again.
            Alice closed
        Alice > PLAY Somebody else
            Alice < QUIT You have left this game and cannot join it again.
            Alice closed
        Alice > SPECTATE
            Alice < GRID 1 3
            Alice < GOLD 0 0 5
            Alice < DISPLAY [..*]
        Bob > PLAY Alice
            Bob < OK B
            Bob < GRID 1 3
            Bob < GOLD 0 0 5
            Bob < DISPLAY [@.*]
            Alice < DISPLAY [B.*]
    ";

    a_map_without_a_free_spot_is_a_full_game: plain("#A.5") => "
        Bob > PLAY Bob
            Bob < OK B
            Bob < GRID 1 4
            Bob < GOLD 0 0 5
            Bob < DISPLAY [#A@*]
            Alice < DISPLAY [#@B*]
        Carol > PLAY Carol
            Carol < QUIT Game is full: no more players can join.
            Carol closed
        Alice > KEY h
            Alice < DISPLAY [@.B*]
            Bob < DISPLAY [A.@*]
        Carol > PLAY Carol
            Carol < OK C
            Carol < GRID 1 4
            Carol < GOLD 0 0 5
            Carol < DISPLAY [A@B*]
            Alice < DISPLAY [@CB*]
            Bob < DISPLAY [AC@*]
    ";

    repeated_play_before_the_first_key_resends_the_joining_messages: plain("A.B3") => r"
        Alice > PLAY Alice
            Alice < OK A
            Alice < GRID 1 4
            Alice < GOLD 0 0 3
            Alice < DISPLAY [@.B*]
        Bob > KEY h
            Alice < DISPLAY [@B.*]
            Bob < DISPLAY [A@.*]
        Alice > PLAY Another name
            Alice < OK A
            Alice < GRID 1 4
            Alice < GOLD 0 0 3
            Alice < DISPLAY [@B.*]
        # There are still two players, and the first name stays.
        stop
            Alice < QUIT The server was stopped.\nA          0 Alice\nB          0 Bob
            Bob < QUIT The server was stopped.\nA          0 Alice\nB          0 Bob
            Alice closed
            Bob closed
    ";

    play_again_after_the_first_key_is_an_error: plain("AB.3") => r"
        Alice > KEY h
        Alice > PLAY Alice
            Alice < ERROR you are playing already, as A
        Bob > KEY ?
            Bob < ERROR unknown keystroke
        Bob > PLAY\x20
            Bob < ERROR you are playing already, as B
    ";

    a_malformed_message_is_not_a_first_key: plain("A.3") => "
        Alice > KEY hh
            Alice < ERROR malformed message: byte 5: KEY wants one space and exactly one character, as in 'KEY h'
        Alice > PLAY Alice
            Alice < OK A
            Alice < GRID 1 3
            Alice < GOLD 0 0 3
            Alice < DISPLAY [@.*]
    ";

    one_address_cannot_play_and_watch: plain("A.3") => "
        Alice > SPECTATE
            Alice < ERROR you are playing; leave with Q before you watch
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 3
            Sam < DISPLAY [A.*]
        Sam > PLAY Sam
            Sam < ERROR you are watching; leave with Q before you play
        Sam > KEY Q
            Sam < QUIT Thanks for watching!
            Sam closed
        Sam > PLAY Sam
            Sam < OK B
            Sam < GRID 1 3
            Sam < GOLD 0 0 3
            Sam < DISPLAY [A@*]
            Alice < DISPLAY [@B*]
    ";

    one_spectator_too_many_replaces_the_oldest: Table::drawn_with(Config { spectators: 2, ..Config::default() }, "A.3") => "
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 3
            Sam < DISPLAY [A.*]
        Tess > SPECTATE
            Tess < GRID 1 3
            Tess < GOLD 0 0 3
            Tess < DISPLAY [A.*]
        # Again from the same address replaces nobody.
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 3
            Sam < DISPLAY [A.*]
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
            Tess < DISPLAY [.A*]
        Una > SPECTATE
            Sam < QUIT You have been replaced by a new spectator.
            Sam closed
            Una < GRID 1 3
            Una < GOLD 0 0 3
            Una < DISPLAY [.A*]
        Alice > KEY h
            Alice < DISPLAY [@.*]
            Tess < DISPLAY [A.*]
            Una < DISPLAY [A.*]
    ";

    a_new_spectator_replaces_the_old: plain("A.3") => "
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 3
            Sam < DISPLAY [A.*]
        Tess > SPECTATE
            Sam < QUIT You have been replaced by a new spectator.
            Sam closed
            Tess < GRID 1 3
            Tess < GOLD 0 0 3
            Tess < DISPLAY [A.*]
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Tess < DISPLAY [.A*]
        # Nothing is left to quit, and nobody is touched.
        Sam > KEY Q
        Alice > KEY h
            Alice < DISPLAY [@.*]
            Tess < DISPLAY [A.*]
    ";

    repeated_spectate_resends_the_joining_messages: plain("A.34") => "
        Sam > SPECTATE
            Sam < GRID 1 4
            Sam < GOLD 0 0 7
            Sam < DISPLAY [A.**]
        Alice types ll
        Sam > SPECTATE
            Sam < GRID 1 4
            Sam < GOLD 0 0 4
            Sam < DISPLAY [..A*]
    ";

    spectator_may_join_before_the_first_player: plain("..6") => "
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 6
            Sam < DISPLAY [..*]
        stop
            Sam < QUIT The server was stopped.
            Sam closed
    ";
}

#[test]
fn names_are_cut_to_50_bytes_and_cleaned() {
    let mut table = Table::new(&".".repeat(60), Config { seed: 3, ..Config::default() });
    let long = "x".repeat(51);
    // The whole input decides whether a name is blank.
    let (late, blank) = (" ".repeat(60) + "x", " ".repeat(50));
    let names: [(&str, &[u8], &str); 8] = [
        ("Alice", b"  Alice Lee ", "  Alice Lee "),
        ("Bob", "Bj\u{f6}rn".as_bytes(), "Bj__rn"),
        ("Carol", b"\x1b[2J\x07Carol", "_[2J_Carol"),
        ("Dave", long.as_bytes(), &long[..50]),
        ("Erin", b"tab\there", "tab\there"),
        ("Frank", b"two\nlines", "two_lines"),
        ("Grace", b"%s%n", "%s%n"),
        ("Heidi", late.as_bytes(), &blank),
    ];
    let mut expected = "QUIT The server was stopped.".to_owned();
    for ((who, typed, kept), letter) in names.into_iter().zip('A'..) {
        let effects = table.send(who, [b"PLAY ", typed].concat());
        assert_eq!(datagrams(&effects, who)[0], format!("OK {letter}"));
        expected += &["\n", &letter.to_string(), "          0 ", kept].concat();
    }
    let effects = table.stop();
    let frames: Vec<_> = crate::table::frames(&effects, "Alice").collect();
    assert_eq!(frames, [&expected]);
}

#[test]
fn the_26_letters_are_never_reused() {
    let mut table = Table::new(&".".repeat(40), Config::default());
    for (name, letter) in NAMES.iter().zip('A'..) {
        let effects = table.send(name, format!("PLAY {name}"));
        assert_eq!(datagrams(&effects, name)[0], format!("OK {letter}"));
        table.keys(name, "Q");
    }
    assert_eq!(table.game().active().count(), 0);
    table.check(
        r"
        Mallory > PLAY Mallory
            Mallory < QUIT Game is full: no more players can join.
            Mallory closed
        Mallory > PLAY\x20
            Mallory < QUIT Game is full: no more players can join.
            Mallory closed
        Alice > PLAY Alice
            Alice < QUIT Game is full: no more players can join.
            Alice closed
        ",
    );
}

#[test]
fn starting_spot_is_drawn_from_all_empty_spots() {
    let rules = Rules { gold: 1, min_piles: 1, max_piles: 1, ..Rules::default() };
    let mut met = [0; 5];
    for seed in 0..200 {
        let mut table = Table::new(".....\n", Config { rules, seed, ..Config::default() });
        table.send("Alice", "PLAY Alice");
        met[table.board().find('A').unwrap()] += 1;
    }
    assert!(met.iter().all(|&times| times > 20), "{met:?}");
}

/// Watchers are clients, such as browsers, that the shell admits as spectators.
#[test]
fn any_number_of_watchers_replaces_no_spectator() {
    let mut table = plain("A.3");
    table.send("Sam", "SPECTATE");
    for who in ["Web 1", "Web 2"] {
        let mut effects = vec![];
        table.connect(who, Role::Watcher, Link::Message, &mut effects);
        assert_eq!(datagrams(&effects, who), ["GRID 1 3", "GOLD 0 0 3", "DISPLAY [A.*]"]);
        assert_eq!(effects.len(), 3);
    }
    let effects = table.send("Alice", "KEY l");
    for who in ["Sam", "Web 1", "Web 2"] {
        assert_eq!(datagrams(&effects, who), ["DISPLAY [.A*]"]);
    }
    assert_eq!(table.send("Web 1", "KEY l"), []);
    assert_eq!(datagrams(&table.send("Web 1", "SPECTATE"), "Web 1"), ["GRID 1 3", "GOLD 0 0 3", "DISPLAY [.A*]"]);
    let refused = "ERROR you are watching; leave with Q before you play";
    assert_eq!(datagrams(&table.send("Web 1", "PLAY Web"), "Web 1"), [refused]);
    let effects = table.send("Web 1", "KEY Q");
    assert_eq!(datagrams(&effects, "Web 1"), ["QUIT Thanks for watching!"]);
    let effects = table.send("Alice", "KEY l");
    assert_eq!(datagrams(&effects, "Web 2"), ["GOLD 0 0 0", "DISPLAY [..A]", "QUIT GAME OVER:\\nA          3 Alice"]);
    assert_eq!(datagrams(&effects, "Web 1"), Vec::<String>::new());
}

#[test]
fn refused_player_may_retry_on_a_stream() {
    let mut table = plain("..5");
    table.connect("Web", Role::Player, Link::Message, &mut vec![]);
    assert_eq!(datagrams(&table.send("Web", "PLAY "), "Web"), ["QUIT Sorry - you must provide player's name."]);
    assert_eq!(datagrams(&table.send("Web", "KEY h"), "Web"), Vec::<String>::new());
    assert_eq!(datagrams(&table.send("Web", "PLAY Web"), "Web")[0], "OK A");
}
