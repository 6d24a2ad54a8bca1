use std::{
    net::{SocketAddr, UdpSocket},
    process::Command,
};

use testkit::{
    TempDir,
    peer::Peer,
    process::{Process, hang_up_counts},
};

use super::{HALL, Server, has_ipv6, server};

#[test]
fn signals_stop_it_in_order() {
    let maps = TempDir::new();
    let hall = maps.file("hall.txt", HALL);
    let mut signals = vec![Process::terminate as fn(&Process), Process::interrupt];
    if hang_up_counts() {
        signals.push(Process::hang_up);
    } else {
        eprintln!("these tests run where SIGHUP is ignored, as under nohup, and so does the server");
    }
    for stop in signals {
        let server = Server::start(&[&hall, "2"]);
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
        let left = bob.pending();
        assert!(left.iter().all(|message| !message.starts_with(b"QUIT ")), "nothing more is sent to a quitter");
        let port = server.port;
        let finished = server.process.wait().ended(0);
        assert_eq!(finished.stdout, format!("Ready to play, waiting at port {port}\n"));
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn ignored_sighup_does_not_stop_the_server() {
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
fn unusable_address_is_reported_in_one_line() {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let everywhere = Server::everywhere(&[]);
    let all = everywhere.port;
    let mut cases = vec![
        // Reserved for documentation (RFC 5737), so no machine has this address.
        ("--bind 192.0.2.1".to_owned(), "192.0.2.1".to_owned()),
        (format!("--bind 127.0.0.1 --port {port}"), format!("nuggets-server: port {port} is in use at 127.0.0.1")),
    ];
    if has_ipv6() {
        cases.push((format!("--port {all}"), format!("port {all} is in use")));
    }
    for (arguments, named) in cases {
        let finished = Process::run(server().args(arguments.split(' ')));
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{arguments}");
        let [line] = finished.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{}", finished.stderr) };
        assert!(line.contains(&named), "{line}");
    }
    assert!(everywhere.process.is_running());
}
