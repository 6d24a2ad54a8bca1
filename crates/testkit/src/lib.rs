//! Shared test helpers. No released program links this crate.
//!
//! - [`net`]: a simulated network around the real host. A room and its clients run in one thread and in virtual time,
//!   over datagrams and streams. A seed decides which data is lost, duplicated, split, delayed or reset.
//! - [`machine`]: a simulated machine with virtual time, whose tasks are polled only when they are woken.
//! - [`disk`]: a simulated disk that tears, loses and reorders unsynced writes, fills up, fails and lies.
//! - [`by_hand`]: matches with a journal, with inputs and times chosen by a test.
//! - [`simulation`]: whole matches with a journal, whose server is killed and resumed, from one seed.
//! - [`seeds`]: runs a test over many seeds and reports the one that failed, so that it can be repeated.
//! - [`process`]: real programs. Every wait has a deadline, and no process is left behind.
//! - [`programs`]: builds programs of the workspace, and finds them.
//! - [`terminal`]: real programs in a pseudo-terminal, and the content of its screen.
//! - [`measured`]: servers whose resource usage is measured, for benches.
//! - [`peer`] and [`stream`]: test clients over real sockets, for datagrams and for connections.
//! - [`signpost`]: a hub that reports the location of a room.
//! - [`hostile`]: malformed datagrams.
//! - [`properties`]: properties that hold for any input, shared by fuzz targets and tests.
//! - [`TempDir`]: a temporary directory.
//!
//! Helpers panic on failure, and report the expected and the actual state.
#![allow(clippy::missing_panics_doc, reason = "helpers panic to fail their test")]

pub mod by_hand;
pub mod disk;
mod draw;
pub mod hostile;
pub mod machine;
pub mod measured;
pub mod net;
pub mod peer;
#[cfg(unix)]
pub mod process;
pub mod programs;
pub mod properties;
pub mod seeds;
pub mod signpost;
pub mod simulation;
pub mod stream;
mod temp_dir;
#[cfg(unix)]
pub mod terminal;
#[cfg(unix)]
mod watched;

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};

pub use temp_dir::TempDir;

/// Time limit for every wait on a real event. It is far longer than any event takes even on a busy machine, so it is
/// reached only if the awaited event never happens.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// The pause between two polls.
const PAUSE: Duration = Duration::from_millis(5);

/// Polls for a value that has no notification, and returns it.
pub async fn found<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let waits = async {
        loop {
            match look().await {
                Some(found) => return found,
                None => sleep(PAUSE).await,
            }
        }
    };
    timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{what}"))
}

/// Polls a condition that has no notification until it holds. Panics with the text after [`PATIENCE`].
pub fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    eventually_within(PATIENCE, what, is_so);
}

/// As [`eventually`], for conditions that take longer.
pub fn eventually_within(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        thread::park_timeout(PAUSE);
    }
}
