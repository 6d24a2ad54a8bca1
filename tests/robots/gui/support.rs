use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use bytes::BytesMut;
use netcore::wire::{Encode, Writer};
use robots::{Bomb, DrawMessage, GamePicture, Parameters, Player, PlayerId, Position};
use testkit::terminal::Terminal;

use crate::programs;

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
