use std::{
    fmt::Write as _,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    process::Command,
};

use netcore::wire::read_datagram;
use robots::{DrawMessage, GamePicture};
use testkit::{PATIENCE, process::Process, terminal::Terminal};

use crate::programs::{path, program};

/// Server "s" for two players on 5 x 4 fields, with games of 3 turns, radius 1 and timer 2.
pub(super) const HELLO: &str = "00 0173 02 0005 0004 0003 0001 0002";
pub(super) const ANN: &str = "00 03416e6e 0178";
pub(super) const NOBODY: &str = "01 00 00";
/// Both players and the first turn: they are at (1,1) and (4,3), and a block is at (2,1).
pub(super) const STARTED: &str = "02 00000002 010000 0003416e6e0178";
pub(super) const TURN_0: &str = "03 0000 00000003 02 00 00010001 02 01 00040003 03 00020001";
/// Of Ann's client.
pub(super) const JOIN: &str = "00 03416e6e";

/// The picture after the Hello.
pub(super) const LOBBY: &str = "00 0173 02 0005 0004 0003 0001 0002 00000000";
pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks_exact(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

pub(super) struct Gui(pub(super) UdpSocket);

impl Gui {
    pub(super) fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    pub(super) fn address(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }

    pub(super) fn receive(&self) -> Vec<u8> {
        let mut buffer = vec![0; 1 << 16];
        let length = self.0.recv(&mut buffer).expect("a picture comes");
        buffer.truncate(length);
        buffer
    }

    pub(super) fn expect(&self, picture: &str) {
        assert_eq!(hex(&self.receive()), hex(&bytes(picture)));
    }

    pub(super) fn picture(&self) -> DrawMessage {
        read_datagram(&self.receive(), u32::MAX).unwrap()
    }

    pub(super) fn game(&self) -> GamePicture {
        loop {
            if let DrawMessage::Game(picture) = self.picture() {
                return picture;
            }
        }
    }

    pub(super) fn send(&self, port: u16, input: &[u8]) {
        self.0.send_to(input, ("127.0.0.1", port)).unwrap();
    }
}

pub(super) struct ScriptedServer(pub(super) TcpListener);

impl ScriptedServer {
    pub(super) fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    pub(super) fn accept(&self) -> Connection {
        let (stream, _) = self.0.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Connection(stream)
    }
}

pub(super) struct Connection(pub(super) TcpStream);

impl Connection {
    pub(super) fn send(&mut self, message: &str) {
        self.0.write_all(&bytes(message)).unwrap();
    }

    pub(super) fn expect(&mut self, message: &str) {
        let mut received = vec![0; bytes(message).len()];
        self.0.read_exact(&mut received).unwrap();
        assert_eq!(hex(&received), hex(&bytes(message)));
    }

    pub(super) fn receive_all(&mut self) -> String {
        let mut received = vec![];
        // A client that ends with unread data resets the connection.
        let _ = self.0.read_to_end(&mut received);
        hex(&received)
    }
}

pub(super) fn command(server: &impl ToString, arguments: &[&str]) -> Command {
    let mut command = program("robots-client");
    command.args(["-s", &server.to_string()]).args(arguments);
    command
}

/// The GUI port is any free one.
pub(super) fn with_gui(server: &impl ToString, gui: &str, arguments: &[&str]) -> Process {
    let mut command = command(server, &["-d", gui, "-p", "0", "--bind", "127.0.0.1"]);
    Process::start(command.args(arguments))
}

/// Also returns the client's GUI port, and its connection to a scripted server.
pub(super) fn start(gui: &Gui, arguments: &[&str]) -> (Process, u16, Connection) {
    let server = ScriptedServer::new();
    let client = with_gui(&server.address(), &gui.address(), &[&["-n", "Ann"], arguments].concat());
    let (port, connection) = (client.port(), server.accept());
    (client, port, connection)
}

/// Also returns the client's connection to a scripted server.
pub(super) fn in_terminal(arguments: &[&str]) -> (Terminal, Connection) {
    let server = ScriptedServer::new();
    let address = server.address().to_string();
    let all = [&["-s", &address, "--gui", "-n", "Ann"], arguments].concat();
    let terminal = Terminal::start(&path("robots-client"), &all, 80, 24);
    (terminal, server.accept())
}
