use std::{
    net::{SocketAddr, UdpSocket},
    process::Command,
};

use testkit::{
    TempDir,
    peer::Peer,
    process::{Process, hang_up_counts},
};

use super::{HALL, Server, has_ipv6, server, start_at};

fn stops_in_order(stop: fn(&Process)) {
    let maps = TempDir::new();
    let server = Server::start(&[&maps.file("hall.txt", HALL), "2"]);
    let (ann, bob, watcher) = (server.peer(), server.peer(), server.peer());
    ann.play("Ann");
    bob.play("Bob");
    watcher.spectate();
    bob.send("KEY Q");
    bob.expect("QUIT Thanks for playing!");
    stop(&server.process);
    for peer in [&ann, &watcher] {
        let last = peer.expect("QUIT ");
        assert!(last.contains("stopped"), "{last}");
        assert!(last.ends_with("\nA          0 Ann\nB          0 Bob"), "{last}");
    }
    assert!(bob.pending().iter().all(|message| !message.starts_with(b"QUIT ")), "nothing more is sent to a quitter");
    let port = server.port;
    let finished = server.process.wait();
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.stdout, format!("Ready to play, waiting at port {port}\n"));
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
}

#[test]
fn sigterm_stops_in_order() {
    stops_in_order(Process::terminate);
}

#[test]
fn sigint_stops_in_order() {
    stops_in_order(Process::interrupt);
}

#[test]
fn sighup_stops_in_order() {
    if hang_up_counts() {
        stops_in_order(Process::hang_up);
    } else {
        eprintln!("these tests run where SIGHUP is ignored, as under nohup, and so does the server");
    }
}

#[test]
fn sighup_does_nothing_to_a_server_that_was_started_where_it_is_ignored() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" --bind 127.0.0.1"]).arg(server().get_program());
    let process = Process::start(&mut command);
    let ann = Peer::new(SocketAddr::from(([127, 0, 0, 1], process.port())));
    process.hang_up();
    ann.play("Ann");
    process.terminate();
    assert!(ann.expect("QUIT ").contains("stopped"));
    assert_eq!(process.wait().code, Some(0));
}

#[test]
fn a_signal_right_behind_the_announcement_stops_in_order() {
    for stop in [Process::terminate, Process::interrupt].repeat(10) {
        let server = Server::start(&[]);
        stop(&server.process);
        assert_eq!(server.process.wait().code, Some(0));
    }
}

#[test]
fn a_port_is_free_again_when_its_server_is_gone() {
    // Whoever binds any free port at that moment may be given this one; that does not happen again and again.
    let again = (0..10).any(|_| {
        let first = Server::start(&[]);
        first.process.terminate();
        assert_eq!(first.process.wait().code, Some(0));
        start_at(first.port).is_some()
    });
    assert!(again);
}

#[test]
fn a_port_in_use_is_named_in_one_line() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let finished = Process::run(server().args(["--bind", "127.0.0.1", "--port", &port]));
    assert_eq!(finished.code, Some(1));
    assert_eq!(finished.stdout, "");
    let [line] = finished.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{}", finished.stderr) };
    assert!(line.starts_with(&format!("nuggets-server: port {port} is in use at 127.0.0.1")), "{line}");
}

#[test]
fn a_port_that_another_server_has_on_every_address_is_in_use() {
    if !has_ipv6() {
        return;
    }
    let first = Server::everywhere(&[]);
    let finished = Process::run(server().args(["--port", &first.port.to_string()]));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains(&format!("port {} is in use", first.port)), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(first.process.is_running());
}

#[test]
fn an_address_of_another_machine_is_refused_in_one_line() {
    // Set aside for examples, so no machine has it.
    let finished = Process::run(server().args(["--bind", "192.0.2.1"]));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    assert!(finished.stderr.contains("192.0.2.1"), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}

#[test]
fn an_idle_player_loses_its_seat_if_the_host_wants_that() {
    let server = Server::start(&["--idle-timeout", "1"]);
    let ann = server.peer();
    ann.play("Ann");
    let last = ann.expect("QUIT ");
    assert!(last.contains("no key for 1 seconds"), "{last}");
    assert!(server.process.is_running());
}
