use std::{
    net::{SocketAddr, TcpListener},
    process::Command,
};

use robots::DrawMessage;
use testkit::{process::Process, terminal::Terminal};

use super::{
    Server,
    scripted::{Connection, Fake, Gui, HELLO, JOIN, LOBBY, STARTED, TURN_0, command, hex, in_terminal, with_gui},
};
use crate::programs::program;

#[test]
fn who_retries_finds_a_server_that_comes_and_comes_again() {
    let gui = Gui::new();
    let address = Fake::new().address();
    let client = with_gui(&address, &gui.address(), &["-n", "Ann", "--retry"]);
    client.wait_stderr("a vain attempt", |stderr| stderr.contains("cannot connect").then_some(()));
    // What is pressed before there is a server is not meant for it.
    gui.send(client.port(), &[0]);
    client.wait_stderr("another one", |stderr| (stderr.matches("cannot connect").count() > 2).then_some(()));
    let server = Fake(TcpListener::bind(address).unwrap());
    for _ in 0..2 {
        let mut connection = server.accept();
        connection.say(&[HELLO, STARTED, TURN_0].concat());
        gui.expect(LOBBY);
        assert_eq!(gui.game().turn, 0);
        gui.send(client.port(), &[1]);
        connection.hear("02");
    }
    client.stop();
}

#[test]
fn a_client_that_is_back_says_what_it_became() {
    let gui = Gui::new();
    let server = Fake::new();
    let client = with_gui(&server.address(), &gui.address(), &["-n", "Ann", "--retry"]);
    let own = |connection: &Connection| {
        let address = connection.0.peer_addr().unwrap().to_string();
        format!("03416e6e {:02x} {}", address.len(), hex(address.as_bytes()))
    };
    let mut connection = server.accept();
    connection.say(HELLO);
    // A lobby in which somebody else waits.
    for (more, became) in [
        (String::new(), "back in the lobby of s: 0 of 2 players have joined"),
        ("01 00 03426f6200".into(), "back in the lobby of s: 1 of 2 players have joined"),
        ([STARTED, TURN_0, "03 0001 00000000"].concat(), "back as an observer of the game of s: turn 1 of 3"),
    ] {
        drop(connection);
        connection = server.accept();
        connection.say(&[HELLO, &more].concat());
        client.wait_stderr(became, |stderr| stderr.contains(became).then_some(()));
    }
    // It joins, and the game starts before it is told anything.
    drop(connection);
    connection = server.accept();
    let players = format!("02 00000001 00 {}", own(&connection));
    connection.say(&[HELLO, &players, TURN_0].concat());
    let became = "back as player 0 in the game of s: turn 0 of 3";
    client.wait_stderr(became, |stderr| stderr.contains(became).then_some(()));
    let finished = client.stop();
    assert_eq!(finished.stderr.matches("lost the connection, reconnecting: the server at ").count(), 4);
    assert_eq!(finished.stderr.matches(" back ").count(), 4, "{}", finished.stderr);
}

/// A server at this port, or any free one.
fn real(port: u16, arguments: &str) -> Server {
    let mut command: Command = program("robots-server");
    command.args(["--bind", "127.0.0.1", "-p", &port.to_string(), "-x", "10", "-y", "8"]);
    Server::of(command.args(arguments.split_whitespace()))
}

// Nobody is told anything by the server that is gone.
fn kill(server: Server) -> u16 {
    server.process.kill();
    assert_eq!(server.process.wait_for_end().code, None);
    server.port
}

#[test]
fn bots_and_watchers_play_on_when_a_server_was_killed_and_another_one_has_its_port() {
    let server = real(0, "-n one -c 2 -d 1 -l 65535");
    let address = server.v4();
    let gui = Gui::new();
    let watcher = with_gui(&address, &gui.address(), &["--observe", "--retry"]);
    let bots = Process::start(&mut command(&address, &["--headless", "2", "--retry"]));
    while gui.game().turn < 20 {}
    let port = kill(server);
    for client in [&watcher, &bots] {
        client.wait_stderr("that it is lost", |stderr| stderr.contains("reconnecting").then_some(()));
    }
    let server = real(port, "-n two -c 2 -d 5 -l 60");
    let lobby = loop {
        match gui.picture() {
            DrawMessage::Lobby { parameters, players } if &*parameters.server_name == "two" => break players,
            _ => {}
        }
    };
    assert!(lobby.len() < 2);
    let picture = loop {
        let picture = gui.game();
        if picture.turn >= 50 {
            break picture;
        }
    };
    let mut names: Vec<_> = picture.players.values().map(|player| player.name.to_string()).collect();
    names.sort();
    assert_eq!((&*picture.server_name, &names[..]), ("two", &["bot1".to_owned(), "bot2".to_owned()][..]));
    for client in [watcher, bots] {
        client.wait_stderr("that it is back", |stderr| stderr.contains(" back ").then_some(()));
        client.stop();
    }
    drop(server);
}

/// The client with the GUI in a terminal of its own, which has seen a game of a server that is gone.
fn lost_in_terminal() -> (Terminal, SocketAddr) {
    let (terminal, mut connection) = in_terminal(&["--retry"]);
    let address = connection.0.local_addr().unwrap();
    connection.say(&[HELLO, STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    drop(connection);
    terminal.wait_for("No connection to the server; reconnecting");
    (terminal, address)
}

#[test]
fn a_terminal_shows_that_the_server_is_lost_and_then_what_the_next_one_says() {
    let (mut terminal, address) = lost_in_terminal();
    let mut connection = Fake(TcpListener::bind(address).unwrap()).accept();
    connection.say(HELLO);
    terminal.wait_for("The game was cancelled in turn 0 of 3");
    terminal.wait_for("Enter: again");
    terminal.wait(|screen| !screen.contents().contains("No connection"));
    terminal.press(b"\r");
    connection.hear(JOIN);
    connection.say(&[STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    terminal.press(b"d");
    connection.hear("0301");
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_terminal_can_be_left_while_there_is_no_server() {
    let (mut terminal, _) = lost_in_terminal();
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}
