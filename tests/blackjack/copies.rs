use std::fs;

use testkit::{TempDir, process::Process};

use super::Dealer;
use crate::programs::program;

/// Runs of the same scenario. In some, everything may have reached the journal itself before the kill.
const ROUNDS: usize = 4;
/// Decisions before the kill.
const DECISIONS: usize = 20;

#[test]
fn who_reads_a_copy_takes_nothing_from_the_dealer() {
    for _ in 0..ROUNDS {
        let place = TempDir::new();
        let games = place.path().join("games");
        let mut command = program("dealer");
        command.args("0 1000 --bind 127.0.0.1 --players 1 --delay-ms 0 --journal".split(' ')).arg(&games);
        let dealer = Dealer::of(&mut command);
        let mut ann = dealer.binary("Ann");
        assert!(ann.until_asked().ends_with("DECISION"));
        let journal = fs::read_dir(&games).unwrap().next().expect("a journal is there").unwrap().path();
        let copy = place.path().join("copy.journal");
        fs::copy(&journal, &copy).unwrap();
        let shown = Process::run(program("journal").arg("show").arg(&copy));
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        for _ in 0..DECISIONS {
            ann.stand();
            assert!(ann.until_asked().ends_with("DECISION"), "a decision follows each that was made");
        }
        dealer.process.kill();
        assert_eq!(dealer.process.wait().code, None);
        let again = Process::start(program("dealer").arg("--resume").arg(&journal));
        assert_eq!(again.port(), dealer.port);
        let exported = Process::run(program("journal").args(["export", "--format", "jsonl"]).arg(&journal));
        let stands = exported.stdout.lines().filter(|line| line.contains("STAND")).count();
        assert_eq!(
            stands, DECISIONS,
            "after `journal show` of a copy, answered decisions are lost: {}",
            exported.stdout
        );
    }
}
