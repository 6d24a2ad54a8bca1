use std::fs;

use testkit::{TempDir, peer::Peer, process::Process};

use super::{HALL, Server, own_place, server};
use crate::programs::program;

/// Runs of the same scenario. In some, everything may have reached the journal itself before the kill.
const ROUNDS: usize = 4;

// Lets the player step to the right; gives the place that she is told.
fn step(ann: &Peer) -> (usize, usize) {
    ann.send("KEY l");
    ann.send("KEY ?");
    let (before, _) = ann.receive_through("ERROR unknown keystroke");
    let display = before.iter().rfind(|text| text.starts_with("DISPLAY\n")).expect("a step is answered");
    own_place(display)
}

/// Runs the program `journal`, which must succeed.
fn read(command: &str, path: &std::path::Path) {
    Process::run(program("journal").arg(command).arg(path)).ended(0);
}

#[test]
fn who_reads_or_resumes_a_copy_takes_nothing_from_the_server() {
    for _ in 0..ROUNDS {
        let place = TempDir::new();
        let (map, games) = (place.file("map.txt", HALL), place.path().join("games"));
        let Server { process, port } = Server::start(&[&map, "7", "--journal", &games.display().to_string()]);
        let ann = Peer::new(([127, 0, 0, 1], port).into());
        ann.play("Ann");
        ann.send("KEY H");
        step(&ann);

        // A directory of its own, as for a backup.
        let journal = fs::read_dir(&games).unwrap().next().expect("a journal is there").unwrap().path();
        let backup = place.path().join("backup");
        fs::create_dir_all(&backup).unwrap();
        let copy = backup.join(journal.file_name().unwrap());
        fs::copy(&journal, &copy).unwrap();
        read("show", &copy);
        read("list", &backup);
        let other = Process::start(server().args(["--port", "0", "--resume"]).arg(&copy));
        assert_ne!(port, other.port(), "the port of the first server is in use");
        // The two matches go on differently.
        let bob = Peer::new(([127, 0, 0, 1], other.port()).into());
        bob.play("Bob");
        step(&ann);
        bob.ask("KEY ?", "ERROR unknown keystroke");

        // Killed right after an answer, the first one is resumed: the player must be where she was told to be.
        let told = step(&ann);
        process.kill();
        assert_eq!(process.wait().code, None);
        ann.pending();
        // Somebody who reads it at that moment is in nobody's way.
        let reader = Process::start(program("journal").arg("show").arg(&journal));
        let process = Process::start(server().arg("--resume").arg(&journal));
        assert_eq!(process.port(), port);
        // Whoever comes now is answered after those who were there.
        Peer::new(([127, 0, 0, 1], port).into()).spectate();
        let messages = ann.pending();
        let display = messages.iter().find(|message| message.starts_with(b"DISPLAY\n"));
        let display = display.expect("a player who was answered is known");
        assert_eq!(own_place(&String::from_utf8_lossy(display)), told, "an answered step is lost");
        process.stop();
        assert_eq!(reader.wait().code, Some(0));
        read("verify", &journal);
        bob.ask("KEY ?", "ERROR unknown keystroke");
        other.kill();
        assert_eq!(other.wait().code, None);
    }
}
