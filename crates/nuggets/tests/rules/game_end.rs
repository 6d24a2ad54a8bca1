use std::time::Duration;

use netcore::{Engine, Input, Link, Outcome, Role};
use nuggets::{ClientMessage, Config, Rules};

use crate::table::{Effect, Table, plain};

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
