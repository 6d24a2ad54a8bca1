use std::{
    fs,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    thread,
};

use testkit::{TempDir, process::Process};

use super::{HALL, Server, server};
use crate::programs::program;

/// Programs that read the journal at the same time.
const READERS: usize = 3;
/// How often the server is resumed meanwhile.
const RESUMED: usize = 40;

/// Sets a flag when it is dropped, also by a panic.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn who_reads_a_journal_does_not_keep_its_server_from_being_resumed() {
    let place = TempDir::new();
    let (map, games) = (place.file("map.txt", HALL), place.path().join("games"));
    let first = Server::start(&[&map, "7", "--journal", &games.display().to_string()]);
    first.peer().play("Ann");
    first.process.kill();
    assert_eq!(first.process.wait().code, None);
    let journal = fs::read_dir(&games).unwrap().next().expect("a journal is there").unwrap().path();
    let (over, read) = (AtomicBool::new(false), AtomicU32::new(0));
    thread::scope(|scope| {
        let _ends = Ends(&over);
        for _ in 0..READERS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    let shown = Process::run(program("journal").arg("show").arg(&journal));
                    assert_eq!(shown.code, Some(0), "{}{}", shown.stdout, shown.stderr);
                    read.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for resumed in 0..RESUMED {
            let process = Process::start(server().arg("--resume").arg(&journal));
            let refused = process.wait_stderr("whether it is resumed", |log| {
                let refused = log.lines().find(|line| line.contains("cannot resume")).map(str::to_owned);
                if log.contains("Journal:") { Some(None) } else { refused.map(Some) }
            });
            assert_eq!(refused, None, "after {resumed} resumes and {} reads", read.load(Ordering::Relaxed));
            process.kill();
            assert_eq!(process.wait().code, None);
        }
    });
}
