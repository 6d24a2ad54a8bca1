//! The terminal does not control the program, so the system sends it no signals.

use std::{
    fs::{self, File},
    io::{Read, Write},
    os::unix::process::CommandExt,
    process::{Child, Stdio},
    sync::Arc,
    thread,
};

use rustix::{
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt},
};
use testkit::{eventually, terminal::Monitor};

use super::support::{Server, client};

const MAP: &str = "+----+\n|@...|\n+----+\n";

/// Returns the client and the window of the terminal.
fn start(server: &Server) -> (Child, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let window = openpt(flags).unwrap();
    grantpt(&window).unwrap();
    unlockpt(&window).unwrap();
    let terminal = ioctl_tiocgptpeer(&window, flags).unwrap();
    // For `--log`, a second thread exists.
    let client = client()
        .args(["127.0.0.1", &server.port(), "Ann", "--log", "trace"])
        .stdin(Stdio::from(terminal.try_clone().unwrap()))
        .stdout(Stdio::from(terminal))
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    (client, window.into())
}

#[test]
fn a_terminal_that_hangs_up_ends_the_game() {
    let server = Server::with_map(MAP);
    let (mut client, window) = start(&server);
    server.wait_for(&["PLAY Ann"]);
    drop(window);
    server.wait_for(&["PLAY Ann", "KEY Q"]);
    assert!(client.wait().unwrap().success());
}

// This process can continue the program, so it can be suspended.
#[test]
fn continued_client_takes_the_terminal_once() {
    let server = Server::with_map(MAP);
    let (mut client, mut window) = start(&server);
    let written = Monitor::new(Vec::new());
    let (reader, log) = (window.try_clone().unwrap(), Arc::clone(&written));
    let reading = thread::spawn(move || {
        let (mut reader, mut chunk) = (reader, [0; 4096]);
        while let Ok(count @ 1..) = reader.read(&mut chunk) {
            log.change(|log| log.extend_from_slice(&chunk[..count]));
        }
    });
    let times = |log: &Vec<u8>, bytes: &[u8]| log.windows(bytes.len()).filter(|window| *window == bytes).count();
    let (taken, given) = (b"\x1b[?1049h", b"\x1b[?1049l");
    let told = |log: &Vec<u8>| log.escape_ascii().to_string();
    written.wait(|log| times(log, taken) == 1, told);
    server.wait_for(&["PLAY Ann"]);
    // The client has joined, so keys count.
    written.wait(|log| times(log, b"...") > 0, told);
    let pid = Pid::from_child(&client);
    kill_process(pid, Signal::TSTP).unwrap();
    let stat = format!("/proc/{}/stat", client.id());
    eventually("it is not stopped", || fs::read_to_string(&stat).unwrap().contains(") T "));
    written.wait(|log| times(log, given) == 1, told);
    kill_process(pid, Signal::CONT).unwrap();
    written.wait(|log| times(log, taken) == 2, told);
    // After several keys, the client has also handled the signal.
    let mut heard = vec!["PLAY Ann"];
    for _ in 0..8 {
        window.write_all(b"l").unwrap();
        heard.push("KEY l");
        server.wait_for(&heard);
    }
    window.write_all(b"Q").unwrap();
    assert!(client.wait().unwrap().success());
    drop(window);
    reading.join().unwrap();
    assert_eq!(times(&written.lock(), taken), 2, "{}", told(&written.lock()));
}
