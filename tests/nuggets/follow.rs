use std::{
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    process::Command,
};

use testkit::{PATIENCE, process::Process, signpost::Signpost};

use super::{HALL, Server};
use crate::programs::program;

/// A scripted server.
struct Script(UdpSocket);

impl Script {
    fn new() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self(socket)
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// Waits for `message` and ignores other messages. Returns the sender.
    fn expect(&self, message: &str) -> SocketAddr {
        let mut buffer = [0; 200];
        loop {
            let (length, from) = self.0.recv_from(&mut buffer).unwrap_or_else(|error| panic!("no {message}: {error}"));
            if &buffer[..length] == message.as_bytes() {
                return from;
            }
        }
    }

    fn say(&self, to: SocketAddr, messages: &[&str]) {
        for message in messages {
            self.0.send_to(message.as_bytes(), to).unwrap();
        }
    }
}

fn welcome(letter: char) -> [String; 4] {
    [
        format!("OK {letter}"),
        "GRID 3 12".into(),
        "GOLD 0 0 250".into(),
        "DISPLAY\n+----------+\n|...@......|\n+----------+\n".into(),
    ]
}

fn client(arguments: &[&str]) -> Process {
    let mut command: Command = program("nuggets-client");
    Process::start_with_stdin(command.args(["--log", "info"]).args(arguments))
}

#[test]
fn a_player_keeps_its_seat_when_the_room_has_another_port() {
    let signpost = Signpost::new();
    let (first, second) = (Script::new(), Script::new());
    let mut ann = client(&["127.0.0.1", &first.port().to_string(), "Ann", "--directory", &signpost.url()]);
    let address = first.expect("PLAY Ann");
    first.say(address, &welcome('A').each_ref().map(String::as_str));
    ann.write("h");
    assert_eq!(first.expect("KEY h"), address);
    // The server has stopped. The directory does not locate the room yet, and then sends an invalid response.
    drop(first);
    ann.write("h");
    signpost.is_asked();
    signpost.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
    ann.wait_stderr("a word about it", |text| text.contains("sent an invalid description of the room").then_some(()));
    signpost.point("nuggets", second.port());
    // The server identifies a player by its address.
    assert_eq!(second.expect("KEY ?"), address);
    second.say(address, &["ERROR unknown keystroke", "DISPLAY\n+----------+\n|..@.......|\n+----------+\n"]);
    ann.write("l");
    assert_eq!(second.expect("KEY l"), address);
    ann.write("Q");
    second.expect("KEY Q");
    second.say(address, &["QUIT Thanks for playing!"]);
    let finished = ann.wait_for_end();
    assert_eq!((finished.code, finished.stdout.trim()), (Some(0), "Thanks for playing!"), "{}", finished.stderr);
}

#[test]
fn client_joins_again_where_its_seat_is_unknown() {
    let signpost = Signpost::new();
    let map = testkit::TempDir::new();
    let map = map.file("hall.txt", HALL);
    let before = Server::start(&[&map, "1"]);
    signpost.point("nuggets", before.port);
    // The client gets the address from the directory.
    let mut ann = client(&["--directory", &signpost.url(), "Ann"]);
    let watcher = before.peer();
    watcher.spectate();
    loop {
        if watcher.expect("DISPLAY").contains('A') {
            break;
        }
    }
    before.process.kill();
    before.process.wait_for_end();
    let after = Server::start(&[&map, "1"]);
    let watcher = after.peer();
    watcher.spectate();
    signpost.point("nuggets", after.port);
    ann.write("h");
    loop {
        if watcher.expect("DISPLAY").contains('A') {
            break;
        }
    }
    ann.write("Q");
    assert_eq!(ann.wait_for_end().ended(0).stdout.trim(), "Thanks for playing!");
}
