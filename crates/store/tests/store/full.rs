//! Tests with files that cannot grow for a while. The limit on the file size needs a separate process, so this program
//! runs itself. The tests of results in the hub fill a whole disk.

use std::{env, path::PathBuf, process::Command};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use store::{Match, Store, Trouble};
use testkit::TempDir;

use crate::support::{self, check, entry};

/// The directory for the separate process.
const DIRECTORY: &str = "ARCADE_TEST_DIRECTORY";

// Each match needs additional space.
fn a_match(number: u32) -> Match {
    let players = vec![entry(1, "Ann", 0), entry(2, "Bob", 0)];
    Match { title: "x".repeat(20_000), ..support::a_match(number, "robots", players) }
}

#[test]
fn a_write_that_fails_at_any_step_is_done_once_when_it_is_tried_again() {
    let directory = TempDir::new();
    let output = Command::new("sh")
        // Otherwise the signal would end the process.
        .args(["-c", r#"trap '' XFSZ; exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "full::with_files_of_limited_size", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.contains("1 passed"), "{told}");
}

#[tokio::test]
#[ignore = "for a process that has its own limit on the size of files"]
async fn with_files_of_limited_size() {
    let Some(directory) = env::var_os(DIRECTORY).map(PathBuf::from) else { return };
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
    // The log grows by this for a match, and each limit cuts it at another position.
    for number in 2.. {
        let length = log.metadata().map_or(0, |about| about.len());
        limit(Some(length + u64::from(number - 2) * 1_000));
        let first = store.record(&a_match(number)).await;
        limit(None);
        let Err(error) = first else { break };
        assert!(matches!(error.trouble(), Trouble::NoSpace | Trouble::Disk), "{error:?}");
        failures += 1;
        assert!(store.record(&a_match(number)).await.unwrap_or_else(|error| panic!("{number}: {error:?}")));
        check(&store, "robots", number, 2).await;
    }
    assert!(failures > 20, "{failures}");
}
