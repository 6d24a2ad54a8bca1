use std::{
    net::{SocketAddr, UdpSocket},
    process::Command,
};

use serde_json::Value;
use testkit::{
    TempDir,
    hostile::{MALFORMED, Malformed},
    peer::Peer,
    process::{Process, hang_up_counts},
};

use super::{CORRIDOR, HALL, Server, has_ipv6, other_host, server};
use crate::programs::workspace;

#[test]
fn port_is_announced_in_one_line_and_join_command_on_stderr() {
    let server = Server::start(&["--seed", "17"]);
    let port = server.port;
    assert_eq!(server.process.stdout(), format!("Ready to play, waiting at port {port}\n"));
    assert_ne!(port, 0);
    let stderr = server.process.wait_stderr("the hints", |stderr| stderr.contains("--bot").then(|| stderr.to_owned()));
    assert!(stderr.contains("the built-in map with seed 17 on 127.0.0.1"), "{stderr}");
    for command in [
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port} yourname\n"),
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port}\n"),
        format!("cargo run -p nuggets-client -- 127.0.0.1 {port} --bots 3 --level easy\n"),
    ] {
        assert!(stderr.contains(&command), "{command:?} is not in\n{stderr}");
    }
}

#[test]
fn several_addresses_share_one_port_and_one_game() {
    for bind in [&[][..], &["--bind", "127.0.0.1", "--bind", "::1"]] {
        if !has_ipv6() && !bind.is_empty() {
            continue;
        }
        let server = Server::everywhere(bind);
        let ann = Peer::new(server.v4());
        assert_eq!(ann.play("Ann").letter, 'A');
        let open = match (bind, has_ipv6()) {
            ([], true) => "all addresses (IPv4 and IPv6)",
            ([], false) => "all IPv4 addresses",
            _ => "127.0.0.1",
        };
        server.process.wait_stderr(open, |stderr| stderr.contains(open).then_some(()));
        if has_ipv6() {
            let bob = Peer::new(server.v6());
            assert_eq!(bob.play("Bob").letter, 'B');
            ann.expect("DISPLAY\n");
            bob.send("KEY Q");
            ann.expect("DISPLAY\n");
        }
    }
}

#[test]
fn server_continues_after_the_end_of_standard_input() {
    let maps = TempDir::new();
    let mut command = server();
    command.args(["--bind", "127.0.0.1", &maps.file("corridor.txt", CORRIDOR)]);
    let mut process = Process::start_with_stdin(&mut command);
    let server = SocketAddr::from(([127, 0, 0, 1], process.port()));
    process.close_stdin();
    let ann = Peer::new(server);
    ann.play("Ann");
    ann.request("KEY ?", "ERROR unknown keystroke");
    assert!(process.is_running());
}

#[test]
fn a_random_seed_is_printed_and_reproduces_the_game() {
    let picture = || {
        let server = Server::start(&[]);
        let seed = server.process.wait_stderr("the seed", |stderr| {
            let (seed, _) = stderr.split_once("with seed ")?.1.split_once(' ')?;
            Some(seed.to_owned())
        });
        (server.peer().spectate().2, seed)
    };
    let ((one, seed), (other, _)) = (picture(), picture());
    assert_ne!(one, other);
    let again = Server::start(&["--seed", &seed]);
    assert_eq!(again.peer().spectate().2, one);
}

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

#[test]
fn text_from_peers_is_escaped_in_logs() {
    for format in ["text", "json"] {
        let server = Server::start(&["--log", "trace", "--log-format", format]);
        let (ann, watcher, stranger) = (server.peer(), server.peer(), server.peer());
        ann.play("\x1b]0;owned\x07\x1b[2J\t\r\n\u{9b}31m\u{202e}");
        let (_, _, display) = watcher.spectate();
        assert!(display.contains('A'));
        for Malformed { bytes, .. } in MALFORMED {
            for peer in [&ann, &watcher, &stranger] {
                peer.send(bytes);
            }
        }
        for key in 0..=u8::MAX {
            if !key.is_ascii_alphabetic() {
                ann.send([b'K', b'E', b'Y', b' ', key]);
            }
        }
        ann.request("KEY ?", "ERROR unknown keystroke");
        let finished = server.process.stop();
        for line in finished.stderr.lines().filter(|_| format == "json") {
            let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            for field in ["timestamp", "level", "fields"] {
                assert!(event.get(field).is_some(), "{line}");
            }
        }
        let log = finished.stderr + &finished.stdout;
        let raw = log.bytes().find(|&byte| byte != b'\n' && !(b' '..=b'~').contains(&byte));
        assert_eq!(raw, None, "{}", log.escape_debug());
        assert!(log.contains("malformed message"));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn full_standard_error_stops_no_server() {
    let start = |arguments: &str| {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("exec \"$0\" {arguments} 2>/dev/full")).arg(server().get_program());
        Process::start(&mut command)
    };
    let process = start("--bind 127.0.0.1");
    let peer = Peer::new(([127, 0, 0, 1], process.port()).into());
    peer.send("x");
    peer.expect("ERROR ");
    peer.play("Ann");
    peer.send("KEY Q");
    peer.expect("QUIT ");
    process.stop();
    assert_eq!(start("no-such-map").wait().code, Some(1));
}

fn flood(sender: &Peer, message: &[u8], times: usize) -> u64 {
    let mut answers = 0;
    for sent in 1..=times {
        sender.send(message);
        // Drains the socket regularly, so that the replies fit its buffer.
        if sent % 64 == 0 || sent == times {
            answers += sender.pending().len() as u64;
        }
    }
    answers
}

#[test]
fn flood_from_one_host_does_not_block_other_hosts() {
    let Some(elsewhere) = other_host(2) else { return };
    let server = Server::start(&[]);
    let ann = server.peer();
    ann.play("Ann");
    let flooder = Peer::at(elsewhere, server.v4());
    let mut sent = 0;
    let mut newcomers = 0;
    while sent < 50_000 {
        for message in [&b"PLAY "[..], b"SPECTATEX", b"KEY Q", b"\xff\xfe"] {
            flood(&flooder, message, 250);
            sent += 250;
        }
        ann.request("KEY ?", "ERROR unknown keystroke");
        if newcomers < 5 {
            server.peer().request("PLAY Newcomer", "OK ");
            newcomers += 1;
        }
    }
    server.process.wait_stderr("what is dropped is logged", |log| log.contains("dropped a datagram").then_some(()));
    assert!(server.process.is_running());
}

#[test]
fn check_map_reports_breaches_by_row_and_column() {
    let place = TempDir::new();
    let ours = |name: &str| workspace().join("maps").join(name).display().to_string();
    let (main, brawl) = (ours("main.txt"), ours("brawl.txt"));
    let broken = place.file("broken.txt", "+--#\n|..|\n+--+\n");
    let foreign = place.file("foreign.txt", "..x\n");
    let empty = place.file("empty.txt", "");
    let cases: [(&[&str], i32, &[&str]); 6] = [
        (&[], 0, &["the built-in map: the map follows all rules\n"]),
        (&[&main], 0, &["travels in fragments on Ethernet", "the map follows all rules\n"]),
        (&[&brawl], 0, &["fits one Ethernet frame", "the map follows all rules\n"]),
        (
            &[&broken],
            1,
            &["2 room spots are too few", "row 1, column 4: a passage breaks a corner", "columns count from 1\n"],
        ),
        (&[&foreign], 1, &["row 1, column 3: 'x'", "columns count from 1\n"]),
        (&[&empty], 1, &["the map is empty"]),
    ];
    for (map, code, told) in cases {
        let finished = Process::run(server().arg("--check-map").args(map));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(code), ""), "{map:?}");
        for told in told {
            assert!(finished.stdout.contains(told), "{map:?}: {}", finished.stdout);
        }
    }
    let missing = place.path().join("missing.txt");
    let finished = Process::run(server().arg("--check-map").arg(&missing));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "an error and no report");
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}
