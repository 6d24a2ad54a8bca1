use std::{ffi::OsStr, net::TcpListener, os::unix::ffi::OsStrExt};

use robots::{Action, Parameters, ServerMessage};
use testkit::{
    eventually,
    process::{Finished, Process},
    stream::connect_from,
};

use super::{Client, Server, text};
use crate::programs::program;

const REQUIRED: &str = "-c 2 -x 10 -y 10";

/// The port is in use: the arguments must be rejected before it is bound.
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
fn invalid_arguments_are_rejected_by_name_before_the_port_is_bound() {
    let name = "n".repeat(256);
    let rows = [
        ("-x 10 -y 10", "--players-count"),
        ("-c 0 -x 10 -y 10", "'0'"),
        ("-c 2 -x 65536 -y 10", "from 1 to 65535"),
        ("-c 2 -x 10 -y 10 -d 18446744073709551616", "18446744073709551615"),
        ("-c 2 -x 10 -y 10 -s 4294967296", "4294967295"),
        ("-c 2 -x 10 -y 10 word", "'word'"),
    ];
    let line = |arguments: &'static str| arguments.split_whitespace().map(OsStr::new).collect::<Vec<_>>();
    let mut rows: Vec<_> = rows.into_iter().map(|(arguments, named)| (line(arguments), named)).collect();
    for (name, named) in
        [(OsStr::new(&name), "at most 255 bytes, and this one has 256"), (OsStr::from_bytes(b"ab\xff"), r"'ab\xff'")]
    {
        rows.push(([line(REQUIRED), vec!["-n".as_ref(), name]].concat(), named));
    }
    for (arguments, named) in rows {
        let finished = refused(&arguments);
        assert!(finished.stderr.contains(named), "{arguments:?}: {named} is not in\n{}", finished.stderr);
    }
}

#[test]
fn short_and_long_options_and_defaults_reach_the_hello() {
    let longest = "ż".repeat(127);
    let short = "-b 65535 -c 255 -e 0 -l 65535 -x 65535 -y 1 -k 0 -d 0 -s 0";
    let long = "--bomb-timer=7 --players-count 3 --turn-duration=100 --explosion-radius 6 --initial-blocks=5 \
                --game-length 9 --seed 4294967295 --size-x=11 --size-y 12";
    for (arguments, name, numbers) in [
        (short, Some(["-n", &longest]), (255, 65_535, 1, 65_535, 0, 65_535)),
        (long, Some(["--server-name", ""]), (3, 11, 12, 9, 6, 7)),
        (REQUIRED, None, (2, 10, 10, 300, 4, 5)),
    ] {
        let mut command = program("robots-server");
        command.args(["--port=0", "--bind", "127.0.0.1"]).args(arguments.split_whitespace());
        let server = Server::of(command.args(name.iter().flatten()));
        let hello = Client::connect(server.v4()).hello();
        match name {
            Some([_, name]) => assert_eq!(hello.server_name, text(name)),
            None => assert!(!hello.server_name.is_empty(), "this machine has a name"),
        }
        let Parameters { players_count, size_x, size_y, game_length, explosion_radius, bomb_timer, .. } = hello;
        assert_eq!((players_count, size_x, size_y, game_length, explosion_radius, bomb_timer), numbers);
    }
}

#[test]
fn a_port_in_use_is_reported_and_free_after_a_kill() {
    let first = Server::start(REQUIRED);
    let port = first.port.to_string();
    let mut command = program("robots-server");
    let second = Process::run(command.args(REQUIRED.split(' ')).args(["--bind", "127.0.0.1", "-p", &port]));
    assert_eq!((second.code, second.stdout.as_str()), (Some(1), ""));
    let said = format!("port {port} is in use at 127.0.0.1; choose another with --port");
    assert!(second.stderr.contains(&said), "{}", second.stderr);
    // The port is free immediately after the first server ends, although its connections linger.
    let client = first.client();
    first.process.kill();
    assert_eq!(first.process.wait().code, None);
    let third =
        Server::of(program("robots-server").args(REQUIRED.split(' ')).args(["--bind", "127.0.0.1", "-p", &port]));
    third.client();
    drop(client);
}

#[test]
fn signals_stop_the_server_with_status_0() {
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

#[test]
fn server_survives_a_thousand_connections_and_resets_within_a_name() {
    netshell::raise_open_files();
    let server = Server::start("-c 1 -x 5 -y 5 -l 2 -d 20");
    let mut crowd: Vec<Client> = (0..1_000).map(|_| Client::connect(server.v4())).collect();
    for client in &mut crowd {
        client.hello();
    }
    for _ in 0..200 {
        // Closing with unread data resets the connection.
        Client::connect(server.v4()).write(b"\x00\xffhalf a name");
    }
    crowd[500].join("Ann");
    for client in &mut crowd {
        client.await_end();
    }
}

#[test]
fn server_out_of_descriptors_accepts_clients_later() {
    // Half of the descriptors are for the server itself, the rest for a dozen connections.
    let mut command = std::process::Command::new("sh");
    let binary = program("robots-server");
    command.args(["-c", "ulimit -n 24; exec \"$0\" \"$@\""]).arg(binary.get_program());
    command.args("--bind 127.0.0.1 -p 0 -c 1 -x 5 -y 5 -l 65535 -d 2".split(' '));
    let server = Server::of(&mut command);
    let mut ann = server.client();
    ann.join("Ann");
    let crowd: Vec<Client> = (0..40).map(|_| Client::connect(server.v4())).collect();
    server.process.wait_stderr("that there is no room is said", |log| log.contains("too many are open").then_some(()));
    let mut carol = Client::over(connect_from([127, 0, 0, 2].into(), server.v4()));
    carol.hello();
    ann.await_turn(50);
    ann.act(Action::PlaceBomb);
    ann.await_message(|message| match message {
        ServerMessage::Turn { events, .. } if !events.is_empty() => Some(()),
        _ => None,
    });
    drop(crowd);
    // The server detects the disconnects after a moment.
    eventually("no client is accepted", || {
        let mut bob = Client::connect(server.v4());
        let is_in = bob.read().is_some();
        if is_in {
            bob.await_turn(1);
        }
        is_in
    });
}
