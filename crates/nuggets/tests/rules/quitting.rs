//! Q and what stays behind.

use netcore::{Input, Link, Role};
use nuggets::ClientMessage;

use crate::table::{Said, plain, transcripts};

transcripts! {
    a_quitter_is_thanked_once_and_hears_no_more: plain("A.B4") => "
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

    the_purse_stays_with_the_quitter: plain("A4.B2") => r"
        Alice > KEY l
            Alice < GOLD 4 4 2
            Bob < GOLD 0 0 2
            Alice < DISPLAY [.@.B*]
            Bob < DISPLAY [.A.@*]
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < DISPLAY [...@*]
        Bob > KEY l
            Bob < GOLD 2 2 0
            Bob < DISPLAY [....@]
            Bob < QUIT GAME OVER:\nA          4 Alice\nB          2 Bob
            Bob closed
            stdout: GAME OVER:\nA          4 Alice\nB          2 Bob
    ";
}

#[test]
fn the_game_goes_on_when_all_have_left() {
    let mut table = plain("A.4");
    table.check(
        r"
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
        wait 3600000 ms
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 4
            Sam < DISPLAY [..*]
        ",
    );
    let said = table.send("Bob", "PLAY Bob");
    assert_eq!(crate::table::told(&said, "Bob")[0], "OK B");
}

transcripts! {
    the_spectator_leaves_and_another_may_come: plain("A.4") => "
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 4
            Sam < DISPLAY [A.*]
        Sam > KEY Q
            Sam < QUIT Thanks for watching!
            Sam closed
        Alice > KEY l
            Alice < DISPLAY [.@*]
        Tess > SPECTATE
            Tess < GRID 1 3
            Tess < GOLD 0 0 4
            Tess < DISPLAY [.A*]
        Tess > KEY Q
            Tess < QUIT Thanks for watching!
            Tess closed
        Sam > SPECTATE
            Sam < GRID 1 3
            Sam < GOLD 0 0 4
            Sam < DISPLAY [.A*]
    ";
}

#[test]
fn q_from_a_stranger_does_not_touch_the_spectator() {
    let mut table = plain("A.4");
    table.send("Sam", "SPECTATE");
    assert_eq!(table.send("Mallory", "KEY Q"), []);
    // Even a shell that hands such a key over does no harm by it.
    let mut said = vec![];
    let peer = table.connect("Mallory", Role::Player, Link::Datagram, &mut said);
    said.extend(table.input(Input::Message { peer, message: ClientMessage::Key(b'Q') }));
    assert_eq!(said, [Said::Closed("Mallory".into())]);
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
        ",
    );
}

#[test]
fn a_replaced_spectator_has_nothing_to_quit() {
    let mut table = plain("A.4");
    table.send("Sam", "SPECTATE");
    table.send("Tess", "SPECTATE");
    assert_eq!(table.send("Sam", "KEY Q"), []);
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Tess < DISPLAY [.A*]
        ",
    );
}

transcripts! {
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

    the_spot_of_a_quitter_is_free_again: plain("AB3") => "
        Carol > PLAY Carol
            Carol < QUIT Game is full: no more players can join.
            Carol closed
        Alice > KEY Q
            Alice < QUIT Thanks for playing!
            Alice closed
            Bob < DISPLAY [.@*]
        Carol > PLAY Carol
            Carol < OK C
            Carol < GRID 1 3
            Carol < GOLD 0 0 3
            Carol < DISPLAY [@B*]
            Bob < DISPLAY [C@*]
    ";
}
