use rustix::process::Signal;
use testkit::terminal::Terminal;

use super::support::{MAP, Server, leave, path};

const STATUS: &str = "Player A has 0 nuggets (250 nuggets unclaimed).";

// In a window of 80 columns.
fn status(text: &str) -> String {
    let (title, online) = (" NUGGETS   ", "online");
    let space = 80 - title.len() - online.len();
    format!("{title}{}", if text.len() + 2 <= space { format!("{text:space$}{online}") } else { text.to_owned() })
}

// In a window of 80 columns, with the map centred.
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
    assert!(terminal.with_screen(|screen| screen.alternate_screen() && screen.hide_cursor()));

    server.send(b"GOLD 39 39 211");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).  GOLD received: 39", "");
    server.send(b"ERROR unknown keystroke");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).  unknown keystroke", "");
    terminal.press(b"h");
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).", "");
    server.send(format!("DISPLAY\n{}", MAP.replace('@', ".").replace('C', "@")).as_bytes());
    let moved = "+------------------+\n|...........*....B.|";
    wait_for_game(&terminal, "Player A has 39 nuggets (211 nuggets unclaimed).", moved);

    terminal.press(b"Q");
    server.wait_for(&["PLAY Ann", "KEY h", "KEY Q"]);
    terminal.wait_for_lines(&["Thanks for playing!"]);
    assert_eq!(terminal.end(), 0);
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
fn suspended_client_restores_the_terminal_and_continues() {
    let stops: [fn(&mut Terminal); 2] = [|terminal| terminal.press(b"\x1a"), |terminal| terminal.signal(Signal::TSTP)];
    for stop in stops {
        let server = Server::with_map(MAP);
        let mut terminal = Terminal::start_in_shell(&path(), &["127.0.0.1", &server.port(), "Ann"], 80, 10);
        wait_for_game(&terminal, STATUS, "+------------------+");
        stop(&mut terminal);
        terminal.wait_for("It stopped.");
        terminal.wait_for_own_screen();
        // The shell has the terminal, so the program receives no signal.
        terminal.resize(18, 10);
        terminal.press(b"\n");
        terminal.wait_for_lines(&["A 0 gold, 250 left", "+-----------------"]);
        assert!(terminal.with_screen(|screen| screen.alternate_screen() && screen.hide_cursor()));
        terminal.press(b"l");
        server.wait_for(&["PLAY Ann", "KEY l"]);
        leave(terminal);
    }
}

// The program leads its session, so no shell could continue it.
#[test]
fn client_without_a_shell_is_not_suspended() {
    let server = Server::with_map(MAP);
    let mut terminal = play(&server, 80, 10);
    terminal.signal(Signal::TSTP);
    terminal.press(b"\x1al");
    server.wait_for(&["PLAY Ann", "KEY l"]);
    wait_for_game(&terminal, STATUS, "+------------------+");
    leave(terminal);
}
