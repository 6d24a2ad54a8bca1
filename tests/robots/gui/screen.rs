use std::net::UdpSocket;

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
    terminal.wait_for_lines(&[
        " ROBOTS   Lobby of here                               online",
        "Players 1 of 2, waiting for 1 more",
    ]);
    terminal.wait_for(">A   0 Ann");
    assert!(terminal.with_screen(|screen| screen.alternate_screen() && screen.hide_cursor()));
    client.show(&game(5));
    terminal.wait_for_lines(&[
        " ROBOTS   Turn 5 of 20  [#####...............]  here  online",
        "  ┌────────┐     id name                           deaths",
        "  │.  7. B │  B   1 Bob                                 1",
        "  │██. **. │ >A   0 Ann                                 3",
        "  │. A . . │",
        "  └────────┘",
    ]);
    for (key, message) in [(&b"w"[..], &[2, 0][..]), (b"\x1b[D", &[2, 3]), (b" ", &[0])] {
        terminal.press(key);
        client.expect(message);
    }
    client.show(&lobby(&[]));
    terminal.wait_for("The game was cancelled in turn 5 of 20");
    terminal.wait_for("Enter again   L lobby");
    terminal.press(b"L");
    terminal.wait_for_lines(&[
        " ROBOTS   Lobby of here                               online",
        "Players 0 of 2, waiting for 2 more",
    ]);
    leave(terminal);
}

#[test]
fn malformed_pictures_are_counted_logged_and_ignored() {
    let directory = TempDir::new();
    let log = directory.path().join("log");
    let (client, terminal) = Client::with_gui(&["--log-file", log.to_str().unwrap()], 70, 10);
    client.show(&game(3));
    terminal.wait_for("Turn 3 of 20");
    let picture = encoded(&game(4));
    for datagram in [b"", &picture[..picture.len() - 1], &[&picture[..], b"\0"].concat()] {
        client.send(datagram);
    }
    terminal.wait_for("3 unreadable");
    terminal.wait_for("Turn 3 of 20");
    client.show(&game(5));
    terminal.wait_for("Turn 5 of 20");
    leave(terminal);
    let logged = std::fs::read_to_string(log).unwrap();
    assert_eq!(logged.matches("ignored a datagram that is not a picture").count(), 3, "{logged}");
}

#[test]
fn pictures_arrive_over_ipv4_and_ipv6() {
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
