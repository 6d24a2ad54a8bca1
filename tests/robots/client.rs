use std::net::{SocketAddr, TcpListener};

use rustix::process::Signal;
use testkit::{
    process::{Process, hang_up_counts},
    signpost::Signpost,
    terminal::Terminal,
};

use super::{
    Server,
    scripted::{
        ANN, Connection, Gui, HELLO, JOIN, LOBBY, NOBODY, STARTED, ScriptedServer, TURN_0, bytes, command, hex,
        in_terminal, start, with_gui,
    },
};
use crate::programs::{path, program};

/// Three turns of a game: a bomb at (1,1) counts down from 2, and explodes with its robot and the block. The scores
/// follow.
const TURNS_1_TO_3: &str = "03 0001 00000001 00 00000007 00010001  03 0002 00000000
    03 0003 00000002 01 00000007 00000001 00 00000001 00020001 02 00 00000000  04 00000002 00 00000001 01 00000000";

/// The client must exit with status 1.
fn failure(client: Process) -> String {
    let finished = client.wait().ended(1);
    let last = finished.stderr.lines().last().unwrap_or_default();
    last.strip_prefix("robots-client: ").unwrap_or_else(|| panic!("{}", finished.stderr)).to_owned()
}

#[test]
fn an_observer_and_a_bot_do_not_obey_the_gui() {
    for (argument, said) in [("--observe", ""), ("--bot", JOIN)] {
        let gui = Gui::new();
        let (client, port, mut connection) = start(&gui, &[argument]);
        connection.send(HELLO);
        gui.receive();
        for input in [&[0][..], &[1], &[2, 3]] {
            gui.send(port, input);
        }
        // Another client, Ann, is accepted and plays.
        for message in [&format!("01 {ANN}"), &[STARTED, TURN_0].concat(), "03 0001 00000000"] {
            connection.send(message);
            gui.receive();
            gui.send(port, &[1]);
        }
        // Where SIGHUP is ignored, as under `nohup`, it stays so.
        if hang_up_counts() {
            client.hang_up();
        } else {
            client.terminate();
        }
        assert_eq!(client.wait().code, Some(0));
        // A bot recognized by its name alone plays as that player, and then sends only its own actions.
        let heard = connection.receive_all();
        let front = hex(&bytes(said));
        assert!(heard.starts_with(&front) && (argument == "--bot" || heard.is_empty()), "{argument}: {heard}");
    }
}

#[test]
fn a_lost_or_invalid_stream_ends_the_client_with_its_position() {
    let within = format!("{HELLO} 03 0000 00000002 03 0001");
    let invalid =
        "sent a malformed message: byte 0 of the stream (byte 0 of message 1): 7 is no tag of ServerMessage; expected";
    for (said, arguments, place) in [
        ("", &[][..], "has closed the connection, after 0 bytes"),
        (HELLO, &[], "has closed the connection, after 14 bytes"),
        (
            &within,
            &[],
            "has closed the connection, after 24 bytes in the middle of message 2, a Turn, which began at byte 14",
        ),
        ("07", &["--retry"], invalid),
    ] {
        let gui = Gui::new();
        let (client, _, mut connection) = start(&gui, arguments);
        let server = connection.0.local_addr().unwrap();
        connection.send(said);
        drop(connection);
        let failure = failure(client);
        assert!(failure.starts_with(&format!("the server at {server} {place}")), "{failure}");
    }
}

#[test]
fn an_unreachable_server_is_named() {
    let address = ScriptedServer::new().address();
    let said = failure(Process::start(&mut command(&address, &["--bot"])));
    assert!(said.starts_with(&format!("cannot connect to {address} ({address}: ")), "{said}");
    let said = failure(Process::start(&mut command(&"no..host:1", &["--bot"])));
    assert!(said.starts_with("cannot find the host 'no..host'"), "{said}");
    let said = failure(with_gui(&address, "no..gui:1", &[]));
    assert!(said.starts_with("cannot send to the GUI: cannot find the host 'no..gui'"), "{said}");
    let said = failure(Process::start(&mut command(&address, &["--headless", "3"])));
    assert!(said.starts_with("3 of 3 bots failed: cannot connect to"), "{said}");
}

#[test]
fn wrong_usage_ends_with_1_and_help_with_0() {
    for (arguments, named) in [
        (&[][..], "robots-client -- -s localhost:2022"),
        (&["-s", "localhost", "2022", "--gui"], "-s localhost:2022"),
        (&["-s", "localhost:1", "-d", "localhost:1", "stray"], "'stray'"),
        (&["-s", "localhost:1", "-d", "localhost:1", "--games", "1"], "--games requires"),
    ] {
        let finished = Process::run(program("robots-client").args(arguments));
        assert_eq!((finished.code, &*finished.stdout), (Some(1), ""), "{arguments:?}");
        assert!(finished.stderr.contains(named), "{arguments:?}: {}", finished.stderr);
    }
    for help in ["-h", "--help"] {
        let finished = Process::run(program("robots-client").arg(help));
        assert!(finished.code == Some(0) && finished.stdout.contains("--gui-address"), "{finished:?}");
    }
}

#[test]
fn a_game_in_a_terminal_ends_with_its_result_and_only_enter_joins_the_next() {
    let (mut terminal, mut connection) = in_terminal(&[]);
    connection.send(HELLO);
    terminal.wait_for("Space join");
    terminal.press(b"w");
    connection.expect(JOIN);
    connection.send(&format!("01 {ANN} 01 {NOBODY}"));
    terminal.wait_for("You have joined");
    connection.send(&[STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    terminal.press(b" k\x1b[D");
    connection.expect("01 02 0303");
    connection.send(TURNS_1_TO_3);
    terminal.wait_for("B wins");
    terminal.press(b"w d");
    terminal.wait_for("Enter again");
    terminal.with_screen(|screen| {
        let contents = screen.contents();
        assert!(contents.contains("> 2. A Ann  1 death") && contents.contains("Turn 3 of 3"), "{contents}");
    });
    terminal.press(b"dddd kjz\t");
    terminal.wait(|screen| !screen.contents().contains("B wins"));
    terminal.press(b"a \t");
    terminal.wait_for("B wins");
    terminal.press(b"\r");
    connection.expect(JOIN);
    terminal.wait_for("Last game: B wins");
    terminal.wait_for("You requested to join.");
    terminal.press(b"Q");
    terminal.wait(|screen| !screen.alternate_screen() && screen.contents().contains(">   2. 1 death"));
    assert_eq!(terminal.end(), 0);
    assert_eq!(connection.receive_all(), "", "no key that was held joined");
}

#[test]
fn a_demonstration_is_a_game_against_bots_with_one_command() {
    let arguments = ["--demo", "-n", "Ann", "--level", "easy"];
    let mut terminal = Terminal::start(&path("robots-client"), &arguments, 80, 24);
    terminal.wait_for("You are ");
    terminal.wait(|screen| ["Bolt", "Cog", "Dash", "Ann"].iter().all(|name| screen.contents().contains(name)));
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn the_terminal_is_restored_before_an_error_is_printed() {
    let (mut terminal, mut connection) = in_terminal(&[]);
    connection.send(&[HELLO, STARTED, TURN_0].concat());
    terminal.wait_for("Turn 0 of 3");
    connection.send("09");
    terminal.wait_for("The game was cancelled in turn 0 of 3");
    terminal.wait_for("The connection is closed.");
    terminal.wait_for("Tab board   Q leave");
    // Without a connection, keys join no game.
    terminal.press(b"\rw Q");
    terminal.wait_for("robots-client: the server at ");
    terminal.wait_for("message 4): 9 is no tag of ServerMessage");
    assert_eq!(terminal.end(), 1);
    let (terminal, mut connection) = in_terminal(&["--observe"]);
    connection.send(HELLO);
    terminal.wait_for("You are only watching.");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.end(), 0);
    let finished = Process::run(&mut command(&connection.0.local_addr().unwrap(), &["--gui"])).ended(1);
    assert!(finished.stderr.contains("standard output is not a terminal"), "{}", finished.stderr);
}

#[test]
fn bots_play_games_on_the_real_server_and_leave() {
    let server = Server::start("-x 10 -y 8 -c 2 -d 1 -l 40 -b 3 -e 2");
    let address = server.v4();
    let gui = Gui::new();
    let ann = with_gui(&address, &gui.address(), &["--bot", "--games", "1", "-n", "Ann"]);
    let bob = Process::start(&mut command(&address, &["--bot", "--games", "1", "-n", "Bob"]));
    for turn in 0..=40 {
        assert_eq!(gui.game().turn, turn);
    }
    for bot in [ann, bob] {
        let finished = bot.wait().ended(0);
        assert!(finished.stderr.contains("the game is over destroyed="), "{}", finished.stderr);
    }
    Process::run(&mut command(&address, &["--headless", "4", "--games", "1"])).ended(0);
    server.process.terminate();
    let finished = server.process.wait();
    assert!(finished.stderr.contains("name=bot4"), "{}", finished.stderr);
    assert_eq!(finished.stderr.matches("the game ends").count(), 3, "{}", finished.stderr);
}

#[test]
fn a_client_follows_its_room_to_another_address() {
    let (signpost, gui) = (Signpost::new(), Gui::new());
    let (first, second) = (ScriptedServer::new(), ScriptedServer::new());
    let client = with_gui(&first.address(), &gui.address(), &["-n", "Ann", "--directory", &signpost.url()]);
    let mut connection = first.accept();
    connection.send(HELLO);
    gui.expect(LOBBY);
    // The connection is lost, and the directory does not locate the room, so the client retries the old address.
    drop(connection);
    let connection = first.accept();
    drop((connection, first));
    signpost.wait_for_request();
    signpost.respond("HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n");
    client.wait_stderr("a word about it", |text| text.contains("does not locate the room").then_some(()));
    signpost.set_location("robots", second.address().port());
    let mut connection = second.accept();
    connection.send(&[HELLO, STARTED, TURN_0].concat());
    gui.expect(LOBBY);
    assert_eq!(gui.game().turn, 0);
    let finished = client.stop();
    let said = format!("the directory locates the room at 127.0.0.1:{}", second.address().port());
    assert!(finished.stderr.contains(&said), "{}", finished.stderr);
}

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
