use testkit::terminal::Terminal;

use super::support::{KillableServer, MAP, Server, leave, path};

const OVER: &[u8] = b"QUIT GAME OVER:\nA         50 Ann\nB        150 Bob\nC         50 Cleo";
const KEYS: &str = "Enter next game   Tab board   Q leave";

// Waits until the keys are shown.
fn over(server: &Server, arguments: &[&str], columns: u16, rows: u16) -> Terminal {
    let port = server.port();
    let terminal = Terminal::start(&path(), &[&["127.0.0.1", &port], arguments].concat(), columns, rows);
    terminal.wait_for("|@...");
    server.send(OVER);
    terminal.wait_for(KEYS);
    terminal
}

#[test]
fn enter_joins_the_next_game() {
    let server = Server::with_map(MAP);
    for (arguments, first) in [(&["Ann"][..], "PLAY Ann"), (&[], "SPECTATE")] {
        let mut terminal = over(&server, arguments, 80, 24);
        let before = server.client();
        terminal.press(b"\r");
        terminal.wait(|screen| !screen.contents().contains("Bob") && screen.contents().contains("  online"));
        assert_ne!(server.client(), before, "what comes late for the last game is not heard");
        server.wait_for_many(first, 2);
        terminal.press(b"Q");
        terminal.wait_for("Thanks for playing!");
        assert_eq!(terminal.end(), 0);
    }
}

#[test]
fn the_bell_rings_only_with_its_option() {
    for (arguments, rings) in [(&["Ann"][..], 0), (&["Ann", "--bell"], 2)] {
        let server = Server::with_map(MAP);
        let terminal = Terminal::start(&path(), &[&["127.0.0.1", &server.port()], arguments].concat(), 80, 24);
        terminal.wait_for("|@...");
        server.send(b"GOLD 7 57 193");
        terminal.wait_for("57 nuggets");
        server.send(OVER);
        terminal.wait_for(KEYS);
        assert_eq!(terminal.bells(), rings, "{arguments:?}: at gold and at the end");
        leave(terminal);
    }
}

#[test]
fn rematch_joins_the_next_game_without_a_key() {
    let server = Server::with_map(MAP);
    let terminal = over(&server, &["Ann", "--rematch"], 80, 24);
    terminal.wait_for("Joining the next game in ");
    server.wait_for(&["PLAY Ann", "PLAY Ann"]);
    terminal.wait(|screen| !screen.contents().contains("Bob"));
    leave(terminal);
}

#[test]
fn a_lost_server_is_reported_and_its_successor_can_be_joined() {
    let server = KillableServer::start();
    let port = server.port();
    let mut terminal = Terminal::start(&path(), &["127.0.0.1", &port.to_string(), "Ann"], 80, 24);
    server.admit(b"PLAY Ann", MAP);
    terminal.wait_for("|@...");
    drop(server);
    terminal.press_until(b"l", "Server gone: port closed");
    terminal.wait_for("The server's port is closed.");
    terminal.wait_for("You had 0 nuggets, 250 were unclaimed.");
    terminal.wait_for("Enter join again   Tab board   Q leave");
    let Some(server) = KillableServer::at(port) else {
        return eprintln!("somebody else has port {port} by now, so joining anew is not tested");
    };
    terminal.press(b"\r");
    server.admit(b"PLAY Ann", MAP);
    terminal.wait(|screen| screen.contents().lines().next().is_some_and(|line| line.ends_with("online")));
    drop(server);
    terminal.press_until(b"l", "Enter join again");
    terminal.press(b"Q");
    terminal.wait_for("its port is closed");
    assert_eq!(terminal.end(), 1);
}

#[test]
fn a_stopped_server_offers_no_next_game() {
    let server = KillableServer::start();
    let mut terminal = Terminal::start(&path(), &["127.0.0.1", &server.port().to_string(), "Ann"], 80, 24);
    server.admit(b"PLAY Ann", MAP);
    terminal.wait_for("|@...");
    terminal.press(b"l");
    server.answer(b"KEY l", OVER);
    terminal.wait_for(KEYS);
    drop(server);
    terminal.press(b"\r");
    terminal.wait_for("There are no more games: the server has stopped.");
    let keys = |screen: &vt100::Screen, other: &str| {
        let contents = screen.contents();
        contents.contains(&format!("Tab {other}   Q leave")) && !contents.contains("Enter")
    };
    terminal.wait(|screen| keys(screen, "board"));
    terminal.press(b"\t");
    terminal.wait(|screen| keys(screen, "table"));
    terminal.press(b"q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_demonstration_needs_no_server_and_can_be_played_again() {
    let mut terminal =
        Terminal::start(&path(), &["--demo", "--bots", "1", "--level", "hard", "--delay-ms", "0"], 80, 24);
    terminal.wait_for("the game begins in ");
    terminal.wait_for(KEYS);
    terminal.with_screen(|screen| {
        let contents = screen.contents();
        assert!(contents.contains("bot1  250 ★") && contents.contains("you     0"), "{contents}");
    });
    terminal.press(b"\r");
    terminal.wait_for("the game begins in ");
    terminal.press(b"Q");
    terminal.wait_for_lines(&["Thanks for playing!"]);
    assert_eq!(terminal.end(), 0);
}
