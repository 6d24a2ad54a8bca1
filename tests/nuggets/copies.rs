use std::{
    fs,
    path::{Path, PathBuf},
};

use testkit::{TempDir, peer::Peer, process::Process};

use super::{HALL, Server, own_place, server};
use crate::programs::program;

/// Runs of the same scenario. In some, everything may have reached the journal itself before the kill.
const ROUNDS: usize = 4;

/// A server with a journal, and a player in it who walks to the right.
struct Walk {
    place: TempDir,
    server: Server,
    ann: Peer,
    journal: PathBuf,
}

impl Walk {
    fn start() -> Self {
        let place = TempDir::new();
        let (map, games) = (place.file("map.txt", HALL), place.path().join("games"));
        let server = Server::start(&[&map, "7", "--journal", &games.display().to_string()]);
        let ann = server.peer();
        ann.play("Ann");
        ann.send("KEY H");
        let journal = fs::read_dir(&games).unwrap().next().expect("a journal is there").unwrap().path();
        Self { place, server, ann, journal }
    }

    /// Copies the journal into a directory of its own, as a backup does.
    fn copy(&self) -> PathBuf {
        let backup = self.place.path().join("backup");
        fs::create_dir_all(&backup).unwrap();
        let copy = backup.join(self.journal.file_name().unwrap());
        fs::copy(&self.journal, &copy).unwrap();
        copy
    }

    /// Kills the server right after an answer, and resumes its journal: the player must be where she was told to be.
    fn kill_after_a_step(self, after: &str) {
        let Self { place: _place, server: Server { process, port }, ann, journal } = self;
        let told = step(&ann);
        process.kill();
        assert_eq!(process.wait().code, None);
        ann.pending();
        let process = Process::start(server().arg("--resume").arg(&journal));
        assert_eq!(process.port(), port);
        let again = Server { process, port };
        // Whoever comes now is answered after those who were there.
        again.peer().spectate();
        let messages = ann.pending();
        let display = messages.iter().find(|message| message.starts_with(b"DISPLAY\n"));
        let display = display.unwrap_or_else(|| panic!("{after}, a player who was answered is not known any more"));
        assert_eq!(own_place(&String::from_utf8_lossy(display)), told, "{after}, an answered step is lost");
        again.process.terminate();
        assert_eq!(again.process.wait().code, Some(0));
        let verified = Process::run(program("journal").arg("verify").arg(&journal));
        assert_eq!(verified.code, Some(0), "{after}: {}{}", verified.stdout, verified.stderr);
    }
}

// Lets the player step to the right; gives the place that she is told.
fn step(ann: &Peer) -> (usize, usize) {
    ann.send("KEY l");
    ann.send("KEY ?");
    let (before, _) = ann.receive_through("ERROR unknown keystroke");
    let display = before.iter().rfind(|text| text.starts_with("DISPLAY\n")).expect("a step is answered");
    own_place(display)
}

/// Runs the program `journal`, which must succeed.
fn read(command: &str, path: &Path) {
    let finished = Process::run(program("journal").arg(command).arg(path));
    assert_eq!(finished.code, Some(0), "{command}: {}{}", finished.stdout, finished.stderr);
}

#[test]
fn who_reads_a_copy_takes_nothing_from_the_server() {
    for command in ["show", "list", "verify"] {
        for _ in 0..ROUNDS {
            let walk = Walk::start();
            step(&walk.ann);
            let copy = walk.copy();
            read(command, if command == "list" { copy.parent().unwrap() } else { &copy });
            step(&walk.ann);
            walk.kill_after_a_step(&format!("after `journal {command}` of a copy"));
        }
    }
}

#[test]
fn who_resumes_a_copy_takes_nothing_from_the_server() {
    for _ in 0..ROUNDS {
        let walk = Walk::start();
        step(&walk.ann);
        let copy = walk.copy();
        let other = Process::start(server().args(["--port", "0", "--resume"]).arg(&copy));
        let port = other.port();
        assert_ne!(port, walk.server.port, "the port of the first server is in use");
        // The two matches go on differently.
        let bob = Peer::new(([127, 0, 0, 1], port).into());
        bob.play("Bob");
        step(&walk.ann);
        bob.ask("KEY ?", "ERROR unknown keystroke");
        walk.kill_after_a_step("after a copy was resumed");
        bob.ask("KEY ?", "ERROR unknown keystroke");
        other.kill();
        assert_eq!(other.wait().code, None);
    }
}
