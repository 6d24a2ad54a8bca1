//! The signals that request the end of a program: one rule for all programs.
//!
//! - SIGINT and SIGTERM are requests to end ([`REQUESTS`]), from a user or a batch system.
//! - SIGHUP reports that the terminal was closed. It counts too, unless it is ignored, as under `nohup` ([`hang_up`]).
//! - A program saves its work before it ends. Only a second request ends it earlier ([`Requests`]). A second SIGHUP is
//!   not one: when a terminal is closed, both the shell and the system send SIGHUP.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! let mut requests = sigkit::Requests::default();
//! let start = Instant::now();
//! assert!(!requests.register(start), "the first one is a request");
//! assert!(!requests.register(start + Duration::from_millis(1)), "one request, which `timeout` sends to the process and to its group");
//! assert!(requests.register(start + Duration::from_secs(1)), "the user does not want to wait");
//! ```

use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The signals that request the end of a program.
pub const REQUESTS: [i32; 2] = [SIGINT, SIGTERM];

/// Another request within this time counts as the first one: `timeout` sends two, to the process and to its group; a
/// person takes longer to press Ctrl-C twice.
const SAME: Duration = Duration::from_millis(200);

/// All signals that request the end of this program. Call this before listening for any of them; see [`hang_up`].
pub fn ending() -> impl Iterator<Item = i32> {
    REQUESTS.into_iter().chain(hang_up())
}

/// SIGHUP, if the system reports that it is not ignored.
///
/// Call this before listening for SIGHUP, because a signal with a listener is no longer ignored. If the state is not
/// available in a file, SIGHUP keeps its effect.
#[cfg(unix)]
pub fn hang_up() -> Option<i32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    (ignores_hang_up(&status) == Some(false)).then_some(signal_hook::consts::SIGHUP)
}

/// `None`, because this system has no such signal.
#[cfg(not(unix))]
pub const fn hang_up() -> Option<i32> {
    None
}

// SigIgn is a set in hexadecimal whose lowest bit is the first signal, SIGHUP.
#[cfg(unix)]
fn ignores_hang_up(status: &str) -> Option<bool> {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    Some(ignored & 1 == 1)
}

/// The [`REQUESTS`] received so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Requests {
    first: Option<Instant>,
}

impl Requests {
    /// Returns whether the request is a second one.
    pub fn register(&mut self, now: Instant) -> bool {
        now.saturating_duration_since(*self.first.get_or_insert(now)) > SAME
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn the_status_shows_whether_sighup_is_ignored() {
        for (status, ignored) in [
            (
                "Name:\tx\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000001\n",
                Some(false),
            ),
            ("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n", Some(true)),
            ("SigIgn:\t0000000000000002\n", Some(false)),
            ("SigIgn:\tnone\n", None),
            ("Name:\tx\n", None),
            ("", None),
        ] {
            assert_eq!(ignores_hang_up(status), ignored, "{status}");
        }
    }

    #[test]
    fn a_later_request_is_a_second_one() {
        let start = Instant::now();
        for (gaps, insists) in [
            (&[0][..], &[false][..]),
            (&[0, 0, 1, 200], &[false, false, false, false]),
            (&[0, 201], &[false, true]),
            (&[0, 5_000, 5_001], &[false, true, true]),
            (&[0, 90, 180, 270], &[false, false, false, true]),
        ] {
            let mut requests = Requests::default();
            let said: Vec<bool> =
                gaps.iter().map(|&after| requests.register(start + Duration::from_millis(after))).collect();
            assert_eq!(said, insists, "{gaps:?}");
        }
    }
}
