use std::net::{SocketAddr, TcpListener};

use testkit::terminal::Terminal;

use super::scripted::{
    Connection, Gui, HELLO, JOIN, LOBBY, STARTED, ScriptedServer, TURN_0, hex, in_terminal, with_gui,
};

#[test]
fn client_with_retry_reconnects() {
    let gui = Gui::new();
    let address = ScriptedServer::new().address();
    let client = with_gui(&address, &gui.address(), &["-n", "Ann", "--retry"]);
    client.wait_stderr("a vain attempt", |stderr| stderr.contains("cannot connect").then_some(()));
    // Keys before the connection are not sent.
    gui.send(client.port(), &[0]);
    client.wait_stderr("another one", |stderr| (stderr.matches("cannot connect").count() > 2).then_some(()));
    let server = ScriptedServer(TcpListener::bind(address).unwrap());
    for _ in 0..2 {
        let mut connection = server.accept();
        connection.send(&[HELLO, STARTED, TURN_0].concat());
        gui.expect(LOBBY);
        assert_eq!(gui.game().turn, 0);
        gui.send(client.port(), &[1]);
        connection.expect("02");
    }
    client.stop();
}

#[test]
fn a_reconnected_client_reports_its_role() {
    let gui = Gui::new();
    let server = ScriptedServer::new();
    let client = with_gui(&server.address(), &gui.address(), &["-n", "Ann", "--retry"]);
    let own = |connection: &Connection| {
        let address = connection.0.peer_addr().unwrap().to_string();
        format!("03416e6e {:02x} {}", address.len(), hex(address.as_bytes()))
    };
    let mut connection = server.accept();
    connection.send(HELLO);
    // An empty lobby, a lobby with another player, and a game of other players.
    for (more, became) in [
        (String::new(), "back in the lobby of s: 0 of 2 players have joined"),
        ("01 00 03426f6200".into(), "back in the lobby of s: 1 of 2 players have joined"),
        ([STARTED, TURN_0, "03 0001 00000000"].concat(), "back as an observer of the game of s: turn 1 of 3"),
    ] {
        drop(connection);
        connection = server.accept();
        connection.send(&[HELLO, &more].concat());
        client.wait_stderr(became, |stderr| stderr.contains(became).then_some(()));
    }
    // The first message shows a started game with this client as a player.
    drop(connection);
    connection = server.accept();
    let players = format!("02 00000001 00 {}", own(&connection));
    connection.send(&[HELLO, &players, TURN_0].concat());
    let became = "back as player 0 in the game of s: turn 0 of 3";
    client.wait_stderr(became, |stderr| stderr.contains(became).then_some(()));
    let finished = client.stop();
    assert_eq!(finished.stderr.matches("lost the connection, reconnecting: the server at ").count(), 4);
    assert_eq!(finished.stderr.matches(" back ").count(), 4, "{}", finished.stderr);
}

/// During a game.
fn lost_in_terminal() -> (Terminal, SocketAddr) {
    let (terminal, mut connection) = in_terminal(&["--retry"]);
    let address = connection.0.local_addr().unwrap();
    connection.send(&[HELLO, STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    drop(connection);
    terminal.wait_for("No connection to the server; reconnecting");
    (terminal, address)
}

#[test]
fn a_terminal_shows_the_lost_connection_and_then_the_next_server() {
    let (mut terminal, address) = lost_in_terminal();
    let mut connection = ScriptedServer(TcpListener::bind(address).unwrap()).accept();
    connection.send(HELLO);
    terminal.wait_for("The game was cancelled in turn 0 of 3");
    terminal.wait_for("Enter again");
    terminal.wait(|screen| !screen.contents().contains("No connection"));
    terminal.press(b"\r");
    connection.expect(JOIN);
    connection.send(&[STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    terminal.press(b"d");
    connection.expect("0301");
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}
