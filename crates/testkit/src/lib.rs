//! Shared test helpers. No released program links this crate.
//!
//! - [`simulation`]: whole matches, whose server is killed and resumed.
//! - [`machine`], [`net`], [`disk`]: a simulated machine, network and disk.
//! - [`by_hand`]: journalled matches with inputs and times chosen by a test.
//! - [`seeds`]: runs a test over many seeds and reports the one that failed.
//! - [`process`], [`programs`], [`terminal`], [`measured`]: real programs.
//! - [`peer`], [`stream`], [`signpost`]: test clients over real sockets, and a hub that reports the location of a room.
//! - [`properties`], [`hostile`]: properties that hold for any input, and malformed datagrams.
//!
//! Helpers panic on failure, and report the expected and the actual state.

#![allow(clippy::missing_panics_doc, reason = "helpers panic to fail their test")]
#![allow(missing_docs, reason = "an internal crate: a comment says what the name does not")]

pub mod by_hand;
pub mod disk;
pub mod hostile;
pub mod machine;
pub mod measured;
#[cfg(unix)]
mod monitor;
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

use std::{
    thread,
    time::{Duration, Instant},
};

use tokio::time::{sleep, timeout};

pub use temp_dir::TempDir;

/// The timeout of waits on real events, far longer than any takes even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

const PAUSE: Duration = Duration::from_millis(5);

/// Polls for a value that has no notification.
pub async fn poll_until<T>(what: &str, poll: impl AsyncFn() -> Option<T>) -> T {
    let waits = async {
        loop {
            match poll().await {
                Some(found) => return found,
                None => sleep(PAUSE).await,
            }
        }
    };
    timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{what}"))
}

/// Polls a condition without a notification. Panics with `what` after [`PATIENCE`].
pub fn eventually(what: &str, is_so: impl FnMut() -> bool) {
    eventually_within(PATIENCE, what, is_so);
}

pub fn eventually_within(patience: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + patience;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        thread::park_timeout(PAUSE);
    }
}
