use std::net::UdpSocket;

use testkit::process::{Finished, Process};

use crate::programs::program;

fn run(arguments: &[&str]) -> Finished {
    Process::run(program("robots-gui").args(arguments))
}

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
