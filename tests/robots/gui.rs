use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bytes::BytesMut;
use netcore::wire::{Encode, Writer};
use robots::{Bomb, DrawMessage, GamePicture, Parameters, Player, PlayerId, Position};
use testkit::{
    TempDir,
    process::{Finished, Process},
    terminal::Terminal,
};

use crate::programs::{self, program};

fn run(arguments: &[&str]) -> Finished {
    Process::run(program("robots-gui").args(arguments))
}

// Wrong usage, and ports in use.

#[test]
fn wrong_usage_names_what_is_wrong_and_exits_with_1() {
    let cases: [(&[&str], &str); 3] = [
        (&["-p", "65536"], "'65536' for '--port <PORT>': expected a whole number from 0 to 65535, as in 2024"),
        (
            &["-c", "localhost"],
            "'localhost' for '--client-address <HOST:PORT>': the port is missing; expected host:port",
        ),
        (&["--follow", &"x".repeat(256)], "at most 255 bytes, and this one has 256"),
    ];
    for (arguments, said) in cases {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(1), "{arguments:?}");
        assert!(finished.stderr.contains(said), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn a_port_in_use_an_unknown_host_and_a_missing_terminal_are_named() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for (arguments, said) in [
        (
            &["--bind", "127.0.0.1", "-p", &port][..],
            format!("port {port} is in use at 127.0.0.1; choose another with --port"),
        ),
        (&["-p", &port], format!("port {port} is in use")),
        (&["-c", "no..host:2023", "-p", "0"], "cannot find the host 'no..host'".into()),
        (&["-p", "0"], "standard output is not a terminal".into()),
    ] {
        let finished = run(arguments);
        assert_eq!(finished.code, Some(1), "{arguments:?}");
        assert!(finished.stderr.starts_with(&format!("robots-gui: {said}")), "{arguments:?}: {}", finished.stderr);
        assert_eq!(finished.stderr.lines().count(), 1);
    }
}

// The screen after each picture, and the datagram for each key.

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

pub(crate) fn path() -> String {
    programs::path("robots-gui")
}

/// A client without a server.
pub(crate) struct Client {
    socket: UdpSocket,
    gui: SocketAddr,
}

impl Client {
    /// Adds the addresses to `arguments`. Waits until the GUI listens.
    pub(crate) fn with_gui(arguments: &[&str], columns: u16, rows: u16) -> (Self, Terminal) {
        Self::start(|place| {
            let place: Vec<&str> = place.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
            Terminal::start(&path(), &place, columns, rows)
        })
    }

    /// Passes the address arguments to `start`.
    pub(crate) fn start(start: impl FnOnce(&[String]) -> Terminal) -> (Self, Terminal) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = socket.local_addr().unwrap();
        let place = ["-c", &client.to_string(), "--bind", "127.0.0.1", "-p", "0"].map(str::to_owned);
        let terminal = start(&place);
        let gui = (Ipv4Addr::LOCALHOST, port(&terminal)).into();
        socket.set_read_timeout(Some(testkit::PATIENCE)).unwrap();
        (Self { socket, gui }, terminal)
    }

    pub(crate) fn send(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.gui).unwrap();
    }

    pub(crate) fn show(&self, picture: &DrawMessage) {
        self.send(&encoded(picture));
    }

    #[track_caller]
    pub(crate) fn expect(&self, message: &[u8]) {
        let mut buffer = [0; 1024];
        let length = self.socket.recv(&mut buffer).unwrap();
        assert_eq!(buffer[..length], *message);
    }
}

pub(crate) fn port(terminal: &Terminal) -> u16 {
    terminal.wait_for("Waiting for pictures on UDP port");
    let contents = terminal.with_screen(vt100::Screen::contents);
    contents.split_once("UDP port ").unwrap().1.split('.').next().unwrap().parse().unwrap()
}

pub(crate) fn encoded(picture: &DrawMessage) -> Vec<u8> {
    let mut datagram = BytesMut::new();
    picture.encode(&mut Writer::new(&mut datagram));
    datagram.to_vec()
}

fn player(name: &str) -> Player {
    Player { name: name.try_into().unwrap(), address: "127.0.0.1:4000".try_into().unwrap() }
}

/// For two players.
pub(crate) fn lobby(names: &[&str]) -> DrawMessage {
    let parameters = Parameters {
        server_name: "here".try_into().unwrap(),
        players_count: 2,
        size_x: 4,
        size_y: 3,
        game_length: 20,
        explosion_radius: 1,
        bomb_timer: 5,
    };
    let players = (0..).map(PlayerId).zip(names.iter().map(|name| player(name))).collect();
    DrawMessage::Lobby { parameters, players }
}

/// Ann, in column `turn % 4` of the lowest row, and Bob.
pub(crate) fn game(turn: u16) -> DrawMessage {
    let (ann, bob) = (PlayerId(0), PlayerId(1));
    DrawMessage::Game(GamePicture {
        server_name: "here".try_into().unwrap(),
        size_x: 4,
        size_y: 3,
        game_length: 20,
        turn,
        players: [(ann, player("Ann")), (bob, player("Bob"))].into(),
        player_positions: [(ann, Position::new(turn % 4, 0)), (bob, Position::new(3, 2))].into(),
        blocks: vec![Position::new(0, 1)],
        bombs: vec![Bomb { position: Position::new(1, 2), timer: 7 }],
        explosions: vec![Position::new(2, 1)],
        scores: [(ann, 3), (bob, 1)].into(),
    })
}
