use serde_json::Value;
use testkit::hostile::{MALFORMED, Malformed};

use super::Server;

#[test]
fn json_logs_are_one_object_a_line() {
    let server = Server::start(&["--log", "debug", "--log-format", "json"]);
    let ann = server.peer();
    ann.play("Ann");
    ann.send("hello");
    ann.expect("ERROR ");
    ann.send("KEY Q");
    ann.expect("QUIT ");
    server.process.terminate();
    let finished = server.process.wait();
    assert!(finished.stderr.lines().count() >= 4, "{}", finished.stderr);
    for line in finished.stderr.lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        for field in ["timestamp", "level", "fields"] {
            assert!(event.get(field).is_some(), "{line}");
        }
    }
    assert!(finished.stderr.contains("malformed message"), "{}", finished.stderr);
}

#[test]
fn nothing_that_a_peer_sends_reaches_a_terminal_raw() {
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
        ann.ask("KEY ?", "ERROR unknown keystroke");
        server.process.terminate();
        let finished = server.process.wait();
        assert_eq!(finished.code, Some(0));
        let log = finished.stderr + &finished.stdout;
        let raw = log.bytes().find(|&byte| byte != b'\n' && !(b' '..=b'~').contains(&byte));
        assert_eq!(raw, None, "{}", log.escape_debug());
        assert!(log.contains("malformed message"));
    }
}

#[test]
fn a_log_can_be_silent() {
    let server = Server::start(&["--log", "off"]);
    let ann = server.peer();
    ann.play("Ann");
    ann.send("hello");
    ann.expect("ERROR ");
    server.process.terminate();
    let finished = server.process.wait();
    assert!(!finished.stderr.contains("INFO") && !finished.stderr.contains("malformed"), "{}", finished.stderr);
}

/// A log that nobody takes, here on a full disk, ends nothing and changes no exit status.
#[cfg(target_os = "linux")]
#[test]
fn a_standard_error_that_takes_nothing_stops_nobody() {
    use std::{
        fs::OpenOptions,
        io::{BufRead, BufReader},
        process::Stdio,
    };

    let full = || Stdio::from(OpenOptions::new().write(true).open("/dev/full").unwrap());
    let mut server =
        super::server().args(["--bind", "127.0.0.1"]).stdout(Stdio::piped()).stderr(full()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port: u16 = line.split_whitespace().last().unwrap().parse().unwrap();
    let peer = testkit::peer::Peer::new(([127, 0, 0, 1], port).into());
    peer.send("x");
    peer.expect("ERROR ");
    peer.send("PLAY Ann");
    peer.expect("OK A");
    peer.send("KEY Q");
    peer.expect("QUIT ");
    server.kill().unwrap();
    server.wait().unwrap();
    let refused = super::server().arg("no such map").stderr(full()).status().unwrap();
    assert_eq!(refused.code(), Some(1));
}
