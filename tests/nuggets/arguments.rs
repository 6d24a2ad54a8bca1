use std::{ffi::OsStr, net::UdpSocket, os::unix::ffi::OsStrExt};

use testkit::{
    TempDir,
    process::{Finished, Process},
};

use super::{CORRIDOR, server};

/// The port is in use: the arguments must be rejected before it is bound.
fn refused(arguments: &[&str]) -> Finished {
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let finished = Process::run(server().args(["--bind", "127.0.0.1", "--port", &port]).args(arguments));
    assert_eq!(finished.stdout, "", "{arguments:?}");
    assert!(!finished.stderr.contains("in use"), "{arguments:?} were found good: {}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{arguments:?}: {}", finished.stderr);
    finished
}

#[test]
fn wrong_usage_ends_with_2_and_names_what_is_wrong() {
    let maps = TempDir::new();
    let map = maps.file("map.txt", CORRIDOR);
    let map = map.as_str();
    let list: &[(&[&str], &[&str])] = &[
        (&[map, "0"], &["'0'", "a whole number above 0"]),
        (&[map, "abc"], &["'abc'", "a whole number above 0"]),
        (&[map, "99999999999999999999"], &["99999999999999999999", "at most"]),
        (&[map, "1", "--seed", "2"], &["--seed"]),
        (&[map, "--bots", "5"], &["bots are clients: nuggets-client localhost PORT --bots 5"]),
        (&["--bind", "foo"], &["'foo'", "as in 127.0.0.1"]),
        (&["--log-format", "xml"], &["'xml'", "json"]),
        (&["--minpiles", "5", "--maxpiles", "3"], &["--minpiles 5 is more than --maxpiles 3;"]),
        (&["--gold", "5"], &["--gold 5 is too little for --minpiles 10 (the default)", "--minpiles with 1 to 5"]),
        (&["--gold", "1000001"], &["'1000001'", "expected a whole number from 1 to 1000000, as in 250"]),
        (&["--steal-percent", "101"], &["'101'", "0 to 100, as in 25"]),
    ];
    for (arguments, named) in list {
        let finished = refused(arguments);
        assert_eq!(finished.code, Some(2), "{arguments:?}: {}", finished.stderr);
        let first = finished.stderr.lines().next().unwrap_or_default();
        for named in *named {
            assert!(finished.stderr.contains(named), "{arguments:?}: {named:?} is not in\n{}", finished.stderr);
        }
        assert!(first.len() > 10, "{arguments:?}: the first line should say it: {first:?}");
    }
}

#[test]
fn a_port_out_of_range_and_an_argument_that_is_not_utf_8_are_named() {
    for wrong in ["65536", "-1"] {
        let finished = Process::run(server().args(["--port", wrong]));
        let said = format!("'{wrong}' for '--port <PORT>': expected a whole number from 0 to 65535, as in 2000");
        assert!(finished.code == Some(2) && finished.stderr.contains(&said), "{}", finished.stderr);
    }
    let foreign = OsStr::from_bytes(b"4\xff2");
    for option in ["--port", "--bind", "--log"] {
        let finished = Process::run(server().arg(option).arg(foreign));
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(2), ""), "{option}");
        let first = finished.stderr.lines().next().unwrap_or_default();
        assert!(first.contains("UTF-8") && first.contains(r"'4\xff2'"), "{option}: {first}");
    }
}

#[test]
fn a_map_that_cannot_be_read_or_played_ends_with_1_and_one_line() {
    let maps = TempDir::new();
    let wide = format!("{}\n", ".".repeat(65_499));
    let endless = ".\n".repeat(200_000);
    let files: [(&str, &[u8], &str); 5] = [
        ("empty.txt", b"", "the map is empty"),
        ("escape.txt", b"+--+\n|.\x1b|\n+--+\n", "row 2, column 3: '\\x1b'"),
        ("rock.txt", b"    \n    \n", "no room spot"),
        ("wide.txt", wide.as_bytes(), "65508 bytes"),
        ("endless.txt", endless.as_bytes(), "larger than"),
    ];
    let mut cases: Vec<(String, &str)> =
        files.into_iter().map(|(name, content, said)| (maps.file(name, content), said)).collect();
    for unreadable in [maps.path().join("missing.txt"), maps.path().to_owned()] {
        cases.push((unreadable.display().to_string(), "cannot read map"));
    }
    cases.push(("42".to_owned(), "cannot read map '42' (a seed alone is --seed 42): "));
    for (path, said) in cases {
        let finished = refused(&[&path]);
        assert_eq!(finished.code, Some(1), "{path}: {}", finished.stderr);
        let [line] = finished.stderr.lines().collect::<Vec<_>>()[..] else { panic!("{path}: {}", finished.stderr) };
        assert!(line.contains(said) && line.contains(&format!("'{path}'")), "{path}: {line}");
        assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{path}: {line:?}");
    }
}

#[test]
fn a_ragged_map_is_played_with_a_warning() {
    let maps = TempDir::new();
    let path = maps.file("ragged.txt", "+----+  \r\n|....|\r\n+----+");
    let server = super::Server::start(&[&path]);
    assert_eq!(server.peer().play("Ann").size, (3, 8));
    let warned = |text: &'static str| server.process.wait_stderr(text, |stderr| stderr.contains(text).then_some(()));
    warned("carriage returns were dropped");
    warned("row 2 is 6 columns wide, expected 8");
    warned("does not end in a newline");
}
