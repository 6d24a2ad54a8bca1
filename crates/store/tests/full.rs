//! A disk that is full for a while, for real: a small file system of its own, and a limit on the size of files. Both need a process of
//! their own, so this program runs itself.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::{
    env,
    fs::{self, File},
    io::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use store::{Entry, Kind, MatchFilter, NewMatch, Order, Store, Trouble};
use testkit::TempDir;

/// The directory for the process that runs alone.
const DIRECTORY: &str = "ARCADE_TEST_DIRECTORY";

/// Runs a test of this program in a process of its own, by a shell that prepares it.
fn run_alone(shell: &[&str], test: &str, directory: &Path) {
    let output = Command::new(shell[0])
        .args(&shell[1..])
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

fn directory() -> Option<PathBuf> {
    env::var_os(DIRECTORY).map(PathBuf::from)
}

fn a_match(number: u32) -> NewMatch {
    let entry = |rank, name: &str| Entry {
        rank,
        name: name.into(),
        kind: Kind::Unproven,
        seat: rank.to_string(),
        score: 0,
        won: rank == 1,
    };
    NewMatch {
        id: format!("j1-{number}"),
        game: "robots".into(),
        // Each match needs space of its own.
        title: "x".repeat(20_000),
        room: "robots-1".into(),
        journal: "robots.journal".into(),
        number,
        begins: 5,
        ends: 90_000_005,
        started: 1_000_000 * u64::from(number),
        ended: 1_000_000 * u64::from(number) + 90_000,
        complete: true,
        players: vec![entry(1, "Ann"), entry(2, "Bob")],
    }
}

/// Each match is stored, and each was rated once.
async fn check(store: &Store, matches: u32) {
    let found = store.matches(&MatchFilter { limit: 100, ..MatchFilter::default() }).await.unwrap();
    assert_eq!(found.len(), matches as usize);
    let leaders = store.leaders("robots", Order::Rating, 10).await.unwrap();
    let counts: Vec<_> = leaders.iter().map(|leader| leader.score.matches).collect();
    assert_eq!(counts, [u64::from(matches); 2]);
}

#[test]
fn after_a_full_disk_has_space_again_each_result_is_stored_once() {
    let directory = TempDir::new();
    let alone = ["unshare", "--map-root-user", "--mount"];
    if !Command::new(alone[0]).args(&alone[1..]).arg("true").output().is_ok_and(|done| done.status.success()) {
        eprintln!("left out: this system lets no test have a file system of its own");
        return;
    }
    let mount = r#"mount -t tmpfs -o size=16m tmpfs "$ARCADE_TEST_DIRECTORY" && exec "$0" "$@""#;
    run_alone(&[&alone[..], &["sh", "-c", mount]].concat(), "on_a_full_disk", directory.path());
}

#[tokio::test]
#[ignore = "for a process that has a small file system of its own"]
async fn on_a_full_disk() {
    let Some(directory) = directory() else { return };
    let store = Store::file(&directory.join("results.db")).unwrap();
    store.prepare().await.unwrap();
    let mut waiting = vec![];
    for number in 1..=40 {
        if number == 10 {
            let mut ballast = File::create(directory.join("ballast")).unwrap();
            while ballast.write_all(&[1; 512]).is_ok() {}
        }
        if let Err(error) = store.record(&a_match(number)).await {
            // Where it cannot make a file at all, SQLite does not say why.
            assert!(matches!(error.trouble(), Trouble::NoSpace | Trouble::Disk), "{error:?}");
            waiting.push(number);
        }
    }
    assert!(waiting.len() > 20, "{waiting:?}");
    fs::remove_file(directory.join("ballast")).unwrap();
    for number in waiting {
        assert!(store.record(&a_match(number)).await.unwrap(), "{number}");
    }
    check(&store, 40).await;
}

#[test]
fn a_write_that_fails_at_any_step_is_done_once_when_it_is_tried_again() {
    let directory = TempDir::new();
    // The signal would end the process.
    run_alone(&["sh", "-c", r#"trap '' XFSZ; exec "$0" "$@""#], "with_files_of_limited_size", directory.path());
}

#[tokio::test]
#[ignore = "for a process that has its own limit on the size of files"]
async fn with_files_of_limited_size() {
    let Some(directory) = directory() else { return };
    let path = directory.join("results.db");
    let store = Store::file(&path).unwrap();
    store.prepare().await.unwrap();
    assert!(store.record(&a_match(1)).await.unwrap());
    let limit = |current| {
        let maximum = getrlimit(Resource::Fsize).maximum;
        setrlimit(Resource::Fsize, Rlimit { current, maximum }).unwrap();
    };
    let log = directory.join("results.db-wal");
    let mut failures = 0;
    // The log grows by this for a match; each limit cuts it at another place.
    for number in 2.. {
        let length = log.metadata().map_or(0, |about| about.len());
        limit(Some(length + u64::from(number - 2) * 1_000));
        let first = store.record(&a_match(number)).await;
        limit(None);
        let Err(error) = first else { break };
        assert!(matches!(error.trouble(), Trouble::NoSpace | Trouble::Disk), "{error:?}");
        failures += 1;
        assert!(store.record(&a_match(number)).await.unwrap_or_else(|error| panic!("{number}: {error:?}")));
        check(&store, number).await;
    }
    assert!(failures > 20, "{failures}");
}
