use std::process::Command;

use serde_json::Value;
use testkit::{
    hostile::{MALFORMED, Malformed},
    peer::Peer,
    process::Process,
};

use super::{Server, server};

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
