use testkit::{TempDir, peer::Peer};

use super::{CORRIDOR, HALL, Server};

/// Collects what lies in the corridor by running to both ends; gives the last words of the server.
fn run_to_both_ends(peer: &Peer) -> String {
    for key in ["KEY H", "KEY L", "KEY H", "KEY L"] {
        peer.send(key);
    }
    peer.expect("QUIT ")
}

#[test]
fn a_game_ends_with_its_last_nugget_and_the_table_on_standard_output() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("corridor.txt", CORRIDOR), "1"]);
    let (ann, watcher) = (server.peer(), server.peer());
    ann.play("Ann Lee");
    watcher.spectate();
    let over = "GAME OVER:\nA        250 Ann Lee";
    assert_eq!(run_to_both_ends(&ann), format!("QUIT {over}"));
    // The last status that the spectator has is true.
    let (before, last) = watcher.receive_through("QUIT ");
    assert_eq!(last, format!("QUIT {over}"));
    let gold = before.iter().rfind(|message| message.starts_with("GOLD ")).unwrap();
    assert_eq!(gold, "GOLD 0 0 0");
    let display = before.last().unwrap();
    assert!(display.starts_with("DISPLAY\n") && !display.contains('*'), "{display}");

    let port = server.port;
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stdout, format!("Ready to play, waiting at port {port}\n{over}\n"));
}

#[test]
fn purses_of_all_who_joined_make_the_whole() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "4"]);
    let (ann, bob, carol) = (server.peer(), server.peer(), server.peer());
    for (peer, name, letter) in [(&ann, "Ann", 'A'), (&bob, "Bob", 'B'), (&carol, "Carol", 'C')] {
        assert_eq!(peer.play(name).letter, letter);
    }
    // Bob takes a few steps and leaves with what he has.
    for key in ["KEY H", "KEY L", "KEY Q"] {
        bob.send(key);
    }
    bob.expect("QUIT Thanks for playing!");
    // Ann goes over the whole floor.
    for key in "YKHLjHjLjHjLjHjL".chars() {
        ann.send(format!("KEY {key}"));
    }
    let table = ann.expect("QUIT GAME OVER:\n");
    assert_eq!(carol.expect("QUIT "), table);
    let rows: Vec<(&str, u32, &str)> =
        table.lines().skip(1).map(|row| (&row[..2], row[2..12].trim().parse().unwrap(), &row[12..])).collect();
    let names: Vec<(&str, &str)> = rows.iter().map(|&(letter, _, name)| (letter, name)).collect();
    assert_eq!(names, [("A ", " Ann"), ("B ", " Bob"), ("C ", " Carol")]);
    assert_eq!(rows.iter().map(|row| row.1).sum::<u32>(), 250, "{table}");
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert!(finished.stdout.ends_with(&format!("{}\n", table.strip_prefix("QUIT ").unwrap())), "{}", finished.stdout);
}

#[test]
fn with_rematch_the_next_game_is_at_the_same_port() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("corridor.txt", CORRIDOR), "--rematch"]);
    let (ann, bob) = (server.peer(), server.peer());
    let over = |name: &str| format!("GAME OVER:\nA        250 {name}");
    for name in ["first", "second", "third"] {
        // Letters begin anew, and who played before may play again.
        assert_eq!(ann.play(name).letter, 'A');
        assert_eq!(run_to_both_ends(&ann), format!("QUIT {}", over(name)));
        // What she sent too much comes from an address without a seat by now.
        ann.pending();
    }
    assert_eq!(bob.play("Bob").letter, 'A');
    assert!(server.process.is_running());
    server.process.terminate();
    let port = server.port;
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0));
    let games = [over("first"), over("second"), over("third")].join("\n");
    assert_eq!(finished.stdout, format!("Ready to play, waiting at port {port}\n{games}\n"));
}

#[test]
fn the_table_is_full_with_twenty_six() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL)]);
    // All at once, from one host, and everyone gets in.
    let players: Vec<Peer> = (0..26).map(|_| server.peer()).collect();
    for (number, player) in players.iter().enumerate() {
        player.send(format!("PLAY player {number}"));
    }
    let mut letters: Vec<String> = players.iter().map(|player| player.expect("OK ")).collect();
    letters.sort();
    let all: Vec<String> = ('A'..='Z').map(|letter| format!("OK {letter}")).collect();
    assert_eq!(letters, all);
    let full = "QUIT Game is full: no more players can join.";
    assert_eq!(server.peer().ask("PLAY late", "QUIT "), full);
    // Who leaves is not replaced.
    players[0].send("KEY Q");
    players[0].expect("QUIT Thanks for playing!");
    assert_eq!(server.peer().ask("PLAY later", "QUIT "), full);
    assert_eq!(players[0].ask("PLAY again", "QUIT "), full);
}

#[test]
fn refusals_leave_nothing_behind() {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL)]);
    let nameless = server.peer();
    for name in ["", " ", " \t \n"] {
        nameless.send(format!("PLAY {name}"));
        assert_eq!(nameless.expect("QUIT "), "QUIT Sorry - you must provide player's name.");
    }
    let ann = server.peer();
    assert_eq!(ann.play("Ann").letter, 'A');
    ann.send("KEY Q");
    ann.expect("QUIT Thanks for playing!");
    ann.send("PLAY Ann");
    assert!(ann.expect("QUIT ").contains("left"), "a quitter is not readmitted");
    assert_eq!(nameless.play("Bob").letter, 'B');
}

#[test]
fn a_new_spectator_takes_the_place_of_the_old() {
    let server = Server::start(&[]);
    let (one, other) = (server.peer(), server.peer());
    one.spectate();
    other.spectate();
    assert_eq!(one.expect("QUIT "), "QUIT You have been replaced by a new spectator.");
    // A stranger's Q, also that of the one before, is none of the spectator's.
    one.send("KEY Q");
    server.peer().send("KEY Q");
    let ann = server.peer();
    ann.play("Ann");
    other.expect("DISPLAY\n");
}
