//! The program in a real terminal.

use std::net::UdpSocket;

use rustix::process::Signal;
use testkit::{TempDir, terminal::Terminal};

use super::support::{Client, encoded, game, lobby, path, port};

fn leave(mut terminal: Terminal) {
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}

#[test]
fn from_lobby_to_game_and_back() {
    let (client, mut terminal) = Client::with_gui(&["--follow", "Ann"], 60, 8);
    client.show(&lobby(&["Ann"]));
    terminal.wait_for_lines(&["Lobby of here", "Players 1 of 2, waiting for 1 more"]);
    terminal.wait_for(">A   0 Ann");
    assert!(terminal.look(|screen| screen.alternate_screen() && screen.hide_cursor()));
    client.show(&game(5));
    terminal.wait_for_lines(&[
        "Turn 5 of 20 [#####---------------]  here",
        "┌────────────┐     id name                           deaths",
        "│.    7.  B  │  B   1 Bob                                 1",
        "│###.  ***.  │ >A   0 Ann                                 3",
        "│.  A  .  .  │",
        "└────────────┘",
    ]);
    client.show(&lobby(&[]));
    terminal.wait_for("The game was cancelled in turn 5 of 20");
    terminal.wait_for("Enter: again  L: lobby");
    terminal.press(b"L");
    terminal.wait_for_lines(&["Lobby of here", "Players 0 of 2, waiting for 2 more"]);
    leave(terminal);
}

#[test]
fn each_key_is_one_datagram() {
    let (client, mut terminal) = Client::with_gui(&[], 60, 12);
    // Keys are sent even before the first picture arrives.
    let typed: [(&[u8], &[u8]); 14] = [
        (b"w", &[2, 0]),
        (b"D", &[2, 1]),
        (b"s", &[2, 2]),
        (b"A", &[2, 3]),
        (b"\x1b[A", &[2, 0]),
        (b"\x1bOC", &[2, 1]),
        (b"\x1b[B", &[2, 2]),
        (b"\x1b[D", &[2, 3]),
        (b" ", &[0]),
        (b"J", &[0]),
        (b"z", &[0]),
        (b"k", &[1]),
        (b"X", &[1]),
        // Other keys are not sent, but the game key after them is.
        (b"\ty0\x1b[1;2Aq\xc3\xa9\x1b[3~z", &[0]),
    ];
    for (bytes, message) in typed {
        terminal.press(bytes);
        client.hear(message);
    }
    client.show(&game(0));
    terminal.wait_for("Turn 0 of 20");
    // While the help is shown, keys are not sent.
    terminal.press(b"?");
    terminal.wait_for("place a bomb");
    terminal.press(b"w");
    terminal.wait(|screen| !screen.contents().contains("place a bomb"));
    terminal.press(b"x");
    client.hear(&[1]);
    leave(terminal);
}

#[test]
fn what_is_no_picture_is_counted_logged_and_ignored() {
    let directory = TempDir::new();
    let log = directory.path().join("log");
    let (client, terminal) = Client::with_gui(&["--log-file", log.to_str().unwrap()], 70, 10);
    client.show(&game(3));
    terminal.wait_for("Turn 3 of 20");
    let picture = encoded(&game(4));
    let mut longer = picture.clone();
    longer.push(0);
    let mut not_utf8 = picture.clone();
    not_utf8[2] = 0xff;
    let garbage: [&[u8]; 7] =
        [b"", b"\x02", b"\xff\xff", &picture[..picture.len() - 1], &longer, &not_utf8, b"\x01\x00\xff\xff\xff\xff"];
    for datagram in garbage {
        client.send(datagram);
    }
    terminal.wait_for("7 unreadable.  Move:");
    terminal.wait_for("Turn 3 of 20");
    client.show(&game(5));
    terminal.wait_for("Turn 5 of 20");
    leave(terminal);
    let logged = std::fs::read_to_string(log).unwrap();
    assert_eq!(logged.matches("ignored a datagram that is not a picture").count(), 7, "{logged}");
}

#[test]
fn signals_and_control_keys_leave_and_give_the_terminal_back() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (client, terminal) = Client::with_gui(&[], 60, 10);
        client.show(&game(1));
        terminal.wait_for("Turn 1");
        terminal.signal(signal);
        assert_eq!(terminal.end(), 0, "{signal:?}");
    }
    for key in [b"\x03", b"\x04"] {
        let (_client, mut terminal) = Client::with_gui(&[], 60, 10);
        terminal.press(key);
        assert_eq!(terminal.end(), 0);
    }
}

#[test]
fn pictures_come_over_ipv4_and_ipv6() {
    let mut terminal = Terminal::start(&path(), &["-p", "0"], 60, 10);
    let port = port(&terminal);
    let send = |from: &str, to: &str, turn| {
        UdpSocket::bind(from).unwrap().send_to(&encoded(&game(turn)), (to, port)).unwrap();
        terminal.wait_for(&format!("Turn {turn} of 20"));
    };
    send("127.0.0.1:0", "127.0.0.1", 6);
    // Not every machine has IPv6.
    if UdpSocket::bind("[::1]:0").is_ok() {
        send("[::1]:0", "::1", 7);
    }
    terminal.press(b"Q");
    assert_eq!(terminal.end(), 0);
}
