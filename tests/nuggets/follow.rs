use std::process::Command;

use testkit::{process::Process, signpost::Signpost};

use super::{HALL, Server, terminal::support::KillableServer};
use crate::programs::program;

const MAP: &str = "+----------+\n|...@......|\n+----------+\n";

fn client(arguments: &[&str]) -> Process {
    let mut command: Command = program("nuggets-client");
    Process::start_with_stdin(command.args(["--log", "info"]).args(arguments))
}

#[test]
fn a_player_keeps_its_seat_when_the_room_has_another_port() {
    let signpost = Signpost::new();
    let (first, second) = (KillableServer::start(), KillableServer::start());
    let mut ann = client(&["127.0.0.1", &first.port().to_string(), "Ann", "--directory", &signpost.url()]);
    let address = first.admit(b"PLAY Ann", MAP);
    ann.write("h");
    assert_eq!(first.expect(b"KEY h"), address);
    // The server has stopped. The directory does not locate the room yet, and then sends an invalid response.
    drop(first);
    ann.write("h");
    signpost.wait_for_request();
    signpost.respond("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]");
    ann.wait_stderr("a word about it", |text| text.contains("sent an invalid description of the room").then_some(()));
    signpost.set_location("nuggets", second.port());
    // The server identifies a player by its address.
    assert_eq!(second.expect(b"KEY ?"), address);
    second.send(address, &[b"ERROR unknown keystroke", b"DISPLAY\n+----------+\n|..@.......|\n+----------+\n"]);
    ann.write("l");
    assert_eq!(second.expect(b"KEY l"), address);
    ann.write("Q");
    second.expect(b"KEY Q");
    second.send(address, &[b"QUIT Thanks for playing!"]);
    let finished = ann.wait_for_end();
    assert_eq!((finished.code, finished.stdout.trim()), (Some(0), "Thanks for playing!"), "{}", finished.stderr);
}

#[test]
fn client_joins_again_where_its_seat_is_unknown() {
    let signpost = Signpost::new();
    let map = testkit::TempDir::new();
    let map = map.file("hall.txt", HALL);
    let before = Server::start(&[&map, "1"]);
    signpost.set_location("nuggets", before.port);
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
    signpost.set_location("nuggets", after.port);
    ann.write("h");
    loop {
        if watcher.expect("DISPLAY").contains('A') {
            break;
        }
    }
    ann.write("Q");
    assert_eq!(ann.wait_for_end().ended(0).stdout.trim(), "Thanks for playing!");
}
