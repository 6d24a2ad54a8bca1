use std::{ffi::OsStr, net::TcpListener, os::unix::ffi::OsStrExt};

use testkit::process::{Finished, Process};

use super::{Client, Server, text};
use crate::programs::program;

const REQUIRED: &str = "-c 2 -x 10 -y 10";

/// Runs the server with a port that is in use, so that it says so if it gets as far as binding one.
fn refused(arguments: &[&OsStr]) -> Finished {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = program("robots-server");
    let finished = Process::run(command.args(["--bind", "127.0.0.1", "-p", &port]).args(arguments));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{arguments:?}: {}", finished.stderr);
    assert!(!finished.stderr.contains("in use"), "{arguments:?} were found good");
    assert!(!finished.stderr.contains("panicked"), "{arguments:?}: {}", finished.stderr);
    finished
}

#[test]
fn without_arguments_it_ends_with_1_and_shows_a_command_that_works() {
    let finished = Process::run(&mut program("robots-server"));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""));
    let lines: Vec<&str> = finished.stderr.lines().collect();
    assert!(lines[0].contains("required"), "{}", finished.stderr);
    assert_eq!(lines.last(), Some(&"For example: cargo run -p robots-server -- -c 2 -x 10 -y 10"));
}

#[test]
fn what_is_not_right_is_refused_and_named() {
    let name = "n".repeat(256);
    let rows = [
        ("-x 10 -y 10", "--players-count"),
        ("-c 2 -x 10", "--size-y"),
        ("-c 0 -x 10 -y 10", "'0'"),
        ("-c 256 -x 10 -y 10", "from 1 to 255"),
        ("-c 2 -x 0 -y 10", "'0'"),
        ("-c 2 -x 10 -y 0", "'0'"),
        ("-c 2 -x 65536 -y 10", "from 1 to 65535"),
        ("-c -2 -x 10 -y 10", "'-2'"),
        ("-c 2.0 -x 10 -y 10", "'2.0'"),
        ("-c 2x -x 10 -y 10", "'2x'"),
        ("-c 2 -x 10 -y 10 -b 0", "'0'"),
        ("-c 2 -x 10 -y 10 -b 65536", "'65536'"),
        ("-c 2 -x 10 -y 10 -d 18446744073709551616", "18446744073709551615"),
        ("-c 2 -x 10 -y 10 -e -1", "'-1'"),
        ("-c 2 -x 10 -y 10 -k 65536", "'65536'"),
        ("-c 2 -x 10 -y 10 -l 1e3", "'1e3'"),
        ("-c 2 -x 10 -y 10 -s 4294967296", "4294967295"),
        ("-c 2 -x 10 -y 10 --seed=", "''"),
        ("-c 2 -x 10 -y 10 --initial-blocks=0x5", "'0x5'"),
        ("-c 2 -x 10 -y 10 -q", "'-q'"),
        ("-c 2 -x 10 -y 10 word", "'word'"),
        ("-c 2 -c 2 -x 10 -y 10", "multiple times"),
        ("-c 2 -x 10 -y 10 --bomb-timer 3 -b 3", "multiple times"),
        ("-c 2 -x 10 -y 10 --bind localhost", "as in 127.0.0.1"),
    ];
    for (arguments, named) in rows {
        // What stands here twice is wrong twice.
        let line = arguments.split_whitespace().map(OsStr::new);
        let finished = refused(&line.collect::<Vec<_>>());
        assert!(finished.stderr.contains(named), "{arguments}: {named} is not in\n{}", finished.stderr);
    }
    let with =
        |last: &[&OsStr]| refused(&REQUIRED.split(' ').map(OsStr::new).chain(last.iter().copied()).collect::<Vec<_>>());
    let finished = with(&["-n".as_ref(), name.as_ref()]);
    assert!(finished.stderr.contains("at most 255 bytes, and this one has 256"), "{}", finished.stderr);
    let finished = with(&["-n".as_ref(), OsStr::from_bytes(b"ab\xff")]);
    assert!(finished.stderr.contains(r"'ab\xff'"), "{}", finished.stderr);
}

#[test]
fn every_option_reaches_the_hello_short_and_long() {
    let longest = "ż".repeat(127);
    let short = [
        "-b", "65535", "-c", "255", "-e", "0", "-l", "65535", "-x", "65535", "-y", "1", "-k", "0", "-d", "0", "-s", "0",
    ];
    let server =
        Server::of(program("robots-server").args(short).args(["-n", &longest, "-p", "0", "--bind", "127.0.0.1"]));
    let hello = Client::connect(server.v4()).hello();
    assert_eq!(hello.server_name, text(&longest));
    let numbers =
        (hello.players_count, hello.size_x, hello.size_y, hello.game_length, hello.explosion_radius, hello.bomb_timer);
    assert_eq!(numbers, (255, 65_535, 1, 65_535, 0, 65_535));

    let long = [
        "--bomb-timer=7",
        "--players-count",
        "3",
        "--turn-duration=100",
        "--explosion-radius",
        "6",
        "--initial-blocks=5",
        "--game-length",
        "9",
        "--server-name=",
        "--port=0",
        "--seed",
        "4294967295",
        "--size-x=11",
        "--size-y",
        "12",
    ];
    let server = Server::of(program("robots-server").args(long).args(["--bind", "127.0.0.1"]));
    let hello = Client::connect(server.v4()).hello();
    assert_eq!(hello.server_name, text(""));
    let numbers =
        (hello.players_count, hello.size_x, hello.size_y, hello.game_length, hello.explosion_radius, hello.bomb_timer);
    assert_eq!(numbers, (3, 11, 12, 9, 6, 7));
}

#[test]
fn the_others_have_the_usual_values() {
    let server = Server::start(REQUIRED);
    let hello = Client::connect(server.v4()).hello();
    let numbers =
        (hello.players_count, hello.size_x, hello.size_y, hello.game_length, hello.explosion_radius, hello.bomb_timer);
    assert_eq!(numbers, (2, 10, 10, 300, 4, 5));
    assert!(!hello.server_name.is_empty(), "this machine has a name");
}

#[test]
fn help_is_asked_for_and_goes_to_standard_output() {
    for option in ["-h", "--help"] {
        let finished = Process::run(program("robots-server").arg(option));
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""));
        for word in "-b -c -d -e -h -k -l -n -p -s -x -y --turn-duration --initial-blocks".split(' ') {
            assert!(finished.stdout.contains(word), "{word}");
        }
    }
}

#[test]
fn it_listens_on_ipv4_and_ipv6_at_one_port() {
    let server = Server::of(program("robots-server").args(REQUIRED.split(' ')).args(["-p", "0"]));
    // A machine without IPv6 has one address less.
    let hosts = if TcpListener::bind("[::1]:0").is_ok() { &["127.0.0.1", "[::1]"][..] } else { &["127.0.0.1"] };
    for host in hosts {
        let address = format!("{host}:{}", server.port).parse().unwrap();
        let mut client = Client::connect(address);
        client.hello();
        client.join("Ann");
        let expected = client.address();
        let accepted = client.await_message(|message| match message {
            robots::ServerMessage::AcceptedPlayer { player, .. } if *player.address == *expected => {
                Some(player.clone())
            }
            _ => None,
        });
        assert_eq!(accepted.name, text("Ann"));
    }
    let joining = format!("-s localhost:{} --gui", server.port);
    server.process.wait_stderr("how to join", |log| log.contains(&joining).then_some(()));
}

#[test]
fn a_port_in_use_is_said() {
    let first = Server::start(REQUIRED);
    let port = first.port.to_string();
    let mut command = program("robots-server");
    let second = Process::run(command.args(REQUIRED.split(' ')).args(["--bind", "127.0.0.1", "-p", &port]));
    assert_eq!((second.code, second.stdout.as_str()), (Some(1), ""));
    let said = format!("port {port} is in use at 127.0.0.1; choose another with --port");
    assert!(second.stderr.contains(&said), "{}", second.stderr);
    // The port is free at once when the first is gone, although its connections linger.
    let client = first.client();
    first.process.kill();
    assert_eq!(first.process.wait().code, None);
    let third =
        Server::of(program("robots-server").args(REQUIRED.split(' ')).args(["--bind", "127.0.0.1", "-p", &port]));
    third.client();
    client.leave();
}

#[test]
fn signals_end_it_in_order() {
    for signal in [Process::terminate, Process::interrupt] {
        let server = Server::start("-c 1 -x 3 -y 3 -d 60000");
        let mut client = server.client();
        client.join("Ann");
        client.await_turn(0);
        signal(&server.process);
        assert_eq!(server.process.wait().code, Some(0));
        assert_eq!(client.rest(), []);
    }
}
