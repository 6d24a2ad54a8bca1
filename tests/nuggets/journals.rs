use std::{
    fs,
    net::UdpSocket,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use testkit::{TempDir, peer::Peer, process::Process};

use super::{CORRIDOR, HALL, Server, run_to_both_ends, server};
use crate::programs::program;

struct Journalled {
    place: TempDir,
    server: Server,
}

impl Journalled {
    fn start(map: &str, arguments: &[&str]) -> Self {
        let place = TempDir::new();
        let map = place.file("map.txt", map);
        let directory = games(&place).display().to_string();
        let server = Server::start(&[&[&map, "7", "--journal", &directory], arguments].concat());
        Self { place, server }
    }

    fn kill(self) -> (TempDir, PathBuf) {
        self.server.process.kill();
        self.server.process.wait();
        let path = only_file(&games(&self.place));
        (self.place, path)
    }
}

// Two levels that do not exist yet.
fn games(place: &TempDir) -> PathBuf {
    place.path().join("arcade").join("games")
}

fn only_file(directory: &Path) -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let path = found.pop().expect("a journal is there");
    assert!(found.is_empty(), "{found:?} and {}", path.display());
    path
}

/// `journal` is a file or a directory.
fn resume(journal: &Path) -> Server {
    let process = Process::start(server().arg("--resume").arg(journal));
    let port = process.port();
    Server { process, port }
}

/// The journal must be rejected in one line. Returns the reason.
fn refused(journal: &Path) -> String {
    let finished = Process::run(server().arg("--resume").arg(journal));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
    assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    let front = format!("nuggets-server: cannot resume '{}': ", journal.display());
    finished.stderr.strip_prefix(&front).unwrap_or_else(|| panic!("{front} is not in {}", finished.stderr)).to_owned()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_journal_is_for_its_owner_only_and_named_after_game_and_time() {
    let journalled = Journalled::start(HALL, &[]);
    let directory = games(&journalled.place);
    assert_eq!((mode(directory.parent().unwrap()), mode(&directory)), (0o700, 0o700));
    let path = only_file(&directory);
    assert_eq!(mode(&path), 0o600);
    let name = path.file_name().unwrap().to_str().unwrap();
    let shape: String = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "nuggets-0000-00-00T00-00-00Z.journal");
    let told = format!("Journal:   {}\n", path.display());
    journalled.server.process.wait_stderr("where the journal is", |log| log.contains(&told).then_some(()));
}

#[test]
fn a_signal_suspends_a_match_with_a_journal() {
    for (stop, resume_by) in [(Process::terminate as fn(&Process), "directory"), (Process::interrupt, "file")] {
        let journalled = Journalled::start(HALL, &[]);
        let (ann, watcher, port) = (journalled.server.peer(), journalled.server.peer(), journalled.server.port);
        let letter = ann.play("Ann").letter;
        watcher.spectate();
        ann.send("KEY H");
        ann.expect("DISPLAY\n");
        let Journalled { place, server } = journalled;
        stop(&server.process);
        let finished = server.process.wait().ended(0);
        assert!(!finished.stdout.contains("GAME OVER"), "{}", finished.stdout);
        let path = only_file(&games(&place));
        let advice = format!("--resume '{}' continues the match", path.display());
        assert!(finished.stderr.contains(&advice), "{}", finished.stderr);
        let told = ann.pending().into_iter().chain(watcher.pending());
        for message in told {
            assert!(!message.starts_with(b"QUIT "), "{}", message.escape_ascii());
        }

        let again = resume(&if resume_by == "file" { path } else { games(&place) });
        assert_eq!((again.port, letter), (port, 'A'));
        // The display arrives without a request.
        ann.expect("DISPLAY\n");
        watcher.expect("DISPLAY\n");
        for key in "YKHLjHjLjHjLjHjL".chars() {
            ann.send(format!("KEY {key}"));
        }
        assert_eq!(ann.expect("QUIT "), "QUIT GAME OVER:\nA        250 Ann");
        assert_eq!(again.process.wait().code, Some(0));
    }
}

#[test]
fn only_a_journal_of_this_game_is_resumed() {
    let place = TempDir::new();
    let missing = place.path().join("missing.journal");
    assert!(refused(&missing).contains("No such file or directory"));
    let text = place.file("notes.txt", "Dear diary\n".repeat(1_000));
    assert!(refused(Path::new(&text)).contains("it is not a journal"));
    let empty = place.file("empty.journal", "");
    assert!(refused(Path::new(&empty)).contains("it is not a journal"));
    let said = refused(place.path());
    // The journal in it has another name.
    assert!(said.contains("it contains no journal of nuggets") && said.contains("--journal"), "{said}");

    let directory = place.path().join("robots");
    let arguments = "-c 2 -x 10 -y 10 -p 0 --bind 127.0.0.1 --journal";
    let mut other = program("robots-server");
    let other = Process::start(other.args(arguments.split(' ')).arg(&directory));
    other.port();
    other.stop();
    assert!(refused(&directory).contains("it contains no journal of nuggets"));
    let said = refused(&only_file(&directory));
    assert!(said.contains("it is a journal of robots, not of nuggets; resume it with the server of robots"), "{said}");
}

#[test]
fn a_journal_in_use_is_not_resumed() {
    let journalled = Journalled::start(HALL, &[]);
    let path = only_file(&games(&journalled.place));
    assert!(refused(&path).contains("another server is writing it"));
    assert!(refused(&games(&journalled.place)).contains("another server is writing it"));
    journalled.server.peer().play("Ann");
}

#[test]
fn a_finished_match_is_not_resumed() {
    let journalled = Journalled::start(CORRIDOR, &[]);
    let ann = journalled.server.peer();
    ann.play("Ann");
    run_to_both_ends(&ann);
    let Journalled { place, server } = journalled;
    assert_eq!(server.process.wait().code, Some(0));
    let said = refused(&only_file(&games(&place)));
    assert_eq!(said, "the match is over (it was completed); there is nothing to resume\n");
}

#[test]
fn a_match_that_is_resumed_waits_for_its_port() {
    let journalled = Journalled::start(CORRIDOR, &[]);
    let (ann, port) = (journalled.server.peer(), journalled.server.port);
    ann.play("Ann");
    let (_place, path) = journalled.kill();
    let taken = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let process = Process::start(server().arg("--resume").arg(&path));
    process.wait_stderr("that it waits", |log| {
        log.contains(&format!("port {port} is in use by another program; waiting until it is free")).then_some(())
    });
    assert_eq!(process.stdout(), "");
    drop(taken);
    assert_eq!(process.port(), port);
    assert_eq!(run_to_both_ends(&ann), "QUIT GAME OVER:\nA        250 Ann");
    assert_eq!(process.wait().code, Some(0));
}

#[test]
fn options_that_exclude_each_other_are_named() {
    for (name, code, other) in
        [("nuggets-server", 2, "map.txt"), ("robots-server", 1, "-c 2"), ("dealer", 2, "--players 2")]
    {
        for (more, named) in [
            ("--journal games", "cannot be used with"),
            (other, "cannot be used with"),
            ("--journal-max 1K", "64K"),
            ("--journal-keep 30x", "as in 30d,100,10G"),
            ("--sync never", "always"),
        ] {
            let finished = Process::run(program(name).args(["--resume", "games"]).args(more.split(' ')));
            assert_eq!((finished.code, &*finished.stdout), (Some(code), ""), "{name} {more}: {}", finished.stderr);
            assert!(finished.stderr.contains(named), "{name} {more}: {}", finished.stderr);
        }
    }
}

#[test]
fn a_new_match_removes_old_journals_of_its_game() {
    let (place, path) = Journalled::start(CORRIDOR, &[]).kill();
    let games = games(&place);
    // A past time, which no new journal reuses.
    let oldest = games.join("nuggets-2026-01-01T00-00-00Z.journal");
    fs::rename(path, &oldest).unwrap();
    let other = games.join(oldest.file_name().unwrap().to_str().unwrap().replace("nuggets-", "robots-"));
    fs::copy(&oldest, &other).unwrap();
    let journals = || {
        let names = fs::read_dir(&games).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| *path != other).collect::<Vec<_>>()
    };
    let begin = || {
        let (map, games) = (place.path().join("map.txt"), games.display().to_string());
        let keep = ["7", "--journal", &games, "--journal-keep", "1"];
        let server = Server::start(&[&[map.to_str().unwrap()][..], &keep].concat());
        server.process.terminate();
        server.process.wait().stderr
    };
    let said = begin();
    // The newest journal is kept for `--resume` with the directory.
    assert_eq!((journals().len(), said.contains("is removed")), (2, false), "{said}");
    let said = begin();
    let removed: Vec<&str> = said.lines().filter(|line| line.contains("removed an old journal")).collect();
    assert!(removed.len() == 1 && removed[0].contains(oldest.to_str().unwrap()), "{said}");
    assert_eq!((journals().len(), oldest.exists(), other.exists()), (2, false, true));
}

#[test]
fn a_server_whose_journal_cannot_be_created_does_not_start() {
    let place = TempDir::new();
    let file = place.file("file", "");
    let directory = format!("{file}/games");
    let finished = Process::run(server().args(["--bind", "127.0.0.1", "--journal", &directory]));
    assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{}", finished.stderr);
    let said = format!("nuggets-server: cannot create a journal in '{directory}': not a directory");
    assert!(finished.stderr.starts_with(&said), "{}", finished.stderr);
    assert_eq!(finished.stderr.lines().count(), 1, "{}", finished.stderr);
}

fn fill(ann: &Peer, kilobytes: usize) {
    // Each takes about 40 bytes. The batches are small, so that all arrive.
    for _ in 0..kilobytes {
        for _ in 0..25 {
            ann.send("KEY hh");
        }
        ann.request("KEY ?", "ERROR unknown keystroke");
    }
}

#[test]
fn a_full_disk_cuts_the_journal_and_the_match_continues() {
    let place = TempDir::new();
    let map = place.file("map.txt", CORRIDOR);
    // A limit on file size, in blocks of 512 or 1024 bytes, replaces a full disk.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 32; trap '' XFSZ; exec \"$0\" \"$@\""]).arg(server().get_program());
    command.args([&map, "7", "--bind", "127.0.0.1", "--journal"]).arg(games(&place));
    let process = Process::start(&mut command);
    let port = process.port();
    let server = Server { process, port };
    let ann = server.peer();
    ann.play("Ann");
    fill(&ann, 100);
    let warning = "the journal cannot be written to";
    server.process.wait_stderr("that the journal is given up", |log| log.contains(warning).then_some(()));
    assert_eq!(run_to_both_ends(&ann), "QUIT GAME OVER:\nA        250 Ann");
    let finished = server.process.wait().ended(0);
    let warnings: Vec<&str> = finished.stderr.lines().filter(|line| line.contains(warning)).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("WARN"), "{}", finished.stderr);
    let said = refused(&only_file(&games(&place)));
    assert!(said.contains("it was cut during the match"), "{said}");
}
