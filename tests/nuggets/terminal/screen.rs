//! The program in a real terminal, against a server that says what the test wants.

use rustix::process::Signal;
use testkit::terminal::Terminal;

use super::support::{MAP, Server, leave, path, welcome};

const STATUS: &str = "Player A has 0 nuggets (250 nuggets unclaimed).";
const HINT: &str = "? keys  Q leave";

// The status line in a window of 80 columns.
fn status(text: &str) -> String {
    if text.len() + 2 + HINT.len() <= 80 { format!("{text:0$}{HINT}", 80 - HINT.len()) } else { text.to_owned() }
}

// Waits until the first lines of a window of 80 columns are this status and this part of a map, which is in the middle.
fn wait_for_game(terminal: &Terminal, text: &str, map: &str) {
    let map = map.lines().map(|line| format!("{:30}{line}", ""));
    let lines: Vec<String> = [status(text)].into_iter().chain(map).collect();
    terminal.wait_for_lines(&lines.iter().map(String::as_str).collect::<Vec<_>>());
}

fn play(server: &Server, columns: u16, rows: u16) -> Terminal {
    let terminal = Terminal::start(&path(), &["127.0.0.1", &server.port(), "Ann"], columns, rows);
    terminal.wait_for("+--");
    terminal
}

#[test]
fn a_game_from_welcome_to_goodbye() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 10);
    wait_for_game(&terminal, STATUS, MAP);
    assert!(terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));

    server.say(b"GOLD 39 39 211");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).  GOLD received: 39", "");
    server.say(b"ERROR unknown keystroke");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).  unknown keystroke", "");
    terminal.press(b"h");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).", "");
    server.say(format!("DISPLAY\n{}", MAP.replace('@', ".").replace('C', "@")).as_bytes());
    let moved = "+------------------+\n|...........*....B.|";
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).", moved);

    terminal.press(b"Q");
    server.wait_for(&["PLAY Ann", "KEY h", "KEY Q"]);
    terminal.wait_for_lines(&["Thanks for playing!"]);
    assert_eq!(terminal.end(), 0);
}

#[test]
fn keys_are_sent_raw_and_arrows_as_moves() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 10);
    let typed: [(&[u8], &str); 6] = [
        (b"x", "KEY x"),
        (b"\x1b[D", "KEY h"),
        (b"\x1b[1;2B", "KEY J"),
        (b"\x1b[5~", "KEY u"),
        (b"\r", "KEY \\n"),
        (b"\x7f", "KEY \\x7f"),
    ];
    let mut expected = vec!["PLAY Ann"];
    for (bytes, message) in typed {
        terminal.press(bytes);
        expected.push(message);
        server.wait_for(&expected);
    }
    // Neither an accent nor a key that is several bytes is sent; the q behind them is.
    terminal.press("é\x1b[3~q".as_bytes());
    expected.push("KEY q");
    server.wait_for(&expected);
    leave(terminal);
}

#[test]
fn the_help_comes_and_goes_and_is_never_sent() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 24);
    for key in [&b"?"[..], b"\x1bOP"] {
        terminal.press(key);
        terminal.wait_for("leave the game");
        terminal.press(b"h");
        terminal.wait(|screen| !screen.contents().contains("leave the game"));
    }
    terminal.press(b"l");
    server.wait_for(&["PLAY Ann", "KEY l"]);
    leave(terminal);
}

#[test]
fn a_window_that_shrinks_scrolls_then_says_so_and_goes_on_when_enlarged() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 10);
    terminal.resize(18, 4);
    let narrow = "A 0 gold, 250 left";
    terminal.wait_for_lines(&[narrow, "+-----------------", "|@..........*....B", "|................."]);
    server.say(format!("DISPLAY\n{}", MAP.replace('@', ".").replace('C', "@")).as_bytes());
    terminal.wait_for_lines(&[narrow, ".................|", "...............@.|", "-----------------+"]);

    terminal.resize(40, 2);
    terminal.wait_for("Needs 4 rows, 16 cols; has 2, 40");
    // What is typed at such a window is not sent. Once it is drawn again, the program has read the keys before.
    terminal.wipe();
    terminal.press(b"h\r\x0c");
    terminal.wait_for("Needs 4 rows, 16 cols; has 2, 40");
    terminal.resize(80, 10);
    wait_for_game(&terminal, STATUS, "+------------------+");
    terminal.press(b"l");
    server.wait_for(&["PLAY Ann", "KEY l"]);
    leave(terminal);
}

#[test]
fn signals_and_control_keys_leave_in_order() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let server = Server::with_map(MAP);
        let terminal = play(&server, 80, 10);
        terminal.signal(signal);
        server.wait_for(&["PLAY Ann", "KEY Q"]);
        assert_eq!(terminal.end(), 0, "{signal:?}");
    }
    for key in [b"\x03", b"\x04"] {
        let server = Server::with_map(MAP);
        let mut terminal = play(&server, 80, 10);
        terminal.press(key);
        terminal.wait_for_lines(&["Thanks for playing!"]);
        server.wait_for(&["PLAY Ann", "KEY Q"]);
        assert_eq!(terminal.end(), 0);
    }
}

#[test]
fn whoever_stops_the_program_gets_the_terminal_back_and_the_game_goes_on_in_the_window_as_it_is_then() {
    let stops: [fn(&mut Terminal); 2] = [|terminal| terminal.press(b"\x1a"), |terminal| terminal.signal(Signal::TSTP)];
    for stop in stops {
        let server = Server::with_map(MAP);
        let mut terminal = Terminal::start_in_shell(&path(), &["127.0.0.1", &server.port(), "Ann"], 80, 10);
        wait_for_game(&terminal, STATUS, "+------------------+");
        stop(&mut terminal);
        terminal.wait_for("It stopped.");
        terminal.wait_for_own_screen();
        // The shell has the terminal, so the program hears nothing of this.
        terminal.resize(18, 10);
        terminal.press(b"\n");
        terminal.wait_for_lines(&["A 0 gold, 250 left", "+-----------------"]);
        assert!(terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
        terminal.press(b"l");
        server.wait_for(&["PLAY Ann", "KEY l"]);
        leave(terminal);
    }
}

// The program leads the session of its terminal, so there is no shell that could go on with it.
#[test]
fn where_nobody_could_wake_it_the_program_does_not_stop() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 10);
    terminal.signal(Signal::TSTP);
    terminal.press(b"\x1al");
    server.wait_for(&["PLAY Ann", "KEY l"]);
    wait_for_game(&terminal, STATUS, "+------------------+");
    leave(terminal);
}

#[test]
fn a_lost_play_is_sent_again() {
    let (sender, receiver) = std::sync::mpsc::channel();
    sender.send(()).unwrap();
    let server = Server::start(move |message| match message {
        b"PLAY Ann" if receiver.try_recv().is_ok() => vec![],
        b"PLAY Ann" => welcome(MAP, true),
        _ => vec![b"QUIT Bye".to_vec()],
    });
    let mut terminal = Terminal::start(&path(), &["127.0.0.1", &server.port(), "Ann"], 80, 10);
    terminal.wait_for(&format!("Waiting for 127.0.0.1 port {} to answer (attempt 1).", server.port()));
    // A key before the welcome is neither sent nor the end.
    terminal.press(b"h");
    wait_for_game(&terminal, STATUS, "");
    server.wait_for(&["PLAY Ann", "PLAY Ann"]);
    leave(terminal);
}

#[test]
fn a_closed_port_is_named_and_can_be_left() {
    let closed = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut terminal = Terminal::start(&path(), &["127.0.0.1", &closed.to_string(), "Ann"], 80, 10);
    let line = format!("Waiting for 127.0.0.1 port {closed} to answer (attempt 1).  Its port is closed.");
    terminal.wait_for_lines(&[&line]);
    terminal.press(b"\x03");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn a_server_that_falls_silent_is_shown_and_not_waited_for() {
    let server = Server::start(|message| if message == b"PLAY Ann" { welcome(MAP, true) } else { vec![] });
    let mut terminal = play(&server, 100, 10);
    terminal.press(b"l");
    terminal.wait_for(&format!("{STATUS}  No answer for 3 s"));
    terminal.press(b"Q");
    terminal.wait_for("Leaving: waiting for the server's goodbye.");
    terminal.wait_for("did not confirm it within 2 s");
    assert_eq!(terminal.end(), 1);
}

#[test]
fn a_burst_of_displays_ends_with_the_newest() {
    let server = Server::with_map(MAP);
    let terminal = play(&server, 80, 10);
    for count in 0..500 {
        let map =
            if count == 499 { MAP.replace('@', ".") } else { MAP.replace('C', if count % 2 == 0 { "D" } else { "." }) };
        server.say(format!("DISPLAY\n{map}").as_bytes());
    }
    terminal.wait(|screen| screen.contents().contains("|................C.|") && !screen.contents().contains('@'));
    leave(terminal);
}

#[test]
fn a_bot_plays_by_itself_and_can_be_stopped() {
    let server = Server::with_map(MAP);
    let terminal = Terminal::start(&path(), &["127.0.0.1", &server.port(), "bot"], 80, 10);
    server.wait_for_many("KEY ", 2);
    terminal.wait_for("+--");
    leave(terminal);
}
