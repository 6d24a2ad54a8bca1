use std::process::Command;

use testkit::{TempDir, process::Process};

use super::read;
use crate::nuggets::{HALL, Server};

/// Returns the README's program, for a server at `port`.
fn client(port: u16) -> String {
    let readme = read("README.md");
    let (_, program) = readme.split_once("```python\n").unwrap();
    program.split_once("```").unwrap().0.replace("PORT)", &format!("{port})"))
}

#[test]
fn the_client_in_python_plays_a_game() {
    let Some(python) = testkit::programs::python() else {
        return eprintln!("this machine has no python3, so the client in Python is not tested");
    };
    let folder = TempDir::new();
    let server = Server::start(&[&folder.file("hall.txt", HALL), "5"]);
    let program = folder.file("client.py", client(server.port));
    // The hall has six rows, so one of these steps meets a wall. An empty line is not a key, and `?` is not a game key.
    let keys = ["k", "k", "k", "k", "k", "k", "", "?", "Q"];
    let typed = folder.file("keys", format!("{}\n", keys.join("\n")));
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$2\" \"$0\" < \"$1\"", &program, &typed]).arg(python);
    let finished = Process::run(&mut command).ended(0);
    assert_eq!(finished.stdout.matches("key: ").count(), keys.len(), "{}", finished.stdout);
    assert!(finished.stdout.contains("ERROR "), "the server says what it does not understand: {}", finished.stdout);
    assert!(finished.stdout.contains('|') && finished.stdout.contains('@'), "{}", finished.stdout);
    assert!(finished.stdout.ends_with("Thanks for playing!\n"), "{}", finished.stdout);
}
